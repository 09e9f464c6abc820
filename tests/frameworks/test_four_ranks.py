"""Four processes with gloo, each with its share of the batch: the norms of one process with all of it."""

import pytest
from frameworks.ranks import run_ranks
from frameworks.reference_loop import CLIP, by_hand, compare

torch = pytest.importorskip("torch", reason="torch is not installed: make frameworks")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no torch.distributed"),
]


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """What four ranks have written."""
    return run_ranks("four_ranks.py", tmp_path_factory.mktemp("ranks"), 4)


@pytest.mark.parametrize("kind", ["ddp", "fsdp2", "hybrid fsdp2", "fsdp2 of tensor parallel"])
@pytest.mark.parametrize(
    ("how", "clip", "accumulate"), [("", None, 1), (" clipped", CLIP, 1), (" accumulated clipped", CLIP, 3)]
)
def test_as_on_one_process(directory, kind, how, clip, accumulate):
    compare(directory / (kind + how), by_hand(torch, clip, accumulate), clip)
