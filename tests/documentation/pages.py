"""Runs the blocks of a page of the documentation in the order of the page, and compares what they print.

    ```python    is executed; the blocks of a page share their names. What it prints is in the ```text block after it.
    ```console   has commands after `$ `, and what each prints.
    ```sh        has commands that install, serve or make something, and are not run.

`...` stands for any text. After `<!-- shown only: REASON -->`, a block is not run; after `<!-- needs: polars -->`, only
where this module is installed; after `<!-- numbers differ -->`, numbers and curves stand for any others. Between `---`
at the beginning of a page stands what all of it needs: `needs: torch` for modules, `runs: documented` for the runs that
`runs.py` writes; pages in docs/commands have these anyway.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path

import pytest
from documentation import runs as documented_runs
from helpers import ROOT

from summaries.cli import main

DOCS = ROOT / "docs"
_UNCHECKED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]["overrides"]
FRAMEWORKS = {
    name.removesuffix(".*")
    for name in next(override["module"] for override in _UNCHECKED if "torch.*" in override["module"])
}
"""Modules of `make frameworks`: tests/frameworks runs the blocks that need one of them."""

_BLOCK = re.compile(
    r"^(?:<!-- (?:shown only: (?P<reason>.*?)|needs: (?P<needs>.*?)|(?P<differ>numbers differ)) -->\n)?"
    r"```(?P<language>[^`\n]*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_FRONT = re.compile(r"\A---\n(.*?)^---$", re.MULTILINE | re.DOTALL)
_SHELL = set("|>;&$`")
_CHECKER = doctest.OutputChecker()
_NUMBER = re.compile(r"(?<!\w)[-+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?|[▁-█]+")
_DURATION = re.compile(r"\b(\d+[dhm] )?\d+[hms]\b")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and why it is only shown, if it is."""

    language: str
    text: str
    line: int
    reason: str | None
    needs: tuple[str, ...]
    differ: bool
    follows: bool
    """Whether there is nothing between it and the block before."""


def blocks(page):
    """The blocks of a page, in order."""
    text = Path(page).read_text(encoding="utf-8")
    end = None
    for found in _BLOCK.finditer(text):
        follows = end is not None and not text[end : found.start()].strip()
        line = text.count("\n", 0, found.start("text"))
        needs = tuple((found["needs"] or "").split())
        yield Block(found["language"], found["text"], line, found["reason"], needs, bool(found["differ"]), follows)
        end = found.end()


def front_matter(page):
    """What stands between `---` at the beginning of a page: key → value."""
    found = _FRONT.match(Path(page).read_text(encoding="utf-8"))
    return dict(re.findall(r"^(\w+): *(.*)$", found[1], re.MULTILINE)) if found else {}


def commands(text):
    """Every (command, output) of a console block; a line that ends in a backslash goes on."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = re.sub(r"\\\n", "", part).partition("\n")
        yield command, output


def pages():
    """Name → path of every page but those of commands, which are tested beside their code, and of rules."""
    found = (path for path in sorted(DOCS.rglob("*.md")) if path.parent.name != "commands")
    return {path.relative_to(DOCS).as_posix(): path for path in found if not re.fullmatch(r"GL\d+", path.stem)}


def variants(page):
    """The sets of modules with which a page is run: what all of it needs, and once more for what some blocks need."""
    of_page = tuple(front_matter(page).get("needs", "").split())
    return list(dict.fromkeys((of_page, *((*of_page, *block.needs) for block in blocks(page)))))


def prepare(monkeypatch, directory):
    """Make the environment that pages are written for; the current directory is then this empty one."""
    monkeypatch.chdir(directory)
    for name, value in {"COLUMNS": "100", "NO_COLOR": "1", "TZ": "UTC", "MPLBACKEND": "agg"}.items():
        monkeypatch.setenv(name, value)
    time.tzset()


OF_EXTRAS = {"export.md": "pyarrow"}
"""Pages whose commands need what is only installed with an extra, which every environment of ours has."""


def run_variant(name, modules, elsewhere, monkeypatch, directory):
    """Run a page in this directory with its modules; skip it where one is missing, and say which target has it."""
    if missing := [module for module in modules if find_spec(module) is None]:
        pytest.skip(f"docs/{name} needs {' and '.join(missing)}, which is not installed: {elsewhere}")
    prepare(monkeypatch, directory)
    try:
        run_page(pages()[name], modules)
    except ImportError as error:
        if error.name is None or find_spec(error.name.partition(".")[0]) is not None:
            raise
        pytest.skip(f"docs/{name} needs {error.name}, which is not installed")


def run_page(page, modules=()):
    """Run a page in the current directory, but for blocks that need others than these modules.

    Raises:
        AssertionError: a block prints something else than the page shows.
    """
    if (module := OF_EXTRAS.get(Path(page).name)) is not None and find_spec(module) is None:
        pytest.skip(f"{page} needs {module}, which is not installed")
    if Path(page).parent.name == "commands" or front_matter(page).get("runs") == "documented":
        documented_runs.write("runs")
    names = {"__name__": "__main__"}
    all_blocks = list(blocks(page))
    for block, following in zip_longest(all_blocks, all_blocks[1:]):
        if block.reason is not None or not set(block.needs) <= set(modules):
            continue
        where = f"{page}:{block.line}"
        if block.language == "python":
            shown = following.text if following and following.follows and following.language == "text" else ""
            fail_if_different(where, block.text, shown, _printed(block, names, page), block.differ)
        elif block.language == "console":
            for command, output in commands(block.text):
                fail_if_different(where, f"$ {command}", output, run_command(command), block.differ)


def _printed(block, names, page):
    code = compile("\n" * block.line + block.text, page, "exec")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, names)  # noqa: S102 - our own
    return without_padding(out.getvalue())


def fail_if_different(where, source, shown, printed, differ=False):
    """Raise an AssertionError with the difference, if there is one; `...` in what is shown is any text."""
    if differ:
        alike = (_NUMBER.sub("0", _DURATION.sub("0s", text)) for text in (shown, printed))
        shown, printed = (re.sub(r" +", " ", text) for text in alike)
    example = doctest.Example(source, shown or "")
    if not _CHECKER.check_output(example.want, printed, doctest.ELLIPSIS):
        difference = _CHECKER.output_difference(example, printed, doctest.REPORT_NDIFF)
        raise AssertionError(f"{where}\n{source}\n{difference}")


def run_command(command):
    """What a command prints: in this process, or by a shell if it needs one."""
    program, *arguments = shlex.split(command)
    if program == "gradledger" and not _SHELL & set(command):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            main(arguments)
        return without_padding(out.getvalue())
    path = os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"]))
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, env=environment)
    return without_padding(done.stdout + done.stderr)


def without_padding(text):
    """Tables fill their last column with spaces, which nobody sees."""
    return re.sub(r" +$", "", text, flags=re.MULTILINE)
