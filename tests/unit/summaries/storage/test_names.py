"""Names of event files, and paths: their order, their ends, and which are remote."""

import os
import socket

import pytest

from summaries.storage.names import checked_suffix, event_file_name, is_event_file, is_remote, join


def test_event_file_name():
    name = event_file_name(1795202364.9, ".mine")
    assert name.startswith(f"events.out.tfevents.1795202364.{socket.gethostname()}.{os.getpid()}.")
    assert name.endswith(".mine")
    assert is_event_file(name)


def test_names_sort_as_they_were_made():
    """Of one second by their number, of several by the second, also before there were ten digits of them."""
    names = [event_file_name(secs) for secs in (7.0, 999_999_999.0, 1e9, *[1.5e9] * 12)]
    assert names == sorted(names)
    assert len(set(names)) == len(names)


def test_a_host_name_is_one_part_of_a_file_name(monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: f"a{os.sep}b")
    assert ".a_b." in event_file_name(0.0)


@pytest.mark.parametrize("suffix", ["", ".a", "a b", "..", "損失"])
def test_suffixes(suffix):
    assert checked_suffix(suffix) == suffix


@pytest.mark.parametrize(
    ("suffix", "error", "text"),
    [
        ("/", ValueError, "filename_suffix must be a part of a file's name, without separators, got '/'"),
        ("a/b", ValueError, "filename_suffix must be a part of a file's name, without separators, got 'a/b'"),
        (None, TypeError, "filename_suffix must be a string, got NoneType: None"),
        (b".a", TypeError, "filename_suffix must be a string, got bytes: b'.a'"),
    ],
)
def test_suffixes_that_are_refused(suffix, error, text):
    with pytest.raises(error) as raised:
        checked_suffix(suffix)
    assert str(raised.value) == text


@pytest.mark.parametrize(
    ("path", "remote"),
    [("s3://a/b", True), ("memory://", True), ("a/b", False), ("/a:b", False), ("C:\\a", False), ("", False)],
)
def test_is_remote(path, remote):
    assert is_remote(path) is remote


def test_join():
    assert join("s3://a/b/", "c", "d") == "s3://a/b/c/d"
    assert join("a", "b", "c") == os.path.join("a", "b", "c")
