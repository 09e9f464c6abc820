"""GL1xx, on files: damage, no events, two writers."""

import re

import pytest
from audits.audited import found_in, log

from summaries import Event, Severity, audit
from summaries.auditing.config import Config
from summaries.wire.records import frame

SEEDS = range(5)


def damage(path, where, replacement):
    with open(path, "r+b") as file:
        file.seek(where, 0 if where >= 0 else 2)
        file.write(replacement)


@pytest.mark.parametrize("cut", [1, 5, 17, 30])
@pytest.mark.parametrize("points", [1, 20, 3000])
def test_a_truncated_tail(tmp_path, points, cut):
    path = log(tmp_path, range(points))
    with open(path, "r+b") as file:
        file.truncate(file.seek(0, 2) - cut)
    assert set(found_in(tmp_path)) - {"GL107"} == {"GL101"}


def test_wherever_a_file_ends_it_is_audited(tmp_path):
    """As while it is written: nothing but its tail is wrong with it."""
    path = log(tmp_path, range(40))
    with open(path, "r+b") as file:
        for size in range(file.seek(0, 2) - 1, 60, -29):
            file.truncate(size)
            assert set(found_in(tmp_path)) <= {"GL101"}


def test_the_words_of_a_truncated_tail(tmp_path):
    path = log(tmp_path, range(10))
    with open(path, "r+b") as file:
        size = file.truncate(file.seek(0, 2) - 5)
    finding = found_in(tmp_path)["GL101"]
    got = size - finding.evidence["offset"]
    assert finding.message == (
        f"{path} ends inside a record: {got} bytes of {got + 5} bytes; it was cut short, or is still being written"
    )
    assert (finding.name, finding.severity, finding.count) == ("truncated-tail", Severity.INFO, 1)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("points", [20, 3000])
def test_a_damaged_payload(tmp_path, points, seed):
    damage(log(tmp_path, range(points)), -10 - seed, b"\xff\xfe")
    assert set(found_in(tmp_path)) == {"GL102"}


@pytest.mark.parametrize("points", [20, 3000])
def test_a_damaged_length(tmp_path, points):
    path = log(tmp_path, range(points))
    damage(path, 0, b"\x19")
    assert set(found_in(tmp_path)) == {"GL103"}


@pytest.mark.parametrize("tail", [8, 500, 70_000])
def test_zeros_and_other_files_have_no_length(tmp_path, tail):
    path = log(tmp_path / "run", range(20))
    with open(path, "ab") as file:
        file.write(bytes(tail))
    assert set(found_in(tmp_path)) & {"GL101", "GL103"}
    (tmp_path / "other").mkdir()
    (tmp_path / "other/notes.tfevents.txt").write_bytes(b"no event file at all, but some text of some length\n" * 9)
    codes = {run.name: {finding.code for finding in run.findings} for run in audit(tmp_path, Config()).runs}
    assert codes["other"] == {"GL107"}


def test_an_undecodable_record(tmp_path):
    path = log(tmp_path, range(20))
    with open(path, "ab") as file:
        file.write(frame(b"not an event") * 3)
    finding = found_in(tmp_path)["GL104"]
    assert (finding.count, finding.evidence["record"]) == (3, 21)


def test_no_version_and_no_events(tmp_path):
    (tmp_path / "a.tfevents").write_bytes(frame(Event(wall_time=1.0, file_version="brain.Event:2").SerializeToString()))
    assert set(found_in(tmp_path)) == {"GL107"}
    (tmp_path / "a.tfevents").write_bytes(b"")
    assert set(found_in(tmp_path)) == {"GL107"}
    (tmp_path / "a.tfevents").write_bytes(
        frame(Event(wall_time=1.0, step=1, log_message={"message": "x"}).SerializeToString())
    )
    assert set(found_in(tmp_path)) == {"GL105"}


@pytest.mark.parametrize("shift", [0.0, 0.5, 30.0])
def test_two_writers(tmp_path, shift):
    for i in range(2):
        log(tmp_path, range(100), suffix=f".{i}", start=1e9 + i * shift, value=lambda step, i=i: i + 1 / (1 + step))
    codes = found_in(tmp_path)
    assert codes["GL106"].severity is Severity.WARNING
    assert codes["GL106"].tag == "loss"
    assert codes["GL106"].steps == (0, 99)
    assert set(codes) == {"GL106"}


def test_two_writers_of_different_tags_are_a_note(tmp_path):
    for tag in ("loss", "cpu"):
        log(tmp_path, range(100), suffix=f".{tag}", tag=tag)
    assert found_in(tmp_path)["GL106"].severity is Severity.INFO


def test_the_words_of_damage(tmp_path):
    path = log(tmp_path, range(20))
    damage(path, 130, b"\xff")
    damage(path, -10, b"\xff")
    assert re.fullmatch(
        re.escape(f"{path}: the data of record ") + r"\d, at offset \d+, does not match its checksum; 1 more like it",
        found_in(tmp_path)["GL102"].message,
    )


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"fileFormatVersion: 2\nguid: 0123456789abcdef0123456789abcdef\n", "metadata of Unity"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
            "a Git LFS pointer: `git lfs pull` fetches the file itself",
        ),
        (b"#ifndef A_TFEVENTS_H\n#define A_TFEVENTS_H\n#endif\n", "a C header"),
        (b"PK\x03\x04" + bytes(range(99)), "a ZIP archive"),
        (b"just some words of a text\n" * 9, "a text file"),
    ],
)
def test_a_file_that_is_no_event_file_is_named_by_its_content(tmp_path, content, what):
    path = tmp_path / "events.out.tfevents.1.host.meta"
    path.write_bytes(content)
    (finding,) = audit(tmp_path, Config()).findings
    assert (finding.code, finding.severity.name) == ("GL107", "INFO")
    assert finding.message == f"{path} is no event file: by content, it is {what}"


def test_bytes_that_tell_nothing_are_damage(tmp_path):
    (tmp_path / "events.out.tfevents.1.host").write_bytes(bytes(range(1, 256)) * 3)
    assert [finding.code for finding in audit(tmp_path, Config()).findings] == ["GL103"]


def test_truncated_files_are_one_finding(tmp_path):
    paths = [log(tmp_path, range(10 * i, 10 * i + 10), suffix=f".{i}", start=1e9 + 100 * i) for i in range(4)]
    for path in paths:
        with open(path, "rb+") as file:
            file.truncate(file.seek(0, 2) - 5)
    finding = found_in(tmp_path)["GL101"]
    assert (finding.count, finding.evidence["files"]) == (4, 4)
    assert finding.message.endswith(f"; so do 3 other files: {paths[1]}, {paths[2]} and {paths[3]}")
