"""The configuration: what it changes, and what it refuses, word for word."""

import math
from dataclasses import FrozenInstanceError

import pytest

from summaries import Severity, SummaryWriter, audit
from summaries.auditing.config import Config, ConfigError, as_config, from_table, load
from summaries.auditing.rules import RULES
from summaries.cli import main

WRONG = [
    ({"selct": []}, "unknown key 'selct'; did you mean 'select'?"),
    ({"select": "GL4"}, "select must be a list of strings, got 'GL4'"),
    ({"select": ["GL44"]}, "select: unknown code 'GL44'; did you mean 'GL404'?"),
    ({"select": ["GL39"]}, "select: unknown code 'GL39'; did you mean 'GL3"),  # of its family
    ({"ignore": ["GL206", "GL999"]}, "ignore: unknown code 'GL999'; did you mean"),
    ({"ignore": [""]}, "ignore: unknown code ''; there are GL101, GL102, "),
    ({"fail-on": "fatal"}, "fail-on must be one of \"error\", \"warning\", \"info\", \"never\", got 'fatal'"),
    ({"severity": {"GL404": "bad"}}, "severity.GL404 must be one of \"error\", \"warning\", \"info\", got 'bad'"),
    ({"thresholds": {"GL404": {"fracton": 1}}},
     "thresholds.GL404: unknown threshold 'fracton'; did you mean 'fraction'?"),
    ({"thresholds": {"GL404": {"fraction": "1"}}}, "thresholds.GL404.fraction must be a number from 0 to 1, got '1'"),
    ({"thresholds": {"GL404": {"fraction": True}}}, "thresholds.GL404.fraction must be a number from 0 to 1, got True"),
    ({"thresholds": {"GL404": {"fraction": 1.5}}}, "thresholds.GL404.fraction must be a number from 0 to 1, got 1.5"),
    ({"thresholds": {"GL504": {"jump": 0}}}, "thresholds.GL504.jump must be a number above 1, got 0"),
    ({"thresholds": {"GL504": {"jump": 1.0}}}, "thresholds.GL504.jump must be a number above 1, got 1.0"),
    ({"thresholds": {"GL504": {"jump": math.nan}}}, "thresholds.GL504.jump must be a number above 1, got nan"),
    ({"thresholds": {"GL504": {"jump": math.inf}}}, "thresholds.GL504.jump must be a number above 1, got inf"),
    ({"thresholds": {"GL504": {"jump": 10**400}}}, "thresholds.GL504.jump must be a number above 1, got 1000"),
    ({"thresholds": {"GL504": {"jump": None}}}, "thresholds.GL504.jump must be a number above 1, got None"),
    ({"thresholds": {"GL504": {"jump": [2]}}}, "thresholds.GL504.jump must be a number above 1, got [2]"),
    ({"thresholds": {"GL504": {"min_points": 0}}},
     "thresholds.GL504.min_points must be a whole number of at least 1, got 0"),
    ({"thresholds": {"GL305": {"min_points": -1}}},
     "thresholds.GL305.min_points must be a whole number of at least 3, got -1"),
    ({"thresholds": {"GL504": {"min_points": 2.5}}},
     "thresholds.GL504.min_points must be a whole number of at least 1, got 2.5"),
    ({"thresholds": {"GL203": {"tolerance_secs": -1}}},
     "thresholds.GL203.tolerance_secs must be a number of at least 0, got -1"),
    ({"thresholds": []}, "thresholds must be a table, got []"),
    ({"severity": []}, "severity must be a table, got []"),
    ({"severity": {"GL40": "error"}}, "severity: unknown code 'GL40'; did you mean"),
    ({"select": ["GL404", 5]}, "select must be a list of strings, got ['GL404', 5]"),
    ({"select": [""]}, "select: unknown code ''; there are GL101, GL102, "),
    ({"fail-on": ["error"]}, "fail-on must be one of \"error\", \"warning\", \"info\", \"never\", got ['error']"),
    ({"ranks": "("}, "ranks: '(' is not a regular expression: missing ), unterminated subpattern at position 0"),
    ({"ranks": 3}, "ranks must be a regular expression, got 3"),
    ({"tags": {"loss": ["a{99999999999}"]}}, "tags.loss: 'a{99999999999}' is not a regular expression: "),
    ("select", "it must be a table, got 'select'"),
    ({"thresholds": {"GL404": 1}}, "thresholds.GL404 must be a table, got 1"),
    ({"thresholds": {"GL502": {"x": 1}}}, "thresholds.GL502: unknown threshold 'x'; there are none"),
    ({"per-run-ignores": {"a": "GL4"}}, "per-run-ignores.\"a\" must be a list of strings, got 'GL4'"),
    ({"per-run-ignores": {"a": ["XX"]}}, 'per-run-ignores."a": unknown code \'XX\'; there are GL101, '),
    ({"tags": {"los": ["x"]}}, "tags: unknown role 'los'; did you mean 'loss'?"),
    ({"tags": {"loss": ["("]}},
     "tags.loss: '(' is not a regular expression: missing ), unterminated subpattern at position 0"),
]  # fmt: skip


