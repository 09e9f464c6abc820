"""Each console block of docs/commands is run, in the order of its page, and prints what the page shows."""

import doctest
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import documented_runs
import pytest
from helpers import ROOT

from summaries.cli import main
from summaries.cli.program import COMMANDS

PAGES = sorted((ROOT / "docs/commands").glob("*.md"))
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELL = set("|>;&$`")


def examples_of(page):
    """Every (command, output) of a page; a line that ends in a backslash goes on."""
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = re.sub(r"\\\n", "", part, count=1).partition("\n")
            yield command, output


def run(command, capsys):
    """What a command prints: in this process, or by a shell if it needs one."""
    program, *arguments = shlex.split(command)
    if program == "gradledger" and not SHELL & set(command):
        main(arguments)
        printed = capsys.readouterr()
        return without_padding(printed.out + printed.err)
    path = os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"]))
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, env=environment)
    return without_padding(done.stdout + done.stderr)


def without_padding(text):
    """Tables fill their last column with spaces, which nobody sees."""
    return re.sub(r" +$", "", text, flags=re.MULTILINE)


@pytest.mark.skipif(sys.platform == "win32", reason="the pages show names of files as other systems write them")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_shows(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    documented_runs.write("runs")
    shown = list(examples_of(page))
    assert any(command.startswith(f"gradledger {page.stem}") for command, _ in shown)
    checker = doctest.OutputChecker()
    for command, output in shown:
        printed = run(command, capsys)
        example = doctest.Example(command, output)
        if not checker.check_output(output, printed, doctest.ELLIPSIS):
            pytest.fail(f"$ {command}\n{checker.output_difference(example, printed, doctest.REPORT_NDIFF)}")


def test_every_command_has_a_page():
    names = {name for section in COMMANDS.values() for name in section}
    assert {page.stem for page in PAGES} == names


def test_a_page_is_read_as_it_stands(tmp_path):
    page = Path(tmp_path, "x.md")
    page.write_text(
        "a\n```console\n$ one \\\n  two\n1\n2\n$ three\n```\nb\n```console\n$ four\n```\n", encoding="utf-8"
    )
    assert list(examples_of(page)) == [("one   two", "1\n2\n"), ("three", ""), ("four", "")]
