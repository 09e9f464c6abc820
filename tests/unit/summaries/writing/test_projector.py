"""Embeddings for the projector: what is written and listed, and what is refused, word for word."""

import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from summaries import SummaryWriter


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"mat": np.zeros(3)}, "mat must have shape [n, d], a row for each point, got (3,)"),
        ({"metadata": ["a"]}, "metadata must contain one label for each of the 2 points, got 1"),
        (
            {"metadata": [["a"], ["b"]], "metadata_header": ["x", "y"]},
            "each label must have the 2 columns of metadata_header, got one with 1",
        ),
        ({"label_img": np.zeros((3, 3, 4, 4))}, "label_img must contain one picture for each of the 2 points, got 3"),
        (
            {"label_img": np.zeros((2, 1, 1, 9000))},
            "label_img must fit into 8192 x 8192 pixels, got 2 x 2 pictures of 9000 x 1",
        ),
    ],
)
def test_embeddings_that_cannot_be(logdir, change, text):
    with SummaryWriter(logdir) as writer, pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        writer.add_embedding(**{"mat": np.eye(2), **change})


def test_an_embedding_stays_listed_when_the_run_is_resumed(logdir):
    for tag in ("first", 'a "quoted"\tname'):
        with SummaryWriter(logdir) as writer:
            writer.add_embedding(np.eye(2), [["a\tb", "c"]] * 2, tag=tag, metadata_header=["x", "y"])
    config = (logdir / "projector_config.pbtxt").read_text()
    assert config.count("embeddings {") == 2
    assert (logdir / "00000/first/metadata.tsv").read_text() == "x\ty\na b\tc\na b\tc\n"
    from google.protobuf import text_format
    from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

    parsed = text_format.Parse(config, ProjectorConfig())
    assert [embedding.tensor_name for embedding in parsed.embeddings] == ["first:00000", 'a "quoted"\tname:00000']


def test_an_embedding_after_close(logdir):
    writer = SummaryWriter(logdir)
    writer.close()
    writer.add_embedding(np.ones((3, 2)))
    assert (logdir / "projector_config.pbtxt").exists()


def test_embeddings_of_two_writers(logdir):
    with SummaryWriter(logdir) as first, SummaryWriter(logdir) as second:
        for writer, tag in ((first, "a"), (second, "b"), (first, "c")):
            writer.add_embedding(np.eye(3), tag=tag)
    config = (logdir / "projector_config.pbtxt").read_text(encoding="utf-8")
    assert [f'"{tag}:00000"' in config for tag in "abc"] == [True, True, True]


def test_embeddings_of_many_threads(logdir):
    with SummaryWriter(logdir) as writer, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: writer.add_embedding(np.eye(3), tag=f"t{i}"), range(40)))
    assert (logdir / "projector_config.pbtxt").read_text(encoding="utf-8").count("embeddings {") == 40


EMBEDDINGS = {
    "metadata must be a list of labels, got str: 'abc'": {"metadata": "abc"},
    "with metadata_header, each label must be a list of its columns, got 'ab'": {
        "metadata": ["ab", "cd", "ef"],
        "metadata_header": ["x", "y"],
    },
}


@pytest.mark.parametrize(("text", "options"), EMBEDDINGS.items(), ids=EMBEDDINGS)
def test_labels_that_cannot_be(logdir, text, options):
    with SummaryWriter(logdir) as writer, pytest.raises((TypeError, ValueError)) as caught:
        writer.add_embedding(np.eye(3), **options)
    assert str(caught.value) == text


def test_a_header_without_labels_is_left_out(logdir):
    text = "embedding 'bare' has a metadata_header without metadata: the header is left out; warned once per tag"
    with SummaryWriter(logdir) as writer, pytest.warns(UserWarning, match=f"^{text}$"):
        writer.add_embedding(np.eye(3), metadata_header=["x"], tag="bare")
    assert [path.name for path in (logdir / "00000" / "bare").iterdir()] == ["tensors.tsv"]
