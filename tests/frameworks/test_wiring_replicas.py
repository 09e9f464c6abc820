"""GL751: replicas on two processes, the same and not the same; nobody waits for a rank that is not attached."""

import pytest
from frameworks.ranks import run_ranks

from summaries import audit

pytest.importorskip("torch", reason="torch is not installed: make frameworks")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """What two ranks have written."""
    return run_ranks("replica_ranks.py", tmp_path_factory.mktemp("ranks"))


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("as it should be", []),
        ("no_sync", []),
        ("rank 0 only", []),
        (
            "past the wrapper",
            ["0.weight, 0.bias and 2 others differ between the replicas at step 1: rank 0 and rank 1"],
        ),
        ("by hand", ["1.bias differs between the replicas at step 8: rank 0 and rank 1"]),
    ],
)
def test_replicas(how, told, directory):
    findings = audit(directory / how).findings
    assert [finding.message for finding in findings if finding.code.startswith("GL7")] == told
