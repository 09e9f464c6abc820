"""Selecting: tags by patterns; what says what a run is, stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from summaries import GraphDef, SummaryWriter, read_run
from summaries.tools import drop, keep
from summaries.wire.scalars import encode_scalar


@pytest.fixture
def run(tmp_path):
    with SummaryWriter(tmp_path / "run", graph=GraphDef()) as writer:
        writer.add_hparams({"lr": 0.1}, {"loss": 1.0}, run_name=".")
        for tag in ("loss", "grad/a", "grad/b"):
            writer.add_scalar(tag, 1.0, 0)
    return tmp_path / "run"


HPARAMS = ("_hparams_/experiment", "_hparams_/session_start_info", "_hparams_/session_end_info")
CASES = [
    (drop, {"tags": "grad/*"}, {"loss", *HPARAMS}),
    (drop, {"tags": ["grad/a", "lo?s"]}, {"grad/b", *HPARAMS}),
    (drop, {"tags": "*"}, set(HPARAMS)),
    (drop, {"tags": "_hparams_/*"}, {"loss", "grad/a", "grad/b"}),
    (keep, {"tags": "grad/*"}, {"grad/a", "grad/b", *HPARAMS}),
    (keep, {"tags": None}, {"loss", "grad/a", "grad/b", *HPARAMS}),
]


@pytest.mark.parametrize(("tool", "arguments", "tags"), CASES)
def test_tags(run, tmp_path, tool, arguments, tags):
    tool(run, tmp_path / "out", **arguments)
    out = read_run(tmp_path / "out")
    assert set(out.tags) == tags
    assert out.graph == read_run(run).graph
    assert out.hparams == ({"lr": 0.1} if set(HPARAMS) <= tags else {})


@given(st.lists(st.tuples(st.sampled_from(["a", "b/a", "b/c"]), st.integers(0, 9)), min_size=1))
def test_the_points_that_stay_are_those_of_their_tags(tmp_path_factory, points):
    place = tmp_path_factory.mktemp("x")
    records = [encode_scalar("first", 0, 1.0, 0), *(encode_scalar(tag, step, 1.0, step) for tag, step in points)]
    (place / "x.tfevents").write_bytes(b"".join(records))
    keep(place / "x.tfevents", place / "out", tags=["first", "*a"] if any("a" in t for t, _ in points) else None)
    before, after = read_run(place / "x.tfevents").scalars, read_run(place / "out").scalars
    for tag, series in after.items():
        assert series.step.tolist() == before[tag].step.tolist()
    assert set(after) == {tag for tag in before if tag == "first" or tag.endswith("a")} or set(after) == set(before)
