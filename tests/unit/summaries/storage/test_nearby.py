"""Runs and event files near a path that is being typed."""

import os

import pytest

from summaries.storage import nearby as module
from summaries.storage.nearby import head_of, nearby

pytestmark = pytest.mark.only_on_disks(reason="shells complete paths of disks")


@pytest.fixture(autouse=True)
def _tree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("runs/a", "runs/b/deep", "runs/b", "rest", ".hidden/a", "runs/.trash", "other"):
        os.makedirs(path, exist_ok=True)
    for path in ("runs/a", "runs/b/deep", ".hidden/a", "runs/.trash"):
        with open(f"{path}/x.tfevents", "wb") as file:
            file.write(b"0123456789")
    with open("lone.tfevents", "wb"):
        pass
    with open("runs/notes.txt", "wb"):
        pass


RUNS = {
    "": ["lone.tfevents", "runs/a", "runs/b/deep"],
    "r": ["runs/a", "runs/b/deep"],
    "runs/": ["runs/a", "runs/b/deep"],
    "runs/b": ["runs/b/deep"],
    "runs/a/": ["runs/a/x.tfevents"],
    "runs/a/x": ["runs/a/x.tfevents"],
    "rest": [],
    ".h": [".hidden/a"],
    "runs/.t": ["runs/.trash"],
    "nowhere/": [],
    "./runs/a": ["./runs/a"],
}


@pytest.mark.parametrize(("beginning", "found"), RUNS.items())
def test_runs(beginning, found):
    assert list(nearby(beginning)) == found


def test_files():
    assert list(nearby("runs/", files=True)) == ["runs/a/x.tfevents", "runs/b/deep/x.tfevents"]


def test_a_home_directory_stays_as_it_is_typed(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert list(nearby("~/runs/a")) == ["~/runs/a"]


def test_links_in_circles_come_to_an_end():
    os.symlink("..", "runs/up")
    assert len(list(nearby("runs/"))) < module.MOST_ENTRIES


def test_no_more_entries_are_looked_at(monkeypatch):
    monkeypatch.setattr(module, "MOST_ENTRIES", 5)
    assert list(nearby("runs/")) == ["runs/a"]


def test_what_cannot_be_listed_is_skipped(refuse_to_list):
    refuse_to_list("deep")
    assert list(nearby("runs/")) == ["runs/a"]


def test_heads():
    assert (head_of("runs/a/x.tfevents", 4), head_of("runs/a/x.tfevents", 99)) == (b"0123", b"0123456789")
    assert head_of("runs/nothing", 4) == b""
