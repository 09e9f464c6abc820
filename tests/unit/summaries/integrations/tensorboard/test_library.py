"""The library: it reads in the background, follows what grows, and keeps to its memory."""

import math
import shutil
import threading
from dataclasses import replace

import numpy as np
import pytest
from browser.plugin_runs import LAYERS, STEPS, TIMEOUT, library_of, log_run, log_steps, soon

from summaries import SummaryWriter, audit
from summaries.auditing.config import Config
from summaries.integrations.tensorboard import books
from summaries.integrations.tensorboard.books import Book
from summaries.integrations.tensorboard.library import Library
from summaries.integrations.tensorboard.places import Place

POINTS = STEPS * (2 + 2 * len(LAYERS))


def report(library, name):
    return next(book for book in library.since(-1)[0] if book.name == name).told()


def codes(library, name):
    return {finding.code for finding in report(library, name).findings}


def test_every_run_is_audited(tmp_path):
    log_run(tmp_path / "fine")
    log_run(tmp_path / "bad", diverges=True)
    library = library_of(tmp_path)
    assert sorted(library.names()) == ["bad", "fine"]
    assert "GL304" in codes(library, "bad")
    assert "GL304" not in codes(library, "fine")
    assert library.failures == ()


def test_nothing_is_read_before_it_is_started(tmp_path):
    log_run(tmp_path / "a", steps=3)
    library = Library([Place(str(tmp_path))], Config(), 1 << 30)
    assert (library.version, library.names(), library.is_reading) == (0, [], True)


def test_files_here_are_looked_at_more_often_than_those_in_a_store():
    here, elsewhere = Place("runs"), Place("s3://bucket/runs")
    looks = [Library(places, Config(), 1 << 30)._poll_secs for places in ([here], [here, elsewhere])]
    assert looks == [0.5, 2.0]


def test_only_other_tags_are_told_as_such(tmp_path):
    for name in ("a", "b"):
        log_run(tmp_path / name, steps=3)
    library = library_of(tmp_path)
    seen = [library.tagged]

    def log(method, tag, value, step):
        version = library.version
        with SummaryWriter(tmp_path / "a") as writer:
            getattr(writer, method)(tag, value, step)
        assert soon(lambda: library.version > version and not library.is_reading)
        seen.append(library.tagged)

    log("add_scalar", "train/loss", 1.0, 3)
    assert seen[1] == seen[0]
    log("add_scalar", "new", 1.0, 4)
    log("add_text", "new", "text", 5)
    assert seen[0] < seen[2] < seen[3]
    shutil.rmtree(tmp_path / "b")
    assert soon(lambda: library.names() == ["a"])
    assert library.tagged > seen[3]


def test_several_places_and_names_that_both_have(tmp_path):
    for name in ("new/a", "old/a", "old/b"):
        log_run(tmp_path / name, steps=3)
    library = library_of(
        Place(str(tmp_path / "new"), "new"), Place(str(tmp_path / "old")), Place(str(tmp_path / "old"))
    )
    again = [f"{tmp_path}/old/a", f"{tmp_path}/old/b"]
    assert sorted(library.names()) == sorted(["new/a", "a", "b", *again])


def test_a_run_grows(tmp_path):
    rng = np.random.default_rng(0)
    with SummaryWriter(tmp_path / "a") as writer:
        log_steps(writer, rng, range(100))
        writer.flush()
        library = library_of(tmp_path)
        before = library.version
        assert report(library, "a").steps == (0, 99)
        log_steps(writer, rng, range(100, 200))
        writer.flush()
        assert soon(lambda: report(library, "a").steps == (0, 199))
    changed, gone = library.since(before)
    assert [book.name for book in changed] == ["a"]
    assert gone == []
    book = library.book("a")
    assert len(book.columns.run.scalars["train/loss"]) == 200
    assert book.bytes == 2 * book.columns.bytes  # a run that grows has its columns twice


def test_runs_come_and_go(tmp_path):
    log_run(tmp_path / "a", steps=3)
    library = library_of(tmp_path)
    log_run(tmp_path / "b", steps=3)
    assert soon(lambda: sorted(library.names()) == ["a", "b"])
    before = library.version
    shutil.rmtree(tmp_path / "a")
    assert soon(lambda: library.names() == ["b"])
    assert library.since(before)[1] == ["a"]
    log_run(tmp_path / "a", steps=5)
    assert soon(lambda: "a" in library.names())
    assert library.since(before)[1] == []


def test_a_place_that_is_not_there_yet(tmp_path):
    library = library_of(tmp_path / "later")
    assert (library.names(), library.failures) == ([], ())
    log_run(tmp_path / "later" / "a", steps=3)
    assert soon(lambda: library.names() == ["a"])


def test_a_place_that_cannot_be_listed():
    library = library_of("nowhere://bucket/runs")
    (failure,) = library.failures
    assert failure.path == "nowhere://bucket/runs"
    assert failure.reason


