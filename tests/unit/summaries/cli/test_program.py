"""The command line: what it prints, and its exit status."""

import os
import re
import subprocess
import sys
from importlib.metadata import version
from itertools import chain

import pytest
from helpers import run

from summaries import Event, EventFileWriter
from summaries.cli import main
from summaries.cli.program import SECTIONS, command_names, commands_by_section
from summaries.wire.records import frame

GOOD = frame(Event(step=1).SerializeToString())


@pytest.fixture
def files(tmp_path, monkeypatch):
    """One file of each kind, in the current directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/good.tfevents").write_bytes(GOOD * 2)
    (tmp_path / "runs/unfinished.tfevents").write_bytes(GOOD + GOOD[:-1])
    (tmp_path / "zeros.tfevents").write_bytes(GOOD + bytes(50))
    (tmp_path / "empty").mkdir()


GOOD_LINE = "runs/good.tfevents: 2 events, 0 faults\n"
UNFINISHED_LINES = (
    "runs/unfinished.tfevents: 1 event, 1 fault\n"
    "  the bytes end inside a record: got 17 bytes, want 18 bytes - at runs/unfinished.tfevents, record 1, offset 18"
    " (17 bytes)\n"
)
ZEROS_LINES = (
    "zeros.tfevents: 1 event, 1 fault\n"
    "  zero bytes: got 50 of them, want a record - at zeros.tfevents, record 1, offset 18 (50 bytes)\n"
)
UNFINISHED = "unfinished: 1 file, still being written or left by a killed process; no damage\n"
NO_EVENT_FILE = "gradledger: no event file (a name with 'tfevents' in it) below empty\n"

NO_EMPTY_DIRECTORIES = pytest.mark.only_on_disks(reason="a store has no empty directories")
VERIFY = [
    (["runs/good.tfevents"], 0, GOOD_LINE, ""),
    (["runs"], 0, GOOD_LINE + UNFINISHED_LINES + "2 files, none of them damaged\n" + UNFINISHED, ""),
    (["zeros.tfevents"], 1, ZEROS_LINES, ""),
    (
        ["zeros.tfevents", "runs"],
        1,
        f"{ZEROS_LINES}{GOOD_LINE}{UNFINISHED_LINES}3 files, 1 of them damaged\n{UNFINISHED}",
        "",
    ),
    pytest.param(["empty"], 2, "", NO_EVENT_FILE, marks=NO_EMPTY_DIRECTORIES),
    (["nowhere"], 2, "", "gradledger: no such file or directory: nowhere\n"),
    pytest.param(["zeros.tfevents", "empty"], 2, ZEROS_LINES, NO_EVENT_FILE, marks=NO_EMPTY_DIRECTORIES),
]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("paths", "status", "out", "err"), VERIFY)
def test_verify(capsys, paths, status, out, err):
    assert main(["verify", *paths]) == status
    assert capsys.readouterr() == (out, err)


@pytest.mark.parametrize(
    ("arguments", "usage", "error"),
    [
        (["unheard-of"], "gradledger [OPTIONS] COMMAND [ARGS]...", "No such command 'unheard-of'."),
        (["veryfi"], "gradledger [OPTIONS] COMMAND [ARGS]...", "No such command 'veryfi'. Did you mean 'verify'?"),
        (["verify"], "gradledger verify [OPTIONS] PATHS...", "Missing argument 'PATHS...'."),
        (["verify", "--x", "a"], "gradledger verify [OPTIONS] PATHS...", "No such option"),
    ],
    ids=str,
)
def test_wrong_usage(capsys, arguments, usage, error):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"Usage: {usage}\nTry '{usage.partition(' [')[0]} -")  # -h or --help: as click has it
    assert err.splitlines()[-1].startswith(f"Error: {error}")


@pytest.mark.skipif(version("click") < "8.2", reason="click prints the help to standard output, with status 0")
def test_help_names_every_command(capsys):
    assert main([]) == main(["--help"]) + 2
    captured = capsys.readouterr()
    assert captured.out == captured.err
    for name, text in chain.from_iterable(section.items() for section in commands_by_section().values()):
        assert re.search(rf"^  {name} +{re.escape(text)}$", captured.out, re.MULTILINE)


@pytest.mark.parametrize("name", command_names())
def test_every_command_explains_itself(name, capsys):
    assert main([name, "--help"]) == 0
    help_ = capsys.readouterr().out
    assert help_.startswith(f"Usage: gradledger {name} ")
    assert f"\n    gradledger {name}" in help_[help_.index("Examples:") :]


def test_a_command_is_in_a_section():
    sections = commands_by_section()
    assert tuple(sections) == SECTIONS
    assert sorted(chain.from_iterable(sections.values())) == sorted(command_names())


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"gradledger {version('gradledger')}\n"


def test_as_a_program(tmp_path):
    path = tmp_path / "a.tfevents"
    path.write_bytes(GOOD)
    assert run("-m", "summaries", "verify", path) == f"{path}: 1 event, 0 faults\n"
    run("-m", "summaries", "verify", tmp_path / "nowhere", status=2)


def test_a_name_that_is_no_unicode_text(tmp_path):
    path = bytes(tmp_path) + b"/\xff.tfevents"
    try:
        with open(path, "wb") as file:
            file.write(GOOD)
    except OSError:
        pytest.skip("this file system has no such names")
    strict = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}  # as in most terminals
    assert "1 event, 0 faults" in run("-m", "summaries", "verify", tmp_path, env=strict)


def test_verify_looks_at_the_other_paths(tmp_path, capsys):
    path = tmp_path / "a.tfevents"
    path.write_bytes(GOOD)
    assert main(["verify", str(tmp_path / "missing"), str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == f"{path}: 1 event, 0 faults\n"
    assert err.startswith("gradledger: ")
    assert "missing" in err


def test_advice_finds_the_norms_of_others(tmp_path, capsys):
    with EventFileWriter(tmp_path) as writer:
        for step in range(20):
            writer.add_scalar("train/loss", 1.0, step)
            writer.add_scalar("train/grad_norm", 1.0 + step, step)  # Hugging Face's
    assert main(["clip-advice", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("train/grad_norm: 20 steps, mean 10.5\n")


def test_json_that_is_not_whole_is_refused(capsys):
    """And not taken as text; the message leaves the value out."""
    assert main(["verify", "memory://runs", "--storage-option", 'client_kwargs={"secret": "hidden"']) == 2
    error = capsys.readouterr().err
    assert "the value of client_kwargs begins like JSON, but is not JSON: Expecting ',' delimiter" in error
    assert "hidden" not in error


def test_the_module_is_the_command():
    command = [sys.executable, "-m", "summaries.cli", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("gradledger ")


@pytest.mark.parametrize("stream", [1, 2])
def test_a_stream_that_is_closed_has_nothing_said_on_the_other(tmp_path, stream):
    """What is said of errors would be in a table that goes to standard output."""
    # Python notices streams that are closed when it starts.
    begin = f"import os, sys; os.close({stream}); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    command = [sys.executable, "-c", begin, "-m", "gradledger", "export", str(tmp_path / "missing"), "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
