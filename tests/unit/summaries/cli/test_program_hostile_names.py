"""What terminals, logs and pages obey, in every field of every command: none of it comes out as it is."""

import json
import math
import os
import shutil
import unicodedata

import pytest

from summaries import Event, SessionLog, SummaryWriter
from summaries.cli import main
from summaries.cli.program import command_names

pytestmark = pytest.mark.filterwarnings("ignore::summaries.NonFiniteWarning")
ODD = "\x1b[31m\x1b]0;title\x07\r\n::error::\x9b2J\u202e\u2066\u200f\u2028[bold]<script>alert(1)</script>&amp;`$(id)`"
LONG = ODD + "x" * (1 << 20)
RUN = os.fsdecode(ODD.replace("/", "|").encode())  # what a directory may be called, as this system reads it


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Two runs whose names, tags, texts, hyperparameters, and other fields are hostile; one tag is a megabyte long."""
    place = tmp_path_factory.mktemp("written")
    for number in range(2):
        with SummaryWriter(place / "runs" / f"{RUN}{number}", filename_suffix=RUN) as writer:
            for step in range(40):
                for tag in (ODD, "loss", f"{ODD}/loss"):
                    writer.add_scalar(tag, math.nan if step > 30 else step + number, step, 1.7e9 + step)
            writer.add_scalar(LONG, 1.0, 1)
            writer.add_text(ODD, LONG)
            writer.add_histogram(f"{ODD}/h", [1.0, 2.0])
            writer.add_scalar("described", 1.0, 1, display_name=ODD, summary_description=ODD)
            writer.add_hparams({ODD: ODD, "lr": 0.1 * (1 + number), "long": LONG}, {ODD: 1.0})
            writer.add_event(Event(step=5, session_log=SessionLog(status=1, checkpoint_path=ODD, msg=ODD)))
            writer.add_event(Event(step=6, log_message={"level": 40, "message": ODD}))
    for copy in "ab":
        shutil.copytree(place / "runs" / f"{RUN}1", place / "copies" / f"{RUN}{copy}")
    for path in (place / "runs" / f"{RUN}0").iterdir():
        with open(path, "ab") as file:
            file.write(b"damaged")
    return place


@pytest.fixture
def logdir(written, tmp_path, monkeypatch):
    """The two runs, in the current directory."""
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return f"runs/{RUN}0", f"runs/{RUN}1"


FORMS = {
    "audit": [["audit", "runs"], ["audit", "runs", "--format", "github"], ["audit", "{0}"], ["audit", "runs", ODD]],
    "clip-advice": [["clip-advice", "{0}"]],
    "compare": [
        ["compare", "runs"],
        ["compare", "runs", "--metric", ODD],
        ["compare", "runs", "--by", ODD],
        ["compare", "copies"],
    ],
    "convert": [
        ["convert", "runs", "x.csv"],
        ["convert", "runs", "mlruns"],
        ["convert", "mlruns", ODD.replace("/", "|")],
    ],
    "diff": [["diff", "{0}", "{1}"], ["diff", "runs", "{0}"]],
    "drop": [["drop", "{0}", "--tags", "*[bold]*", "-o", f"dropped{RUN}"]],
    "dump": [["dump", "{0}"], ["dump", "runs"], ["dump", "{0}", "--full"]],
    "export": [["export", "runs", f"a{RUN}.csv"], ["export", "runs", "{0}"]],
    "keep": [["keep", "{0}", "--tags", "l*", "-o", f"kept{RUN}"], ["keep", "{0}", ODD]],
    "label": [["label", "{0}", "good"], ["label", "{0}", ODD]],
    "ls": [["ls", "runs"], ["ls", "runs", "--long"]],
    "merge": [["merge", "{0}", "{1}", "-o", f"merged{RUN}"]],
    "note": [["note", "{0}", "5", ODD], ["note", "{0}", ODD]],
    "reduce": [["reduce", "runs", "-o", f"reduced{RUN}"]],
    "rename": [["rename", "runs", "loss", f"{ODD}2", "-o", f"renamed{RUN}"], ["rename", "runs", ODD]],
    "repair": [["repair", "runs", "-o", f"repaired{RUN}"]],
    "rule": [["rule", ODD]],
    "shift": [["shift", "{0}", "-o", f"shifted{RUN}", "--steps", "5"]],
    "show": [["show", "{0}"], ["show", "{0}", "--full"], ["show", "{0}", ODD]],
    "tail": [["tail", "runs"]],
    "thin": [["thin", "runs", "--every", "10", "-o", f"thinned{RUN}"]],
    "verify": [["verify", "runs"], ["verify", f"runs/{RUN}"]],
}
FAILING = {"clip-advice", "rule"}  # by what they are asked for
WITHOUT_NAMES = {"clear-cache", "completion", "demo", "mcp", "serve-metrics", "top", "view"}


def odd_characters(text):
    """What is there of control characters, marks that turn the direction of text, and ends of lines that are none."""
    return {c for c in set(text) if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")}


def test_every_command_is_here():
    assert set(command_names()) == FORMS.keys() | WITHOUT_NAMES


@pytest.mark.only_on_disks(reason="names that stores do not take")
@pytest.mark.parametrize("command", FORMS)
def test_what_is_printed(logdir, command, capsys):
    for form in FORMS[command]:
        status = main([argument.replace("{0}", logdir[0]).replace("{1}", logdir[1]) for argument in form])
        if form is FORMS[command][0] and command not in FAILING:
            assert status in (0, 1)
        printed = capsys.readouterr()
        text = printed.out + printed.err
        assert "Traceback" not in text, text[-2000:]
        assert odd_characters(text) == set(), form
        assert not any(line.startswith("::error::\\x") for line in text.split("\n"))
        if "--full" not in form:
            assert max(map(len, text.split("\n"))) < 100_000, form


@pytest.mark.only_on_disks(reason="names that stores do not take")
@pytest.mark.parametrize("command", [["audit", "runs"], ["compare", "runs"]])
def test_pages_have_no_markup_of_a_name(logdir, command, capsys):
    main([*command, "-o", "page.html"])
    capsys.readouterr()
    with open("page.html", encoding="utf-8") as file:
        page = file.read()
    assert "<script>alert" not in page


@pytest.mark.only_on_disks(reason="names that stores do not take")
@pytest.mark.parametrize("command", ["ls", "show", "diff", "dump", "tail", "verify", "audit", "compare"])
def test_json_is_ascii_or_escaped(logdir, command, capsys):
    arguments = {"diff": [*logdir], "show": [logdir[0]]}.get(command, ["runs"])
    form = ["--format", "json"] if command in ("audit", "compare") else ["--json"]
    main([command, *form, *arguments])
    out = capsys.readouterr().out
    assert {c for c in set(out) if ord(c) < 32} <= {"\n"}
    for text in [out] if command in ("audit", "compare", "diff", "ls", "show") else out.splitlines():
        json.loads(text)
