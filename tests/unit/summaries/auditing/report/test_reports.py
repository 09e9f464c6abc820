"""What is written: text, JSON, annotations, SARIF; and hostile names in each."""

import io
import json
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
from helpers import ROOT

from summaries import Curve, Finding, Report, RunReport, Severity
from summaries.auditing.report import text
from summaries.auditing.report.github import github
from summaries.auditing.report.json import json as as_json
from summaries.auditing.report.sarif import sarif

HOSTILE = "a\x1b[31m\r\n::error::%0A,<script>alert(1)</script>\x07\ud800"
SCHEMAS = ROOT / "tests/golden/schemas"


def report(run="lenet/a b", tag="train/loss", message="the loss is nan"):
    finding = Finding(
        "GL301", "non-finite-loss", Severity.ERROR, run, tag, (71, 99), message,
        {"points": 29, "least": float("nan"), "most": float("inf"), "first value": "nan"}, 29,
    )  # fmt: skip
    note = Finding("GL107", "no-events", Severity.INFO, run, "", None, "nothing was logged", {"file": f"{run}/x"})
    loss = np.array([4.0, 3.0, 2.0, np.nan])
    curve = Curve(tag, "loss", "", np.arange(4), np.arange(4.0), loss, 4, loss)
    return Report(
        (RunReport(run, (f"{run}/x",), (finding, note), (curve,), 4, (0, 3), (0.0, 3.0)), RunReport("b", (), ()))
    )


def shown(report):
    file = io.StringIO()
    text.show(report, text.console(file))
    return file.getvalue()


def test_text():
    out = shown(report())
    assert out.splitlines()[1].split() == ["lenet/a", "b", "4", "4", "█▅▁·", "1", "error,", "1", "note"]
    assert "error   GL301 non-finite-loss  steps 71 to 99" in out
    assert out.endswith("2 runs, 1 error, 1 note; `gradledger rule CODE` explains a finding\n")
    assert shown(Report((RunReport("a", (), ()),))).endswith("1 run, nothing found\n")


NAME = "sweep/learning_rate=0.001,batch_size=128/seed=1/a_model_with_a_long_name"


def at_width(report, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    return shown(report)


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(width, monkeypatch):
    tag = "encoder/layer_11/attention/output/dense/kernel/loss"
    lines = at_width(
        report(NAME, tag, f"{tag} is nan at step 71, and stays so to the end"), width, monkeypatch
    ).splitlines()
    assert max(map(len, lines)) <= width
    if width >= 40:
        assert all(line.rstrip().endswith(("/", "=", "_")) for line in text.broken(NAME, width)[:-1])


def test_columns_are_left_out_for_the_names(monkeypatch):
    titles = {width: at_width(report(NAME), width, monkeypatch).splitlines()[0].split() for width in (40, 60, 200)}
    assert titles == {
        40: ["run", "verdict"],
        60: ["run", "loss", "global", "norm", "verdict"],
        200: ["run", "steps", "points", "loss", "global", "norm", "verdict"],
    }


def test_in_a_pipe_nothing_is_broken(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    message = "word " * 100 + "end"
    assert f"  {message}\n" in shown(report(NAME * 3, message=message))


@pytest.mark.parametrize("width", [1, 2, 3, 7, 12, 30, 200])
@pytest.mark.parametrize("name", [NAME, "", "x" * 50, "日本語の名前/ランの" * 3, "a b  c", "/////", "e\u0301" * 20])
def test_broken(name, width):
    from rich.cells import cell_len

    lines = text.broken(name, width)
    assert "".join(lines).replace(" ", "") == name.replace(" ", "")
    assert max(map(cell_len, lines)) <= max(width, 2)


def test_hostile_names_are_inert_in_text():
    out = shown(report(HOSTILE, HOSTILE, HOSTILE))
    assert not set(out) & {"\x1b", "\x07", "\r"}
    assert "a\\x1b[31m" in out.replace("\n", "")


def test_github():
    lines = github(report("a,b", message="50% of\nthem")).splitlines()
    assert lines == [
        "::error title=GL301 non-finite-loss in a%2Cb::50%25 of\\nthem (steps 71 to 99)",
        "::notice title=GL107 no-events in a%2Cb::nothing was logged",
    ]


def test_hostile_names_are_inert_in_annotations():
    out = github(report(HOSTILE, HOSTILE, HOSTILE))
    assert len(out.splitlines()) == 2
    assert all(line.startswith(("::error title=", "::notice title=")) for line in out.splitlines())
    assert all(line.count("::") >= 2 and "%0A" not in line.replace("%250A", "") for line in out.splitlines())


@pytest.mark.parametrize("name", ["a", HOSTILE])
def test_json_is_what_its_schema_says(name):
    schema = json.loads(files("summaries.auditing").joinpath("report/report.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    value = json.loads(as_json(report(name, name, name)))
    jsonschema.validate(value, schema, jsonschema.Draft202012Validator)
    assert value["findings"][0]["evidence"] == {"points": 29, "least": "nan", "most": "inf", "first value": "nan"}
    assert value["findings"][0]["tag"] == name
    assert value["runs"][0]["worst"] == "error"
    value["findings"][0]["severity"] = "fatal"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, schema, jsonschema.Draft202012Validator)


@pytest.mark.parametrize("name", ["a", "dir/b c", HOSTILE])
def test_sarif_is_what_its_schema_says(name):
    schema = json.loads((SCHEMAS / "sarif-2.1.0-rtm.5.json").read_text())
    value = json.loads(sarif(report(name, name, name)))
    jsonschema.validate(value, schema, jsonschema.Draft4Validator)
    (run,) = value["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["GL301", "GL107"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert run["results"][0]["level"] == "error"
    assert run["results"][0]["occurrenceCount"] == 29


def test_sarif_of_nothing():
    schema = json.loads((SCHEMAS / "sarif-2.1.0-rtm.5.json").read_text())
    jsonschema.validate(json.loads(sarif(Report(()))), schema, jsonschema.Draft4Validator)


@pytest.mark.parametrize(
    ("values", "line"),
    [([], ""), ([1.0], "▁"), ([np.nan, np.nan], "··"), ([1.0, np.nan, 2.0], "▁·█"), ([5.0, 5.0], "▁▁"),
     ([-1e300, 1e300], "▁█"), ([-1.7e308, 1.7e308], "▁█"), ([1.7e308] * 16, "▁" * 16)],
)  # fmt: skip
def test_sparkline(values, line):
    assert text.sparkline(np.array(values, float)) == line


def test_without_rich(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rich.console", None)
    with pytest.raises(ImportError) as raised:
        text.console(io.StringIO())
    assert str(raised.value) == "the terminal's report needs rich: pip install 'gradledger[audit]'"
