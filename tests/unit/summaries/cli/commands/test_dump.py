"""gradledger dump: lines and JSON lines, and what is quiet."""

import json
import os
import subprocess
import sys

import pytest
from event_data.odd_runs import NAME, ODD_RUNS, WHOLE
from helpers import ROOT

from summaries.cli import main


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    return tmp_path / NAME


@pytest.mark.usefixtures("utc")
def test_lines(file, capsys):
    file.write_bytes(ODD_RUNS["damaged"])
    assert main(["dump", NAME]) == 1
    assert capsys.readouterr().out.splitlines() == [
        NAME,
        "         0  2023-11-14 22:13:20.000  file_version brain.Event:2",
        "        40  2023-11-14 22:13:20.000  step 0  loss  3.0",
        "        80  2023-11-14 22:13:21.000  step 1  loss  2.0",
        "       122  damaged payload: data checksum mismatch: got 0xee8d34af, want 0xf19650da (42 bytes)",
        "       164  2023-11-14 22:13:24.000  step 4  loss  1.0",
    ]


def test_other_kinds_in_a_line_each(file, capsys):
    file.write_bytes(ODD_RUNS["other kinds"])
    assert main(["dump", NAME]) == 0
    told = [line[37:] for line in capsys.readouterr().out.splitlines()[2:]]
    assert told == [
        r"step 0  notes/text_summary  'first line\nsecond \x1b[31mline'",
        "step 0  weights  histogram count=9 buckets=313 min=0 max=8",
        "step 0  grid  tensor dtype=float64 shape=[3, 4] value=[0, 1, 2, 3, 4, 5] left_out=6",
        "step 0  tone  audio 244 bytes",
        "graph_def bytes=2",
    ]


def test_no_tag_matches(file, capsys):
    file.write_bytes(WHOLE)
    assert main(["dump", NAME, "--tags", "los", "--tags", "x"]) == 2
    assert capsys.readouterr() == ("", "gradledger: no tag matches 'los' or 'x'\n")


def test_json_lines(file, capsys):
    file.write_bytes(ODD_RUNS["damaged"])
    assert main(["dump", NAME, "--json"]) == 1
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one.get("fault") for one in found] == [None, None, None, "damaged payload", None]
    assert [one["offset"] for one in found] == [0, 40, 80, 122, 164]


def test_several_files_are_told_apart(file, capsys):
    file.write_bytes(WHOLE)
    assert main(["dump", NAME, NAME, "--tags", "lo*"]) == 0
    assert capsys.readouterr().out.splitlines().count(NAME) == 2
    main(["dump", NAME, NAME])
    assert capsys.readouterr().out.splitlines().count(NAME) == 2


def test_colours_only_where_they_are_wanted(file, capsys, monkeypatch):
    file.write_bytes(WHOLE)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    main(["dump", NAME])
    assert "\x1b[36mloss\x1b[0m" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    main(["dump", NAME])
    assert "\x1b[36m" not in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of a shell")
def test_a_reader_that_goes_away_is_quiet(file):
    file.write_bytes(WHOLE * 20_000)
    command = f"'{sys.executable}' -m summaries dump {NAME} | head -2"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True, env=environment)
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr == ""
