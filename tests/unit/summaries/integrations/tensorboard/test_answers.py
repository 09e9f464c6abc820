"""Answers: the JSON and the arrays of each address, and what is said of wrong questions."""

import json
import struct
import threading
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
import pytest
from browser.plugin_runs import LAYERS, STEPS, TIMEOUT, library_of, log_run, soon
from javascript.page_types import keys

from summaries import SummaryWriter
from summaries.auditing.config import Config
from summaries.integrations.tensorboard.answers import ANSWERS
from summaries.integrations.tensorboard.library import Library
from summaries.integrations.tensorboard.places import Place
from summaries.presenting.plots import smoothed


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    log_run(root / "bad", diverges=True)
    log_run(root / "fine", 1)
    return library_of(root)


def opened(body):
    (length,) = struct.unpack("<I", body[:4])
    start = 4 + length

    def read(place):
        kind, offset, count = place
        return np.frombuffer(body, f"<{kind}", count, start + offset)

    return json.loads(body[4:start]), read


def test_runs(library):
    answer = ANSWERS["runs"](library, {})
    json.dumps(answer, allow_nan=False)
    assert answer["order"] == ["bad", "fine"]
    assert (answer["reading"], answer["gone"], answer["failures"]) == (False, [], [])
    assert answer["memory"] == [2 * 24 * STEPS * (2 + 2 * len(LAYERS)), 1 << 30]
    rows = {row["name"]: row for row in answer["runs"]}
    assert rows["bad"]["codes"]["GL304"] == "loss-diverges"
    assert rows["fine"]["steps"] == [0, STEPS - 1]
    assert rows["fine"]["norm"]["tag"] == "gradients/global_norm"
    again = ANSWERS["runs"](library, {"since": str(answer["version"])})
    assert (again["runs"], again["order"]) == ([], None)


def test_an_answer_waits_for_a_change(tmp_path):
    log_run(tmp_path / "a", steps=3)
    library = library_of(tmp_path)
    known = ANSWERS["runs"](library, {})["version"]
    asked = {"since": str(known), "wait": "30"}
    with ThreadPoolExecutor() as pool:
        answers = pool.submit(ANSWERS["runs"], library, asked), pool.submit(ANSWERS["runs"], library, asked)
        assert not wait(answers, 0.2).done
        log_run(tmp_path / "b", steps=3)
        assert [answer.result(TIMEOUT)["order"] for answer in answers] == [["a", "b"]] * 2
    assert ANSWERS["runs"](library, {"since": "0", "wait": "30"})["version"] > known  # there is news: at once
    other = {"since": "1000000", "wait": "30"}  # of another server, which had this address before
    assert ANSWERS["runs"](library, other)["version"] < 1000


def test_an_answer_does_not_wait_for_ever(tmp_path):
    log_run(tmp_path / "a", steps=3)
    library = library_of(tmp_path)

    def is_as_before():
        before = ANSWERS["runs"](library, {})["version"]
        return ANSWERS["runs"](library, {"since": str(before), "wait": "0.1"})["version"] == before

    assert soon(is_as_before)  # what has been read is audited, which is news


def test_a_run(library):
    header, read = opened(ANSWERS["run"](library, {"run": "bad"}))
    assert "GL304" in {finding["code"] for finding in header["findings"]}
    assert header["panels"][0]["title"] == "Loss"
    curve = next(curve for curve in header["curves"] if curve["tag"] == "train/loss")
    assert len(read(curve["value"])) == STEPS  # few points are all there


def test_layers(library):
    header, read = opened(ANSWERS["layers"](library, {"run": "fine", "width": "40"}))
    assert [(kind["key"], kind["rows"]) for kind in header["kinds"]] == [("gradient_norm", 12), ("update_ratio", 12)]
    assert header["kind"] == "gradient_norm"
    assert header["rows"][0] == {"tag": f"gradients/norm/{LAYERS[0]}", "variable": LAYERS[0]}
    assert (header["steps"], header["from"], header["to"], header["width"]) == ([0, STEPS - 1], 0, STEPS - 1, 40)
    cells = read(header["cells"]).reshape(12, 40)
    assert cells[3, 20:22].max() > 10 * np.median(cells[3])  # the spike
    part, read = opened(
        ANSWERS["layers"](library, {"run": "fine", "kind": "update_ratio", "from": "100", "to": "120.5", "width": "5"})
    )
    assert (part["from"], part["to"], part["kind"]) == (100, 120.5, "update_ratio")
    assert len(read(part["cells"])) == 5 * 12


