"""tensorboardX's own tests, run with our writer: what passes with theirs passes with ours, or a reason says why not."""

import pytest
from conformance import suites
from helpers import ROOT

REASONS: dict[str, str] = {
    "tests/test_multiprocess_write.py::GlobalWriterTest::test_writer": (
        "each forked process writes a file of its own in the run's directory; the test reads the first one alone"
    ),
    "tests/test_writer.py::WriterTest::test_writer_with_default_metadata": (
        "the test replaces a method inside tensorboardX"
    ),
}
"""Test → why it does not pass with ours."""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    fetched = ROOT / ".conformance" / "suites"
    fetched.mkdir(parents=True, exist_ok=True)
    tests = suites.fetch(fetched)
    reports = tmp_path_factory.mktemp("reports")
    return {writer: suites.outcomes(tests, writer, reports / writer) for writer in ("original", "ours")}


def test_what_passes_with_tensorboardx_passes_with_ours(results, record_property):
    original, ours = results["original"], results["ours"]
    counted = [test for test, (outcome, made) in original.items() if outcome == "passed" and made]
    failing = {test for test in counted if ours[test][0] != "passed"}
    record_property(
        "suite", ("tensorboardX", len(counted), len(counted) - len(failing), {t: REASONS.get(t) for t in failing})
    )
    assert len(counted) > 20
    assert sorted(failing ^ set(REASONS)) == []
