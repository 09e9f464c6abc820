"""Two processes with gloo, of which one may not know what the other trains: no norm is a part's without a word."""

import json

import numpy as np
import pytest
from frameworks.ranks import run_ranks

from summaries import read_run

torch = pytest.importorskip("torch", reason="torch is not installed: make frameworks")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no torch.distributed"),
]

PART = (
    "rank {} trains other parameters than rank {}, as a stage of a pipeline or the inner optimizer of "
    "ZeroRedundancyOptimizer does, so gradients/global_norm and clipping's tags are not logged. Pass group=, to sum "
    "the norm over the stages' process group, or global_norm=, a function that returns it; attach to "
    "ZeroRedundancyOptimizer itself."
)


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """What two ranks have written."""
    return run_ranks("parted_ranks.py", tmp_path_factory.mktemp("ranks"))


@pytest.fixture(scope="module")
def found(directory):
    """What the ranks have found, case → rank → it."""
    both = [json.loads((directory / f"found-{rank}.json").read_text()) for rank in (0, 1)]
    return {case: [each[case] for each in both] for case in both[0]}


def logged(directory, case):
    return read_run(directory / case).scalars


def both_squares(found, case):
    return np.sum([rank["squares"] for rank in found[case]], axis=0)


@pytest.mark.parametrize("case", ["stage", "zero, inner"])
def test_a_part_is_told(directory, found, case):
    assert [rank["told"] for rank in found[case]] == [[PART.format(0, 1)], [PART.format(1, 0)]]
    tags = logged(directory, case)
    assert "gradients/global_norm" not in tags
    assert [tag for tag in tags if tag.startswith("gradients/norm/")]


@pytest.mark.parametrize("case", ["stage, group", "stage, global_norm", "stage, clip, group"])
def test_stages_together(directory, found, case):
    assert [rank["told"] for rank in found[case]] == [[], []]
    norms = logged(directory, case)["gradients/global_norm"].value
    np.testing.assert_allclose(norms, np.sqrt(both_squares(found, case)), rtol=1e-5)
    assert ("gradients/clipped" in logged(directory, case)) == ("clip" in case)


@pytest.mark.parametrize("case", ["ddp", "ddp, one hook", "zero"])
def test_copies_are_whole(directory, found, case):
    assert [rank["told"] for rank in found[case]] == [[], []]
    norms = logged(directory, case)["gradients/global_norm"].value
    np.testing.assert_allclose(norms, np.sqrt(found[case][0]["squares"]), rtol=1e-5)


def test_a_hook_on_one_rank_of_several_that_hold_parts(directory, found):
    told = (
        "gradients are not measured: each rank holds a part of them, and the hook is not attached on rank 1. Attach it "
        "on every rank; one of them writes."
    )
    assert [rank["told"] for rank in found["fsdp2, one hook"]] == [[told], []]
    assert not logged(directory, "fsdp2, one hook")