def test_a_statistic_that_the_run_does_not_have(library):
    header, _ = opened(ANSWERS["layers"](library, {"run": "fine", "kind": "weight_norm"}))
    assert header["kind"] is None
    assert "cells" not in header


def test_a_curve(library):
    query = {"run": "fine", "tag": "train/loss", "from": "100", "to": "110"}
    header, read = opened(ANSWERS["curve"](library, query))
    assert header["points"] == STEPS
    assert read(header["step"]).tolist() == list(range(99, 112))  # one more on both sides
    header, read = opened(ANSWERS["curve"](library, {"run": "fine", "tag": "train/loss", "stretches": "10"}))
    assert len(read(header["step"])) == len(read(header["value"])) <= 22


def test_curves_of_a_tag(library):
    query = {"tag": "train/loss", "runs": json.dumps(["fine", "bad"]), "from": "100", "to": "110"}
    header, read = opened(ANSWERS["curves"](library, query))
    assert [(curve["run"], curve["points"], curve["smooth"]) for curve in header["curves"]] == [
        ("fine", STEPS, None),
        ("bad", STEPS, None),
    ]
    for curve in header["curves"]:
        assert read(curve["step"]).tolist() == list(range(99, 112))  # one more on both sides
        assert read(curve["seconds"]).tolist() == list(range(99, 112))  # a step takes a second there
    one, read_one = opened(ANSWERS["curve"](library, {**query, "run": "fine"}))
    assert read_one(one["value"]).tolist() == read(header["curves"][0]["value"]).tolist()
    by_time, read_time = opened(ANSWERS["curves"](library, {**query, "x": "time", "to": "102.5"}))
    assert read_time(by_time["curves"][0]["step"]).tolist() == [99, 100, 101, 102, 103]


def test_curves_are_smoothed_before_they_are_thinned(library):
    query = {"tag": "train/loss", "runs": '["fine"]', "smooth": "0.9", "stretches": "10"}
    header, read = opened(ANSWERS["curves"](library, query))
    curve = header["curves"][0]
    every = smoothed(library.book("fine").columns.run.scalars["train/loss"].value, 0.9)
    assert read(curve["smooth"]).tolist() == every[read(curve["step"]).astype(int)].tolist()


def test_bands(library):
    groups = json.dumps({"both": ["fine", "bad"], "one": ["fine"], "none": []})
    header, read = opened(ANSWERS["bands"](library, {"tag": "train/loss", "groups": groups}))
    assert keys("answers.d.ts", "BandsHeader") == set(header)
    (both, one) = header["bands"]
    assert [(band["group"], band["runs"], band["points"]) for band in (both, one)] == [
        ("both", 2, STEPS),
        ("one", 1, STEPS),
    ]
    assert read(both["present"]).tolist() == [2] * STEPS
    values = [library.book(name).columns.run.scalars["train/loss"].value for name in ("fine", "bad")]
    assert read(both["mean"]).tolist() == pytest.approx(np.mean(values, axis=0).tolist())
    assert read(both["low"]).tolist() == pytest.approx(np.min(values, axis=0).tolist())
    assert read(both["high"]).tolist() == pytest.approx(np.max(values, axis=0).tolist())
    few, read = opened(ANSWERS["bands"](library, {"tag": "train/loss", "groups": groups, "stretches": "5"}))
    assert read(few["bands"][0]["high"]).max() == np.max(values)  # extremes are not lost


def test_tags_and_those_that_have_them(library):
    tags = dict(ANSWERS["tags"](library, {})["tags"])
    assert tags["train/loss"] == 2
    header, _ = opened(ANSWERS["curves"](library, {"tag": "other", "runs": '["fine"]'}))
    assert header == {"tag": "other", "curves": []}


def test_matrices(tmp_path):
    with SummaryWriter(tmp_path / "a") as writer:
        for step in (5, 6):
            writer.add_tensor("m", np.array([[step, np.nan], [-1.0, 2.0]]), step)
    library = library_of(tmp_path)
    assert ANSWERS["runs"](library, {})["runs"][0]["matrices"] is True
    assert ANSWERS["matrices"](library, {"run": "a"})["tags"] == [{"tag": "m", "shape": [2, 2], "steps": [5, 6]}]
    assert keys("answers.d.ts", "MatrixTag") == {"tag", "shape", "steps"}
    header, read = opened(ANSWERS["matrix"](library, {"run": "a", "tag": "m", "index": "1"}))
    assert (header["step"], header["shape"], header["size"], header["range"]) == (6, [2, 2], [2, 2], [-1, 6])
    assert np.array_equal(read(header["values"]), [6, np.nan, -1, 2], equal_nan=True)
    assert keys("answers.d.ts", "MatrixHeader") == set(header)


