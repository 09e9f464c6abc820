"""What the page is told of a report."""

from dataclasses import replace

import numpy as np
from audits.reports import START, curve, even, exploded, finding, healthy, rising, run, unpacked
from javascript.page_types import keys

from summaries.auditing.findings import RunReport
from summaries.auditing.report import payload
from summaries.auditing.report.packed import as_text
from summaries.auditing.reports import Report


def test_a_row():
    (row,) = payload.index(Report((exploded("a"),), "base"))["runs"]
    assert payload.index(Report((), "base")) == {"baseline": "base", "runs": []}
    assert row["counts"] == [2, 2, 2]
    assert row["worst"] == {
        "code": "GL301",
        "severity": "error",
        "message": "The loss is NaN from step 3750 to the end.",
    }
    assert sorted(row["codes"]) == ["GL105", "GL301", "GL302", "GL402", "GL405", "GL406"]
    assert row["steps"] == [0, 3999]
    assert row["seconds"] == 999.75
    assert row["loss"] == "NaN"


def test_the_row_of_a_run_without_points():
    (row,) = payload.index(Report((RunReport("a", (), ()),)))["runs"]
    assert row == {
        "name": "a", "counts": [0, 0, 0], "codes": {}, "failures": [], "worst": None, "steps": None, "points": 0,
        "seconds": None, "main": "", "loss": None, "spark": [], "norm": None,
    }  # fmt: skip


def test_the_loss_is_training_loss_before_validation_loss():
    curves = [curve("v", "validation_loss", [3.0]), curve("none", "loss", []), curve("t", "loss", [2.0, 1.5])]
    rows = payload.index(Report((run("a", curves=curves), run("b", curves=curves[:2]))))["runs"]
    assert [row["loss"] for row in rows] == [1.5, 3.0]


def test_the_norm_of_a_run():
    (row,) = payload.index(Report((run("a", curves=[curve("g", "global_norm", [4.0, 2.0, 3.0])]),)))["runs"]
    assert row["norm"] == {"tag": "g", "last": 3.0, "spark": [0, 0, 48, 20, 96, 10]}


def sparkline(value):
    (row,) = payload.index(Report((run("a", curves=[curve("loss", "loss", value)]),)))["runs"]
    return np.array(row["spark"]).reshape(-1, 2).tolist()


def test_sparkline():
    assert sparkline([4.0, 2.0, 3.0]) == [[0, 0], [48, 20], [96, 10]]
    assert sparkline([100.0, 1.0, 10.0]) == [[0, 0], [48, 20], [96, 10]]  # logarithmic
    assert sparkline([1.0, np.nan, 2.0]) == [[0, 20], [48, -1], [96, 0]]
    assert sparkline([np.nan, np.inf]) == [[0, -1], [96, -1]]
    assert sparkline([5.0]) == [[0, 10]]
    assert sparkline([1e308, -1e308]) == [[0, 0], [96, 20]]
    assert len(sparkline(np.sin(np.arange(100_000)))) <= 4 * 24 + 2


def test_a_body():
    report = Report((exploded("a"), healthy("b")))
    header, read = unpacked(as_text(payload.bodies(report)[0]))
    assert header["files"] == ["a/events.out.tfevents.1.host"]
    assert header["start"] == START
    assert [one["code"] for one in header["findings"]] == ["GL301", "GL402", "GL302", "GL406", "GL405", "GL105"]
    assert header["findings"][1]["evidence"] == {"largest": 8103.0, "median": 0.497, "ratio": 16303.8}
    assert header["findings"][0]["count"] == 250
    assert header["findings"][-1]["steps"] is None
    assert header["left_out"] == 0
    assert len(header["panels"]) == 7
    for told, given in zip(header["curves"], report.runs[0].curves, strict=True):
        assert told["tag"] == given.tag
        assert told["points"] == given.points
        seconds, value = even(told["seconds"], read), read(*told["value"])
        assert np.array_equal(rising(told["step"], read), given.step)
        assert np.allclose(seconds, given.wall_time - START, rtol=0, atol=999.75 / 65535)
        assert np.array_equal(value, given.value, equal_nan=True)


