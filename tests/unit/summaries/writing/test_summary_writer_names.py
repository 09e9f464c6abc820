"""The writer's private names: each has at least two words, so that one-word names are left to subclasses."""

import numpy as np

from summaries import GraphDef, SummaryWriter, read_run


def used(logdir):
    """A writer of which every private attribute is set."""
    with SummaryWriter(logdir, GraphDef(), max_queue=100) as writer:
        writer.default_bins = [0.0, 1.0]
        writer.add_scalars("losses", {"train": 0.5})
        writer.add_hparams({"lr": 0.1}, {"best": 0.5})
        writer.add_embedding(np.eye(3))
        writer.add_histogram("weights", np.zeros(1 << 16))
        writer.add_run_metadata(b"", "step 1")
        with writer.use_metadata(global_step=3):
            writer.add_text("note", "hello")
    writer.add_scalar("loss", 0.5)
    writer.reopen()
    writer.close()
    return writer


def private_names(writer):
    return {name for name in set(dir(writer)) - set(dir(object)) if name[0] == "_" and name[-2:] != "__"}


def test_every_private_name_has_two_words(logdir):
    names = private_names(used(logdir))
    assert {name for name in names if "_" not in name.lstrip("_")} == set()
    assert {"_run_file", "_child_runs"} <= names


def test_a_subclass_may_use_every_other_name(logdir):
    words = {word for name in private_names(used(logdir)) for word in name.split("_") if word}

    class Mine(SummaryWriter):
        def __init__(self, logdir):
            for word in words:
                setattr(self, f"_{word}", word)
            super().__init__(logdir)
            for word in words:
                setattr(self, f"_{word}", word)

    with Mine(logdir / "mine") as writer:
        writer.add_scalar("loss", 0.5, 1)
        writer.add_scalars("losses", {"train": 0.5}, 1)
        writer.add_histogram("weights", np.zeros(1 << 16), 1)
    assert {getattr(writer, f"_{word}") for word in words} == words
    assert len(read_run(logdir / "mine").scalars["loss"]) == 1
