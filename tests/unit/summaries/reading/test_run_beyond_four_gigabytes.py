"""Offsets that 32 bits do not hold: a file with a hole of more than four gigabytes, as a file system may leave one."""

import os

import pytest

from summaries import FaultKind, SummaryWriter, read_run

HOLE = (1 << 32) + 12345


def test_what_lies_behind_a_hole_is_read(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss", 1.0, 1)
    with open(writer.path, "r+b") as file:
        whole = file.read()
        file.seek(HOLE, os.SEEK_CUR)
        file.write(whole)
    if os.stat(writer.path).st_blocks * 512 > HOLE:
        pytest.skip("this file system has no holes")
    run = read_run(tmp_path)
    assert run.scalars["loss"].step.tolist() == [1, 1]
    (fault,) = run.faults
    assert (fault.kind, fault.offset, fault.length) == (FaultKind.ZERO_FILLED, len(whole), HOLE)