def test_the_types_of_the_page_have_these_keys():
    report = Report((exploded("a"),))
    index = payload.index(report)
    header, _ = unpacked(as_text(payload.bodies(report)[0]))
    written = {
        "Index": index,
        "Row": index["runs"][0],
        "Norm": index["runs"][0]["norm"],
        "Finding": header["findings"][0],
        "Panel": header["panels"][0],
        "PackedRun": header,
        "PackedCurve": header["curves"][0],
    }
    for interface, data in written.items():
        assert keys("types.d.ts", interface) == set(data), interface


def test_many_curves_are_drawn_coarser(monkeypatch):
    monkeypatch.setattr(payload, "_POINTS", 8000)
    report = Report(tuple(healthy(f"{i}", i, layers=1) for i in range(4)))
    total, drawn = 0, {}
    for body, given in zip(payload.bodies(report), report.runs, strict=True):
        header, read = unpacked(as_text(body))
        for told, whole in zip(header["curves"], given.curves, strict=True):
            value = read(*told["value"])
            total += len(value)
            if told["role"] != "clipped_fraction":
                assert value.max() == whole.value.max()
                assert value.min() == whole.value.min()
            assert told["points"] == whole.points
            drawn[told["role"]] = len(value)
    assert total <= 8000
    assert drawn["loss"] > 3 * drawn["gradient_norm"] > 200


def test_beyond_the_budget_only_losses_of_the_best_runs(monkeypatch):
    monkeypatch.setattr(payload, "_POINTS", 0)
    monkeypatch.setattr(payload, "_MOST_POINTS", 1500)
    runs = (healthy("a", layers=1), exploded("b", layers=1), healthy("c", layers=1))
    told = [unpacked(as_text(body))[0] for body in payload.bodies(Report(runs))]
    assert [header["left_out"] for header in told] == [0, 0, 7]
    assert [one["role"] for one in told[2]["curves"]] == ["loss", "validation_loss"]


def test_zeros_and_ones_are_shares():
    whole = curve("c", "clipped", np.tile([0.0, 1.0], 330))
    averaged = curve("s", "clipped_fraction", np.full(50, 0.25))
    averaged = replace(averaged, points=10_000)  # by the audit, which had all points
    header, read = unpacked(as_text(payload.bodies(Report((run("a", curves=[whole, averaged]),)))[0]))
    values = [read(*told["value"]).tolist() for told in header["curves"]]
    assert values == [[0.5] * 33, [0.25] * 50]
    assert rising(header["curves"][0]["step"], read).tolist()[:2] == [19, 39]
    assert [panel["title"] for panel in header["panels"]] == ["Share of steps clipped", "c"]


def test_shares_are_drawn_as_they_were_logged():
    """Those of the last steps are of role `clipped_fraction`, too; a mean of them was never logged."""
    shares = np.round(np.random.default_rng(0).random(660), 2)
    header, read = unpacked(
        as_text(payload.bodies(Report((run("a", curves=[curve("s", "clipped_fraction", shares)]),)))[0])
    )
    (told,) = header["curves"]
    assert set(read(*told["value"]).tolist()) <= set(np.float32(shares).tolist()) | set(shares.tolist())


def test_numbers_of_numpy_and_beyond_json():
    odd = finding(
        "GL301", "x", "ERROR", "a", "t", (np.int64(1), np.int64(2)), "m", np.int64(3), value=np.float32("nan")
    )
    header, _ = unpacked(as_text(payload.bodies(Report((run("a", [odd]),)))[0]))
    assert header["findings"][0]["evidence"] == {"value": "NaN"}
    assert header["findings"][0]["steps"] == [1, 2]
