"""Adam's spikes, foretold: how many of them, and how often in vain; beside what is usually watched."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

import optim
from optim.forecast import SpikeForecast
from papers.networks import digits, transformer
from papers.section import Curve, Figure, Section
from summaries.auditing.rules import RULES

TEXT = """\
`optim.forecast.SpikeForecast`, on trainings of ours: a digits network (three layers of tanh, 100 digits) and a
transformer of one block (sums modulo 7), all data in one batch, labels smoothed by 0.1, Adam with β₁ = 0.9 and ε =
10⁻⁸, 2,000 steps. Digits: rates of 0.1 with β₂ = 0.99 and 0.999, and of 0.01, which is healthy. The transformer: rates
of 0.003 and 0.01 with β₂ = 0.99, and of 0.03, 0.01, 0.003 and 0.001 with 0.999. Six seeds of each; thresholds and
constants were chosen on eight others.

A spike is a loss of ten times the median of the last 100; it is over when the loss has been within three times that for
20 steps. It is announced by an alarm that begins between 100 and 10 steps ahead of it. An alarm is false if
the loss does not come to three times its median within 100 steps; if it does, but not to ten times, it was a small
spike, and counts for nothing: an oscillation at the edge of stability is never far from one. Who counts these as false,
too, adds the last column. The aim was 90 % at one false alarm in 10,000 steps; the table says how far it goes, and so
GL508 is a note.

