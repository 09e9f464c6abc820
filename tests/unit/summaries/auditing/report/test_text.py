"""The report in the terminal: what it says, how it fits the width, and hostile names."""

import io

import pytest
from audits.reports import HOSTILE, curve, finding, run, small

from summaries import Report, RunReport, SummaryWriter, audit
from summaries.auditing.config import Config
from summaries.auditing.report import text
from summaries.presenting.terminal import console

NAME = "sweep/learning_rate=0.001,batch_size=128/seed=1/a_model_with_a_long_name"


def shown(report):
    file = io.StringIO()
    text.show(report, console(file))
    return file.getvalue()


def test_text():
    out = shown(small())
    assert out.splitlines()[1].split() == ["lenet/a", "b", "4", "4", "█▅▁·", "1", "error,", "1", "note"]
    assert "error   GL301 non-finite-loss  steps 71 to 99" in out
    assert out.endswith("2 runs, 1 error, 1 note; `gradledger rule CODE` explains a finding\n")
    assert shown(Report((RunReport("a", (), ()),))).endswith("1 run, nothing found\n")


def at_width(report, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    return shown(report)


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(width, monkeypatch):
    tag = "encoder/layer_11/attention/output/dense/kernel/loss"
    lines = at_width(
        small(NAME, tag, f"{tag} is nan at step 71, and stays so to the end"), width, monkeypatch
    ).splitlines()
    assert max(map(len, lines)) <= width
    if width >= 40:
        assert all(line.rstrip().endswith(("/", "=", "_")) for line in text.broken(NAME, width)[:-1])


def test_columns_are_left_out_for_the_names(monkeypatch):
    titles = {width: at_width(small(NAME), width, monkeypatch).splitlines()[0].split() for width in (40, 60, 200)}
    assert titles == {
        40: ["run", "verdict"],
        60: ["run", "loss", "global", "norm", "verdict"],
        200: ["run", "steps", "points", "loss", "global", "norm", "verdict"],
    }


def test_in_a_pipe_nothing_is_broken(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    message = "word " * 100 + "end"
    assert f"  {message}\n" in shown(small(NAME * 3, message=message))


def faulty(number, code="GL301"):
    name = f"run_{number}"
    found = finding(code, "non-finite-loss", "ERROR", name, "loss", (1, 2), f"{name} is nan")
    return run(name, [found], [curve("loss", "loss", [1.0, 2.0])])


def test_runs_in_which_nothing_was_found_are_a_count():
    out = shown(Report((faulty(1), *(RunReport(f"clean_{i}", (), ()) for i in range(30)))))
    lines = out.splitlines()
    assert lines[1].split() == ["run_1", "2", "1,000", "▁█", "1", "error"]
    assert lines[2] == "nothing found in 30 runs"
    assert "clean" not in out
    assert "run_1 is nan" in out


def test_what_is_found_in_many_runs_is_told_by_rule():
    report = Report(tuple(faulty(i) for i in range(50)))
    out = shown(report)
    assert "30 more runs with findings\n" in out
    assert out.count("GL301") == 1
    assert "  and in run_1, run_2 and 47 others\n" in out
    file = io.StringIO()
    text.show(report, console(file), fold=False)
    assert file.getvalue().count("GL301") == 50


def test_the_logger_is_named_beside_the_run():
    one = faulty(1)
    report = Report((RunReport(one.name, one.files, one.findings, one.curves, logger="Lightning", main="loss"),))
    assert "\nrun_1  (Lightning)\n" in shown(report)


def test_the_table_shows_rewards_where_there_are_some():
    rewards = RunReport("a", (), (), (curve("r", "reward", [1.0, 2.0]), curve("l", "loss", [2.0, 1.0])), main="r")
    assert "reward" in shown(Report((rewards,))).splitlines()[0]
    assert "▁█" in shown(Report((rewards,)))
    assert "loss or reward" in shown(Report((rewards, faulty(1)))).splitlines()[0]


def test_hostile_names_are_inert_in_text():
    out = shown(small(HOSTILE, HOSTILE, HOSTILE))
    assert not set(out) & {"\x1b", "\x07", "\r"}
    assert "a\\x1b[31m" in out.replace("\n", "")


def test_all_runs_are_in_the_table_if_all_is_told():
    report = Report(tuple(run(f"run{i}", (), ()) for i in range(30)))
    file = io.StringIO()
    text.show(report, console(file), fold=False)
    assert sum(line.startswith("run") for line in file.getvalue().splitlines()) == 30 + 1


def test_a_run_without_findings_says_what_was_judged(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(30):
            writer.add_scalar("train/loss", 0.9**step, step, walltime=float(step))
            writer.add_scalar("my_number", step, step, walltime=float(step))
    out = shown(audit(tmp_path, Config()))
    assert "taken for: loss train/loss\n" in out
    assert "rules not asked, for want of global norm, gradient norm, " in out
    assert "my_number" not in out
    assert out.endswith("1 run, nothing found\n")
