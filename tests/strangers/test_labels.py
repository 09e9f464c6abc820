"""Every label of a stranger's run holds, where those runs are at hand."""

import functools

import pytest

from strangers.labels import VARIABLE, folders, found, labels

PLACES = folders()
pytestmark = pytest.mark.skipif(
    not PLACES, reason=f"the runs of strangers are not here; {VARIABLE} names their folders"
)


@functools.cache
def all_found():
    return found(PLACES)


@pytest.mark.parametrize("label", list(labels(PLACES)), ids=lambda one: f"{one.run}-{one.code}-{one.tag}")
def test_a_label_holds(label):
    findings = all_found()[label.run]
    told = [(one.severity.name, one.code, one.message) for one in findings]
    assert label.holds(findings), f"{label.verdict}: {label.why}; the audit says {told}"


def test_a_divergence_begins_where_the_loss_left_its_course():
    (found,) = (one for one in all_found()["astro-tft-1"] if one.code == "GL304")
    assert found.steps[0] == 19_499


def test_a_stall_is_told_whole():
    (found,) = (one for one in all_found()["astro-tft-9"] if one.code == "GL204")
    assert round(found.evidence["seconds"]) == 19_102
    assert round(found.evidence["lost seconds"]) == 68_854


@pytest.mark.parametrize("run", ["hf-homework", "weather-15", "rl-games-ant", "yolo-halobolite"])
def test_one_cause_is_one_finding(run):
    told = [one.code for one in all_found()[run] if one.severity]
    assert len(told) == len(set(told))
    assert not {"GL201", "GL202"} <= set(told)
