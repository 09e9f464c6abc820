"""The page's files: only listed ones are given, and what they import is among them."""

import json
import posixpath
import re
import shutil
import subprocess

import pytest

from summaries.integrations.tensorboard.assets import asset, names

OWN = sorted(name for name in names() if "/" not in name and name.endswith(".js"))


def text(name):
    return asset(name)[1].decode()


@pytest.mark.parametrize(
    "name", ["", "..", "audit/", "audit/../html.py", "/etc/passwd", "audit/main.js", "plugin.py", "a\0b"]
)
def test_nothing_else_is_given(name):
    with pytest.raises(LookupError, match="there is no file"):
        asset(name)


@pytest.mark.parametrize("name", sorted(names()))
def test_a_file_and_what_it_imports(name):
    kind, content = asset(name)
    assert kind == f"text/{'css' if name.endswith('.css') else 'javascript'}; charset=utf-8"
    if not name.endswith(".js"):
        return
    imports = re.findall(r'^import \{([\w,\s]+)\} from "(\./[^"]+)";$', content.decode(), re.MULTILINE)
    for wanted, path in imports:
        imported = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
        assert imported in names()
        for one in re.findall(r"\w+", wanted):
            exported = rf"^export (?:async )?(?:function|const|let|class) {one}\b|^export {{ {one} }};"
            assert re.search(exported, text(imported), re.MULTILINE), (one, imported)
    assert len(re.findall(r"^import ", content.decode(), re.MULTILINE)) == len(imports)


def test_uplot_is_a_module_here():
    assert text("audit/uplot/uPlot.iife.min.js").endswith("\nexport { uPlot };\n")


@pytest.mark.parametrize("name", OWN)
def test_modules_make_no_markup(name):
    assert text(name).startswith("// ")
    assert max(map(len, text(name).split("\n"))) <= 120
    made = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|\bon\w+="
    assert re.findall(made, text(name)) == []


PARSE = """
const vm = require("node:vm");
const files = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
for (const [identifier, text] of Object.entries(files)) new vm.SourceTextModule(text, { identifier });
"""


def test_modules_parse():
    """All in one process, which takes longer to start than to parse."""
    if node := shutil.which("node"):  # without it, Chromium parses them in tests/browser
        files = json.dumps({name: text(name) for name in OWN})
        command = [node, "--experimental-vm-modules", "--no-warnings", "-e", PARSE]
        done = subprocess.run(command, input=files, text=True, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_only_our_own_pages_of_rules_are_parsed_as_markup():
    assert [name for name in OWN if "DOMParser" in text(name)] == ["findings_page.js"]
