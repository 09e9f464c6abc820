"""The configuration: what it changes, and what it refuses, word for word."""

import pytest

from summaries import Severity, SummaryWriter, audit
from summaries.auditing.config import Config, ConfigError, from_table, load

WRONG = [
    ({"selct": []}, "unknown key 'selct'; did you mean 'select'?"),
    ({"select": "GL4"}, "select must be a list of strings, got 'GL4'"),
    ({"select": ["GL44"]}, "select: unknown code 'GL44'; did you mean 'GL404'?"),
    ({"ignore": ["GL206", "GL999"]}, "ignore: unknown code 'GL999'; did you mean"),
    ({"ignore": [""]}, "ignore: unknown code ''; there are GL101, GL102, "),
    ({"fail-on": "fatal"}, "fail-on must be one of \"error\", \"warning\", \"info\", \"never\", got 'fatal'"),
    ({"severity": {"GL404": "bad"}}, "severity.GL404 must be one of \"error\", \"warning\", \"info\", got 'bad'"),
    ({"severity": {"GL40": "error"}}, "severity: unknown code 'GL40'; did you mean"),
    ({"thresholds": {"GL404": {"fracton": 1}}},
     "thresholds.GL404: unknown threshold 'fracton'; did you mean 'fraction'?"),
    ({"thresholds": {"GL404": {"fraction": "1"}}}, "thresholds.GL404.fraction must be a number, got '1'"),
    ({"thresholds": {"GL404": {"fraction": True}}}, "thresholds.GL404.fraction must be a number, got True"),
    ({"thresholds": {"GL404": 1}}, "thresholds.GL404 must be a table, got 1"),
    ({"thresholds": {"GL206": {"x": 1}}}, "thresholds.GL206: unknown threshold 'x'; there are none"),
    ({"per-run-ignores": {"a": "GL4"}}, "per-run-ignores.\"a\" must be a list of strings, got 'GL4'"),
    ({"per-run-ignores": {"a": ["XX"]}}, 'per-run-ignores."a": unknown code \'XX\'; there are GL101, '),
    ({"tags": {"los": ["x"]}}, "tags: unknown role 'los'; did you mean 'loss'?"),
    ({"tags": {"loss": ["("]}},
     "tags.loss: '(' is no regular expression: missing ), unterminated subpattern at position 0"),
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
    assert config.codes("a") == ["GL401", "GL402", "GL403", "GL404", "GL406", "GL407"]
    assert "GL404" not in config.codes("debug/1")
    assert config.limits("GL404") == {"fraction": 0.5, "min_points": 100, "min_shares": 20}
    assert not config.fails(Severity.ERROR)
    assert config.tags == (("loss", "objective"), ("", "noise"))


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


def test_the_nearest_pyproject_that_has_a_table(tmp_path, monkeypatch):
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.gradledger.audit]\nignore = ["GL3"]\n')
    (tmp_path / "a/pyproject.toml").write_text("[project]\nname = 'x'\n")
    monkeypatch.chdir(tmp_path / "a/b")
    assert load().ignore == ("GL3",)
    (tmp_path / "a/b/pyproject.toml").write_text("[tool.gradledger.audit]\n")
    assert load().ignore == ()


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


def test_what_it_changes(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(100):
            writer.add_scalar("objective", 2.3 + 0.01 * (step % 3), step)
            writer.add_scalar("gradients/clipped", step % 10 < 6, step)

    def codes(**table):
        return [(f.code, f.severity.name) for f in audit(tmp_path, from_table(table)).findings]

    assert codes() == [("GL303", "WARNING")]
    assert codes(tags={"other": ["objective"]}) == []
    assert codes(ignore=["GL3"]) == codes(select=["GL4"]) == codes(**{"per-run-ignores": {".": ["GL303"]}}) == []
    assert codes(severity={"GL303": "error"}) == [("GL303", "ERROR")]
    assert codes(select=["GL404"], thresholds={"GL404": {"fraction": 0.6}}) == [("GL404", "WARNING")]
