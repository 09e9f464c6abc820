"""gradledger tail: lines, JSON lines, and the table that is kept up to date."""

import io
import json
import os
import re
import select
import signal
import subprocess
import sys
import time

import pytest
from event_data.odd_runs import NAME, ODD_RUNS, WHOLE, event, losses
from helpers import ROOT, polls
from rich.console import Console

from summaries import text
from summaries.cli import main
from summaries.cli.views.tailing import table
from summaries.tools.tailing import Tailed

pytestmark = pytest.mark.usefixtures("utc")

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "TZ": "UTC", "PYTHONUNBUFFERED": ""}


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / NAME).write_bytes(WHOLE)
    return tmp_path / "a" / NAME


def test_lines(run, capsys):
    assert main(["tail", "a", "-n", "2"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "2023-11-14 22:13:21.000  a  step 1  loss  2",
        "2023-11-14 22:13:22.000  a  step 2  loss  1",
    ]


def test_no_tag_matches(run, capsys):
    assert main(["tail", "a", "--tags", "los"]) == 2
    assert capsys.readouterr() == ("", "gradledger: no tag matches 'los'; there is loss\n")
    assert main(["tail", "a", "--tags", "los*", "-n", "0"]) == 0


def test_a_damaged_file_is_told_of_in_a_few_lines(run, capsys):
    run.write_bytes(event(-1) * 99 + ODD_RUNS["damaged"] * 999)
    assert main(["tail", "a"]) == 1
    told = [line.split(":")[1] for line in capsys.readouterr().err.splitlines()]
    more = f" more such faults in {os.path.join('a', NAME)}"
    assert told == [*[" step below zero"] * 5, more, *[" data checksum mismatch"] * 5, more]


def test_other_kinds(run, capsys):
    run.write_bytes(ODD_RUNS["other kinds"])
    main(["tail", "a", "--tags", "grid"])
    assert capsys.readouterr().out == "2023-11-14 22:13:20.000  a  step 0  grid  <tensor>\n"


@pytest.mark.parametrize(
    ("columns", "want"),
    [
        ("", "# A title that is rather long, and longer"),
        ("80", "# A title that is rathe…"),
        ("20", "# A title that …"),
    ],
)
def test_of_a_text_the_first_line(run, capsys, monkeypatch, columns, want):
    monkeypatch.setenv("COLUMNS", columns)
    words = "\n# A title that is rather long, and longer\n\nmore"
    run.write_bytes(event(0, summary=text("notes", words)) + event(1, summary=text("notes", " ")))
    assert main(["tail", "a"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"2023-11-14 22:13:20.000  a  step 0  notes/text_summary  {want}",
        "2023-11-14 22:13:21.000  a  step 1  notes/text_summary  <text>",
    ]


def test_a_text_that_a_terminal_would_obey(run, capsys):
    run.write_bytes(event(0, summary=text("notes", "a\x1b[31mred\rline\ntwo")))
    assert main(["tail", "a"]) == 0
    assert capsys.readouterr().out.endswith("  notes/text_summary  a\\x1b[31mred\n")


def test_a_text_that_is_none(run, capsys):
    run.write_bytes(ODD_RUNS["not what it says"])
    main(["tail", "a"])
    assert "  <text>\n" in capsys.readouterr().out


def test_json_lines(run, capsys):
    run.write_bytes(ODD_RUNS["nothing finite"])
    main(["tail", "a", "-n", "1", "--json"])
    assert json.loads(capsys.readouterr().out) == {
        "run": "a",
        "tag": "loss",
        "kind": "scalars",
        "step": 2,
        "wall_time": 1_700_000_002.0,
        "value": "-inf",
    }


def test_damage_is_told(run, capsys):
    run.write_bytes(ODD_RUNS["damaged"])
    assert main(["tail", "a"]) == 1
    assert capsys.readouterr().err.startswith("gradledger: data checksum mismatch: got ")


@pytest.mark.only_on_disks(reason="it starts a program")
@pytest.mark.skipif(sys.platform == "win32", reason="signals of other systems")
def test_follow_in_a_pipe(run):
    command = [sys.executable, "-m", "summaries", "tail", "-f", "-n", "1", "."]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
    ) as program:
        assert program.stdout.readline() == "2023-11-14 22:13:22.000  ./a  step 2  loss  1\n"
        with run.open("ab") as file:
            file.write(losses([0.5], first=3))
        assert program.stdout.readline() == "2023-11-14 22:13:23.000  ./a  step 3  loss  0.5\n"
        program.send_signal(signal.SIGINT)
        assert program.communicate() == ("", "")
    assert program.returncode == 130


@pytest.mark.only_on_disks(reason="it starts a program")
@pytest.mark.skipif(sys.platform == "win32", reason="terminals of other systems")
def test_follow_on_a_terminal(run):
    """A table, drawn anew when there is something new; Ctrl-C leaves it there, and shows the cursor again."""
    import pty

    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(ENVIRONMENT, TERM="xterm-256color", COLUMNS="80", LINES="24")
        os.execv(sys.executable, [sys.executable, "-m", "summaries", "tail", "-f", "a"])  # noqa: S606 - no shell is needed
    shown = ""
    written = interrupted = False
    for _ in polls():
        while select.select([terminal], [], [], 0)[0]:
            try:
                shown += os.read(terminal, 1 << 16).decode(errors="ignore")
            except OSError:  # Linux says so when the program has ended
                break
            if "\x1b[?25h" in shown:
                break
        if re.search(r"loss +2 ", shown) and not written:
            with run.open("ab") as file:
                file.write(losses([0.5], first=3))
            written = True
        if re.search(r"loss +3 ", shown) and not interrupted:
            os.kill(pid, signal.SIGINT)
            interrupted = True
        if "\x1b[?25h" in shown:
            break
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 130
    assert "Traceback" not in shown
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 1


def lines_of(tailed, changed=(), *, height=24, width=100):
    printing = Console(file=io.StringIO(), force_terminal=True, width=width, height=height)
    return table(printing, tailed, dict.fromkeys(changed, time.monotonic())).plain.splitlines()


def test_the_table(run):
    run.write_bytes(WHOLE + losses([1.0, 2.0], "a\nb"))
    tailed = Tailed(["a"])
    tailed.look(0)
    head, first, second = lines_of(tailed)
    assert head.split() == ["tag", "step", "value", "curve", "min", "max", "steps/s", "age"]
    assert first.split()[:7] == ["loss", "2", "1", "█▅▁", "1", "3", "1"]
    assert second.split()[:3] == [r"a\nb", "1", "2"]


def test_a_table_of_more_tags_than_lines_keeps_the_newest(run):
    run.write_bytes(b"".join(losses([1.0], f"tag{i:02}") for i in range(30)))
    tailed = Tailed(["a"])
    tailed.look(0)
    lines = lines_of(tailed, [("a", "tag25")], height=8)
    assert [line.split()[0] for line in lines[1:-1]] == ["tag00", "tag01", "tag02", "tag03", "tag25"]
    assert lines[-1] == "25 more tags: choose with --tags and --runs"


def test_a_table_without_points(run):
    run.write_bytes(ODD_RUNS["only a version"])
    tailed = Tailed(["a"], follow=True)
    tailed.look(0)
    assert lines_of(tailed) == ["waiting for points"]


@pytest.mark.parametrize("name", ODD_RUNS)
@pytest.mark.parametrize("width", [20, 80])
def test_a_table_of_any_run(name, width, run):
    run.write_bytes(ODD_RUNS[name])
    tailed = Tailed(["a"])
    tailed.look(0)
    assert lines_of(tailed, width=width)
