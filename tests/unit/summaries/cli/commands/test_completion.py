"""What shells complete: by the words, and in real ones."""

import os
import select
import shlex
import shutil
import stat
import subprocess
import sys
import time

import click
import pytest
from click.shell_completion import ShellComplete
from event_data.odd_runs import NAME, ODD_RUNS, VERSION, WHOLE, losses, write_odd_runs
from helpers import ROOT, polls

from summaries.cli import main
from summaries.cli.commands.completion import COMPLETE
from summaries.cli.program import command_names, program

pytestmark = pytest.mark.only_on_disks(reason="shells complete paths of disks")


@pytest.fixture(autouse=True)
def _runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("lr=0.1", "lr=0.5"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / NAME).write_bytes(WHOLE + losses([1.0], "val/loss") + losses([1.0], "w[0]:1"))


def completed(*words):
    """What completes the last word."""
    shell = ShellComplete(program, {}, "gradledger", COMPLETE)
    return [item.value for item in shell.get_completions(list(words[:-1]), words[-1]) if item.type == "plain"]


CASES = {
    "commands": (["d"], ["demo", "diff", "drop", "dump"]),
    "options": (["show", "--sm"], ["--smooth"]),
    "runs": (["show", ""], ["runs/lr=0.1", "runs/lr=0.5"]),
    "a second run": (["diff", "runs/lr=0.1", "runs/lr=0.5"], ["runs/lr=0.5"]),
    "files": (["dump", "runs/lr=0.1"], [f"runs/lr=0.1/{NAME}"]),
    "tags": (["show", "runs/lr=0.1", "--tags", ""], ["loss", "val/loss", "w[0]:1"]),
    "tags of all runs below": (["show", "runs", "--tags", "v"], ["val/loss"]),
    "tags by equals": (["show", "runs", "--tags=v"], ["val/loss"]),
    "tags of nothing": (["show", "--tags", ""], []),
    "a run before labels": (["label", ""], ["runs/lr=0.1", "runs/lr=0.5"]),
    "labels": (["label", "runs/lr=0.1", ""], ["good", "bad", "none", "runs/lr=0.1", "runs/lr=0.5"]),
    "labels of several runs": (["label", "runs/lr=0.1", "runs/lr=0.5", "g"], ["good"]),
    "choices": (["ls", "--sort", "s"], ["started", "step", "size"]),
    "addresses": (["show", "s3://bucket/"], []),
}


@pytest.mark.parametrize(("words", "expected"), CASES.values(), ids=CASES)
def test_completed(words, expected):
    assert completed(*words) == expected


def test_without_runs_the_shell_completes_files():
    shell = ShellComplete(program, {}, "gradledger", COMPLETE)
    assert [(item.type, item.value) for item in shell.get_completions(["show"], "no")] == [("file", "no")]


@pytest.mark.parametrize(
    "words", [["convert"], ["convert", "a.csv"], ["export", "runs"], ["reduce", "runs", "-o"], ["audit", "--config"]]
)
def test_other_paths_are_completed_by_the_shell(words):
    shell = ShellComplete(program, {}, "gradledger", COMPLETE)
    assert [(item.type, item.value) for item in shell.get_completions(words, "no")] == [("file", "no")]


def test_odd_runs(tmp_path):
    write_odd_runs("odd")
    found = completed("show", "odd/")
    assert set(found) >= {"odd/sp ace", "odd/lr=0.1:b", "odd/-dash"}
    assert all(path.isprintable() for path in found)
    for path in [*found, "odd"]:
        assert all(tag.isprintable() for tag in completed("show", path, "--tags", ""))


def test_only_the_beginning_of_a_file_is_read(tmp_path):
    (tmp_path / "runs/lr=0.1" / NAME).write_bytes(
        VERSION + losses([1.0] * 30_000, "early") + losses([1.0], "late") + ODD_RUNS["damaged"]
    )
    assert completed("show", "runs/lr=0.1", "--tags", "") == ["early"]


RUN_ARGUMENTS = {"path", "places", "run", "runs", "logdir", "paths", "a", "b", "files"}


@pytest.mark.parametrize("name", command_names())
def test_every_command_completes_runs_and_tags(name):
    command = program.get_command(click.Context(program), name)
    for param in command.params:
        context = click.Context(command)
        if isinstance(param, click.Argument) and param.name in RUN_ARGUMENTS:
            assert param.shell_complete(context, "runs/lr"), f"{name} {param.name}"
        if param.name in ("tags", "tag"):
            context.args = ["runs"]
            assert param.shell_complete(context, "v"), f"{name} --{param.name}"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_printed(shell, capsys):
    assert main(["completion", shell]) == 0
    assert f"{COMPLETE}={shell}_complete" in capsys.readouterr().out


def test_a_fault_of_ours_is_silent(monkeypatch):
    monkeypatch.setattr("summaries.cli.arguments.candidates.head_of", lambda *_: 1 / 0)
    assert completed("show", "runs", "--tags", "") == []


