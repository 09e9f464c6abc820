"""Copies of writers: a closed one can be copied and pickled, an open one cannot."""

import copy
import pickle

import pytest
from helpers import event_files, scalars

from summaries import SummaryWriter

COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda writer: pickle.loads(pickle.dumps(writer)),  # noqa: S301 - our own bytes
}


class Mine(SummaryWriter):
    """A writer with an attribute of its own."""

    def __init__(self, logdir):
        super().__init__(logdir)
        self.mine = [1]


class Rebuilt(SummaryWriter):
    """A writer that chooses its own state."""

    def __getstate__(self):
        return self.log_dir

    def __setstate__(self, state):
        self.__init__(state)


@pytest.fixture(params=list(COPIES))
def copied(request):
    """One way to copy a writer."""
    return COPIES[request.param]


def test_a_copy_of_a_closed_writer_is_closed_and_goes_on_in_a_new_file(logdir, copied):
    with Mine(logdir) as writer:
        writer.add_scalar("loss", 0.5, 1)
        writer.add_scalars("losses", {"train": 0.5}, 1)
        writer.add_text("note", "first", 1)
    other = copied(writer)
    assert (type(other), other.mine, other.log_dir, other.path) == (Mine, [1], str(logdir), writer.path)
    assert other.closed
    assert other.file_writer is None
    other.flush()
    other.close()
    assert event_files(logdir) == [logdir / writer.path]
    for one, value in ((other, 2.0), (writer, 3.0)):
        one.add_scalar("loss", value, 2)
        one.add_scalars("losses", {"train": value}, 2)
        one.add_text("note", "second", 2)
    other.close()
    writer.close()
    assert [[point for point in scalars(path) if point[1] == "loss"] for path in event_files(logdir)] == [
        [(1, "loss", 0.5)],
        [(2, "loss", 2.0)],
        [(2, "loss", 3.0)],
    ]


def test_a_subclass_chooses_its_own_state_even_when_open(logdir, copied):
    with Rebuilt(logdir) as writer, copied(writer) as other:
        assert not other.closed
        assert other.path != writer.path


class Extended(SummaryWriter):
    """A writer that adds to the state."""

    def __getstate__(self):
        return {"writer": super().__getstate__(), "extra": 1}

    def __setstate__(self, state):
        super().__setstate__(state["writer"])
        self.extra = state["extra"]


def test_a_subclass_may_extend_the_state(logdir, copied):
    with Extended(logdir) as writer:
        writer.add_scalar("loss", 0.5, 1)
    with copied(writer) as other:
        other.add_scalar("loss", 0.25, 2)
    assert (other.extra, other.closed) == (1, True)
    assert scalars(other.path) == [(2, "loss", 0.25)]


def test_an_open_writer_cannot_be_copied(logdir, copied):
    message = (
        "an open writer cannot be copied or sent to another process: make another SummaryWriter('r') in that process; "
        "each writes a file of its own"
    )
    with SummaryWriter(logdir) as writer:
        with pytest.raises(TypeError) as caught:
            copied(writer)
        assert str(caught.value) == message.replace("'r'", repr(str(logdir)))
