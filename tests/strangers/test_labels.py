"""Every label of a stranger's run holds, where those runs are at hand."""

import functools

import pytest

from strangers.labels import VARIABLE, folder, found, labels

PLACE = folder()
pytestmark = pytest.mark.skipif(
    PLACE is None, reason=f"the runs of strangers are not here; {VARIABLE} names their folder"
)


@functools.cache
def all_found():
    return found(PLACE)


@pytest.mark.parametrize("label", labels(PLACE) if PLACE else [], ids=lambda one: f"{one.run}-{one.code}-{one.tag}")
def test_a_label_holds(label):
    findings = all_found()[label.run]
    told = [(one.severity.name, one.code, one.message) for one in findings]
    assert label.holds(findings), f"{label.verdict}: {label.why}; the audit says {told}"
