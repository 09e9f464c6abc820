"""An executor of processes that die: how is known, and nothing else is lost."""

import multiprocessing
import os
import subprocess
import sys
import time

import pytest
from processes.calls import Unborn, endless, squared

from summaries.execution.processes import Processes, WorkerDiedError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to be killed by")
OF_MEMORY = "the last one was killed by signal 9, as happens when the system runs out of memory"


def test_a_call_returns_or_raises():
    with Processes(2) as pool:
        assert [pool.submit(pow, number, exp=2).result() for number in (1, 2, 3)] == [1, 4, 9]
        with pytest.raises(ValueError, match=r"^5$"):
            pool.submit(squared, 5).result()
        assert pool.submit(os.getpid).result() != os.getpid()
    assert multiprocessing.active_children() == []


def test_a_death_costs_its_own_call():
    with Processes(2) as pool:
        futures = {number: pool.submit(squared, number) for number in range(12) if number != 5}
        outcomes = {number: future.exception() or future.result() for number, future in futures.items()}
    assert {number: outcomes.pop(number).args for number in (3, 7)} == {
        3: (OF_MEMORY,),
        7: ("the last one ended with status 4",),
    }
    assert outcomes == {number: number**2 for number in range(12) if number not in {3, 5, 7}}
    assert multiprocessing.active_children() == []


def test_who_leaves_by_an_exception_ends_the_processes_at_once():
    futures = []

    def interrupted():
        with Processes(2) as pool:
            futures.extend(pool.submit(endless, None) for _ in range(5))
            while len(multiprocessing.active_children()) < 2:
                time.sleep(0.005)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert multiprocessing.active_children() == []
    assert all(future.cancelled() or future.exception() for future in futures)


def test_what_cannot_be_unpickled_there_is_an_error_of_the_call():
    with Processes(1) as pool:
        with pytest.raises(LookupError, match=r"^no such thing$"):
            pool.submit(Unborn(LookupError("no such thing")), 1).result()
        assert pool.submit(abs, -1).result() == 1


def test_what_cannot_be_pickled_here_is_an_error_of_the_call():
    with Processes(1) as pool, pytest.raises(Exception, match="lambda"):
        pool.submit(lambda: 0).result()


def test_what_cannot_be_pickled_there_ends_the_process(capfd):
    with Processes(1) as pool, pytest.raises(WorkerDiedError, match=r"^the last one ended with status 1$"):
        pool.submit(multiprocessing.Lock).result()
    assert "RuntimeError: Lock objects" in capfd.readouterr().err


def test_no_process_can_be_started(tmp_path):
    program = tmp_path / "unguarded.py"
    program.write_text(
        "import os\n"
        "if __name__ != '__main__':\n"
        "    os._exit(5)\n"
        "from summaries.execution.processes import Processes\n"
        "with Processes(2) as pool:\n"
        "    print(repr(pool.submit(abs, -1).exception()))\n"
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout == ("ChildProcessError('cannot start a process to work in: the last one ended with status 5')\n")
