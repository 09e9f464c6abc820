"""Every block of every page is run, and prints what it shows; those of docs/commands are run beside their code."""

import re
import runpy
import sys
import tomllib

import pytest
from documentation import runs as documented_runs
from documentation.pages import FRAMEWORKS, blocks, commands, pages, prepare, run_page, run_variant, variants

from summaries import read_logdir

PAGES = pages()
VARIANTS = [
    (name, modules)
    for name, page in PAGES.items()
    for modules in variants(page)
    if not FRAMEWORKS.intersection(modules)
]
SHOWN_ONLY = [(name, block) for name, page in PAGES.items() for block in blocks(page) if block.reason is not None]
NOT_RUN = re.compile(r"(pip|python -m pip|npm|make|tensorboard|conda|python -m venv|dask) ")
LANGUAGES = {"console", "python", "sh", "text", "toml", "yaml"}


@pytest.mark.skipif(sys.platform == "win32", reason="the pages show names of files as other systems write them")
@pytest.mark.parametrize(
    ("name", "modules"), VARIANTS, ids=lambda value: value if isinstance(value, str) else "+".join(value)
)
def test_what_a_page_shows(name, modules, tmp_path, monkeypatch):
    run_variant(name, modules, "make stores", monkeypatch, tmp_path)


@pytest.mark.parametrize(("name", "block"), SHOWN_ONLY, ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_only_shown_is_at_least_python(name, block):
    if block.language == "python":
        compile(block.text, name, "exec")
    pytest.skip(f"docs/{name}:{block.line} is only shown: {block.reason}")


def test_the_program_that_pages_offer_writes_their_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(documented_runs.__file__, run_name="__main__")
    assert list(read_logdir("runs")) == ["lr=0.1_seed=0", "lr=0.1_seed=1", "lr=0.5_seed=0"]


@pytest.mark.parametrize("name", PAGES)
def test_no_block_is_left_out_by_its_language(name):
    for block in blocks(PAGES[name]):
        where = f"docs/{name}:{block.line}"
        assert block.language in LANGUAGES or block.language.startswith("{"), where
        if block.language == "toml":
            tomllib.loads(block.text)
        if block.language == "sh":
            assert all(NOT_RUN.match(line) for line in block.text.splitlines()), where
        if block.language == "yaml":
            shown = {command for other in blocks(PAGES[name]) for command, _ in commands(other.text)}
            assert set(re.findall(r"run: (gradledger .*)", block.text)) <= shown, where


def test_a_page_is_read_as_it_stands(tmp_path):
    page = tmp_path / "x.md"
    page.write_text(
        "---\nneeds: one two\n---\na\n```console\n$ one \\\n  two\n1\n2\n$ three\n```\nb\n<!-- shown only: why -->\n"
        "```python\nx\n```\n\n```text\ny\n```\n<!-- needs: polars -->\n```console\n$ four\n```\n",
        encoding="utf-8",
    )
    console, python, text, last = blocks(page)
    assert list(commands(console.text)) == [("one   two", "1\n2\n"), ("three", "")]
    assert (python.language, python.reason, python.line, python.follows) == ("python", "why", 14, False)
    assert (text.text, text.follows) == ("y\n", True)
    assert last.needs == ("polars",)
    assert variants(page) == [("one", "two"), ("one", "two", "polars")]


@pytest.mark.parametrize(
    ("text", "difference"),
    [
        ("```python\nprint(1)\n```\n", "+ 1"),
        ("```python\nprint(1)\n```\n```text\n2\n```\n", "- 2\n    + 1"),
        ("```python\nprint(1)\n```\n\nThen:\n\n```text\n1\n```\n", "+ 1"),
        ("```console\n$ echo 1\n```\n", "+ 1"),
        ("```console\n$ echo 1\n2...\n```\n", "- 2...\n    + 1"),
        ("<!-- numbers differ -->\n```console\n$ echo 1.5 a\n-2e3 b\n```\n", "- 0 b\n    ?   ^\n    + 0 a"),
    ],
)
def test_a_difference_fails(text, difference, tmp_path, monkeypatch):
    page = tmp_path / "x.md"
    page.write_text(text, encoding="utf-8")
    prepare(monkeypatch, tmp_path)
    with pytest.raises(AssertionError) as raised:
        run_page(page)
    assert difference in str(raised.value)
