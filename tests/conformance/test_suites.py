"""Others' own tests, run with our writer: what passes with theirs passes with ours, or a reason says why not."""

import pytest
from conformance.suites import SUITES, fetch, outcomes
from helpers import ROOT


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_what_passes_with_the_original_passes_with_ours(suite, tmp_path):
    fetched = ROOT / ".conformance" / "suites"
    fetched.mkdir(parents=True, exist_ok=True)
    try:
        folder = fetch(suite, fetched)
    except OSError as error:
        pytest.skip(f"{suite.repository} at {suite.commit} is neither in {fetched} nor to be fetched: {error}")
    original, ours = (outcomes(suite, folder, writer, tmp_path / writer) for writer in ("original", "ours"))
    counted = [test for test, (outcome, made) in original.items() if outcome == "passed" and made]
    failing = [test for test in counted if ours[test][0] != "passed"]
    assert sorted(failing) == sorted(suite.reasons)
    assert len(counted) == suite.tests
