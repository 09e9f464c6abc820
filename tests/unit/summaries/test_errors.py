"""Faults and errors: each kind has its error, what an error says, and that it survives a process's border."""

import pickle

import pytest

from summaries import errors
from summaries.errors import Fault, FaultKind, FormatError, is_damaged, raise_fault

ERRORS = {
    FaultKind.DAMAGED_LENGTH: errors.DamagedLengthError,
    FaultKind.DAMAGED_PAYLOAD: errors.DamagedPayloadError,
    FaultKind.ZERO_FILLED: errors.ZeroFilledError,
    FaultKind.UNDECODABLE: errors.UndecodableError,
    FaultKind.NO_EVENT_FILE: errors.NoEventFileError,
    FaultKind.UNDECODABLE_TEXT: errors.UndecodableTextError,
}


@pytest.mark.parametrize("kind", FaultKind)
def test_each_kind_of_damage_has_an_error_of_its_own(kind):
    fault = Fault(kind, "reason", 10, 20, "got", "want", 3, "a.tfevents")
    with pytest.raises(FormatError) as raised:
        raise_fault(fault)
    kept = ERRORS.get(kind, FormatError)
    assert type(raised.value) is kept
    assert raised.value.fault is fault
    assert str(raised.value) == "reason: got got, want want - at a.tfevents, record 3, offset 10 (20 bytes)"
    again = pickle.loads(pickle.dumps(raised.value))  # noqa: S301 - our own bytes
    assert (type(again), again.fault, str(again)) == (kept, fault, str(raised.value))


def test_a_fault_of_one_byte_in_no_file():
    fault = Fault(FaultKind.ZERO_FILLED, "reason", 0, 1, "got", "want")
    assert str(fault) == "reason: got got, want want - at record 0, offset 0 (1 byte)"
    assert str(fault.located("x")) == "reason: got got, want want - at x, record 0, offset 0 (1 byte)"
    assert fault.path == ""


def test_which_kinds_are_data_loss():
    notes = {FaultKind.NEGATIVE_STEP, FaultKind.NON_FINITE_WALL_TIME, FaultKind.EMPTY_FILE}
    assert {kind for kind in FaultKind if not kind.is_data_loss} == notes


def test_which_kinds_are_damage():
    """Those that readers raise; what a killed process leaves is none of them."""
    assert {kind for kind in FaultKind if kind.is_damage} == set(ERRORS)


def test_damaged_is_what_has_damage_beside_other_faults():
    def faults(*kinds):
        return [Fault(kind, "reason", 0, 1, "got", "want") for kind in kinds]

    harmless = FaultKind.UNFINISHED_TAIL, FaultKind.EMPTY_FILE
    assert not is_damaged(faults(*harmless))
    assert is_damaged(faults(*harmless, FaultKind.ZERO_FILLED))
