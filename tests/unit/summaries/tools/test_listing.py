"""ls: what is told of each run, whatever is odd about it."""

import os

import pytest
from event_data.odd_runs import NAME, ODD_RUNS, WHOLE, losses, write_odd_runs

from summaries.tools import label, ls, note

EXPECTED = {  # records, tags by kind, values, steps, damaged
    "empty": (0, {}, 0, None, False),
    "only a version": (1, {}, 0, None, False),
    "one point": (2, {"scalars": 1}, 1, (0, 0), False),
    "no event file": (0, {}, 0, None, True),
    "zeros": (5, {"scalars": 1}, 4, (0, 3), True),
    "damaged": (4, {"scalars": 1}, 3, (0, 4), True),
    "unfinished": (3, {"scalars": 1}, 2, (0, 1), False),
    "not UTF-8": (3, {"scalars": 1}, 2, (0, 0), True),
    "control characters": (3, {"scalars": 1}, 2, (0, 1), False),
    "huge steps": (3, {"scalars": 1}, 2, (0, 2**62), False),
    "negative steps": (3, {"scalars": 1}, 2, (-5, 0), False),
    "restarts": (8, {"scalars": 1}, 6, (0, 3), False),
    "other kinds": (6, {"histograms": 1, "audio": 1, "texts": 1, "tensors": 1}, 4, (0, 0), False),
    "both kinds": (3, {"scalars": 1, "tensors": 1}, 2, (0, 1), False),
    "no event": (3, {"scalars": 1}, 1, (0, 0), True),
}


@pytest.mark.parametrize(("name", "expected"), EXPECTED.items(), ids=EXPECTED)
def test_what_is_told_of_a_run(name, expected, tmp_path):
    path = tmp_path / name
    path.mkdir()
    (path / NAME).write_bytes(ODD_RUNS[name])
    [found] = ls(path)
    assert (found.records, found.tags, found.points, found.steps, found.damaged) == expected
    assert (found.run, found.path, found.files, found.size) == (".", str(path), 1, len(ODD_RUNS[name]))


def test_times_that_are_not_finite_do_not_count(tmp_path):
    (tmp_path / NAME).write_bytes(ODD_RUNS["odd times"])
    [found] = ls(tmp_path)
    assert found.wall_times == (1e300, 1e300)


@pytest.mark.only_on_disks(reason="a link that leads nowhere")
def test_a_run_that_cannot_be_read_is_told(tmp_path):
    *_, unreadable = write_odd_runs(tmp_path)
    found = {one.path: one for one in ls(tmp_path)}
    assert found[unreadable].failures == (f"{os.path.join(unreadable, NAME)}: No such file or directory",)
    assert found[unreadable].records is None
    assert len(found) == len(os.listdir(tmp_path))


@pytest.mark.only_on_disks(reason="a link that leads nowhere")
def test_the_other_files_of_a_run_are_read(tmp_path):
    (tmp_path / NAME).write_bytes(WHOLE)
    os.symlink("nowhere", tmp_path / "a.tfevents")
    [found] = ls(tmp_path)
    assert (found.points, found.failures) == (3, (f"{tmp_path}/a.tfevents: No such file or directory",))


@pytest.mark.only_on_disks(reason="a store has no permissions of directories")
def test_a_directory_that_cannot_be_listed(tmp_path, refuse_to_list):
    for name in ("open", "closed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / NAME).write_bytes(WHOLE)
    refuse_to_list("closed")
    opened, closed = ls(tmp_path)
    assert (opened.points, closed.failures) == (3, (f"{tmp_path}/closed: Permission denied",))


def test_quick_reads_nothing(tmp_path):
    (tmp_path / NAME).write_bytes(ODD_RUNS["damaged"])
    [found] = ls(tmp_path, quick=True)
    assert (found.files, found.size, found.records, found.damaged) == (1, len(ODD_RUNS["damaged"]), None, False)


def test_runs_and_tags_are_chosen_by_patterns(tmp_path):
    write_odd_runs(tmp_path)
    assert [one.run for one in ls(tmp_path, runs=["huge*", "zeros"])] == ["huge steps", "huge values", "zeros"]
    [found] = ls(tmp_path, runs="other kinds", tags=["w*", "g*"])
    assert (found.tags, found.points) == ({"histograms": 1, "tensors": 1}, 2)


def test_labels_and_notes_say_nothing_about_when_a_run_took_place(tmp_path):
    (tmp_path / NAME).write_bytes(losses([2.0, 1.0], first=10))
    [before] = ls(tmp_path)
    label(tmp_path, "good")
    note(tmp_path, 99, "words")
    [found] = ls(tmp_path)
    assert (found.points, found.tags) == (4, {"scalars": 1, "texts": 2})
    assert (found.steps, found.wall_times) == (before.steps, before.wall_times) == ((10, 11), before.wall_times)


def test_several_places_and_a_callback(tmp_path):
    for name in ("a/2", "a/10", "b"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / NAME).write_bytes(WHOLE)
    told = []
    found = ls(tmp_path / "b", tmp_path / "a", on_run=lambda path, one: told.append((path, one)))
    assert [one.run for one in found] == [".", "2", "10"]
    assert told == [(one.path, one) for one in found]


def test_no_such_place(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no such file or directory: .*nowhere"):
        ls(tmp_path / "nowhere")


def test_in_threads_it_is_the_same(tmp_path, monkeypatch):
    """Large runs are read by several threads, if the scanner is there."""
    write_odd_runs(tmp_path)
    alone = ls(tmp_path)
    monkeypatch.setattr("summaries.tools.listing._THREAD_BYTES", 0)
    monkeypatch.setattr("summaries.tools.listing.is_available", lambda: True)
    assert ls(tmp_path) == alone
