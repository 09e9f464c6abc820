"""GlobalSummaryWriter: it counts the steps of each tag, over modules and processes."""

import os

import numpy as np
import pytest
from helpers import run_script

from summaries import GlobalSummaryWriter, read_run


def test_each_tag_of_each_kind_has_its_own_steps(logdir):
    with GlobalSummaryWriter(logdir) as writer:
        for value in (1.0, 2.0):
            writer.add_scalar("a", value)
            writer.add_text("a", str(value))
        writer.add_scalar("b", 3.0, walltime=5.0)
        writer.add_image("a", np.zeros((4, 4, 1)), dataformats="HWC")
        assert writer.file_writer.get_logdir() == str(logdir)
        with pytest.raises(TypeError):
            writer.add_scalar("a", None)
        writer.add_scalar("a", 3.0)  # a call that failed does not count
        writer.flush()
    run = read_run(logdir)
    assert run.scalars["a"].step.tolist() == [0, 1, 2]
    assert run.scalars["b"].wall_time.tolist() == [5.0]
    assert run.texts["a/text_summary"].step.tolist() == [0, 1]
    assert run.images["a"].step.tolist() == [0]


def test_one_for_all_modules(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(GlobalSummaryWriter, "_global", None)
    writer = GlobalSummaryWriter.getSummaryWriter()
    assert GlobalSummaryWriter.getSummaryWriter() is writer
    writer.close()
    assert len(list(tmp_path.glob("runs/*/*tfevents*"))) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_processes_share_the_steps(tmp_path, logdir):
    program = """
import multiprocessing, sys
from summaries import GlobalSummaryWriter

writer = GlobalSummaryWriter(sys.argv[1])

def log(value):
    writer.add_scalar("loss", value)

with multiprocessing.get_context("fork").Pool(3) as pool:
    pool.map(log, range(30))
    pool.close()
    pool.join()
writer.add_scalar("loss", 30)
writer.close()
"""
    run_script(tmp_path, program, logdir)
    assert sorted(read_run(logdir).scalars["loss"].step.tolist()) == list(range(31))