TYPED = {
    "a command": ("gradledger sho\t", "gradledger show "),
    "the beginning of runs": ("gradledger ls ru\t", "gradledger ls runs/lr=0."),
    "a run": ("gradledger ls runs/lr=0.5\t", "gradledger ls runs/lr=0.5 "),
    "a run with a space": ("gradledger ls my\t", "gradledger ls my\\ run "),
    "a run in quotes": ('gradledger ls "my\t', 'gradledger ls "my run" '),
    "a tag": ("gradledger show runs/lr=0.5 --tags v\t", "gradledger show runs/lr=0.5 --tags val/loss "),
    "a tag by equals": ("gradledger show runs/lr=0.5 --tags=v\t", "gradledger show runs/lr=0.5 --tags=val/loss "),
    "a file": ("gradledger dump runs/lr=0.5/\t", f"gradledger dump runs/lr=0.5/{NAME} "),
}
SETUP = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], 'bind "set enable-bracketed-paste off"\n'),
    "zsh": (["zsh", "-f", "-i"], "autoload -Uz compinit; compinit -u -D; unset zle_bracketed_paste\n"),
}


@pytest.fixture(scope="module")
def program_on_the_path(tmp_path_factory):
    """A directory with the program `gradledger`, which is this checkout."""
    directory = tmp_path_factory.mktemp("bin")
    script = directory / "gradledger"
    root, python = shlex.quote(str(ROOT)), shlex.quote(sys.executable)
    script.write_text(f'#!/bin/sh\nPYTHONPATH={root} exec {python} -m summaries "$@"\n', encoding="utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return directory


@pytest.mark.parametrize("shell", SETUP)
@pytest.mark.skipif(sys.platform == "win32", reason="shells of other systems")
def test_in_a_real_shell(shell, program_on_the_path, tmp_path):
    """Type each line, press the tabulator, and look at what the shell makes of it."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "my run").mkdir()
    (tmp_path / "my run" / NAME).write_bytes(WHOLE)
    command, setup = SETUP[shell]
    with Terminal(command, program_on_the_path) as terminal:
        terminal.send(setup + f'eval "$(gradledger completion {shell})"\nPS1="re""ady> "\n')
        terminal.read_until("ready> ")
        for typed, expected in TYPED.values():
            terminal.send(typed)
            assert expected in terminal.read_until(expected)
            terminal.send("\x15\x03")
            terminal.read_until("ready> ")


FISH = {  # what is typed → the words that fish offers for the last one
    "gradledger sho": ["show"],
    "gradledger ls --so": ["--sort"],
    "gradledger ls runs/lr=0.5": ["runs/lr=0.5"],
    "gradledger ls my": ["my run", "my, run"],
    'gradledger ls "my ': ["my run"],
    "X=1 gradledger show my\\ run --tags ": ["loss"],
    "true | gradledger show runs/lr=0.5 --tags=v": ["--tags=val/loss"],
}


@pytest.mark.skipif(shutil.which("fish") is None or sys.platform == "win32", reason="fish is not installed")
def test_in_fish(program_on_the_path, tmp_path):
    """What fish itself says that it would offer."""
    for name in ("my run", "my, run"):
        (tmp_path / name).mkdir()
        (tmp_path / name / NAME).write_bytes(WHOLE)
    lines = "; ".join(f"complete -C $lines[{i + 1}]; echo" for i in range(len(FISH)))
    script = f"gradledger completion fish | source; set lines (string split \\n $TYPED); {lines}"
    path = f"{program_on_the_path}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HOME": str(tmp_path), "TYPED": "\n".join(FISH), "LANG": "C.UTF-8"}
    said = subprocess.run(["fish", "-c", script], env=environment, capture_output=True, text=True, check=True)
    offered = said.stdout.split("\n\n")[: len(FISH)]
    assert [[line.split("\t")[0] for line in lines.splitlines()] for lines in offered] == list(FISH.values())


class Terminal:
    """A shell in a terminal."""

    def __init__(self, command, path):
        import pty

        self._pid, self._end = pty.fork()
        if self._pid == 0:
            os.environ.update(PATH=f"{path}:{os.environ['PATH']}", TERM="dumb", COLUMNS="300", LANG="C.UTF-8", PS1="$ ")
            os.execvp(command[0], command)  # noqa: S606 - it is the shell

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.write(self._end, b"\x15exit\n")
        os.close(self._end)
        os.waitpid(self._pid, 0)

    def send(self, text):
        os.write(self._end, text.encode())

    def read_until(self, text):
        """What is printed, until it ends with this text; all of it if that does not come."""
        shown = ""
        for _ in polls():
            while select.select([self._end], [], [], 0)[0]:
                shown = plainly(shown + os.read(self._end, 1 << 16).decode(errors="ignore"))
            if text in shown:
                time.sleep(0.05)  # what follows belongs to it
                break
        return shown


def plainly(text):
    """The text as a terminal shows it, after bells and backspaces."""
    shown = []
    for character in text.replace("\a", ""):
        if character == "\b":
            shown[-1:] = []
        else:
            shown.append(character)
    return "".join(shown)
