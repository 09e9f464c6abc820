"""gradledger ls: what is printed on a terminal, in a pipe, and as JSON."""

import json

import pytest
from event_data.odd_runs import NAME, ODD_RUNS, WHOLE

from summaries.cli import main


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Three runs of a size each, one damaged, in the directory `runs`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    for name, data in {"b": WHOLE, "a10": ODD_RUNS["damaged"], "a9": ODD_RUNS["restarts"]}.items():
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / NAME).write_bytes(data)
    return "runs"


def rows(printed):
    """The first cell of each line."""
    return [line.split()[0] for line in printed.splitlines() if line]


def test_in_a_pipe_paths_are_whole(place, capsys):
    assert main(["ls", place]) == 1
    assert rows(capsys.readouterr().out) == ["run", "runs/a9", "runs/a10", "runs/b"]


def test_on_a_terminal_names_are_short(place, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["ls", place]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["run", "a9", "a10", "b"]
    assert lines[2].endswith("206 bytes  damaged (1 fault)")
    assert lines[-1] == "3 runs in runs, 691 bytes, 1 damaged: `gradledger verify` says where"


def test_notes_are_not_counted_as_damage(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / NAME).write_bytes(ODD_RUNS["negative steps"] + ODD_RUNS["damaged"])
    assert main(["ls", str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines()[1].endswith("damaged (1 fault)")


@pytest.mark.parametrize("width", [30, 50, 80, 120])
def test_lines_fit(width, place, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    main(["ls", place])
    table = capsys.readouterr().out.split("\n\n")[0]
    assert {"run", "step", "state"} <= set(table.split("\n")[0].split())
    assert max(map(len, table.splitlines())) <= max(width, 42)  # what is never left out takes 42


def test_columns_in_a_pipe(place, capsys):
    main(["ls", place, "--long"])
    head = capsys.readouterr().out.splitlines()[0]
    assert head.split("  ")[0] == "run"
    titles = [title.strip() for title in head.split("  ") if title.strip()]
    assert titles == [
        *("run", "files", "records", "first step", "last step", "points"),
        *("tags", "started", "ended", "took", "size", "state"),
    ]


SORTS = {
    "name": ["a9", "a10", "b"],
    "size": ["b", "a10", "a9"],
    "step": ["b", "a9", "a10"],
    "ended": ["b", "a9", "a10"],
}


@pytest.mark.parametrize(("by", "names"), SORTS.items())
def test_sort(by, names, place, capsys):
    main(["ls", place, "--sort", by])
    assert rows(capsys.readouterr().out)[1:] == [f"runs/{name}" for name in names]


def test_json(place, capsys):
    assert main(["ls", place, "--runs", "a10", "--json"]) == 1
    [found] = json.loads(capsys.readouterr().out)
    assert found.pop("faults")[0]["fault"] == "damaged payload"
    assert found == {
        "run": "a10",
        "path": "runs/a10",
        "files": 1,
        "size": 206,
        "records": 4,
        "tags": {"scalars": 1},
        "points": 3,
        "steps": [0, 4],
        "wall_times": [1_700_000_000.0, 1_700_000_004.0],
        "failures": [],
        "damaged": True,
    }


def test_quick_finds_no_damage(place, capsys):
    assert main(["ls", place, "--quick"]) == 0
    assert capsys.readouterr().out.splitlines()[0].split() == ["run", "files", "size"]


def test_no_run_matches(place, capsys):
    for command in ("ls", "show", "tail"):
        assert main([command, place, "--runs", "nothing"]) == 2
        assert capsys.readouterr() == ("", "gradledger: no run matches 'nothing'; there are a9, a10 and b\n")


def test_the_current_directory(place, capsys, monkeypatch):
    monkeypatch.chdir(place)
    main(["ls"])
    assert rows(capsys.readouterr().out)[1:] == ["./a9", "./a10", "./b"]
