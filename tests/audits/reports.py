"""Invented audit reports for tests of their output: realistic training curves, and hostile names."""

import base64
import json
import zlib
from functools import lru_cache

import numpy as np

from summaries.auditing.curves import Curve, averages
from summaries.auditing.findings import Finding, RunReport, Severity
from summaries.auditing.reports import Report
from summaries.presenting.thinning import thin

START = 1.79e9
HOSTILE_TAG = "<img src=x onerror=window.hacked=1>"
HOSTILE = "a\x1b[31m\r\n::error::%0A,<script>alert(1)</script>\x07\ud800"
HOSTILE_RUN = "\"'`</script><script>window.hacked=1</script><!--\u2028\udcff&lt;"


def curve(tag, role, value, variable="", every=1, start=START):
    """A tag's points, one every `every` steps, thinned as in the audit."""
    value = np.asarray(value, np.float64)
    step = np.arange(len(value), dtype=np.int64) * every
    kept = thin(value)
    return Curve(tag, role, variable, step[kept], start + 0.25 * step[kept], value[kept], len(value), averages(value))


def run(name, findings=(), curves=()):
    """A run with these findings and curves; its steps and times are those of its curves."""
    steps = times = None
    if curves:
        steps = (0, max(int(one.step[-1]) for one in curves if len(one.step) > 0))
        times = (START, START + 0.25 * steps[1])
    findings = tuple(sorted(findings, key=lambda one: -one.severity))
    return RunReport(name, (f"{name}/events.out.tfevents.1.host",), findings, tuple(curves), 1000, steps, times)


def finding(code, name, severity, run, tag, steps, message, count=1, **evidence):
    """A finding, with its evidence given as keywords."""
    return Finding(code, name, Severity[severity], run, tag, steps, message, evidence, count)


def losses(count, rng, seed_noise=0.05):
    """A loss that falls as a power law, with noise."""
    step = np.arange(count)
    return (0.3 + 2.2 * (1 + step / (count / 50)) ** -0.6) * np.exp(seed_noise * rng.standard_normal(count))