@pytest.mark.parametrize(("table", "message"), WRONG, ids=str)
def test_refused(table, message):
    with pytest.raises(ConfigError) as raised:
        from_table(table)
    assert str(raised.value).startswith(message)


def test_read():
    table = {
        "select": ["GL4"], "ignore": ["GL405"], "fail-on": "never", "severity": {"GL404": "error"},
        "thresholds": {"GL404": {"fraction": 0.5}}, "per-run-ignores": {"debug/*": ["GL404"]},
        "tags": {"loss": ["objective"], "other": ["noise"]},
    }  # fmt: skip
    config = from_table(table)
    assert config.codes("a") == ["GL401", "GL402", "GL403", "GL404", "GL406", "GL407", "GL408"]
    assert "GL404" not in config.codes("debug/1")
    assert vars(config.limits("GL404")) == {"fraction": 0.5, "min_points": 100, "min_shares": 20}
    assert not config.fails(Severity.ERROR)
    assert config.tags == (("loss", "objective"), ("", "noise"))


FOURS = ["GL401", "GL402", "GL403", "GL404", "GL405", "GL406", "GL407", "GL408"]
SELECTIONS = [  # as in ruff: the longer prefix decides, and of equal ones ignore
    ([], [], []),
    (["ALL"], [], list(RULES)),
    (["GL"], ["ALL"], list(RULES)),
    (["G"], ["ALL"], list(RULES)),
    (["ALL"], ["G"], []),
    (["G"], ["GL"], []),
    (["GL404", "G"], ["GL4"], [code for code in RULES if code == "GL404" or not code.startswith("GL4")]),
    (["ALL"], ["ALL"], []),
    (["ALL"], ["GL1", "GL2", "GL3", "GL5", "GL6", "GL7"], FOURS),
    (["GL4"], [], FOURS),
    (["GL4"], ["GL4"], []),
    (["GL4"], ["GL40"], []),
    (["GL4"], ["GL404"], [code for code in FOURS if code != "GL404"]),
    (["GL404"], ["GL4"], ["GL404"]),
    (["gl404", " GL102 "], [], ["GL102", "GL404"]),
    (("GL404",), ("GL404",), []),
]


@pytest.mark.parametrize(("select", "ignore", "codes"), SELECTIONS, ids=str)
def test_selection(select, ignore, codes):
    assert from_table({"select": select, "ignore": ignore}).codes("a") == codes


def test_ignored_in_a_run_however_it_was_selected():
    config = Config(select=("GL404",), per_run_ignores={"debug/*": ("GL4",)})
    assert (config.codes("debug/1"), config.codes("a")) == ([], ["GL404"])


def test_without():
    config = Config(select=("GL40",), ignore=("GL405",)).without(["gl404", "GL401"])
    assert config.codes("a") == ["GL402", "GL403", "GL406", "GL407", "GL408"]


def test_what_an_argument_stands_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.toml").write_text('[tool.gradledger.audit]\nselect = ["GL4"]\n')
    config = Config(select=("GL4",))
    for argument in (config, {"select": ["GL4"]}, "a.toml", tmp_path / "a.toml"):
        assert as_config(argument) == config
    assert as_config(None) == as_config({}) == Config()
    with pytest.raises(TypeError) as raised:
        as_config(5)
    assert str(raised.value) == "config must be a Config, a dict of its keys, a TOML file or None, got int: 5"
    with pytest.raises(ConfigError) as wrong:
        audit(tmp_path, {"per_run_ignores": {}})
    assert str(wrong.value) == "unknown key 'per_run_ignores'; did you mean 'per-run-ignores'?"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"select": "GL4"}, "select must be a list of strings, got 'GL4'"),
        ({"fail_on": "bad"}, 'fail-on must be one of "error", "warning", "info", "never", got \'bad\''),
        ({"severity": {"GL404": 5}}, 'severity.GL404 must be one of "error", "warning", "info", got 5'),
        ({"thresholds": {"GL404": {"fraction": 2}}}, "thresholds.GL404.fraction must be a number from 0 to 1, got 2"),
    ],
)
def test_a_config_made_in_python_is_held_to_the_same(arguments, message):
    with pytest.raises(ConfigError) as raised:
        Config(**arguments)
    assert str(raised.value) == message
    assert Config(tags=[["loss", "fizz"]]).tags == (("loss", "fizz"),)  # what is kept for them has them as a key
    assert Config(fail_on="warning").fail_on is Severity.WARNING
    assert Config(fail_on="never").fail_on is None


@pytest.mark.parametrize(
    ("fail_on", "failing"),
    [(Severity.ERROR, {"ERROR"}),
     (Severity.WARNING, {"ERROR", "WARNING"}), (Severity.INFO, {"ERROR", "WARNING", "INFO"}),
     (None, set())],
)  # fmt: skip
def test_fail_on(fail_on, failing):
    config = Config(fail_on=fail_on)
    assert {severity.name for severity in Severity if config.fails(severity)} == failing
    assert not config.fails(None)