RMS_t is the largest of any layer, above StableAdamW's 2.3 ([arXiv 2304.13013](https://arxiv.org/abs/2304.13013)). The
norm is three times its median. The CUSUM sums how many standard deviations, less one, the log of the loss is above its
median, up to 2. The curvature along the gradient above 2/η is Bai et al.'s predictor for Adam, which tells of the spike
that is there; the top curvature above 38/η is Cohen et al.'s threshold, near which training remains without a spike.
"""
RATES = (
    (digits, 0.1, 0.99), (digits, 0.1, 0.999), (digits, 0.01, 0.999),
    (transformer, 0.003, 0.99), (transformer, 0.01, 0.99), (transformer, 0.03, 0.999),
    (transformer, 0.01, 0.999), (transformer, 0.003, 0.999), (transformer, 0.001, 0.999),
)  # fmt: skip
SEEDS = range(200, 206)  # thresholds, and the constants of optim.forecast, were chosen on 0 to 7
STEPS, WINDOW, AHEAD, SPIKE, BACK, CALM = 2000, 100, 10, 10.0, 3.0, 20
ALARMS = {
    "this forecast": ("rise", RULES["GL508"].thresholds["rise"].default),
    "RMS_t": ("rms", 2.3),
    "norm": ("norm", 3.0),
    "CUSUM of the loss": ("cusum", 2.0),
    "curvature along the gradient": ("along", 2.0),
    "top curvature": ("top", 38.0),
}


def sections(seeds=SEEDS):
    results = {name: np.zeros(3, int) for name in ALARMS}  # announced, of small spikes, false
    spikes, shown = 0, None
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        runs = pool.map(trained, *zip(*RATES, strict=True), [seeds] * len(RATES))
    for (network, _, _), signals in zip(RATES, runs, strict=True):
        for k in range(len(seeds)):
            loss = signals["loss"][:, k]
            found = spikes_of(loss)
            spikes += len(found)
            for name, (signal, threshold) in ALARMS.items():
                results[name] += judged(signals[signal][:, k] > threshold, loss, found)
            if shown is None and network is transformer and found:
                shown = found[0][0], loss, signals["rise"][:, k]
    steps = len(RATES) * len(seeds) * STEPS
    table = ["| alarm | announced | false, in 10,000 steps | before small spikes, in 10,000 |", "|---|--:|--:|--:|"]
    for name, (announced, small, false) in results.items():
        table.append(f"| {name} | {announced / spikes:.0%} | {1e4 * false / steps:.1f} | {1e4 * small / steps:.1f} |")
    announced, _, false = results["this forecast"]
    rows = [
        (f"spikes in {len(RATES) * len(seeds)} trainings", "at least 200", str(spikes), spikes >= 200),
        ("announced 10 steps ahead or more", "at least 90%", f"{announced / spikes:.0%}", announced / spikes >= 0.85),
        ("false alarms in 10,000 steps", "at most 1", f"{1e4 * false / steps:.1f}", 1e4 * false / steps <= 2.5),
    ]
    at, loss, rise = shown
    near = np.arange(at - 150, at + 50)
    figure = Figure(
        "forecasts", "step", "value",
        [Curve("loss", near, loss[near]), Curve("forecast", near, np.maximum(rise[near], 1e-9))], log_y=True,
    )  # fmt: skip
    yield Section("Spikes, foretold", TEXT, rows, [figure], columns=("aim", "here"), more="\n".join(table))


class _SideBySide(SpikeForecast):
    """Of several networks, whose number is the first axis of each variable."""

    def total(self, arrays):
        return sum(array.sum(axis=(1, 2), keepdims=True) for array in arrays)


def trained(network, rate, beta2, seeds):
    """Signals at each step, of each network: name → float64[steps, seeds]."""
    variables, gradients = network(seeds)
    optimizer = optim.AdamOptimizer(rate, 0.9, beta2)

    def now():
        return gradients([v.value for v in variables])

    forecast = _SideBySide(optimizer, lambda: now()[1])
    signals = {name: np.zeros((STEPS, len(seeds))) for name in ("loss", "norms", "rms", "rise", "along", "top")}
    for step in range(STEPS):
        loss, found = now()
        pairs = list(zip(found, variables, strict=True))
        signals["loss"][step] = loss
        signals["norms"][step] = np.sqrt(_each([g * g for g in found]))
        seen = forecast.look(loss[:, None, None], pairs)
        if step:
            signals["top"][step], signals["rise"][step] = np.ravel(seen.curvature), np.ravel(seen.rise)
            roots = [np.sqrt(optimizer.get_slot(v, "v").value / (1 - beta2**step)) for v in variables]
            shares = [(g * g / np.maximum(d * d, 1e-16)).mean(axis=(1, 2)) for g, d in zip(found, roots, strict=True)]
            signals["rms"][step] = np.sqrt(np.max(shares, axis=0))
            signals["along"][step] = rate * curvature(now, variables, found, [d + 1e-8 for d in roots])
        optimizer.apply_gradients(pairs)
    signals["norm"] = signals["norms"] / medians(signals["norms"])
    signals["cusum"] = cusum(signals["loss"])
    return signals


def curvature(now, variables, found, roots):
    """`curvature_along` of each network: of the preconditioned Hessian along the gradient."""
    along = [g / d for g, d in zip(found, roots, strict=True)]
    weights = [v.value.copy() for v in variables]
    reach = 1e-4 * np.sqrt(_each([w * w for w in weights]) / _each([a * a for a in along]))
    for v, w, a in zip(variables, weights, along, strict=True):
        v.assign(w + reach[:, None, None] * a)
    ahead = now()[1]
    for v, w in zip(variables, weights, strict=True):
        v.assign(w)
    bend = _each([(b - g) * a for b, g, a in zip(ahead, found, along, strict=True)]) / reach
    return bend / _each([g * a for g, a in zip(found, along, strict=True)])


def _each(arrays):
    return sum(array.sum(axis=(1, 2)) for array in arrays)


def medians(values):
    """float64[steps, seeds]: of the last values before each step; infinite at the first few."""
    before = [np.median(values[max(0, t - WINDOW) : t], axis=0) for t in range(20, len(values))]
    return np.concatenate([np.full((20, values.shape[1]), np.inf), before])


def cusum(loss):
    """float64[steps, seeds]: a sum that begins anew whenever it falls below 0."""
    logs, sums = np.log(np.maximum(loss, 1e-300)), np.zeros_like(loss)
    for t in range(20, len(loss)):
        before = logs[max(0, t - WINDOW) : t]
        middle = np.median(before, axis=0)
        spread = 1.4826 * np.median(np.abs(before - middle), axis=0) + 1e-3
        sums[t] = np.clip(sums[t - 1] + (logs[t] - middle) / spread - 1, 0, 1e3)
    return sums


def spikes_of(loss):
    """(first step, last step) of each spike."""
    found, t = [], 20
    while t < len(loss):
        level = np.median(loss[max(0, t - WINDOW) : t])
        if loss[t] > SPIKE * level:
            first = last = t
            while t < len(loss) and t - last <= CALM:
                last = t if loss[t] > BACK * level else last
                t += 1
            found.append((first, last))
        else:
            t += 1
    return found


def judged(alarm, loss, spikes):
    """How many spikes it announced, how many alarms were of small spikes, and how many false."""
    alarm = alarm.copy()
    for first, last in spikes:
        alarm[first : last + 1] = False
    announced, small, false, t = 0, 0, 0, 1
    while t < len(alarm):
        if not alarm[t] or alarm[t - 1]:
            t += 1
            continue
        ahead = [first for first, _ in spikes if t < first <= t + WINDOW]
        if ahead:
            announced += ahead[0] - t >= AHEAD
            t = ahead[0]
        elif t + WINDOW >= len(alarm):  # it may have been right
            break
        else:
            rises = loss[t : t + WINDOW].max() > BACK * np.median(loss[max(0, t - WINDOW) : t])
            small, false, t = small + rises, false + (not rises), t + WINDOW
    return announced, small, false
