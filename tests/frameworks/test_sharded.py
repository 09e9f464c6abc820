"""Two processes with gloo: norms of sharded gradients are those of one process, before clipping."""

import json

import numpy as np
import pytest
from frameworks.ranks import run_ranks
from frameworks.reference_loop import CLIP, by_hand, compare

from summaries import read_run

torch = pytest.importorskip("torch", reason="torch is not installed: make frameworks")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no torch.distributed"),
]

KINDS = ("fsdp2", "fsdp1", "fsdp1 flat", "fsdp1 whole", "fsdp1 nested", "ddp", "tensor parallel", "mixed")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """What two ranks have written."""
    return run_ranks("sharded_ranks.py", tmp_path_factory.mktemp("ranks"))


@pytest.fixture(scope="module")
def found(directory):
    """What two ranks have found: the same."""
    first, second = (json.loads((directory / f"found-{rank}.json").read_text()) for rank in (0, 1))
    assert str(first) == str(second)
    return first


def totals(wanted):
    return [{"gradients/global_norm": step["gradients/global_norm"]} for step in wanted]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("clips", [False, True])
def test_as_on_one_process(directory, kind, clips):
    clip = CLIP if clips else None
    wanted = by_hand(torch, clip)
    bound = None if kind == "mixed" else clip  # its two meshes are clipped one by one, by their common norm
    compare(directory / (kind + " clipped" * clips), totals(wanted) if kind == "fsdp1 flat" else wanted, bound)


@pytest.mark.parametrize("kind", ["fsdp2", "fsdp1", "ddp"])
def test_accumulated(directory, kind):
    compare(directory / f"{kind} accumulated", by_hand(torch, None, accumulate=3), None)


@pytest.mark.parametrize("kind", ["fsdp2", "fsdp1", "ddp"])
def test_scaled(directory, kind):
    compare(directory / f"{kind} scaled", by_hand(torch, None), None)


@pytest.mark.parametrize("kind", KINDS)
def test_ranks_log_their_own_parts(directory, kind):
    own = [read_run(directory / kind / f"rank={rank}").scalars["gradients/global_norm"].value for rank in (0, 1)]
    whole = read_run(directory / kind).scalars["gradients/global_norm"].value
    if kind in {"ddp", "fsdp1 whole"}:
        np.testing.assert_allclose(own, [whole, whole], rtol=1e-6)
    elif kind in {"fsdp2", "fsdp1", "fsdp1 flat", "fsdp1 nested"}:
        np.testing.assert_allclose(np.hypot(*own), whole, rtol=1e-6)
    assert (np.array(own) <= whole * (1 + 1e-6)).all()


def test_a_rank_does_not_log_what_it_has_nothing_of(directory):
    """A norm of 0 at every step would be taken for a layer that does not train."""
    runs = [read_run(directory / "one row" / f"rank={rank}").scalars for rank in (0, 1)]
    found = [{tag for tag in run if tag.startswith("gradients/norm/2.")} for run in runs]
    assert found == [{"gradients/norm/2.weight", "gradients/norm/2.bias"}, set()]
    assert all("gradients/norm/0.weight" in run for run in runs)


def test_tensors_however_placed(found):
    torch.manual_seed(3)
    whole = torch.randn(5, 3)
    norm = float(whole.norm())
    wanted = dict.fromkeys(found["tensors"]["norms"], norm)
    wanted |= {"one row": float(whole[:1].norm()), "bfloat16": float(whole.bfloat16().double().norm())}
    wanted[""] = float(np.linalg.norm([value for name, value in wanted.items() if name]))
    assert found["tensors"]["norms"] == pytest.approx(wanted, rel=1e-6)
    for mean, of_slot, largest in found["tensors"]["slots"][:7]:
        wanted = (2 * float(whole.mean()), 2 * norm, 2 * float(whole.max()))
        assert (mean, of_slot, largest) == pytest.approx(wanted, rel=1e-5)
    assert found["tensors"]["zeros"] == pytest.approx(float((whole <= 0).float().mean()))
    assert found["tensors"]["nonfinite"] == [1, 1]
    assert found["tensors"]["total given as a DTensor"] == pytest.approx(norm, rel=1e-6)


def test_one_reduction_for_all_tensors_of_a_mesh(found):
    assert found["a step"]["reductions"] == 1


def test_histograms_are_of_whole_tensors(directory, found):
    assert found["a step"]["error"] == "no histogram of '0.weight' is possible: FSDP holds it in flat parts"
    histograms = read_run(directory / "histograms").histograms
    counts = {tag: items[0][:, 2].sum() for tag, items in histograms.items()}
    assert counts["histograms/gradients/0.weight"] == counts["histograms/weights/0.weight"] == 144


def test_experts_that_are_plain_tensors_need_the_norm(found):
    """Theirs and the total are not known; the others' are."""
    assert found["experts"]["error"] == (
        "the norm of '2.weight' is not known on this rank, which holds one of several experts: pass global_norm="
    )
    assert list(found["experts"]["norms"]) == ["0.weight", "0.bias", ""]
    assert found["experts"]["norms"][""] == 9.0


def test_fsdp1_needs_its_module(found):
    assert found["fsdp1 by name"]["error"].startswith(
        "the norm of '_fsdp_wrapped_module.0.weight' is not known on this rank, which holds a part that FSDP made: give"
    )
    assert found["fsdp1 by name"]["names"] == ["0.weight", "0.bias", "2.weight", "2.bias"]