def test_norms_and_rules(library):
    assert ANSWERS["norms"](library, {"run": "fine"})["tag"] == "gradients/global_norm"
    assert ANSWERS["rule"](library, {"code": "GL304"})["html"].startswith("<h1>GL304")


def test_the_types_of_the_page_have_these_keys(library):
    layers, _ = opened(ANSWERS["layers"](library, {"run": "fine"}))
    curve, _ = opened(ANSWERS["curve"](library, {"run": "fine", "tag": "train/loss"}))
    curves, _ = opened(ANSWERS["curves"](library, {"runs": '["fine"]', "tag": "train/loss"}))
    written = {
        "RunsAnswer": ANSWERS["runs"](library, {}),
        "LayersHeader": layers,
        "Kind": layers["kinds"][0],
        "Variable": layers["rows"][0],
        "CurveHeader": curve,
        "CurvesHeader": curves,
        "TagsAnswer": ANSWERS["tags"](library, {}),
        "Norms": ANSWERS["norms"](library, {"run": "fine"}),
    }
    for interface, data in written.items():
        assert keys("answers.d.ts", interface) == set(data), interface


@pytest.mark.parametrize(
    ("name", "query", "error", "said"),
    [
        ("run", {}, ValueError, "the query must have run=, got nothing"),
        ("curve", {"run": "fine", "x": ""}, ValueError, "the query must have tag=, got run=, x="),
        ("curve", {"run": "fine", "tag": "x"}, LookupError, "run 'fine' has no scalars with tag 'x'"),
        ("layers", {"run": "fine", "from": "x"}, ValueError, "from must be a number, got 'x'"),
        ("layers", {"run": "fine", "to": "inf"}, ValueError, "to must be finite, got 'inf'"),
        ("layers", {"run": "fine", "width": "1.5"}, ValueError, "width must be an integer, got '1.5'"),
        ("curves", {"tag": "a", "runs": "fine"}, ValueError, "runs must be a JSON list of names, got 'fine'"),
        (
            "curves",
            {"tag": "a", "runs": "[" * 9999},
            ValueError,
            f"runs must be a JSON list of names, got '{'[' * 9999}'",
        ),
        ("curves", {"tag": "a", "runs": "[1]"}, ValueError, "runs must be a JSON list of names, got '[1]'"),
        ("bands", {"tag": "a", "groups": "[]"}, ValueError, "groups must be a JSON object of lists of names, got '[]'"),
        (
            "curves",
            {"tag": "a", "runs": "[]", "smooth": "1"},
            ValueError,
            "smooth must be at least 0 and less than 1, got 1",
        ),
        ("run", {"run": "other"}, LookupError, "there is no run 'other'"),
    ],
)
def test_wrong_questions(library, name, query, error, said):
    with pytest.raises(error) as raised:
        ANSWERS[name](library, query)
    assert raised.value.args[0] == said


@pytest.mark.parametrize("width", ["0", "-5", "1", "100000"])
def test_no_width_is_too_much(library, width):
    header, read = opened(ANSWERS["layers"](library, {"run": "fine", "width": width}))
    assert header["width"] == min(max(int(width), 1), 4096)
    assert len(read(header["cells"])) == 12 * header["width"]


def test_curves_are_there_before_the_verdict(tmp_path):
    log_run(tmp_path / "a", steps=3)
    library = Library([Place(str(tmp_path))], Config(), 1 << 30)
    judged, judge = threading.Event(), library._task

    def judge_later(files):
        library._read(files.name, files.files)
        assert judged.wait(TIMEOUT)
        return judge(files)

    library._task = judge_later
    library.start()
    assert soon(lambda: (ANSWERS["runs"](library, {})["runs"] or [{}])[0].get("steps"))
    (row,) = ANSWERS["runs"](library, {})["runs"]
    assert row == {"name": "a", "reading": True, "grown": 2, "steps": (0, 2), "seconds": 2.0}
    header, _ = opened(ANSWERS["curves"](library, {"tag": "train/loss", "runs": '["a"]'}))
    assert [curve["points"] for curve in header["curves"]] == [3]
    with pytest.raises(TimeoutError):
        library.book("a", 0.0)
    judged.set()
    assert library.book("a").report is not None