def test_a_config_cannot_be_changed_once_it_was_checked():
    config = Config()
    with pytest.raises(FrozenInstanceError):
        config.select = ("GL999",)
    assert config == Config()


def test_the_nearest_pyproject_that_has_a_table(tmp_path, monkeypatch):
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.gradledger.audit]\nignore = ["GL3"]\n')
    (tmp_path / "a/pyproject.toml").write_text("[project]\nname = 'x'\n")
    monkeypatch.chdir(tmp_path / "a/b")
    assert load().ignore == ("GL3",)
    (tmp_path / "a/b/pyproject.toml").write_text("[tool.gradledger.audit]\n")
    assert load().ignore == ()


def test_from_python_no_file_is_read_unless_it_is_given(tmp_path, monkeypatch, capsys):
    """The command line finds the nearest pyproject.toml; `audit` takes the defaults."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[tool.gradledger.audit]\nignore = ["GL3"]\n')
    with SummaryWriter(tmp_path / "run") as writer:
        for step in range(100):
            writer.add_scalar("loss", 2.3 + 0.01 * (step % 3), step)
    assert [finding.code for finding in audit("run").findings] == ["GL303"]
    assert audit("run", "pyproject.toml").findings == ()
    assert main(["audit", "run", "--fail-on", "warning"]) == 0
    (tmp_path / "pyproject.toml").write_text("not TOML")
    assert len(audit("run").findings) == 1
    assert main(["audit", "run"]) == 2
    assert "pyproject.toml: " in capsys.readouterr().err


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "audit.toml"
    path.write_text("[tool.gradledger.audit]\nfailon = 1\n")
    with pytest.raises(ConfigError) as raised:
        load(path)
    assert str(raised.value) == f"{path}: [tool.gradledger.audit] unknown key 'failon'; did you mean 'fail-on'?"
    path.write_text("[tool]\n")
    with pytest.raises(ConfigError, match=r"no table \[tool.gradledger.audit\]"):
        load(path)
    path.write_text("[tool")
    with pytest.raises(ConfigError, match=r"audit\.toml: "):
        load(path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nowhere.toml")


FILES = {
    b'\xef\xbb\xbf[tool.gradledger.audit]\r\nselect = ["GL4"]\r\n': None,
    b"# caf\xe9\n": "must be UTF-8, got byte 0xe9 at offset 5",
    b"\xff\xfe[\x00": "must be UTF-8, got byte 0xff at offset 0",
    b"[tool.gradledger.adit]\n": "[tool.gradledger]: unknown table 'adit'; did you mean 'audit'?",
    b"[tool.gradledger]\naudit = 5\n": "[tool.gradledger.audit] it must be a table, got 5",
    b"[tool.gradledger]\n": "no table [tool.gradledger.audit]",
    b"tool = 5\n": "no table [tool.gradledger.audit]",
    b"a = " + b"[" * 100_000: "",
    b"a = " + b"1" * 5_000: "Exceeds the limit",
    b"": "no table [tool.gradledger.audit]",
}


@pytest.mark.parametrize(("data", "message"), FILES.items(), ids=[str(data[:24]) for data in FILES])
def test_odd_files(tmp_path, data, message):
    path = tmp_path / "audit.toml"
    path.write_bytes(data)
    if message is None:
        assert load(path).select == ("GL4",)
        return
    with pytest.raises(ConfigError) as raised:
        load(path)
    assert str(raised.value).startswith(f"{path}: {message}")


def test_what_it_changes(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(200):
            writer.add_scalar("objective", 2.3 + 0.01 * (step % 3), step)
            writer.add_scalar("gradients/clipped", step % 10 < 6, step)

    def codes(**table):
        return [(f.code, f.severity.name) for f in audit(tmp_path, from_table(table)).findings]

    assert codes() == [("GL303", "WARNING")]
    assert codes(tags={"other": ["objective"]}) == []
    assert codes(ignore=["GL3"]) == codes(select=["GL4"]) == codes(**{"per-run-ignores": {".": ["GL303"]}}) == []
    assert codes(severity={"GL303": "error"}) == [("GL303", "ERROR")]
    assert codes(select=["GL404"], thresholds={"GL404": {"fraction": 0.6}}) == [("GL404", "WARNING")]


def test_a_loss_that_diverges_is_said_once(tmp_path):
    """By the rule that says more; by the other one, where that one is not asked, or says it less severely."""
    with SummaryWriter(tmp_path) as writer:
        for step in range(200):
            writer.add_scalar("train/loss", 2.3 + 0.02 * step, step)

    def codes(**table):
        return [finding.code for finding in audit(tmp_path, from_table(table)).findings]

    assert codes() == ["GL304"]
    assert codes(select=["GL303"]) == codes(ignore=["GL304"]) == ["GL303"]
    assert codes(thresholds={"GL304": {"min_points": 1000}}) == ["GL303"]
    assert codes(severity={"GL304": "info"}) == ["GL303", "GL304"]
    assert codes(severity={"GL304": "info", "GL303": "info"}) == ["GL304"]
