"""Names of event files, and paths, local or with a scheme."""

import itertools
import os
import re
import socket

import pytest
from helpers import run_script

from summaries.storage import names
from summaries.storage.names import (
    by_number,
    checked_suffix,
    directory_of,
    event_file_name,
    is_event_file,
    is_remote,
    join,
    part_name,
    relative,
    whole_name,
)


@pytest.fixture
def counter(monkeypatch):
    """The names' counter, beginning at 0 again."""
    monkeypatch.setattr(names, "counter", itertools.count())


@pytest.mark.usefixtures("counter")
@pytest.mark.parametrize(
    ("secs", "digits"), [(1795202364.9, "1795202364"), (5.0, "0000000005"), (1.5e10, "15000000000")]
)
def test_name(secs, digits):
    place = f"{socket.gethostname()}.{os.getpid()}"
    assert event_file_name(secs) == f"events.out.tfevents.{digits}.{place}.000000"
    assert event_file_name(secs, ".v2") == f"events.out.tfevents.{digits}.{place}.000001.v2"


@pytest.mark.usefixtures("counter")
def test_a_host_name_is_no_path(monkeypatch):
    monkeypatch.setattr(names, "host_name", lambda: "a/b")
    assert event_file_name(0) == f"events.out.tfevents.0000000000.a_b.{os.getpid()}.000000"


@pytest.mark.usefixtures("counter")
def test_names_of_one_second_sort_by_age():
    made = [event_file_name(5.0, suffix) for suffix in ("", ".resumed") * 8]
    assert sorted(made) == made


@pytest.mark.parametrize(
    "names",
    [
        ["lr=0.003_seed=9", "lr=0.003_seed=10", "lr=0.01_seed=0", "lr=0.03_seed=0", "lr=1.0_seed=0", "lr=10_seed=0"],
        ["lr=3e-4/a", "lr=1e-3/a", "lr=1e-3/b", "lr=2"],
        ["v1.9", "v1.10"],
        ["run-003/a", "run-003/b", "run-03/a"],
        ["events.out.tfevents.5.vm.1.9", "events.out.tfevents.5.vm.1.10", "events.out.tfevents.5.vm.12.0"],
        ["commit=" + 20 * "9", "commit=" + 20 * "9" + "a", "commit=1e999"],
    ],
)
def test_names_sort_by_their_numbers(names):
    found = names[::-1]
    found.sort(key=by_number)
    assert found == names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("events.out.tfevents.1795202364.vm", True),
        ("events.out.tfevents.1795202364.vm.13796.0.v2", True),
        ("runs/a/old.tfevents", True),
        ("tfevents/notes.txt", False),
        ("events.out", False),
    ],
)
def test_is_event_file(name, expected):
    assert is_event_file(name) is expected


def test_checked_suffix():
    assert checked_suffix(".v2") == ".v2"
    message = "filename_suffix must be a part of a file's name, without separators, got 'a/b'"
    with pytest.raises(ValueError, match=re.escape(message)):
        checked_suffix("a/b")
    with pytest.raises(TypeError, match="filename_suffix must be a string, got int: 2"):
        checked_suffix(2)


@pytest.mark.parametrize(
    ("path", "remote", "directory"),
    [
        ("s3://bucket/runs/a/x.tfevents", True, "s3://bucket/runs/a"),
        ("memory://x.tfevents", True, "memory:/"),
        (os.path.join("runs", "x.tfevents"), False, "runs"),
        ("x.tfevents", False, ""),
        (os.path.join(os.sep, "x.tfevents"), False, os.sep),
    ],
)
def test_directory_of(path, remote, directory):
    assert is_remote(path) is remote
    assert directory_of(path) == directory


@pytest.mark.parametrize(
    "root", ["s3://bucket", "s3://bucket/runs", "runs", os.path.join(os.curdir, "runs"), os.curdir]
)
@pytest.mark.parametrize("names", [(), ("a",), ("a", "b.c")])
def test_relative_undoes_join(root, names):
    assert relative(join(root, *names), root) == ("/".join(names) or ".")


def test_relative_to_an_address_that_ends_with_a_slash():
    assert relative("s3://bucket/runs/a", "s3://bucket/runs/") == "a"
    assert relative("s3://bucket/runs", "s3://bucket/runs/") == "."


@pytest.mark.parametrize(
    "path",
    [
        event_file_name(1.7e9),
        event_file_name(1.7e9, ".v2"),
        "runs/events.out.tfevents.1700000000.vm.77.0",
        "runs/events.out.tfevents.1700000000.vm.77.0.v2",
        "s3://bucket/runs",
    ],
    ids=["ours", "ours with a suffix", "torch's", "torch's with a suffix", "a directory"],
)
def test_only_parts_have_another_whole_name(path):
    assert whole_name(path) == path


@pytest.mark.parametrize("suffix", ["", ".end"])
def test_parts_of_a_file(suffix):
    name = "s3://bucket/" + event_file_name(1.7e9)
    parts = [part_name(name, number, suffix) for number in range(12)]
    assert parts == sorted(set(parts))
    assert {whole_name(part) for part in parts} == {name + suffix}


def test_a_path_has_only_what_the_locale_can_write(tmp_path):
    asked = "from summaries.storage.names import as_path; print(ascii([*map(as_path, {names!r})]))"
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    printed = run_script(tmp_path, asked.format(names=["größe/😀", "\udcc3\udcb6"]), env=environment)
    assert printed == "['gr%C3%B6%C3%9Fe/%F0%9F%98%80', '\\udcc3\\udcb6']\n"  # what is a name on the disk stays
