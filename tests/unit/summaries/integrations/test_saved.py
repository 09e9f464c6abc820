"""The page of the viewer as a file: what is in it, how it is thinned, what is refused."""

import json
import re
import threading
import zlib
from base64 import b64decode

import numpy as np
import pytest
from browser.plugin_runs import soon
from javascript.page_types import keys

from summaries import SummaryWriter
from summaries.integrations.saved import saved_page
from summaries.integrations.tensorboard.in_a_file import even_share

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("saved")
    for k, name in enumerate(("a", "b")):
        with SummaryWriter(root / name) as writer:
            for step in range(5000):
                writer.add_scalar("loss", 77.0 if step == 1777 else step % 7 + k, step, 1.79e9 + 0.25 * step)
            writer.add_scalar(f"odd/{HOSTILE}", k, 0, 1.79e9)
    return str(root)


def data_of(page, block):
    return re.search(rf'<script type="[a-z/]+" id="{block}">(.*?)</script>', page)[1]


def curves_of(page, place):
    """tag → (how many points there were, steps, milliseconds, values) of a run, as the page reads them."""
    body = zlib.decompress(b64decode(data_of(page, f"points-{place}")))
    arrays_at = 4 + int.from_bytes(body[:4], "little")

    def array(kind, offset, count):
        return np.frombuffer(body, f"<{kind}", count, arrays_at + offset).astype(float)

    def rising(first, *differences):
        return array(*differences) if first is None else first + np.cumsum(array(*differences))

    curves = json.loads(body[4:arrays_at])["curves"]
    return {
        one["tag"]: (one["points"], rising(*one["step"]), rising(*one["milliseconds"]), array(*one["value"]))
        for one in curves
    }


def test_every_point_is_in_the_file(runs):
    page = saved_page([runs])
    index = json.loads(data_of(page, "saved"))
    assert (index["points"], index["kept"]) == (10002, 10002)
    points, step, milliseconds, value = curves_of(page, 1)["loss"]
    assert points == 5000
    assert np.array_equal(step, np.arange(5000))
    assert np.array_equal(milliseconds, 250 * np.arange(5000))
    assert np.array_equal(value, np.where(step == 1777, 77.0, step % 7 + 1))


def test_beyond_the_number_of_points_extremes_stay(runs):
    page = saved_page([runs], most_points=1000)
    index = json.loads(data_of(page, "saved"))
    assert index["points"] == 10002
    assert 900 < index["kept"] <= 1000
    points, step, _, value = curves_of(page, 0)["loss"]
    assert points == 5000
    assert (step[0], step[-1]) == (0, 4999)
    assert value[step == 1777] == 77.0
    assert len(curves_of(page, 0)[f"odd/{HOSTILE}"][1]) == 1  # what is short stays whole


def test_runs_and_tags_are_chosen_by_patterns(runs):
    page = saved_page([runs], runs=["b"], tags=["lo*"])
    index = json.loads(data_of(page, "saved"))
    assert [row["name"] for row in index["runs"]["runs"]] == ["b"]
    assert index["tags"] == [["loss", 1]]
    assert list(curves_of(page, 0)) == ["loss"]
    assert "alert(1)" not in page
    with pytest.raises(LookupError, match="no tag matches 'acc'"):
        saved_page([runs], tags=["acc"])
    with pytest.raises(LookupError, match="no run matches 'c'"):
        saved_page([runs], runs=["c"])


def test_no_name_ends_a_block_or_is_markup(runs):
    page = saved_page([runs])
    assert page.count("</script>") == page.count("<script")
    assert HOSTILE not in page
    assert "\u202e" not in page
    assert "import.meta" not in page
    assert "default-src 'none'" in page.replace("&#x27;", "'")


