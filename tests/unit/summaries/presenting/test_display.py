"""Runs and series in a notebook: the rows of their tables, and what is said below them."""

import numpy as np
from browser.html_seen import Seen

from summaries import Series, SummaryWriter, read_logdir, read_run


def test_a_series():
    series = Series("loss", np.array([0, 10, 5]), np.arange(3.0), np.array([3.0, 1.0, np.nan]))
    seen = Seen(series._repr_html_())
    assert seen.rows == [
        ["tag", "points", "steps", "last", "least", "largest", ""],
        ["loss", "3", "0 to 10", "nan", "1", "3", ""],
    ]
    assert seen.lines == ["1 not finite", "1 superseded after restarts"]
    assert repr(series) == (
        "Series('loss', 3 points, steps 0 to 10, last nan, least 1, largest 3, 1 not finite, "
        "1 superseded after restarts)"
    )
    nothing = Series("loss", np.empty(0, np.int64), np.empty(0), np.empty(0))
    assert repr(nothing) == "Series('loss', 0 points)"
    assert Seen(nothing._repr_html_()).rows[1] == ["loss", "0", "", "", "", "", ""]


def test_a_run(logdir):
    with SummaryWriter(logdir) as writer:
        for step in range(1500):
            writer.add_scalar("loss", 1.0, step)
        for tag in ("a", "b"):
            writer.add_histogram(tag, [1.0], 0)
        writer.add_text("note", "text", 0)
    with open(writer.path, "ab") as file:
        file.write(b"junk")
    run = read_run(logdir)
    seen = Seen(run._repr_html_())
    assert seen.rows[1] == ["loss", "1,500", "0 to 1,499", "1", "1", "1", ""]
    *others, fault = seen.lines
    assert others == ["1 file, 4 tags, 1,500 scalars", "histograms: a and b", "texts: note/text_summary"]
    assert fault.startswith("the bytes end inside a record: got 4 bytes, want 12 bytes - at ")
    assert Seen(run.scalars._repr_html_()).lines == ["1 tag"]


def test_a_run_with_many_faults(logdir):
    writer = SummaryWriter(logdir)
    writer.close()
    for number in range(9):
        (logdir / f"events.out.tfevents.{number}.host").write_bytes(b"")
    seen = Seen(read_run(logdir)._repr_html_())
    assert len(seen.lines) == 1 + 5 + 1
    assert seen.lines[-1] == "and 4 more faults"
    assert seen.rows == []


def test_runs_have_a_curve_of_the_loss_that_most_of_them_have(tmp_path):
    for name in ("a", "b", "c"):
        with SummaryWriter(tmp_path / name) as writer:
            for step in range(3):
                writer.add_scalar("lr", 0.5, step)
                if name != "c":
                    writer.add_scalar("train/loss", step, step)
    seen = Seen(read_logdir(tmp_path)._repr_html_())
    assert seen.lines == ["3 runs"]
    assert seen.rows == [
        ["run", "tags", "scalars", "steps", "last train/loss", "train/loss", ""],
        ["a", "2", "6", "0 to 2", "2", "", ""],
        ["b", "2", "6", "0 to 2", "2", "", ""],
        ["c", "1", "3", "0 to 2", "", "", ""],
    ]


def test_runs_without_scalars(tmp_path):
    SummaryWriter(tmp_path / "a").close()
    (tmp_path / "a" / "events.out.tfevents.9.host").write_bytes(b"")
    seen = Seen(read_logdir(tmp_path)._repr_html_())
    assert seen.rows == [["run", "tags", "scalars", "steps", "", "", ""], ["a", "0", "0", "", "", "", "1 fault"]]
