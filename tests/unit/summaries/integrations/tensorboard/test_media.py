"""Media: what a browser is given of images, sounds, texts, PR curves and histograms, and what it is not."""

import json
import wave

import numpy as np
import pytest
from browser.plugin_runs import library_of
from hypothesis import given
from hypothesis import strategies as st
from javascript.page_types import keys

from summaries import SummaryWriter
from summaries.integrations.tensorboard import media
from summaries.integrations.tensorboard.answers import ANSWERS
from summaries.integrations.tensorboard.application import Application
from summaries.wire.pb import Summary

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    rng = np.random.default_rng(0)
    for name in ("a", "b"):
        with SummaryWriter(root / name) as writer:
            for step in (3, 5):
                writer.add_image("image", np.zeros((3, 4, 6)), step)
                writer.add_audio("sound", np.zeros((1, 80)), step, sample_rate=8000)
                writer.add_text("text", f"<b>{step}</b>", step)
                writer.add_pr_curve("pr", rng.integers(0, 2, 50), rng.random(50), step)
                writer.add_histogram("weights", rng.normal(step, 1, 300), step)
            if name == "b":
                svg = Summary.Image(encoded_image_string=SVG, width=1, height=1)
                writer.add_summary(Summary(value=[Summary.Value(tag="svg", image=svg)]), 0)
                writer.add_text("long", 300_000 * "x", 0)
    return library_of(root)


def asked(library, name, **query):
    return ANSWERS[name](library, {key: str(value) for key, value in query.items()})


def test_the_shelf(library):
    answer = asked(library, "shelf")
    kinds = {one["kind"]: dict(one["tags"]) for one in answer["kinds"]}
    assert kinds["images"] == {"image": 2, "svg": 1}
    assert set(kinds) == {"images", "audio", "texts", "pr_curves", "histograms"}
    assert answer["command"].startswith("tensorboard --logdir ")
    assert keys("answers.d.ts", "ShelfAnswer") == set(answer)
    assert keys("answers.d.ts", "Shelf") == set(answer["kinds"][0])


def test_steps_of_the_first_runs_that_have_it(library):
    answer = asked(library, "steps", kind="images", tag="image", runs=json.dumps(["b", "a", "none"]))
    assert answer == {"runs": [{"run": "a", "steps": [3, 5]}, {"run": "b", "steps": [3, 5]}]}
    assert asked(library, "steps", kind="images", tag="svg", runs='["a", "b"]')["runs"][0]["run"] == "b"
    assert len(asked(library, "steps", kind="images", tag="image", runs='["a", "b"]', most=1)["runs"]) == 1


def test_values(library):
    told = {kind: asked(library, "value", kind=kind, run="a", tag=tag, index=1) for kind, tag in TAGS.items()}
    assert all(one["step"] == 5 for one in told.values())
    assert (told["images"]["size"], told["images"]["types"]) == ([6, 4], ["image/png"])
    assert told["audio"]["types"] == ["audio/wav"]
    assert (told["texts"]["texts"], told["texts"]["cut"]) == (["<b>5</b>"], False)
    assert len(told["pr_curves"]["precision"]) == len(told["pr_curves"]["recall"]) > 20
    known = {key.rstrip("?") for key in keys("answers.d.ts", "ValueAnswer")}
    assert {key for one in told.values() for key in one} <= known
    long = asked(library, "value", kind="texts", run="b", tag="long/text_summary", index=0)
    assert (len(long["texts"][0]), long["cut"]) == (200_000, True)


TAGS = {"images": "image", "audio": "sound", "texts": "text/text_summary", "pr_curves": "pr"}


def test_bytes_have_their_own_type_and_run_nothing(library, tmp_path):
    found = {}

    def get(path, query):
        environ = {"REQUEST_METHOD": "GET", "PATH_INFO": f"/data/plugin/gradledger/{path}", "QUERY_STRING": query}
        body = b"".join(Application(library)(environ, lambda status, head: found.update(head, status=status)))
        return found["status"], found["Content-Type"], body

    status, kind, body = get("data/media", "kind=images&run=a&tag=image&index=0&item=0")
    assert (status, kind, body[:4]) == ("200 OK", "image/png", b"\x89PNG")
    assert found["X-Content-Type-Options"] == "nosniff"
    assert found["Content-Security-Policy"] == "default-src 'none'; sandbox"
    status, kind, body = get("data/media", "kind=audio&run=a&tag=sound&index=0&item=0")
    assert (status, kind) == ("200 OK", "audio/wav")
    (tmp_path / "sound.wav").write_bytes(body)
    with wave.open(str(tmp_path / "sound.wav")) as opened:
        assert (opened.getframerate(), opened.getnframes()) == (8000, 80)
    status, kind, body = get("data/media", "kind=images&run=b&tag=svg&index=0&item=0")
    assert (status, kind) == ("400 Bad Request", "application/json")
    assert b"must be a PNG, JPEG or GIF, got 71 bytes that begin with" in body
    assert asked(library, "value", kind="images", run="b", tag="svg", index=0)["types"] == [""]


@pytest.mark.parametrize(
    ("query", "error", "said"),
    [
        ({"kind": "x", "tag": "image", "index": 0}, ValueError, "kind must be one of histograms, images, .* got 'x'"),
        ({"kind": "audio", "tag": "image", "index": 0}, LookupError, "the run has no audio with tag 'image'"),
        ({"kind": "images", "tag": "image", "index": 2}, LookupError, "there is no value 2 of tag 'image'"),
        ({"kind": "images", "tag": "image", "index": -1}, LookupError, "there is no value -1 of tag 'image'"),
        ({"kind": "images", "tag": "image", "item": 1}, LookupError, "there is no item 1 in value 0 of tag 'image'"),
        (
            {"kind": "texts", "tag": "text/text_summary"},
            LookupError,
            "there is no item 0 in value 0 of tag 'text/text_summary'",
        ),
    ],
)
def test_what_is_not_there(library, query, error, said):
    with pytest.raises(error, match=said):
        asked(library, "media", run="a", **query)


def test_histograms_in_the_same_bins(library):
    items = media.items_of(library.book("a").columns.run, "histograms", "weights")
    stacked = media.stacked(items, 100)
    assert stacked.step.tolist() == [3, 5]
    assert stacked.cells.shape == (64, 2)
    assert stacked.cells.sum(axis=0) == pytest.approx([1.0, 1.0])
    middles = np.linspace(stacked.low, stacked.high, 129)[1::2]
    assert middles @ stacked.cells == pytest.approx([3.0, 5.0], abs=0.2)
    assert media.stacked(items, 1).step.tolist() == [3]
    header = ANSWERS["histograms"](library, {"run": "a", "tag": "weights"})
    head = json.loads(header[4 : 4 + int.from_bytes(header[:4], "little")])
    assert keys("answers.d.ts", "HistogramsHeader") == set(head)


class Items(list):
    """Histograms as the values of a tag."""

    tag = "a"

    @property
    def step(self):
        return np.arange(len(self))


@given(
    st.lists(
        st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(0, 1e3), st.integers(0, 9)), max_size=6),
        min_size=1,
        max_size=5,
    )
)
def test_nothing_of_a_histogram_is_lost(values):
    items = Items(np.array([(low, low + wide, count) for low, wide, count in one]).reshape(-1, 3) for one in values)
    stacked = media.stacked(items, 100)
    for one, shares in zip(items, stacked.cells.T, strict=True):
        if one[:, 2].sum() > 0:
            assert shares.sum() == pytest.approx(1.0)
            assert (shares >= -1e-9).all()
        else:
            assert np.isnan(shares).all()