def test_a_run_of_which_nothing_can_be_read_is_listed(tmp_path):
    with SummaryWriter(tmp_path / "good") as writer:
        writer.add_scalar("loss", 1.0, 0)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "events.out.tfevents.1.x").write_bytes(b"no event file at all")
    page = saved_page([str(tmp_path)])
    assert [row["name"] for row in json.loads(data_of(page, "saved"))["runs"]["runs"]] == ["bad", "good"]
    assert list(curves_of(page, 1)) == ["loss"]


def media_of(page, place):
    """(kind, tag) → what the page has of it."""
    body = zlib.decompress(b64decode(data_of(page, f"media-{place}")))
    arrays_at = 4 + int.from_bytes(body[:4], "little")
    return {(one["kind"], one["tag"]): one for one in json.loads(body[4:arrays_at])["media"]}, body[arrays_at:]


@pytest.fixture(scope="module")
def media(tmp_path_factory):
    root = tmp_path_factory.mktemp("media")
    with SummaryWriter(root / "a") as writer:
        for step in range(100):
            writer.add_image("picture", np.full((3, 8, 8), step / 100), step)
            writer.add_text("said/text", 1000 * "x", step)
        for step in range(300):
            writer.add_histogram("weights", np.arange(99.0) + step, step)
    return str(root)


def test_media_within_their_size_the_last_and_the_first_first(media):
    page = saved_page([media])
    index = json.loads(data_of(page, "saved"))
    assert index["media"] == [120, 500]
    assert [(one["kind"], one["tags"]) for one in index["shelf"]][:2] == [
        ("images", [["picture", 1]]),
        ("histograms", [["weights", 1]]),
    ]
    found, arrays = media_of(page, 0)
    picture = found["images", "picture"]
    assert picture["points"] == 100
    assert picture["steps"] == [0, 11, 22, 33, 44, 55, 66, 77, 88, 99]
    ((kind, (_, offset, count)),) = picture["values"][0]["files"]
    assert kind == "image/png"
    assert arrays[offset : offset + count].startswith(b"\x89PNG")
    assert len(found["histograms", "weights"]["steps"]) == 100
    few, _ = media_of(saved_page([media], most_media_bytes=2500), 0)
    assert [few[one]["steps"] for one in (("histograms", "weights"), ("texts", "said/text/text_summary"))] == [
        [],
        [0, 99],
    ]
    assert {0, 99} <= set(few["images", "picture"]["steps"])
    assert saved_page([media], tags=["said*"]).count('id="media-0"') == 1
    assert list(media_of(saved_page([media], tags=["said*"]), 0)[0]) == [("texts", "said/text/text_summary")]


def test_the_colors_are_those_of_all_runs_and_the_table_is_that_of_some(runs):
    page = saved_page([runs], runs=["b"])
    assert json.loads(data_of(page, "saved"))["places"] == [1]
    table = json.loads(zlib.decompress(b64decode(data_of(page, "table"))))
    assert table["cells"] == [["b", [[], [[2.0, 1.0, 77.0], [1.0, 1.0, 1.0]]]]]


def test_the_types_of_the_page_have_these_keys(media):
    page = saved_page([media])
    assert keys("answers.d.ts", "SavedIndex") == set(json.loads(data_of(page, "saved")))
    table = json.loads(zlib.decompress(b64decode(data_of(page, "table"))))
    assert keys("answers.d.ts", "SavedTable") == set(table)
    found, _ = media_of(page, 0)
    known = {key.rstrip("?") for key in keys("answers.d.ts", "SavedMedia")}
    assert set().union(*found.values()) == known


def test_a_place_that_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        saved_page([str(tmp_path / "missing")])


def test_short_curves_leave_their_share_to_long_ones():
    assert even_share([], 10) == 0
    assert even_share([5, 5, 90], 100) == 90
    assert even_share([100, 100], 10) == 5


def test_nothing_looks_at_the_runs_when_the_page_is_made(tmp_path):
    with SummaryWriter(tmp_path / "a") as writer:
        writer.add_scalar("loss", 1.0, 1)
    before = set(threading.enumerate())
    saved_page([str(tmp_path)])
    assert soon(lambda: set(threading.enumerate()) <= before)
