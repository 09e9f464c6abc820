"""The file: one document, nothing in it from elsewhere, and no data that could be taken for markup."""

import base64
import hashlib
import json
import math
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from importlib.resources import files

from audits.reports import HOSTILE_RUN, hostile, several
from helpers import ROOT, run

from summaries.auditing.comparison import Comparison
from summaries.auditing.report import comparison_page
from summaries.auditing.report.html import html
from summaries.auditing.report.modules import plain_scripts, reachable
from summaries.auditing.reports import Report

NOTHING = Comparison("loss", "final", False, (), (), (), (), (), math.nan, (), None, ())
PAGE = files("summaries.auditing.report").joinpath("page")


class Elements(HTMLParser):
    """Every element with its attributes, and the text of those that hold data or programs."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.texts = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.elements and self.elements[-1][0] in {"script", "style"} and data.strip():
            self.texts.append((*self.elements[-1], data))


def test_nothing_comes_from_elsewhere():
    elements = Elements(html(several())).elements
    loading = [(tag, name, value) for tag, attributes in elements for name, value in attributes.items()]
    loading = [one for one in loading if one[1] in {"src", "href", "srcset", "action"}]
    assert loading == [("link", "href", "data:,"), ("a", "href", "#/")]


def test_the_policy_lets_these_scripts_run_and_no_other():
    parsed = Elements(html(several()))
    (policy,) = (attrs["content"] for tag, attrs in parsed.elements if attrs.get("http-equiv"))
    allowed = {part.split()[0]: part.split()[1:] for part in policy.split("; ")}
    assert allowed["default-src"] == ["'none'"]
    for tag in ("script", "style"):
        texts = [text for name, attrs, text in parsed.texts if name == tag and "type" not in attrs]
        digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
        assert allowed[f"{tag}-src"] == [f"'sha256-{digest}'" for digest in digests]
    assert "unsafe" not in policy
    assert not [name for _, attrs in parsed.elements for name in attrs if name.startswith("on") or name == "style"]


def test_hostile_names_are_data():
    text = html(Report((hostile(),), HOSTILE_RUN))
    text.encode()  # no surrogate is left
    plain = html(several())
    assert text.count("<script") == plain.count("<script") - 4  # a block for each run, and no more
    (index,) = (data for _, attrs, data in Elements(text).texts if attrs.get("id") == "index")
    assert json.loads(index)["runs"][0]["name"] == HOSTILE_RUN
    assert json.loads(index)["baseline"] == HOSTILE_RUN


def test_the_same_report_makes_the_same_page():
    assert html(several()) == html(several())


def test_no_runs():
    assert '"runs":[]' in html(Report(()))


def test_pages_of_rules():
    pages = {"GL301": "# Title\n\n<b>bold</b> [a](javascript:x) ![p](https://example.org/p)\n\n|a|\n|-|\n|1|\n"}
    (page,) = re.findall(r'<template id="rule-GL301">(.*?)</template>', html(several(), pages=pages), re.DOTALL)
    assert page == (
        "<h1>Title</h1>\n<p>&lt;b&gt;bold&lt;/b&gt; [a](javascript:x) "
        '!<a href="https://example.org/p">p</a></p>\n'
        "<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n</tr>\n</tbody>\n</table>\n"
    )


def test_every_script_is_in_the_page():
    text = html(Report(())) + comparison_page.html(NOTHING)
    for asset in PAGE.iterdir():
        if asset.name.endswith(".css"):
            assert asset.read_text(encoding="utf-8") in text, asset.name
    for script in {*plain_scripts("main.js"), *plain_scripts("comparison.js")}:
        assert script in text
    reached = {*reachable("main.js"), *reachable("comparison.js")}
    assert {asset.name for asset in PAGE.iterdir() if asset.name.endswith(".js")} == {
        name for name in reached if "/" not in name
    }
    assert PAGE.joinpath("uplot", "LICENSE").read_text(encoding="utf-8") in text


# Parses modules, and runs none of them: one process takes as long as the first of them would.
PARSE = """
const { SourceTextModule } = require("node:vm");
const modules = JSON.parse(require("node:fs").readFileSync(0, "utf-8"));
for (const [identifier, text] of Object.entries(modules)) new SourceTextModule(text, { identifier });
"""


def test_scripts_parse_and_end_no_element():
    modules = {}
    for asset in PAGE.iterdir():
        if asset.name.endswith(".js"):
            text = asset.read_text(encoding="utf-8")
            assert "</" not in text, asset.name
            assert text.startswith("// "), asset.name
            assert max(map(len, text.split("\n"))) <= 120, asset.name
            modules[asset.name] = text
    if node := shutil.which("node"):  # without it, Chromium parses them in tests/browser
        for text in (json.dumps(modules), json.dumps({"bad.js": "export const a = ;"})):
            command = [node, "--no-warnings", "--experimental-vm-modules", "--eval", PARSE]
            done = subprocess.run(command, input=text, text=True, check=False, capture_output=True)
            assert (done.returncode == 0) == ("bad.js" not in text), done.stderr


def test_scripts_make_no_markup():
    for asset in PAGE.iterdir():
        if asset.name.endswith(".js"):
            said = re.findall(
                r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function",
                asset.read_text(encoding="utf-8"),
            )
            assert said == [], asset.name


def test_uplot_is_as_its_author_published_it():
    assert run(str(ROOT / "vendor" / "uplot.py"), "--check") == ""


def test_the_types_of_uplot_are_those_of_its_release():
    (release,) = re.findall(
        '^PACKAGE = "uplot@(.+)"$', (ROOT / "vendor" / "uplot.py").read_text(encoding="utf-8"), re.MULTILINE
    )
    tools = json.loads((ROOT / "tests" / "javascript" / "package.json").read_text(encoding="utf-8"))
    assert tools["devDependencies"]["uplot"] == release


def test_the_lock_of_the_tools_has_every_system_and_no_registry():
    lock = json.loads((ROOT / "tests" / "javascript" / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name.removeprefix("node_modules/"): package for name, package in lock["packages"].items() if name}
    for name, package in packages.items():
        assert "resolved" not in package, name
        assert package["integrity"].startswith("sha512-"), name
        assert set(package.get("optionalDependencies", ())) <= set(packages), f"{name}: npm could not find all of them"


def test_the_check_of_uplot_can_fail(tmp_path):
    copy = tmp_path / "vendor" / "uplot.py"
    copy.parent.mkdir()
    copy.write_text((ROOT / "vendor" / "uplot.py").read_text(encoding="utf-8"), encoding="utf-8")
    done = subprocess.run([sys.executable, str(copy), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout.startswith("uplot@1.6.32 dist/uPlot.iife.min.js: sha256 must be ")
