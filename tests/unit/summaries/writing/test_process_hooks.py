"""What happens to open writers at exit: subclasses are left alone, and a loss is reported where nobody overlooks it."""

import logging
import subprocess
import sys

import pytest
from helpers import event_files, run_script, scalars

from summaries import EventFileWriter, SummaryWriter, read_run
from summaries.writing.process_hooks import close_at_last

OVERRIDE = """
import sys
from summaries import SummaryWriter

class Mine(SummaryWriter):
    def close(self):
        print("close")
        self.add_scalar("last", 1.0, 1)
        super().close()

writer = Mine(sys.argv[1])
writer.add_scalar("loss", 0.5, 1)
"""


@pytest.mark.parametrize(("closes", "count"), [("", 0), ("writer.close()", 1), ("writer.close(); del writer", 1)])
def test_a_subclass_s_close_is_not_called_at_exit(logdir, tmp_path, closes, count):
    assert run_script(tmp_path, OVERRIDE + closes, logdir) == "close\n" * count
    (path,) = event_files(logdir)
    assert list(read_run(path).scalars) == ["loss", "last"][: 1 + count]


UNHASHABLE = """
import sys
from summaries import SummaryWriter

class Compared(SummaryWriter):
    def __eq__(self, other):
        return self.logdir == other.logdir

writer = Compared(sys.argv[1])
writer.add_scalar("loss", 0.5, 1)
"""


def test_a_subclass_without_a_hash_is_closed_at_exit(logdir, tmp_path):
    assert run_script(tmp_path, UNHASHABLE, logdir) == ""
    assert list(map(scalars, event_files(logdir))) == [[(1, "loss", 0.5)]]


AT_THE_END = """
import sys
from summaries import SummaryWriter

class Trainer:
    def __init__(self):
        self.writer = SummaryWriter(sys.argv[1])
        self.writer.add_scalar("loss", 0.5, 1)

    def __del__(self):
        self.writer.add_scalar("last", 1.0, 1)
        self.writer.close()
        print("logged")

trainer = Trainer()
"""


def test_an_object_may_log_when_modules_are_gone(logdir, tmp_path):
    assert run_script(tmp_path, AT_THE_END, logdir) == "logged\n"
    assert [scalars(path) for path in event_files(logdir)] == [[(1, "loss", 0.5)], [(1, "last", 1.0)]]


WITHOUT_NAMES = """
import early
import ctypes, sys
from summaries import SummaryWriter

writer = SummaryWriter(sys.argv[1])
writer.add_scalar("loss", 0.5, 1)
modules = [early, *(module for name, module in sys.modules.items() if name.startswith("summaries"))]
early.kept = [writer, modules]
for module in modules:  # as extension modules hold them
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(module))
del writer
"""


def test_a_writer_may_go_after_the_names_of_its_module(logdir, tmp_path):
    """What is held by a module that is imported before ours goes when ours have lost their names."""
    (tmp_path / "early.py").write_text("")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NAMES, logdir], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert list(map(scalars, event_files(logdir))) == [[(1, "loss", 0.5)]]


GOES_ON = """
import ctypes, sys
from summaries import SummaryWriter
from summaries.writing.run_file import RunFile

close = RunFile.close

def closed_while_a_thread_logs(run_file):
    close(run_file)
    if run_file is writer._run_file and len(run_file.paths) == 1:
        writer.add_scalar("loss", 0.25, 2)  # as a thread that is still at work may do

RunFile.close = closed_while_a_thread_logs
writer = SummaryWriter(sys.argv[1], flush_secs=float("inf"))
writer.add_scalar("loss", 0.5, 1)
ctypes.pythonapi.Py_IncRef(ctypes.py_object(writer))
"""


def test_what_is_logged_while_the_process_closes_its_files_is_written_at_once(logdir, tmp_path):
    assert run_script(tmp_path, GOES_ON, logdir) == ""
    assert list(map(scalars, event_files(logdir))) == [[(1, "loss", 0.5)], [(2, "loss", 0.25)]]


AFTER_ALL_ELSE = {
    "a handler that was registered before": """
import atexit, sys

@atexit.register
def last():
    writer = SummaryWriter(sys.argv[1])
    keep.append(writer)
    for step in range(5):
        writer.add_scalar("loss", 0.5, step)

keep = []
from summaries import SummaryWriter
""",
    "a finalizer": """
import sys
from summaries import SummaryWriter

class Trainer:
    def __init__(self):
        self.writer = SummaryWriter(sys.argv[1])

    def __del__(self):
        for step in range(5):
            self.writer.add_scalar("loss", 0.5, step)

trainer = Trainer()
sys.modules["kept"] = trainer
""",
}


@pytest.mark.parametrize("script", AFTER_ALL_ELSE.values(), ids=AFTER_ALL_ELSE)
def test_what_is_logged_when_all_writers_were_closed_is_written_at_once(logdir, tmp_path, script):
    assert run_script(tmp_path, script, logdir) == ""
    found = [scalar for path in event_files(logdir) for scalar in scalars(path)]
    assert found == [(step, "loss", 0.5) for step in range(5)]


LOSS = """
import sys
from pathlib import Path
from summaries import SummaryWriter

writer = SummaryWriter(sys.argv[1], flush_secs=float("inf"))
for step in range(3):
    writer.add_scalar("loss", 0.5, step)
Path(writer.path).unlink()
Path(sys.argv[1]).rmdir()
Path(sys.argv[1]).touch()  # where no other file can be
print(writer.path)
"""


def test_a_loss_at_exit_is_on_stderr_once_even_without_warnings(logdir, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(LOSS)
    command = [sys.executable, "-W", "ignore", script, logdir]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    path = done.stdout.strip()
    assert done.stderr == (
        f"up to 3 events were lost when {path} was closed: [Errno 17] File exists: {str(logdir)!r}\n"
    )


@pytest.fixture
def broken(logdir, monkeypatch):
    """A writer with two events that its file does not take."""
    writer = EventFileWriter(logdir, flush_secs=float("inf"))

    def full(*_):
        raise OSError(28, "No space left on device", writer.path)

    monkeypatch.setattr(type(writer._run_file._current.file), "append", full)
    writer.add_scalar("loss", 0.5, 1)
    writer.add_scalar("loss", 0.5, 2)
    return writer


def test_a_loss_is_logged_and_warned_of(broken, caplog):
    text = (
        f"up to 2 events were lost when {broken.path} was closed: [Errno 28] No space left on device: {broken.path!r}"
    )
    with caplog.at_level(logging.ERROR, "summaries"), pytest.warns(UserWarning, match="^up to") as warned:
        close_at_last(broken._run_file)
    assert [str(one.message) for one in warned] == [text]
    assert [(one.name, one.levelname, one.getMessage()) for one in caplog.records] == [("summaries", "ERROR", text)]
    assert broken.closed


def test_an_earlier_error_loses_no_events(logdir, caplog):
    writer = SummaryWriter(logdir)
    writer.add_scalar("loss", 0.5, 1)
    writer._run_file._errors.append(ValueError("one histogram"))
    with pytest.warns(UserWarning, match="^an error was found when .* was closed: one histogram$"):
        close_at_last(writer._run_file)
    assert len(scalars(writer.path)) == 1
    assert len(caplog.records) == 1