def test_columns_that_do_not_fit_are_let_go_and_read_again(tmp_path):
    for name in ("a", "b", "c"):
        log_run(tmp_path / name)
    library = library_of(tmp_path, most_bytes=24 * POINTS * 3 // 2)
    assert library.bytes == 24 * POINTS
    for name in ("a", "b", "c", "a"):
        assert len(library.book(name).columns.run.scalars["train/loss"]) == STEPS
        assert soon(lambda: library.bytes <= library.most_bytes)
    assert codes(library, "a") == codes(library, "b")


def test_a_run_that_is_larger_than_the_memory_is_shown_alone(tmp_path):
    for name in ("a", "b"):
        log_run(tmp_path / name)
    library = library_of(tmp_path, most_bytes=1)
    assert len(library.book("a").columns.run.scalars["train/loss"]) == STEPS
    assert library.bytes == 24 * POINTS


def test_an_address(tmp_path):
    pytest.importorskip("fsspec", reason="the extra `remote` is not installed")
    address = f"memory://library/{tmp_path.name}"
    log_run(f"{address}/a", steps=20)
    library = library_of(address)
    assert report(library, "a").steps == (0, 19)
    log_run(f"{address}/b", steps=30)
    assert soon(lambda: "b" in library.names() and report(library, "b") is not None)
    assert len(library.book("b").columns.run.scalars["train/loss"]) == 30


def test_what_is_not_there(tmp_path):
    library = library_of(tmp_path)
    with pytest.raises(LookupError, match=r"^\"there is no run 'a'\"$|^there is no run 'a'$"):
        library.book("a")


def test_what_cannot_be_read(tmp_path):
    (tmp_path / "events.out.tfevents.1.host").symlink_to(tmp_path / "missing")
    library = library_of(tmp_path)
    with pytest.raises(OSError, match=r"^nothing of run '\.' can be read$"):
        library.book(".")
    assert report(library, ".").failures


def test_ranks_are_judged_together_and_again_when_they_grow(tmp_path):
    writers = [SummaryWriter(tmp_path / f"rank={rank}") for rank in range(3)]
    library = library_of(tmp_path)
    for steps, found in ((range(30), False), (range(30, 60), True), (range(60, 90), True)):
        for rank, writer in enumerate(writers):
            for step in steps:
                rate = 0.2 if rank == 1 and step >= 40 else 0.1
                writer.add_scalar("train/learning_rate", rate, step, 1.79e9 + step)
            writer.flush()
        last = steps[-1]
        assert soon(lambda last=last: "rank=1" in library.names() and report(library, "rank=1").steps == (0, last))
        assert soon(lambda found=found: ("GL611" in codes(library, "rank=1")) is found)
    assert [finding.code for finding in report(library, "rank=1").findings].count("GL611") == 1
    for writer in writers:
        writer.close()


def test_the_unfinished_end_of_a_file_is_told_when_nobody_writes_any_more(tmp_path, monkeypatch):
    log_run(tmp_path / "a", steps=50)
    (path,) = (tmp_path / "a").iterdir()
    path.write_bytes(path.read_bytes()[:-3])
    library = library_of(tmp_path)
    now = "summaries.integrations.tensorboard.books.time.time"
    monkeypatch.setattr(now, lambda: 1.79e9 + 49 + 3600)
    assert "GL101" in codes(library, "a")
    monkeypatch.setattr(now, lambda: 1.79e9 + 49 + 60)
    assert "GL101" not in codes(library, "a")


def test_while_curves_are_looked_at_all_runs_are_read_before_the_next_is_audited(tmp_path, monkeypatch):
    for name in "abcdef":
        log_run(tmp_path / name, steps=20)
    library, is_waited_for, events = Library([Place(str(tmp_path))], Config(), 1 << 30), threading.Event(), []
    audited, read = library._task, Book.read

    def audit_one(files):
        events.append("audit")
        assert is_waited_for.wait(TIMEOUT)
        return audited(files)

    monkeypatch.setattr(library, "_task", audit_one)
    monkeypatch.setattr(Book, "read", lambda *book: events.append("read") or read(*book))
    waits = threading.Thread(target=library.columns, args=("f",))
    library.start()
    assert soon(lambda: events == ["audit"])
    waits.start()
    assert soon(lambda: "f" in library._wanted)
    is_waited_for.set()
    waits.join(TIMEOUT)
    library.settled()
    assert events[:8] == ["audit", *6 * ["read"], "audit"]
    assert [book.report.points for book in library.since(-1)[0]] == 6 * [20 * POINTS // STEPS]


def test_for_who_is_about_to_look_all_runs_are_read_before_the_first_is_audited(tmp_path, monkeypatch):
    for name in "abc":
        log_run(tmp_path / name, steps=20)
    library, events = Library([Place(str(tmp_path))], Config(), 1 << 30), []
    audited, read = library._task, Book.read
    monkeypatch.setattr(library, "_task", lambda files: events.append("audit") or audited(files))
    monkeypatch.setattr(Book, "read", lambda *book: events.append("read") or read(*book))
    library.start(is_looked_at=True)
    library.settled(TIMEOUT)
    assert events[:4] == ["read", "read", "read", "audit"]


def test_while_a_page_is_opened_no_further_run_is_audited_but_those_that_are_waited_for(tmp_path, monkeypatch):
    for name in "abcd":
        log_run(tmp_path / name, steps=20)
    library, events = Library([Place(str(tmp_path))], Config(), 1 << 30), []
    audited, pause = library._task, library._pause

    def pause_until_opened(secs, left):
        if left:
            assert 0 < secs <= 0.4
            events.append("pause")
            library._wanted["c"] = True
            pause(0.01, left)
            library._opened = -math.inf
        else:
            pause(secs, left)

    monkeypatch.setattr(library, "_task", lambda files: events.append(files.name) or audited(files))
    monkeypatch.setattr(library, "_pause", pause_until_opened)
    library.make_way()
    library.settled(TIMEOUT)
    assert events == ["a", "pause", "c", "b", "d"]


def test_whoever_waits_until_all_is_read(tmp_path):
    log_run(tmp_path / "a", steps=20)
    library = Library([Place(str(tmp_path))], Config(), 1 << 20)
    assert library.settled(TIMEOUT)
    assert library.book("a").report is not None
    slow = Library([Place(str(tmp_path))], Config(), 1 << 20)
    slow._look = lambda _: threading.Event().wait()
    assert not slow.settled(0.01)


def test_a_run_that_cannot_be_read_for_its_curves_keeps_nobody_from_the_others(tmp_path, monkeypatch):
    for name in ("a", "b"):
        log_run(tmp_path / name, steps=20)
    read = Book.read

    def read_one(book, config):
        if book.name == "a":
            raise ValueError("nobody has thought of this")
        return read(book, config)

    monkeypatch.setattr(Book, "read", read_one)
    library = Library([Place(str(tmp_path))], Config(), 1 << 30)
    with pytest.raises(OSError, match="nothing of run 'a' can be read"):
        library.columns("a")
    assert [columns.name for columns in library.readable(["a", "b"])] == ["b"]
    library.settled()
    assert "nobody has thought of this" in report(library, "a").failures[0].reason


def test_what_cannot_be_read_is_told_also_of_a_run_that_was_read_for_its_curves_first(tmp_path, monkeypatch):
    log_run(tmp_path / "a", steps=20)
    log_run(tmp_path / "b", steps=20)
    (broken,) = (tmp_path / "b").glob("*tfevents*")
    (tmp_path / "a" / f"{broken.name}.x").symlink_to(tmp_path / "nowhere")
    judged, library = library_of(tmp_path / "a"), Library([Place(str(tmp_path / "a"))], Config(), 1 << 30)
    monkeypatch.setattr(library, "_wanted", {".": False})
    library.start()
    assert library.settled(TIMEOUT)
    (expected,), (book,) = judged.since(-1)[0], library.since(-1)[0]
    assert expected.report.failures
    assert book.report.failures == expected.report.failures


def test_a_validation_is_compared_with_its_training(tmp_path, monkeypatch):
    with SummaryWriter(tmp_path / "train") as training, SummaryWriter(tmp_path / "validation") as validation:
        for epoch in range(40):
            training.add_scalar("epoch_loss", 2.0 * 0.9**epoch, epoch)
            validation.add_scalar("epoch_loss", 1.0 + 0.002 * (epoch - 10) ** 2, epoch)
    assert "GL305" in {finding.code for run in audit(tmp_path).runs for finding in run.findings}
    described = []
    monkeypatch.setattr(books, "stated", lambda name, _: described.append(name) or {})
    library = library_of(tmp_path)
    assert "GL305" in codes(library, "validation")
    assert sorted(described) == ["train", "validation"]
    with SummaryWriter(tmp_path / "train") as training:
        training.add_scalar("epoch_loss", 0.0, 40)
    assert soon(lambda: report(library, "train").points == 41)
    assert report(library, "validation").points == 40


def test_a_run_that_was_let_go_is_read_again_without_another_audit(tmp_path):
    log_run(tmp_path / "a", steps=20)
    library = library_of(tmp_path)
    library._task = None
    (book,) = library.since(-1)[0]
    version, verdict = book.version, book.report
    book.let_go()
    assert library.book("a").columns is not None
    assert (book.version, book.report) == (version, verdict)


def test_a_row_is_worked_out_once_for_each_report(tmp_path):
    log_run(tmp_path / "a", steps=20)
    (book,) = library_of(tmp_path).since(-1)[0]
    book.report = replace(book.report, wall_times=(1.6e9, 1.6e9 + 60))  # long ago: nobody writes it any more
    first = book.row()
    assert first["seconds"] == 60.0
    assert book.row() is first
    book.report = replace(book.report, wall_times=(1.6e9, 1.6e9 + 90))
    assert book.row()["seconds"] == 90.0
    book.report = None
    assert book.row() is None
