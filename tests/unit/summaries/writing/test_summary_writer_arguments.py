"""The constructors of TF1, torch and tensorboardX, by position: whose arguments they are."""

import re

import pytest

from summaries import GraphDef, SummaryWriter, read_run
from summaries.writing.summary_writer import by_position

GRAPH = GraphDef()
TORCH = {"purge_step": 500, "max_queue": 10, "flush_secs": 120, "filename_suffix": ".end"}
TF1 = {"max_queue": 10, "flush_secs": 120, "graph_def": None, "filename_suffix": ".end"}
TOLD_APART = [
    ("", (), {}),
    ("_lr", (500,), {"purge_step": 500}),
    ("", (500, 10, 120, ".end"), TORCH),
    (None, (500, 10, 120, ".end"), TORCH),
    (None, (None, 10, 120, ".end"), {**TORCH, "purge_step": None}),
    (None, (None,), {"purge_step": None}),
    ("", (500, 10, 120, ".end", False), {**TORCH, "write_to_disk": False}),
    (GRAPH, (10, 120, None, ".end"), TF1),
    (GRAPH, (10,), {"max_queue": 10}),
    (None, (10, 120, GRAPH), {"max_queue": 10, "flush_secs": 120, "graph_def": GRAPH}),
    (None, (10, 120, GRAPH, ".end", object), {**TF1, "graph_def": GRAPH, "session": object}),
]


@pytest.mark.parametrize(("second", "others", "named"), TOLD_APART, ids=repr)
def test_what_can_be_told_apart(second, others, named):
    assert by_position(second, others) == named


@pytest.mark.parametrize("others", [(10,), (10, 120), (10, 120, None, ".end")], ids=repr)
def test_what_cannot_is_taken_as_tf1s(others):
    """A purge_step that is taken as max_queue hides no data."""
    text = "the third argument is taken as TF1's max_queue, got 10: if it is torch's purge_step, pass it by name"
    with pytest.warns(UserWarning, match=f"^{re.escape(text)}$") as caught:
        assert by_position(None, others) == {name: TF1[name] for name in list(TF1)[: len(others)]}
    assert caught[0].filename == __file__


def test_too_many():
    with pytest.raises(TypeError, match=r"^SummaryWriter takes at most 7 arguments by position, got 8$"):
        by_position(GRAPH, (10, 120, None, "", None, 1))
    with pytest.raises(TypeError, match=r"^SummaryWriter takes at most 9 arguments by position, got 10$"):
        by_position("", (500, 10, 120, "", True, None, None, 1))


def test_torchs_constructor(logdir):
    with SummaryWriter(logdir, "", 500, 10, 120, ".end") as writer:
        assert (writer.purge_step, writer.max_queue, writer.flush_secs, writer.filename_suffix) == (
            500,
            10,
            120,
            ".end",
        )
        assert writer.path.endswith(".end")


def test_tf1s_constructor(logdir):
    with SummaryWriter(logdir, None, 10, 120, GRAPH, ".end", None) as writer:
        assert (writer.purge_step, writer.max_queue, writer.flush_secs, writer.filename_suffix) == (
            None,
            10,
            120,
            ".end",
        )


def test_tensorboardx_constructor(logdir):
    with SummaryWriter(logdir, "", None, 10, 120, "", False, None, {"disabled": True}) as writer:
        writer.add_scalar("loss", 0.5)
        writer.add_scalars("curves", {"a": 0.5})
    assert not logdir.exists()


def test_an_argument_twice(logdir):
    with pytest.raises(TypeError, match=r"^SummaryWriter got max_queue by position and by name: 10 and 20$"):
        SummaryWriter(logdir, "", None, 10, max_queue=20)


@pytest.mark.parametrize("comment", [None, "", "_lr"])
def test_comments(tmp_path, monkeypatch, comment):
    monkeypatch.chdir(tmp_path)
    with SummaryWriter(None, comment) as first, SummaryWriter(comment=comment) as second:
        assert first.log_dir.endswith(comment or "")
        assert second.log_dir.endswith(comment or "")
    with pytest.raises(TypeError, match=r"^comment must be a string, got int: 3$"):
        SummaryWriter(comment=3)


def test_the_defaults(logdir):
    with SummaryWriter(logdir, max_queue=None, flush_secs=None, filename_suffix=None) as writer:
        assert (writer.max_queue, writer.flush_secs, writer.filename_suffix) == (8192, 2.0, "")
        assert writer.logdir == writer.log_dir == str(logdir)


class Session:
    """As TF1's, for a writer."""


def test_writers_of_one_session_share_a_file(tmp_path):
    session = Session()
    first, second, elsewhere, other = (
        SummaryWriter(tmp_path / directory, session=given)
        for directory, given in (("a", session), ("a", session), ("b", session), ("a", Session()))
    )
    for step, writer in enumerate((first, second, elsewhere, other)):
        writer.add_scalar("loss", step, step)
    for writer in (first, second, elsewhere, other):
        writer.close()
    assert first.path == second.path
    assert [len(list((tmp_path / name).iterdir())) for name in "ab"] == [2, 1]
    assert read_run(tmp_path / "a").scalars["loss"].value.tolist() == [0.0, 1.0, 3.0]


def test_a_session_may_be_anything(tmp_path):
    SummaryWriter(tmp_path, session=3).close()
