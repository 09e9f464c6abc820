"""Every command that looks at runs takes every odd run: no traceback, no control characters, the right status."""

import json
import os

import pytest
from event_data.odd_runs import NAME, ODD_NAMES, ODD_RUNS, WHOLE, write_odd_runs
from helpers import ROOT

from summaries import read_run
from summaries.cli import main
from summaries.reading.kinds import NOUNS
from summaries.tools import verify

COMMANDS = {
    "ls": ["ls"],
    "ls --long": ["ls", "--long"],
    "ls --json": ["ls", "--json"],
    "show": ["show"],
    "show, drawn otherwise": ["show", "--log", "--smooth", "0.5", "--latest", "--full"],
    "show --json": ["show", "--json"],
    "dump": ["dump"],
    "dump --json": ["dump", "--json", "--full"],
    "tail": ["tail"],
    "tail --json": ["tail", "--json"],
    "diff": ["diff", "good"],
    "diff --json": ["diff", "--json", "good"],
}
DAMAGED = ("no event file", "zeros", "damaged", "not UTF-8", "no event")
GOLDEN = sorted(path for path in (ROOT / "tests/golden").rglob("*tfevents*") if path.is_file())
RUNS = {**ODD_RUNS, **dict.fromkeys(ODD_NAMES, WHOLE)}


@pytest.fixture
def ran(tmp_path, monkeypatch, capsys):
    """Run a command on a run; returns its status and what it printed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good").mkdir()
    (tmp_path / "good" / NAME).write_bytes(WHOLE)

    def run(command, *places):
        status = main([*command, "--", *places])
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        assert all(line.isprintable() for line in (printed.out + printed.err).split("\n"))
        return status, printed.out, printed.err

    return run


def as_json(printed):
    """What is printed as JSON: as a whole, or a value a line."""
    try:
        return json.loads(printed)
    except json.JSONDecodeError:
        return [json.loads(line) for line in printed.splitlines()]


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("width", [None, "40"])
@pytest.mark.parametrize("name", RUNS)
def test_a_run(name, width, command, ran, monkeypatch):
    monkeypatch.setenv("COLUMNS", width or "")
    os.mkdir(name)
    with open(os.path.join(name, NAME), "wb") as file:
        file.write(RUNS[name])
    status, out, err = ran(command, name)
    if command[0] == "diff":
        assert status == (int(name not in ODD_NAMES))
    else:
        assert status == int(name in DAMAGED), err
    if "--json" in command:
        as_json(out)


@pytest.mark.parametrize("name", DAMAGED)
def test_a_file_of_another_kind_is_not_called_damaged(name, ran):
    os.mkdir(name)
    with open(os.path.join(name, NAME), "wb") as file:
        file.write(RUNS[name])
    _, out, _ = ran(["ls"], name)
    state = out.splitlines()[1].split("bytes")[1].strip()
    assert (state == "no event file") == (name == "no event file")
    assert state == "no event file" or state.startswith("damaged (")


@pytest.mark.only_on_disks(reason="a link that leads nowhere")
@pytest.mark.parametrize("command", [command for command in COMMANDS.values() if command[0] in ("ls", "show", "tail")])
def test_all_of_them_with_one_that_cannot_be_read(command, ran):
    *_, unreadable = write_odd_runs("odd")
    status, _, err = ran(command, "odd")
    assert status == 2
    assert os.path.join(unreadable, NAME) in err
    assert "No such file or directory" in err


@pytest.mark.only_on_disks(reason="a link that leads nowhere")
@pytest.mark.parametrize("command", [["dump"], ["diff", "good"]])
def test_one_that_cannot_be_read(command, ran):
    *_, unreadable = write_odd_runs("odd")
    status, _, err = ran(command, unreadable)
    assert (status, err) == (2, f"gradledger: No such file or directory: '{unreadable}/{NAME}'\n")


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.relative_to(ROOT / "tests/golden").as_posix())
def test_files_of_other_writers(path, ran):
    """What the commands tell of a file is what `read_run` and `verify` find in it."""
    run = read_run(path)
    _, printed, _ = ran(["ls", "--json"], str(path))
    [listing] = as_json(printed)
    counts = {kind: {tag: len(values) for tag, values in getattr(run, kind).items()} for kind in NOUNS}
    assert listing["tags"] == {kind: len(tags) for kind, tags in counts.items() if tags}
    assert listing["points"] == sum(count for tags in counts.values() for count in tags.values())
    _, printed, _ = ran(["show", "--json"], str(path))
    told = {(one["kind"], one["tag"]): one["count"] for one in as_json(printed)[0]["tags"]}
    assert told == {(kind, tag): count for kind, tags in counts.items() for tag, count in tags.items()}
    _, printed, _ = ran(["dump", "--json"], str(path))
    assert sum("fault" not in json.loads(line) for line in printed.splitlines()) == verify(path).events
    _, printed, _ = ran(["tail", "--json", "-n", "1000000"], str(path))
    assert len(printed.splitlines()) == listing["points"]
    assert ran(["diff", str(path)], str(path))[0] == 0


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_nothing_there(command, ran):
    status, out, err = ran(command, "nowhere")
    assert (status, out, err) == (2, "", "gradledger: no such file or directory: nowhere\n")


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_no_event_file(command, ran):
    os.mkdir("bare")
    status, out, err = ran(command, "bare")
    assert (status, out) == (2, "")
    assert err.startswith("gradledger: no event file (a name with 'tfevents' in it) ")
