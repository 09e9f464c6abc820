"""Pipes, sockets and devices: passed over where a directory has one, refused where a path is one; nobody waits."""

import os
import socket
import sys
import threading

import pytest

from summaries import Finding, SummaryWriter, audit, clip_advice, read_events, read_logdir, read_run
from summaries.auditing.config import Config
from summaries.auditing.watch import watch
from summaries.cli import main
from summaries.storage.local import LOCAL
from summaries.tools import verify
from summaries.tools.runs import runs_below

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="this system has no such files")

NAME = "z.tfevents"


def make_socket(path):
    """Bind it by a relative name: a socket's path is short."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))


def make_pipe(path):
    os.mkfifo(path)


SPECIAL = {
    "a named pipe": make_pipe,
    "a socket": make_socket,
    "a device": lambda path: os.symlink("/dev/zero", path),
}


def promptly(action):
    """The result or the error of an action, or a failure if it hangs."""
    outcome = []

    def act():
        try:
            outcome.append(action())
        except OSError as error:
            outcome.append(error)

    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    thread.join(300)
    assert not thread.is_alive(), "it waits"
    return outcome[0]


def points_followed(path):
    events = read_events(path, follow=True, timeout_secs=0.1)
    return sum(len(event.summary.value) for event in events)


def points_watched(path):
    """A watch tells of findings, not of points: all of them where it found what is to be found."""
    found = next(watch(str(path), Config()))
    return 100 if {type(one) for one in found} == {Finding} else 0


READERS = {
    "read_run": lambda path: len(read_run(path).scalars["gradients/global_norm"]),
    "read_logdir": lambda path: len(read_logdir(path)["."].scalars["gradients/global_norm"]),
    "follow": points_followed,
    "audit": lambda path: audit(path).runs[0].points,
    "watch": points_watched,
    "clip_advice": lambda path: clip_advice(path).steps,
    "export": lambda path: len(runs_below(path)["."].scalars["gradients/global_norm"]),
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run that explodes."""
    monkeypatch.chdir(tmp_path)
    with SummaryWriter(tmp_path) as writer:
        for step in range(100):
            writer.add_scalar("gradients/global_norm", 1 + 1e9 * (step > 90), step)
    return tmp_path


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_passed_over_in_a_directory(run, read, kind):
    SPECIAL[kind](run / NAME)
    assert promptly(lambda: read(run)) == 100


@pytest.mark.parametrize("kind", SPECIAL)
def test_passed_over_by_the_command_line(run, kind, capsys):
    SPECIAL[kind](run / NAME)
    assert promptly(lambda: main(["verify", str(run)])) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


EVERYONE = {
    "read_run": read_run,
    "read_logdir": read_logdir,
    "read_events": lambda path: list(read_events(path)),
    "follow": points_followed,
    "verify": verify,
    "audit": audit,
    "clip_advice": clip_advice,
    "export": runs_below,
    "discover": lambda path: LOCAL.discover(str(path)),
    "open": lambda path: LOCAL.open(str(path)),
}


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize("read", EVERYONE.values(), ids=EVERYONE)
def test_refused_as_a_path(run, read, kind):
    path = run / NAME
    SPECIAL[kind](path)
    error = promptly(lambda: read(path))
    assert str(error) == f"[Errno 22] it must be a regular file, got {kind}: {str(path)!r}"


@pytest.mark.parametrize("command", ["verify", "audit"])
def test_refused_by_the_command_line(run, command, capsys):
    path = run / NAME
    os.mkfifo(path)
    assert promptly(lambda: main([command, str(path)])) == 2
    message = f"gradledger: it must be a regular file, got a named pipe: {str(path)!r}\n"
    assert capsys.readouterr().err == message


def test_a_file_that_becomes_a_pipe_after_it_was_found(run):
    (file,) = LOCAL.discover(str(run))
    os.remove(file.path)
    os.mkfifo(file.path)
    assert "got a named pipe" in str(promptly(file.open))


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_directory_that_is_named_like_an_event_file(run, read):
    """It is no event file; what is in it is a run below."""
    (run / NAME).mkdir()
    assert promptly(lambda: read(run)) == 100


def test_a_directory_is_no_event_file_to_open(run):
    with pytest.raises(IsADirectoryError) as raised:
        next(read_events(run))
    assert str(raised.value) == f"[Errno 21] Is a directory: {str(run)!r}"


READING = [read_run, lambda path: read_logdir(path)["."], lambda path: runs_below(path)["."]]


@pytest.mark.parametrize("read", READING)
@pytest.mark.parametrize("target", ["nowhere", "\x1b.tfevents", "/dev/null/nowhere"])
def test_a_link_to_nowhere_is_told_and_the_files_beside_it_are_read(run, read, target, caplog):
    os.symlink(target, run / "\x1b.tfevents")
    assert len(read(run).scalars["gradients/global_norm"]) == 100
    path = str(run / "\x1b.tfevents")
    assert caplog.messages == [f"a link to nowhere is passed over: {path!r}"]


def test_a_run_of_links_to_nowhere_costs_the_runs_beside_it_nothing(run):
    (run / "left").mkdir()
    os.symlink("nowhere", run / "left" / NAME)
    assert list(read_logdir(run)) == ["."]
    assert list(runs_below(run)) == ["."]


def test_a_link_to_nowhere_does_not_end_a_dump(run, capsys):
    os.symlink("nowhere", run / "a.tfevents")
    assert main(["dump", str(run)]) == 2
    dumped = capsys.readouterr()
    assert dumped.err == f"gradledger: No such file or directory: {str(run / 'a.tfevents')!r}\n"
    assert len(dumped.out.splitlines()) > 100


@pytest.mark.parametrize("read", READING)
def test_where_there_are_only_links_to_nowhere_reading_ends_with_the_error_of_one(tmp_path, read):
    os.symlink("nowhere", tmp_path / NAME)
    with pytest.raises(FileNotFoundError) as raised:
        read(tmp_path)
    assert str(raised.value) == f"[Errno 2] No such file or directory: {str(tmp_path / NAME)!r}"


def test_a_link_to_nowhere_costs_a_follower_and_an_audit_nothing(run):
    os.symlink("nowhere", run / NAME)
    assert points_followed(run) == 100
    (audited,) = audit(run).runs
    assert audited.points == 100
    assert [(failure.path, failure.reason) for failure in audited.failures] == [
        (str(run / NAME), "No such file or directory")
    ]
