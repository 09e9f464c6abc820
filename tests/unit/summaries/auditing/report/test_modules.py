"""The page's modules: what they import comes first, and as scripts of one scope they still run."""

import re
import shutil
import subprocess
from importlib.resources import files

import pytest

from summaries.auditing.report.modules import asset, plain_scripts, reachable

PAGE = files("summaries.auditing.report").joinpath("page")
MODULES = sorted(entry.name for entry in PAGE.iterdir() if entry.name.endswith(".js"))
PLAIN = {"uplot/uPlot.iife.min.js": "uPlot"}
ENTRIES = ("main.js", "comparison.js")
DEFINED = r"^(?:async )?(?:function|const|let|class) (\w+)"


def imports(name):
    """The names that a module imports from each other one."""
    found = re.findall(r'^import \{([\w,\s]+)\} from "\./(.+)";$', asset(name), re.MULTILINE)
    return [(re.findall(r"\w+", names), imported) for names, imported in found]


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_module_comes_after_those_that_it_imports(entry):
    order = reachable(entry)
    assert order[-1] == entry
    assert len(order) == len(set(order))
    for name in order:
        for _, imported in imports(name) if name not in PLAIN else ():
            assert order.index(imported) < order.index(name)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_what_is_exported(name):
    for names, imported in imports(name):
        for wanted in names:
            if imported in PLAIN:
                assert wanted == PLAIN[imported]
            else:
                exported = rf"^export (?:async )?(?:function|const|let|class) {wanted}\b"
                assert re.search(exported, asset(imported), re.MULTILINE), (wanted, imported)


@pytest.mark.parametrize("entry", ENTRIES)
def test_nothing_of_modules_is_left_in_scripts(entry):
    for script in plain_scripts(entry):
        assert not re.search(r"^(?:import|export)\b", script, re.MULTILINE)
        assert "import.meta" not in script


@pytest.mark.parametrize("entry", ENTRIES)
def test_no_name_is_defined_twice_in_a_page(entry):
    names = [name for script in plain_scripts(entry) for name in re.findall(DEFINED, script, re.MULTILINE)]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_scripts_of_a_page_parse_as_one(entry):
    node = shutil.which("node")
    if node is None:  # without it, Chromium parses them in tests/browser
        pytest.skip("needs Node.js")
    subprocess.run([node, "--check", "-"], input="\n".join(plain_scripts(entry)), encoding="utf-8", check=True)


@pytest.mark.parametrize("name", MODULES)
def test_nothing_but_comments_is_left_out(name):
    text = asset(name)
    assert all(line.count("`") % 2 == 0 for line in text.split("\n")), "what looks like a comment may be in a text"
    (script,) = (script for at, script in zip(reachable(name), plain_scripts(name), strict=True) if at == name)
    kept = script.split("\n")
    assert not [line for line in kept if re.match(r" *(//|/\*\*.*\*/$|\*)", line)]
    for line in text.split("\n"):
        if not re.match(r" *(//|/\*\*|\* |\*/)|import |\}|$", line) and not re.fullmatch(r" +\w+,", line):
            assert line.removeprefix("export ") in kept, line


def test_line_ends_are_those_of_a_parser():
    assert "\r" not in asset("elements.js")
