"""The exit status of every command that reads event files: of a whole run, of torn ones, and of a damaged one."""

import re
import shlex
from importlib import import_module

import pytest
from event_data.odd_runs import NAME, VERSION, event
from helpers import point

from summaries.cli import main
from summaries.cli.program import command_names
from summaries.tools.choices import TARGETS

NO_RUNS = {"rule", "demo", "completion", "clear-cache", "mcp", "serve-metrics", "top", "view"}
"""Commands that read no event files, or not before somebody looks at their page."""


def formats(command, option="format_"):
    """What a command can write."""
    parameters = import_module(f"summaries.cli.commands.{command}").command.params
    return next(one.type.choices for one in parameters if one.name == option)


# What is called → its exit status if a file is damaged. If none is, it is 0: also if files end inside a record.
# A command that is not here is called as the first example of its help shows.
TABLE = {
    "ls runs": 1,
    "ls runs --long": 1,
    "ls runs --json": 1,
    "ls runs --quick": 0,  # reads no file
    "show runs": 1,
    "show runs --json": 1,
    "diff runs runs": 0,  # the status says whether there is a difference
    "tail runs": 1,
    "dump runs/lr=0.1": 1,
    "dump runs/lr=0.1 --json": 1,
    **{f"audit runs --format {name}": 1 for name in formats("audit")},
    "audit runs --fail-on warning": 1,
    "audit runs --fail-on never": 0,
    **{f"compare runs --format {name}": 1 for name in formats("compare")},
    "clip-advice runs/lr=0.1": 1,
    "verify runs": 1,
    "verify runs --json": 1,
    "repair runs -o out": 1,
    "repair runs -o out --json": 1,
    "merge runs/lr=0.1 -o out": 1,
    "merge runs/lr=0.1 -o out --latest --json": 1,
    "rename runs loss train/loss -o out": 1,
    "drop runs --tags loss -o out": 1,
    "keep runs --tags loss -o out": 1,
    "thin runs --every 2 -o out": 1,
    "thin runs --minmax 4 -o out": 1,
    "shift runs --steps 1 -o out": 1,
    "shift runs --to-zero -o out": 1,
    "label runs/lr=0.1 good": 0,  # adds a file, and reads no other
    "note runs/lr=0.1 3 words": 0,
    "export runs -": 1,
    **{f"export runs out --format {name}": 1 for name in formats("export", "format")},
    "export runs out.csv --wide --latest": 1,
    "reduce runs -o out": 1,
    "reduce runs -o out --by all --json": 1,
    "reduce runs -o out.csv": 1,
    "reduce runs -o out.parquet": 1,
    **{f"convert runs out --to {name}": 1 for name in TARGETS if name != "events"},
}


def records(steps):
    """The records of some steps; those of a loss that falls, and of norms."""
    for step in steps:
        yield event(step, summary=point("loss", 1 / (1 + step)))
        yield event(step, summary=point("gradients/global_norm", 1.0 + step % 3))


WHOLE = [VERSION, *records(range(20))]
MORE = [VERSION, *records(range(20, 40))]
TORN = b"".join(WHOLE)[:-7]
RUNS = {
    "whole": [b"".join(WHOLE)],
    "torn": [TORN],
    "torn and resumed": [b"".join([*WHOLE, MORE[1][:5]]), b"".join(MORE), VERSION[:5]],
    "damaged": [b"".join([*WHOLE[:9], WHOLE[9][:-1], b"!", *WHOLE[10:], MORE[1][:-1]])],
}


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """name → None: write this run and a whole one below `runs`, in the current directory."""
    monkeypatch.chdir(tmp_path)

    def write(name):
        for directory, files in (("lr=0.1", RUNS[name]), ("lr=0.2", RUNS["whole"])):
            (tmp_path / "runs" / directory).mkdir(parents=True)
            for number, data in enumerate(files):
                (tmp_path / "runs" / directory / f"{NAME[:-1]}{number}").write_bytes(data)

    return write


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("line", TABLE)
def test_exit_status(line, name, runs, capsys):
    if "parquet" in line or "dataset" in line:
        pytest.importorskip("pyarrow", reason="an extra")
    runs(name)
    status = main(line.split())
    printed = "".join(capsys.readouterr())
    assert status == (TABLE[line] if name == "damaged" else 0), printed
    if name.startswith("torn") and TABLE[line] and "html" not in line:  # a page is compressed
        assert "inside a record" in printed or "unfinished" in printed


TRIED = {line.partition(" ")[0] for line in TABLE}


def test_a_command_in_the_table_reads_runs():
    assert NO_RUNS.isdisjoint(TRIED)
    assert set(command_names()) >= NO_RUNS | TRIED


@pytest.mark.parametrize("name", sorted({*command_names()} - NO_RUNS - TRIED) or ["ls"])
def test_exit_status_of_the_first_example(name, runs, capsys):
    runs("whole")
    main([name, "--help"])
    example = re.search(rf"^ +gradledger ({name}.*)$", capsys.readouterr().out, re.MULTILINE)[1]
    assert main(shlex.split(example)) == 0, f"if the example needs other runs, give TABLE a line for {name}"