def healthy(name, seed=0, count=4000, layers=12):
    """A run in which nothing went wrong."""
    rng = np.random.default_rng(seed)
    loss = losses(count, rng)
    norm = 0.4 * loss * np.exp(0.25 * rng.standard_normal(count))
    curves = [
        curve("train/loss", "loss", loss),
        curve("validation/loss", "validation_loss", losses(count // 100, rng, 0.01) * 1.05, every=100),
        curve("gradients/global_norm", "global_norm", norm),
        curve("gradients/clip_norm", "clip_norm", np.ones(count)),
        curve("gradients/clipped_fraction", "clipped_fraction", np.convolve(norm > 1, np.ones(50) / 50, "same")),
        curve("train/learning_rate", "learning_rate", 3e-4 * np.minimum(np.arange(count) / 200, 1)),
        curve("train/global_step_per_sec", "steps_per_second", 4 + 0.1 * rng.standard_normal(count)),
    ]
    for layer in range(layers):
        variable = f"encoder/layer_{layer}/attention/weights"
        scale = 10 ** (-0.15 * layer)
        noise = np.exp(0.3 * rng.standard_normal(count))
        curves.append(curve(f"gradients/norm/{variable}", "gradient_norm", scale * norm * noise, variable))
        curves.append(curve(f"updates/ratio/{variable}", "update_ratio", 1e-3 * noise * scale**0.3, variable))
    return run(name, curves=curves)


def exploded(name, seed=1, count=4000, layers=12):
    """A run whose norm exploded, and whose loss spiked and later became NaN for good."""
    rng = np.random.default_rng(seed)
    base = healthy(name, seed, count, layers)
    loss = losses(count, rng)
    spike = slice(count * 5 // 8, count * 5 // 8 + 60)
    loss[spike] += 6 * np.exp(-np.arange(60) / 15)
    loss[count * 15 // 16 :] = np.nan
    growth = np.where(np.arange(count) > count * 0.75, np.exp((np.arange(count) - count * 0.75) / 90), 1)
    norm = 0.5 * growth * np.exp(0.3 * rng.standard_normal(count))
    norm[count * 15 // 16 :] = np.nan
    curves = list(base.curves)
    curves[0] = curve("train/loss", "loss", loss)
    curves[2] = curve("gradients/global_norm", "global_norm", norm)
    dead = "encoder/layer_7/attention/weights"
    for at, one in enumerate(curves):
        if one.role == "gradient_norm":
            zero = one.variable == dead
            value = (
                np.zeros(count) if zero else norm * 10 ** rng.normal(-1, 0.4) * np.exp(0.3 * rng.standard_normal(count))
            )
            curves[at] = curve(one.tag, one.role, value, one.variable)
    last = count - 1
    found = [
        finding(
            "GL301",
            "non-finite-loss",
            "ERROR",
            name,
            "train/loss",
            (count * 15 // 16, last),
            f"The loss is NaN from step {count * 15 // 16} to the end.",
            count // 16,
            first_step=count * 15 // 16,
            share=0.0625,
        ),
        finding(
            "GL402",
            "exploding-norm",
            "ERROR",
            name,
            "gradients/global_norm",
            (int(count * 0.78), count * 15 // 16),
            "The gradient's norm grew from 0.5 to 8,103, over 1,000 times its median.",
            largest=8103.0,
            median=0.497,
            ratio=16303.8,
        ),
        finding(
            "GL302",
            "loss-spike",
            "WARNING",
            name,
            "train/loss",
            (spike.start, spike.stop),
            "The loss rose from 0.51 to 6.5, 41 deviations above its trend, and came back within 60 steps.",
            1,
            peak=6.5,
            deviations=41.2,
        ),
        finding(
            "GL406",
            "dead-variable",
            "WARNING",
            name,
            f"gradients/norm/{dead}",
            (0, last),
            "The gradient of encoder/layer_7/attention/weights is zero at every step.",
            zeros=count,
        ),
        finding(
            "GL405",
            "clipping-never-acts",
            "INFO",
            name,
            "gradients/clipped_fraction",
            (0, count // 2),
            "Not one step of the first 2,000 was clipped.",
            clipped=0,
        ),
        finding(
            "GL105", "no-file-version", "INFO", name, "", None, "The file does not begin with its version.", offset=0
        ),
    ]
    return run(name, found, curves)


def hostile():
    """A run whose every string would run a script if it were interpreted as markup."""
    tags = [
        HOSTILE_TAG,
        "</script><script>window.hacked=1</script>",
        "a\u2028b\u2029c",
        "{{7*7}}${hacked}",
        "\udcff\x00\x1b[31m",
    ]
    curves = [curve(tag, "loss", np.linspace(2, 1, 50)) for tag in tags]
    curves += [curve(f"n/{tag}", "gradient_norm", np.linspace(2, 1, 50), tag) for tag in tags]
    found = [
        finding("GL302", HOSTILE_TAG, "WARNING", HOSTILE_RUN, tag, (10, 20), f"Message {tag}", **{"<b>": tag})
        for tag in tags
    ]
    return run(HOSTILE_RUN, found, curves)


@lru_cache
def several():
    """A report with runs of each verdict."""
    spiked = healthy("sweep/lr=0.01", 5)
    warned = finding(
        "GL404",
        "clipping-saturated",
        "WARNING",
        "sweep/lr=0.01",
        "gradients/clipped_fraction",
        (500, 3999),
        "97% of the steps from 500 on were clipped.",
        share=0.97,
    )
    empty = run("empty", [finding("GL107", "no-events", "INFO", "empty", "", None, "The run has no events.")])
    warned_run = run("sweep/lr=0.01", [warned], spiked.curves)
    return Report((healthy("baseline"), empty, healthy("sweep/lr=0.001", 7), warned_run, exploded("sweep/lr=0.1")))


def unpacked(text):
    """A block's header, and a function that reads an array by its place, as unpack.js does."""
    body = zlib.decompress(base64.b64decode(text))
    start = 4 + int.from_bytes(body[:4], "little")

    def read(kind, offset, count):
        assert (start + offset) % np.dtype(kind).itemsize == 0
        return np.frombuffer(body, f"<{kind}", count, start + offset)

    return json.loads(body[4:start]), read


def rising(place, read):
    """A column that was written as a first value and differences."""
    first, *array = place
    return read(*array) if first is None else first + np.cumsum(read(*array).astype(np.float64))


def even(place, read):
    """A column that was written in levels."""
    low, level, *array = place
    return read(*array) if level is None else low + level * np.cumsum(read(*array), dtype=np.uint16)


def small(run="lenet/a b", tag="train/loss", message="the loss is nan"):
    """Two runs, one of which has an error, a note and a curve."""
    worst = Finding(
        "GL301", "non-finite-loss", Severity.ERROR, run, tag, (71, 99), message,
        {"points": 29, "least": float("nan"), "most": float("inf"), "first value": "nan"}, 29,
    )  # fmt: skip
    note = Finding("GL107", "no-events", Severity.INFO, run, "", None, "nothing was logged", {"file": f"{run}/x"})
    value = np.array([4.0, 3.0, 2.0, np.nan])
    loss = Curve(tag, "loss", "", np.arange(4), np.arange(4.0), value, 4, value)
    return Report(
        (RunReport(run, (f"{run}/x",), (worst, note), (loss,), 4, (0, 3), (0.0, 3.0)), RunReport("b", (), ()))
    )
