"""Checkpoint files: which are kept, which is the latest, and what is left of them whatever goes wrong."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from optim import Saver, Variable, latest_checkpoint
from optim.checkpoints import files
from optim.checkpoints.files import CheckpointList, Keeping
from summaries.storage.durable import scratch_beside

pytest.importorskip("safetensors", reason="the extra `checkpoint` is not installed")


@pytest.fixture
def v():
    return Variable([0.0], name="v")


def names(directory):
    return sorted(os.listdir(directory))


def save(v, saver, path, step):
    v.assign([float(step or 0)])
    return saver.save(path, step)


def test_max_to_keep(tmp_path, v):
    saver = Saver([v], max_to_keep=2)
    paths = [save(v, saver, tmp_path / "m", step) for step in (9, 10, 11)]
    assert names(tmp_path) == ["checkpoint", "m-10.safetensors", "m-11.safetensors"]
    assert saver.last_checkpoints == paths[1:]
    assert latest_checkpoint(tmp_path) == paths[-1]


def test_five_are_kept_where_nothing_is_said(tmp_path, v):
    saver = Saver([v])
    for step in range(7):
        save(v, saver, tmp_path / "m", step)
    assert [os.path.basename(path) for path in saver.last_checkpoints] == [f"m-{i}.safetensors" for i in range(2, 7)]
    assert len(names(tmp_path)) == 6


@pytest.mark.parametrize("keep", [0, None])
def test_all_are_kept(tmp_path, v, keep):
    saver = Saver([v], max_to_keep=keep)
    for step in range(7):
        save(v, saver, tmp_path / "m", step)
    assert len(saver.last_checkpoints) == 7
    assert len(names(tmp_path)) == 8


def test_a_new_process_goes_on_counting(tmp_path, v):
    for step in range(4):
        save(v, Saver([v], max_to_keep=2), tmp_path / "m", step)
    assert names(tmp_path) == ["checkpoint", "m-2.safetensors", "m-3.safetensors"]


def test_one_name_saved_again_replaces_the_file(tmp_path, v):
    saver = Saver([v], max_to_keep=2)
    for step in (None, 1, None):
        save(v, saver, tmp_path / "m", step)
    assert names(tmp_path) == ["checkpoint", "m-1.safetensors", "m.safetensors"]
    assert latest_checkpoint(tmp_path) == str(tmp_path / "m.safetensors")


def test_two_savers_in_one_directory_leave_each_other_alone(tmp_path, v):
    often, best = Saver([v], max_to_keep=1), Saver([v], max_to_keep=2)
    for step in range(5):
        save(v, often, tmp_path / "model", step)
        if step % 2 == 0:
            save(v, best, tmp_path / "model-best", step)
    kept = ["checkpoint", "model-4.safetensors", "model-best-2.safetensors", "model-best-4.safetensors"]
    assert names(tmp_path) == kept
    assert latest_checkpoint(tmp_path).endswith("model-best-4.safetensors")


def test_savers_in_several_threads_take_turns(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_LOCK_TRIES", 100_000)  # however slow the disk is

    def work(stem, k):
        v = Variable([float(k)], name="v")
        saver = Saver([v], max_to_keep=2)
        for step in range(10):
            saver.save(tmp_path / stem, step)

    threads = [threading.Thread(target=work, args=("aab"[k], k)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names(tmp_path) == [f"{m}-{step}.safetensors" for m in "ab" for step in (8, 9)] + ["checkpoint"]


def test_a_signal_handler_may_save_while_its_thread_saves(tmp_path, v, monkeypatch):
    saver, replace, depth = Saver([v], max_to_keep=2), os.replace, []

    def interrupted(*paths):
        if not depth:
            depth.append(1)
            saver.save(tmp_path / "m", 77)
        replace(*paths)

    def wait(secs):
        raise AssertionError("the handler waits for its own thread")

    monkeypatch.setattr(os, "replace", interrupted)
    monkeypatch.setattr(files.time, "sleep", wait)
    save(v, saver, tmp_path / "m", 1)
    assert latest_checkpoint(tmp_path) == str(tmp_path / "m-1.safetensors")
    saver.restore(tmp_path / "m-77")


@pytest.mark.skipif(sys.platform == "win32", reason="has no such locks")
def test_a_lock_that_nobody_lets_go_is_not_waited_for_without_end(tmp_path, v, monkeypatch):
    import fcntl

    monkeypatch.setattr(files, "_LOCK_TRIES", 2)
    handle = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    path = save(v, Saver([v]), tmp_path / "m", 1)
    os.close(handle)
    assert latest_checkpoint(tmp_path) == path


def test_one_is_kept_for_good_every_so_many_hours():
    listing, gone, keeping = CheckpointList({}, {}), [], Keeping("m", 2, 3 * 3600.0, 0.0)
    for hour in range(10):
        listing, going = listing.with_new(f"m-{hour}.safetensors", 3600.0 * hour, keeping)
        gone += going
        for name in going:
            del listing.checkpoints[name]
    assert list(listing.checkpoints) == ["m-8.safetensors", "m-9.safetensors"]
    assert list(listing.kept) == ["m-3.safetensors", "m-6.safetensors"]
    assert gone == [f"m-{hour}.safetensors" for hour in (0, 1, 2, 4, 5, 7)]


def test_the_suffix_may_be_given_or_left_out(tmp_path, v, monkeypatch):
    monkeypatch.chdir(tmp_path)
    saver = Saver([v])
    assert saver.save("m.safetensors", 3) == "m-3.safetensors"
    v.assign([5.0])
    saver.restore("m-3")
    assert v.value.tolist() == [0.0]
    assert latest_checkpoint(".") == "./m-3.safetensors"


@pytest.mark.parametrize("path", ["", "new", "new/"])
def test_a_directory_is_no_name(tmp_path, v, path):
    (tmp_path / "new").mkdir()
    given = f"{tmp_path}/{path}"
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole text is compared
        Saver([v]).save(given)
    example = os.path.join(given, "model")
    assert str(raised.value) == f"save_path must end in a name, such as {example!r}, got the directory {given!r}"


# What is the latest.


def test_no_directory_no_checkpoint(tmp_path):
    assert latest_checkpoint(tmp_path / "none") is None
    assert latest_checkpoint(tmp_path) is None


def test_the_latest_that_is_still_there(tmp_path, v):
    saver = Saver([v])
    paths = [save(v, saver, tmp_path / "m", step) for step in range(3)]
    os.remove(paths[2])
    assert latest_checkpoint(tmp_path) == paths[1]
    save(v, saver, tmp_path / "m", 7)
    assert [os.path.basename(path) for path in saver.last_checkpoints] == [f"m-{k}.safetensors" for k in (0, 1, 7)]


DAMAGED = {
    "missing": None,
    "empty": "",
    "cut short": '{"checkpoints": {"m-0.safe',
    "of another kind": "[1, 2]",
    "TF1's": 'model_checkpoint_path: "model-1"\n',
    "of other keys": "{}",
}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED)
def test_without_the_list_the_newest_file_is_the_latest(tmp_path, v, text):
    saver = Saver([v], max_to_keep=3)
    paths = [save(v, saver, tmp_path / "m", step) for step in (10, 9, 8)]
    for age, path in enumerate(reversed(paths)):
        os.utime(path, (1000.0 - age, 1000.0 - age))
    os.remove(tmp_path / "checkpoint")
    if text is not None:
        (tmp_path / "checkpoint").write_text(text)
    assert latest_checkpoint(tmp_path) == paths[-1]
    save(v, saver, tmp_path / "m", 11)
    assert names(tmp_path) == ["checkpoint", "m-11.safetensors", "m-8.safetensors", "m-9.safetensors"]


def test_without_a_list_only_files_with_a_step_are_taken_for_checkpoints(tmp_path, v):
    save(v, Saver([v]), tmp_path / "weights", None)
    os.remove(tmp_path / "checkpoint")
    assert latest_checkpoint(tmp_path) is None


def test_a_list_leads_to_no_other_directory(tmp_path, v):
    (tmp_path / "mine").mkdir()
    outside = save(v, Saver([v]), tmp_path / "other", 1)
    inside = save(v, Saver([v]), tmp_path / "mine" / "m", 1)
    (tmp_path / "mine" / "sub").mkdir()
    save(v, Saver([v]), tmp_path / "mine" / "sub" / "a", 1)
    listed = ["m-1.safetensors", "../other-1.safetensors", outside, ".", "sub/a-1.safetensors"]
    text = json.dumps({"checkpoints": {name: i for i, name in enumerate(listed)}, "kept": {}})
    (tmp_path / "mine" / "checkpoint").write_text(text)
    assert latest_checkpoint(tmp_path / "mine") == inside


def test_a_directory_may_be_moved(tmp_path, v):
    save(v, Saver([v]), tmp_path / "here" / "m", 1)
    os.rename(tmp_path / "here", tmp_path / "there")
    assert latest_checkpoint(tmp_path / "there") == str(tmp_path / "there" / "m-1.safetensors")


def test_what_a_kill_kept_from_being_removed_goes_with_the_next_save(tmp_path, v, monkeypatch):
    saver = Saver([v], max_to_keep=2)
    with monkeypatch.context() as patched:
        patched.setattr(os, "remove", lambda _: None)
        for step in range(4):
            save(v, saver, tmp_path / "m", step)
    assert len(names(tmp_path)) == 5
    for name in ("other-3.safetensors", "m-3-mine.safetensors", "m-9.safetensors"):
        (tmp_path / name).write_bytes(b"not ours")
    save(v, saver, tmp_path / "m", 4)
    not_ours = ["m-3-mine.safetensors", "m-9.safetensors", "other-3.safetensors"]
    assert names(tmp_path) == sorted(["checkpoint", "m-3.safetensors", "m-4.safetensors", *not_ours])


# What goes wrong.


@pytest.mark.parametrize("call", ["fsync", "replace", "makedirs"])
@pytest.mark.parametrize("when", range(6))
def test_a_failure_at_any_moment_leaves_the_last_checkpoint_whole(tmp_path, v, monkeypatch, call, when):
    saver = Saver([v], max_to_keep=1)
    save(v, saver, tmp_path / "m", 1)
    calls, real = [], getattr(os, call)

    def fail(*args, **kwargs):
        calls.append(args)
        if len(calls) == when + 1:
            raise OSError(5, "Input/output error")
        return real(*args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(os, call, fail)
        try:
            save(v, saver, tmp_path / "m", 2)
            step = 2
        except OSError:
            step = None
    latest = latest_checkpoint(tmp_path)
    v.assign([-1.0])
    saver.restore(latest)
    assert latest == str(tmp_path / f"m-{int(v.value[0])}.safetensors")
    assert step in (None, int(v.value[0]))
    assert not any(name.endswith(".tmp") for name in names(tmp_path))


BROKEN = {
    "empty": lambda data: data[:0],
    "cut short": lambda data: data[:-3],
    "cut within its head": lambda data: data[:20],
    "without its head": lambda data: data[20:],
    "with something behind": lambda data: data + b"more",
    "text": lambda data: b"no checkpoint" * len(data),
}


@pytest.mark.parametrize("breaking", BROKEN.values(), ids=BROKEN)
def test_what_is_no_checkpoint(tmp_path, v, breaking):
    saver = Saver([v])
    path = save(v, saver, tmp_path / "m", 1)
    with open(path, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(breaking(data))
    v.assign([7.0])
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the text is compared
        saver.restore(path)
    assert str(raised.value).startswith(f"{path!r} is not a checkpoint, or is damaged: ")
    assert v.value.tolist() == [7.0]


def test_damaged_values_are_not_restored(tmp_path):
    weights = [Variable(np.arange(2000, dtype=np.float32), name=name) for name in "ab"]
    saver = Saver(weights)
    path = saver.save(tmp_path / "m", 1)
    with open(path, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\1")
    weights[0].assign(np.zeros(2000))
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the text is compared
        saver.restore(path)
    assert str(raised.value) == f"{path!r} is damaged: the values of 'b' are not those that were saved"
    assert not weights[0].value.any()


def test_a_file_of_another_program_has_no_checksums(tmp_path, v):
    save_file = pytest.importorskip("safetensors.numpy").save_file
    save_file({v.name: np.full_like(v.value, 5.0)}, tmp_path / "m.safetensors")
    Saver([v]).restore(tmp_path / "m.safetensors")
    assert v.value.tolist() == [5.0]
    save_file({v.name: np.full_like(v.value, 6.0)}, tmp_path / "m.safetensors", metadata={"crc32c": "[1]"})
    with pytest.raises(ValueError, match="is not a checkpoint, or is damaged"):
        Saver([v]).restore(tmp_path / "m.safetensors")


def test_a_file_that_is_not_there(tmp_path, v):
    with pytest.raises(FileNotFoundError, match=r"m-1\.safetensors"):
        Saver([v]).restore(tmp_path / "m-1.safetensors")
    with pytest.raises(IsADirectoryError):
        Saver([v]).restore(tmp_path)


def test_what_a_killed_saver_left_is_removed_an_hour_later(tmp_path, v):
    with scratch_beside(str(tmp_path / "m")) as scratch:
        for name, age in ((".gradledger.old.tmp", 4000), (".gradledger.young.tmp", 100)):
            shutil.copytree(scratch, tmp_path / name)
            os.utime(tmp_path / name / ".gradledger", (time.time() - age,) * 2)
    save(v, Saver([v]), tmp_path / "m", 1)
    assert names(tmp_path) == [".gradledger.young.tmp", "checkpoint", "m-1.safetensors"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a descriptor is of")
def test_the_directories_that_are_made_are_synced_with_those_above(tmp_path, v, monkeypatch):
    synced = set()
    monkeypatch.setattr(os, "fsync", lambda fd: synced.add(os.readlink(f"/proc/self/fd/{fd}")))
    save(v, Saver([v]), tmp_path / "a" / "b" / "m", 1)
    assert synced >= {str(tmp_path), str(tmp_path / "a"), str(tmp_path / "a" / "b")}


def test_a_checkpoint_may_be_read_by_whom_the_umask_lets(tmp_path, v):
    before = os.umask(0o027)
    try:
        path = save(v, Saver([v]), tmp_path / "m", 1)
    finally:
        os.umask(before)
    assert [os.stat(name).st_mode & 0o777 for name in (path, tmp_path / "checkpoint")] == [0o640, 0o640]


def test_a_full_disk(tmp_path, v):
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", tmp_path]
    mounted = subprocess.run(command, capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip(f"needs the right to mount a small file system: {mounted.stderr.decode().strip()}")
    try:
        first = save(v, Saver([v]), tmp_path / "m", 1)
        with pytest.raises(OSError) as raised:  # noqa: PT011 - number and file are compared
            Saver([Variable([0.0] * 100_000, name="v")]).save(tmp_path / "m", 2)
        assert (raised.value.errno, raised.value.filename) == (28, str(tmp_path / "m-2.safetensors"))
        assert names(tmp_path) == ["checkpoint", "m-1.safetensors"]
        assert latest_checkpoint(tmp_path) == first
    finally:
        subprocess.run(["umount", "--lazy", tmp_path], check=True)


def test_without_safetensors(tmp_path, v, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with pytest.raises(ImportError) as raised:
        Saver([v]).save(tmp_path / "m")
    assert str(raised.value) == "checkpoints need safetensors: pip install 'gradledger[checkpoint]'"
    assert files.latest_checkpoint(tmp_path) is None
