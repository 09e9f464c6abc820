"""verify: what is whole in an event file, and what is not."""

from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor

import pytest

from summaries import Event, FaultKind
from summaries.tools import verify, verify_logdir
from summaries.wire.records import frame

GOOD = frame(Event(step=1).SerializeToString())
FILES = {
    "empty": (b"", 0, [FaultKind.EMPTY_FILE], False),
    "whole": (GOOD * 3, 3, [], False),
    "unfinished": (GOOD + GOOD[:-1], 1, [FaultKind.UNFINISHED_TAIL], False),
    "damaged": (GOOD + GOOD[:-1] + b"!" + GOOD, 2, [FaultKind.DAMAGED_PAYLOAD], True),
    "undecodable": (GOOD + frame(b"\xff"), 1, [FaultKind.UNDECODABLE], True),
    "no record": (b"<!doctype html>" + GOOD[:-1], 0, [FaultKind.DAMAGED_LENGTH, FaultKind.UNFINISHED_TAIL], True),
    "zero-filled": (GOOD + bytes(50), 1, [FaultKind.ZERO_FILLED], True),
    "much": (
        b"!" + GOOD + bytes(50) + GOOD[:-1],
        1,
        [FaultKind.DAMAGED_LENGTH, FaultKind.ZERO_FILLED, FaultKind.UNFINISHED_TAIL],
        True,
    ),
}


@pytest.mark.parametrize(("data", "events", "kinds", "damaged"), FILES.values(), ids=FILES)
def test_verify(tmp_path, data, events, kinds, damaged):
    path = tmp_path / "a.tfevents"
    path.write_bytes(data)
    verdict = verify(path)
    assert (verdict.path, verdict.events, verdict.damaged) == (str(path), events, damaged)
    assert [fault.kind for fault in verdict.faults] == kinds
    assert verdict.unfinished == (kinds == [FaultKind.UNFINISHED_TAIL])


def test_no_such_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        verify(tmp_path / "nowhere")


@pytest.fixture
def tree(tmp_path):
    for name, (data, *_) in FILES.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.tfevents").write_bytes(data)
    return tmp_path


@pytest.mark.parametrize("threads", [None, 3])
def test_every_file_below_a_directory(tree, threads):
    executor = threads and ThreadPoolExecutor(threads)
    verdicts = verify_logdir(tree, executor=executor)
    assert verdicts == [verify(tree / name / "a.tfevents") for name in sorted(FILES)]


@pytest.mark.only_on_disks(reason="a link that leads nowhere")
@pytest.mark.parametrize("threads", [None, 3])
def test_a_file_that_cannot_be_read(tree, threads):
    executor = threads and ThreadPoolExecutor(threads)
    link = tree / "b.tfevents"
    link.symlink_to("nowhere")
    errors = []
    assert len(verify_logdir(tree, executor=executor, on_error=errors.append)) == len(FILES)
    assert [error.filename for error in errors] == [str(link)]
    with pytest.raises(FileNotFoundError):
        verify_logdir(tree, executor=executor)


def test_a_worker_that_is_lost(tree):
    class Broken(Executor):
        def submit(self, fn, /, *args, **kwargs):
            raise BrokenExecutor("it is off.")

    with pytest.raises(ChildProcessError) as raised:
        verify_logdir(tree / "whole", executor=Broken())
    path = tree / "whole" / "a.tfevents"
    assert str(raised.value) == f"{path}: its executor broke, and with it all that was left: it is off."
