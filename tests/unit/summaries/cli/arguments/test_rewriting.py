"""Commands that mend and reshape: what they print, their exit status, and that nothing is half done."""

import json
import os
import shutil

import pytest

from summaries import SummaryWriter, read_logdir, read_run
from summaries.cli import main
from summaries.wire.scalars import encode_scalar


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Two runs, one of which is damaged, in the current directory."""
    monkeypatch.chdir(tmp_path)
    records = [encode_scalar(tag, step, 1.0, step) for step in range(10) for tag in ("loss", "grad/a")]
    for name, between in (("a", b""), ("b", b"???")):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "x.tfevents").write_bytes(b"".join(records) + between + records[0])
    return tmp_path


HEALTHY = [
    (["drop", "runs/a", "--tags", "grad*"], "out: 11 events; 10 values left out\n"),
    (["keep", "runs/a", "--tags", "loss"], "out: 11 events; 10 values left out\n"),
    (["keep", "runs", "--runs", "a"], "out: 1 run, 21 events\n"),
    (["thin", "runs/a", "--every", "5"], "out: 5 events; 16 values left out\n"),
    (["thin", "runs/a", "--minmax", "4", "--tags", "grad*"], "out: 15 events; 6 values left out\n"),
    (["shift", "runs/a", "--steps", "5"], "out: 21 events\n"),
    (["shift", "runs/a", "--to-zero", "--seconds", "3"], "out: 21 events\n"),
    (["rename", "runs/a", "loss*", "train/loss*", "grad/*", "g/*"], "out: 21 events\n"),
    (["rename", "runs/a", "-E", "^l(.*)", r"L\1"], "out: 21 events\n"),
    (["rename", "runs/a/x.tfevents", "loss", "l"], "out: 21 events\n"),
    (["merge", "--latest", "runs/a"], "out: 11 events; 10 values left out\n"),
    (["repair", "runs/a"], "out: 21 events\nnothing was lost\n"),
]


@pytest.mark.parametrize(("arguments", "out"), HEALTHY, ids=lambda value: " ".join(value) if value is list else None)
def test_healthy(capsys, arguments, out):
    shutil.copytree("runs/a", "more")
    assert main([*arguments, "-o", "out"]) == 0
    assert capsys.readouterr() == (out, "")
    assert all(run.faults == () for run in read_logdir("out").values())


def test_merge_says_what_goes_back_in_steps(capsys):
    shutil.copytree("runs/a", "more")
    assert main(["merge", "runs/a", "more", "-o", "out"]) == 0
    out, told = capsys.readouterr()
    assert out == "out: 42 events\n"
    said = "loss goes back from step 9 to step 0, and 1 other tag likewise: --latest drops what was written again"
    assert told == f"gradledger: {said}\n"
    assert main(["merge", "more", "-o", "alone", "--json"]) == 0
    assert capsys.readouterr().err == ""


def test_damage_is_said_and_the_rest_is_written(capsys):
    assert main(["drop", "runs", "-o", "out", "--tags", "grad*"]) == 1
    out, err = capsys.readouterr()
    assert out == "out: 2 runs, 22 events; 20 values left out\n"
    assert err.startswith("gradledger: length checksum mismatch: got ")
    assert err.endswith("at runs/b/x.tfevents, record 20, offset 856 (3 bytes)\n")
    assert set(read_logdir("out")) == {"a", "b"}


WALKING = [
    ["repair"],
    ["drop", "--tags", "grad*"],
    ["keep", "--tags", "loss"],
    ["thin", "--minmax", "4"],
    ["shift", "--to-zero"],
    ["rename", "-E", "^l", "L"],
]


@pytest.mark.only_on_disks(reason="a link that leads nowhere")
@pytest.mark.parametrize("arguments", WALKING, ids=lambda arguments: arguments[0])
def test_what_cannot_be_read_is_said_and_the_rest_is_written(place, refuse_to_list, capsys, arguments):
    (place / "runs/closed").mkdir()
    (place / "runs/a/y.tfevents").symlink_to("nowhere")
    refuse_to_list("closed")
    name, *options = arguments
    assert main([name, "runs", "-o", "out", "--json", *options]) == 2
    out, err = capsys.readouterr()
    assert err.splitlines() == [
        f"gradledger: Permission denied: '{os.path.join('runs', 'closed')}'",
        f"gradledger: No such file or directory: '{os.path.join('runs', 'a', 'y.tfevents')}'",
    ]
    assert json.loads(out)["runs"] == ["a", "b"]
    assert set(read_logdir("out")) == {"a", "b"}


@pytest.mark.only_on_disks(reason="a link that leads nowhere")
def test_repair_does_not_call_lossless_what_it_could_not_read(place, capsys):
    (place / "runs/a/y.tfevents").symlink_to("nowhere")
    assert main(["repair", "runs/a", "-o", "out"]) == 2
    assert capsys.readouterr().out == "out: 21 events\n"


def test_repair_lists_what_was_lost(capsys):
    assert main(["repair", "runs", "-o", "out"]) == 1
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.endswith("at runs/b/x.tfevents, record 20, offset 856 (3 bytes)")
    assert rest == ["out: 2 runs, 42 events", "lost: 3 bytes"]
    assert main(["verify", "out"]) == 0


def test_json(capsys):
    assert main(["repair", "runs", "-o", "out", "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    (fault,) = said.pop("faults")
    assert said == {
        "path": "out", "runs": ["a", "b"], "events": 42, "dropped": 0, "damaged": True, "lost_bytes": 3,
    }  # fmt: skip
    assert (fault["kind"], fault["offset"], fault["length"]) == ("damaged length", 856, 3)
    assert main(["verify", "runs", "--json"]) == 1
    verdicts = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["path"], one["events"], one["damaged"]) for one in verdicts] == [
        ("runs/a/x.tfevents", 21, False), ("runs/b/x.tfevents", 21, True),
    ]  # fmt: skip


MISTAKES = [
    (["drop", "runs/a"], "Missing option '--tags'."),
    (["keep", "runs/a"], "Say what to keep: --tags PATTERN, or --runs PATTERN."),
    (["thin", "runs/a"], "Give one of --every N and --minmax N."),
    (["thin", "runs/a", "--every", "0"], "Invalid value for '--every': 0 is not in the range x>=1."),
    (["shift", "runs/a"], "Give --steps N or --to-zero, or --seconds S, or one of the former and --seconds."),
    (["rename", "runs/a", "loss"], "Each OLD name needs a NEW one: 'loss' has none."),
    (["rename", "runs/a"], "Say what to rename: OLD NEW for tags, or --run OLD NEW for runs."),
    (["drop", "runs/a", "--tags", "x"], "gradledger: no tag matches 'x'; there are loss and grad/a"),
    (["merge", "nowhere"], "gradledger: no such file or directory: nowhere"),
    (
        ["merge", "runs/a", "./runs/a"],
        "gradledger: each run must be given once, got runs/a/x.tfevents and again ./runs/a/x.tfevents",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_mistakes(capsys, arguments, message):
    assert main([*arguments, "-o", "out"]) == 2
    assert capsys.readouterr().err.splitlines()[-1].removeprefix("Error: ") == message
    assert os.listdir() == ["runs"]


def test_output_inside_of_the_input(capsys):
    """The next command would take the copies for runs of the input."""
    assert main(["repair", "runs", "-o", "runs/mended"]) == 2
    assert capsys.readouterr().err == (
        "gradledger: the output must be outside of runs, which it is made from, got runs/mended\n"
    )
    assert sorted(os.listdir("runs")) == ["a", "b"]
    assert main(["keep", "runs/a", "-o", "runs/ab", "--tags", "loss"]) == 0


def test_there_must_be_a_place_to_write_to(capsys):
    assert main(["keep", "runs/a", "--tags", "loss"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == "Error: Missing option '-o' / '--output'."


def test_labels_and_notes(capsys):
    assert main(["label", "runs/a", "runs/b", "good"]) == 0
    assert main(["note", "runs/a", "7", "**words**"]) == 0
    assert capsys.readouterr().out == "runs/a: good\nruns/b: good\nruns/a: noted at step 7\n"
    assert list(read_run("runs/a").texts["gradledger/note/text_summary"]) == ["**words**"]
    assert main(["audit", "runs/a"]) == 0
    assert "\n.  (labelled good)\n  your note at step 7: **words**\n" in capsys.readouterr().out
    assert main(["label", "runs/a", "best"]) == 2
    capsys.readouterr()
    files = os.listdir("runs/a")
    assert main(["label", "runs/a", "runs/nowhere", "bad"]) == 2  # all runs are labelled, or none
    assert capsys.readouterr() == ("", "gradledger: no such file or directory: runs/nowhere\n")
    assert os.listdir("runs/a") == files
    assert main(["note", "runs/a", "-1", "x"]) == 2


@pytest.mark.parametrize(
    "arguments", [["label", "runs/a", "good"], ["note", "runs/a", "7", "words"]], ids=lambda a: a[0]
)
def test_labels_and_notes_have_no_cache_to_choose(capsys, arguments):
    assert main([*arguments, "--cache"]) == 2
    assert "\nError: No such option" in capsys.readouterr().err


def test_names_that_a_terminal_would_obey(capsys, place):
    with SummaryWriter(place / "odd\x1b[31m") as writer:
        writer.add_scalar("loss", 1.0, 0)
    assert main(["keep", "odd\x1b[31m", "-o", "out\x1b[31m"]) == 2
    assert main(["keep", "odd\x1b[31m", "-o", "out\x1b[31m", "--tags", "*"]) == 0
    assert main(["label", "odd\x1b[31m", "good"]) == 0
    assert main(["verify", "odd\x1b[31m"]) == 0
    (place / "odd\x1b[31m" / "y.tfevents").write_bytes(b"no record in here")
    assert main(["verify", "odd\x1b[31m"]) == 2
    assert "\x1b" not in "".join(capsys.readouterr())


def test_what_is_no_event_file(capsys, place):
    (place / "notes.tfevents").write_text("hello\n")
    assert main(["verify", "notes.tfevents"]) == 2
    assert capsys.readouterr().out.startswith("notes.tfevents: 0 events, 1 fault\n  no record in the file: got 6 bytes")
