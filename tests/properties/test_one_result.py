"""One result: a reader gives the same in a process that has just begun as in one that has done everything before."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from engines import BOTH
from event_data.events import streams
from hypothesis import given, settings
from hypothesis import strategies as st
from properties.read_once import READERS, digest

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def in_a_new_process():
    """(engine, reader, path) → what a process says that has read nothing before."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (TESTS.parent, TESTS)))}
    command = [sys.executable, str(TESTS / "properties" / "read_once.py")]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def say(*asked):
            print(*asked, sep="\t", file=process.stdin, flush=True)
            return process.stdout.readline()

        yield say
        process.stdin.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only POSIX forks")
@settings(deadline=None, max_examples=12)
@given(st.lists(streams(), min_size=1, max_size=3), st.sampled_from(BOTH), st.sampled_from([*READERS]))
def test_what_a_process_has_read_before_changes_nothing(tmp_path_factory, in_a_new_process, files, engine, name):
    paths = []
    for data in files:
        paths.append(tmp_path_factory.mktemp("run") / "events.tfevents")
        paths[-1].write_bytes(data)
    for other in READERS:
        assert len({digest(each, other, path) for path in paths[-1:] for each in (*BOTH, *BOTH)}) == 1, other
    assert in_a_new_process(engine, name, paths[-1]).strip() == digest(engine, name, paths[-1])
