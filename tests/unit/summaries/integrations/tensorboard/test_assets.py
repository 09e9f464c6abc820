"""The page's files: only listed ones are given, each with all that it needs in it."""

import re
import shutil
import subprocess
from importlib.resources import files

import pytest

from summaries.integrations.tensorboard.assets import asset

FOLDER = files("summaries.integrations.tensorboard").joinpath("page")
OWN = sorted(entry.name for entry in FOLDER.iterdir() if entry.name.endswith(".js"))


def text(name):
    return FOLDER.joinpath(name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name", ["", "..", "wall.js", "table.css", "../html.py", "/etc/passwd", "audit/main.js", "plugin.py", "a\0b"]
)
def test_nothing_else_is_given(name):
    with pytest.raises(LookupError, match="there is no file"):
        asset(name)


@pytest.mark.parametrize(("name", "exported"), [("plugin.js", "render, begin"), ("alone.js", "")])
def test_a_script_has_all_that_it_needs_in_it(name, exported):
    kind, content = asset(name)
    script = content.decode()
    assert kind == "text/javascript; charset=utf-8"
    assert re.findall("^import .*|^export .*", script, re.MULTILINE) == [
        f"export const {{ {exported} }} = $integrations_tensorboard_page_{name.removesuffix('.js')};"
    ]
    assert "import.meta.url" in script  # data and styles are beside it, whatever document it is in
    assert "document.baseURI" not in script
    if node := shutil.which("node"):  # without it, Chromium parses it in tests/browser
        command = [node, "--input-type=module", "--check"]
        done = subprocess.run(command, input=script, text=True, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_styles_are_in_the_order_in_which_later_ones_win():
    kind, content = asset("plugin.css")
    styles = content.decode()
    assert kind == "text/css; charset=utf-8"
    first = [styles.index(part) for part in (".uplot", ":root", ".wall", ".runs-plot")]
    assert first == sorted(first)


@pytest.mark.parametrize("name", OWN)
def test_modules_make_no_markup(name):
    assert text(name).startswith("// ")
    assert max(map(len, text(name).split("\n"))) <= 120
    made = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|\bon\w+="
    assert re.findall(made, text(name)) == []


def test_only_our_own_pages_of_rules_are_parsed_as_markup():
    assert [name for name in OWN if "DOMParser" in text(name)] == ["findings_page.js"]
