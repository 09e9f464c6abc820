"""Addresses: found with one listing, read in ranges, shown without credentials; over fsspec's memory file system."""

import io
import itertools
import os
import pickle
import sys

import fsspec
import numpy as np
import pytest
from helpers import run_script

from summaries import (
    Exported,
    GraphDef,
    SummaryWriter,
    audit,
    clip_advice,
    export,
    read_events,
    read_graph,
    read_logdir,
    read_run,
    summary_iterator,
    verify,
    write_graph,
)
from summaries.cli import main
from summaries.storage import object_store, requests
from summaries.storage.object_store import ObjectStore
from summaries.storage.protocols import ReplacedError, chunks
from summaries.wire.pb import NodeDef


@pytest.fixture
def system():
    """The memory file system, emptied, with a list of what it is asked for."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()


@pytest.fixture
def asked(system, monkeypatch):
    """A list of the listings and the reads."""
    asked = []
    for name in ("find", "ls", "info", "cat_file"):
        real = getattr(type(system), name)

        def counting(self, path, *arguments, _name=name, _real=real, **options):
            asked.append((_name, path))
            return _real(self, path, *arguments, **options)

        monkeypatch.setattr(type(system), name, counting)
    return asked


@pytest.fixture
def runs(system):
    """Two runs of our own remote writer, and other files between; their address."""
    for name in ("a", "b/c"):
        with SummaryWriter(f"memory://logs/{name}") as writer:
            for step in range(200):
                writer.add_scalar("train/loss", 2 + 1 / (1 + step), step, walltime=1e9 + step)
                if step % 50 == 49:
                    writer.flush()
            writer.add_text("note", "hello", 8)
            writer.add_scalar("gradients/global_norm", 1.0, 0)
    system.pipe_file("/logs/a/checkpoint.bin", b"none of ours")
    system.pipe_file("/logs/tfevents/notes.txt", b"nor this")
    return "memory://logs"


def test_discovery(runs):
    store = ObjectStore(runs, {})
    files = store.discover(runs)
    assert sorted({file.path.rpartition("/")[0] for file in files}) == ["memory://logs/a", "memory://logs/b/c"]
    assert all(file.size == len(fsspec.filesystem("memory").cat_file(file.path)) for file in files)
    assert all(file.identity[0] == "created" for file in files)
    assert store.discover(runs, recursive=False) == []
    assert len(store.discover(f"{runs}/a", recursive=False)) == len(files) // 2


def test_a_file_that_is_given(runs):
    path = ObjectStore(runs, {}).discover(runs)[0].path
    (file,) = ObjectStore(path, {}).discover(path)
    assert (file.path, file.storage.exists(path)) == (path, True)
    notes = f"{runs}/tfevents/notes.txt"  # of any name
    assert [found.path for found in ObjectStore(notes, {}).discover(notes)] == [notes]


@pytest.mark.parametrize("address", ["memory://", "memory://logs", "memory://logs/", "memory:///logs"])
def test_names_of_runs(runs, address):
    prefix = "logs/" if address == "memory://" else ""
    found = read_logdir(address)
    assert list(found) == [prefix + "a", prefix + "b/c"]
    assert all(fsspec.filesystem("memory").exists(path) for run in found.values() for path in run.files)


@pytest.mark.parametrize(
    "read", [read_run, read_logdir, audit, verify, clip_advice, lambda path: list(read_events(path))]
)
def test_nothing_there(system, read):
    with pytest.raises(FileNotFoundError) as raised:
        read("memory://nowhere/a.tfevents")
    assert "memory://nowhere/a.tfevents" in str(raised.value)


def test_a_directory_is_no_file(runs):
    with pytest.raises(IsADirectoryError, match="memory://logs/a"):
        verify(f"{runs}/a")


def test_everything_that_takes_a_path(runs, tmp_path):
    run = read_run(f"{runs}/a")
    assert (len(run.files), len(run.scalars["train/loss"]), run.faults) == (6, 200, ())
    assert run.texts["note/text_summary"].value == ["hello"]
    assert len(list(summary_iterator(run.files[1]))) == verify(run.files[1]).events == 51
    assert [(report.name, report.points) for report in audit(runs).runs] == [("a", 201), ("b/c", 201)]
    assert audit(runs, baseline=f"{runs}/a").failures == ()
    assert clip_advice(f"{runs}/a").steps == 1
    graph = GraphDef(node=[NodeDef(name="x", op="Placeholder")])
    assert read_graph(write_graph(graph, runs, "graph.pb", as_text=False)) == graph
    assert [event.step for event in read_events(f"{runs}/a", follow=True, timeout_secs=0)][1] == 0


@pytest.mark.parametrize("target", ["x.csv", "x.parquet", "dataset"])
def test_exports_to_an_address_and_to_a_disk_are_equal(runs, system, tmp_path, target):
    if target != "x.csv":
        pytest.importorskip("pyarrow", reason="an extra")
    done = export(runs, tmp_path / target)
    assert (export(runs, f"memory://out/{target}"), done.rows) == (done, 402)
    files = [path for path in sorted(tmp_path.rglob("*")) if path.is_file()]
    assert len(files) == (2 if target == "dataset" else 1)
    for path in files:
        assert system.cat_file(f"/out/{path.relative_to(tmp_path).as_posix()}") == path.read_bytes()


def test_a_dataset_at_an_address_is_kept_current(runs, system):
    pytest.importorskip("pyarrow", reason="an extra")
    target = "memory://out/dataset"
    export(runs, target)
    assert export(runs, target) == Exported(0, (), ("a", "b/c"))
    with SummaryWriter(f"{runs}/a") as writer:
        writer.add_scalar("train/loss", 0.5, 1000)
    system.rm(f"{runs.removeprefix('memory://')}/b", recursive=True)
    assert export(runs, target) == Exported(202, ("a",), (), ("b/c",))
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra `export` is not installed")

    def rows():
        return sorted(
            parquet.read_table(io.BytesIO(system.cat_file("/out/dataset/part-00000.parquet")))["run"].to_pylist()
        )

    assert rows() == ["a"] * 202 + ["b/c"] * 201
    export(runs, target, delete=True)
    assert rows() == ["a"] * 202
    with pytest.raises(ValueError, match="must be new"):
        export(runs, runs)


def test_an_export_that_fails_leaves_nothing(runs, system):
    def fail(name, run):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        export(runs, "memory://out/x.csv", on_run=fail)
    assert not system.exists("/out/x.csv")


def test_the_command_line(runs, capsys):
    assert main(["verify", runs]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 13
    assert main(["audit", runs, "--jobs", "1", "--storage-option", "use_listings_cache=false"]) == 0
    assert "2 runs" in capsys.readouterr().out
    assert main(["clip-advice", f"{runs}/a"]) == 0
    assert main(["export", runs, "memory://out/x.csv"]) == 0
    assert capsys.readouterr().out.endswith("memory://out/x.csv: 402 points of 2 runs\n")


def test_a_cache_on_the_command_line(runs, asked, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GRADLEDGER_CACHE_DIR", str(tmp_path))
    for options in (["--cache"], ["--cache-dir", str(tmp_path / "runs")]):
        assert main(["verify", *options, runs]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 26
    assert len([name for name, _ in asked if name == "cat_file"]) == 12
    assert main(["clear-cache"]) == 0
    assert capsys.readouterr().out.startswith(f"{tmp_path / 'runs'}: 12 files removed, ")


def test_a_baseline_is_shown_without_credentials(runs, tmp_path, monkeypatch):
    monkeypatch.setattr("summaries.auditing.discovery.baseline_below", lambda *_, **__: [])
    page = tmp_path / "page.html"
    given = ["--baseline", "s3://key:password@bucket/run", "--format", "html", "--output", str(page), "--jobs", "1"]
    assert main(["audit", f"{runs}/a", *given]) == 0
    assert "s3://***@bucket/run" in page.read_text(encoding="utf-8")
    assert "password" not in page.read_text(encoding="utf-8")


def test_an_option_without_a_value(capsys):
    """Its text, which may be a credential, is not repeated."""
    assert main(["verify", "s3://bucket", "--storage-option", "AKIDEXAMPLE"]) == 2
    assert capsys.readouterr().err.endswith("Error: Invalid value for '--storage-option': must be KEY=VALUE\n")


def test_one_listing_and_one_read_a_file(runs, asked):
    found = read_logdir(runs)
    reads = [path for name, path in asked if name == "cat_file"]
    assert sorted(reads) == sorted(path.removeprefix("memory:/") for run in found.values() for path in run.files)
    assert [name for name, _ in asked if name == "find"] == ["find"]


def test_an_item_asks_for_its_own_bytes(runs, system, monkeypatch):
    texts = read_run(f"{runs}/a").texts["note/text_summary"]
    sizes, real = [], type(system).cat_file
    monkeypatch.setattr(
        type(system), "cat_file", lambda self, *given, **options: sizes.append(options) or real(self, *given, **options)
    )
    assert texts[0] == "hello"
    assert [options["end"] - options["start"] < 200 for options in sizes] == [True]


def test_chained_caches(runs, tmp_path):
    """fsspec's own."""
    options = {"filecache": {"cache_storage": str(tmp_path / "cache")}}
    run = read_run("filecache::memory://logs/a", storage_options=options)
    assert len(run.scalars["train/loss"]) == 200
    assert len(list((tmp_path / "cache").iterdir())) > len(run.files)


def test_storages_travel_between_processes(runs):
    (file, *_) = ObjectStore(runs, {}).discover(f"{runs}/a")
    copy = pickle.loads(pickle.dumps(file))  # noqa: S301 - our own
    assert copy == file
    with copy.open(0) as opened, file.open() as same:
        assert b"".join(chunks(opened)) == same.read_range(0, file.size + 9)
    error = pickle.loads(pickle.dumps(ReplacedError("s3://bucket/x")))  # noqa: S301 - likewise
    assert (error.filename, str(error)) == (
        "s3://bucket/x",
        "[Errno 11] replaced by another file while it was being read: 's3://bucket/x'",
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_reads_what_its_parent_opened(tmp_path):
    """As the workers of torch's DataLoader do, which have none of their parent's threads."""
    script = """
import os, numpy as np
from summaries import SummaryWriter, read_run
with SummaryWriter("memory://runs/a") as writer:
    writer.add_image("noise", np.zeros((1, 2, 2), np.uint8), 1)
run = read_run("memory://runs/a")
child = os.fork()
if child == 0:
    os._exit(run.images["noise"][0].width)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == run.images["noise"][0].width == 2
"""
    run_script(tmp_path, script, timeout=600)


def test_a_file_of_several_ranges_that_is_replaced(system, monkeypatch):
    """The bytes of two objects are never mixed: the run is read again."""
    monkeypatch.setattr("summaries.storage.prefetch.RANGE_BYTES", 1000)
    with SummaryWriter("memory://logs/a") as writer:
        for step in range(500):
            writer.add_scalar("loss", 1.0, step)
    with SummaryWriter("memory://logs/b") as writer:
        for step in range(500):
            writer.add_scalar("loss", 2.0, step)
    (_, path), (_, other) = system.find("/logs/a"), system.find("/logs/b")
    after, real, reads = system.cat_file(other), type(system).cat_file, itertools.count(1)

    def replacing(self, name, *arguments, **options):
        data = real(self, name, *arguments, **options)
        if next(reads) == 5:  # of several threads, one gets this number
            system.pipe_file(path, after)
        return data

    monkeypatch.setattr(type(system), "cat_file", replacing)
    run = read_run("memory://logs/a")
    assert set(run.scalars["loss"].value.tolist()) == {2.0}
    assert run.faults == ()


def test_a_store_whose_bodies_stay_short(runs, system, monkeypatch):
    """They are never taken for the end of the file."""
    monkeypatch.setattr(requests, "PATIENCE_SECS", 0.1)
    real = type(system).cat_file
    monkeypatch.setattr(type(system), "cat_file", lambda self, *given, **options: real(self, *given, **options)[:-1])
    report = audit(f"{runs}/a")
    sizes = [file.size for file in ObjectStore(runs, {}).discover(f"{runs}/a")]
    reasons = {f"the store returned {size - 1} of {size} bytes" for size in sizes}
    assert {failure.reason for failure in report.failures} == reasons
    assert {failure.path for failure in report.failures} == set(report.runs[0].files)


@pytest.mark.parametrize(("scheme", "extra"), [("s3", "s3"), ("gs", "gcs"), ("abfs", "azure"), ("hf", "remote")])
def test_without_fsspec_the_extra_of_the_store_is_named_at_once(monkeypatch, scheme, extra):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(ImportError) as raised:
        ObjectStore(f"{scheme}://bucket/runs", {})
    assert str(raised.value) == f"this needs fsspec: pip install 'gradledger[{extra}]'"


@pytest.mark.parametrize(
    ("said", "extra"),
    [("Install s3fs to access S3", "s3"), ("Please install gcsfs", "gcs"), ("install adlfs", "azure")],
)
def test_a_missing_library(monkeypatch, said, extra):
    class Core:
        @staticmethod
        def url_to_fs(*_, **__):
            raise ImportError(said)

    monkeypatch.setattr(object_store, "needs", lambda *_: Core)
    with pytest.raises(ImportError) as raised:
        read_run("s3://bucket/runs")
    assert str(raised.value).endswith(f": pip install 'gradledger[{extra}]'")


@pytest.mark.parametrize(
    ("address", "package", "message"),
    [
        ("hf://datasets/somebody/runs", "huggingface_hub", "Install huggingface_hub to access HfFileSystem"),
        ("hdfs://namenode:8020/runs", "pyarrow.fs", "this needs pyarrow: pip install pyarrow"),
    ],
)
def test_a_missing_package_of_another_store(monkeypatch, address, package, message):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError) as raised:
        read_run(address)
    assert str(raised.value) == message


def test_hdfs(tmp_path, monkeypatch):
    """pyarrow's file system, over a local one instead of Java's."""
    fs = pytest.importorskip("pyarrow.fs", reason="the extra `export` is not installed")
    asked = []

    def hadoop(**options):
        asked.append((options["host"], options["port"], options["user"]))
        return fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())

    monkeypatch.setattr(fs, "HadoopFileSystem", hadoop)
    address = "hdfs://me@namenode:8020/runs"
    with SummaryWriter(str(tmp_path / "runs/a")) as writer:
        for step in range(50):
            writer.add_scalar("loss", 1 / (1 + step), step)
    runs = read_logdir(address)
    assert [len(run.scalars["loss"]) for run in runs.values()] == [50]
    assert asked == [("namenode", 8020, "me")]
    assert runs["a"].files[0].startswith("hdfs://***@namenode:8020/runs/a/events.out.tfevents.")
    assert audit(address).runs[0].points == 50


def test_a_file_system_that_cannot_be_used(monkeypatch):
    """The first line of what it says, without credentials."""

    class Core:
        @staticmethod
        def url_to_fs(*_, **__):
            raise OSError("Unable to load libjvm for sesame\ndlopen(/usr/lib/jvm) failed")

    monkeypatch.setattr(object_store, "needs", lambda *_: Core)
    with pytest.raises(OSError, match="Unable to load libjvm") as raised:
        read_run("hdfs://me@namenode/runs", storage_options={"password": "sesame"})
    assert str(raised.value) == "[Errno 5] Unable to load libjvm for ***: 'hdfs://***@namenode/runs'"


def test_credentials_in_an_address(system, monkeypatch):
    """They are used, and shown nowhere."""

    class Private(type(system)):
        protocol = "private"
        store: dict = {}  # noqa: RUF012 - as its parent has it
        pseudo_dirs = [""]  # noqa: RUF012 - likewise

        @classmethod
        def _strip_protocol(cls, path):
            return super()._strip_protocol(path.replace("private://", "memory://").replace("user:password@", ""))

    fsspec.register_implementation("private", Private, clobber=True)
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(3))
    Private().pipe_file("/host/a/1.tfevents", b"\0" * 100)
    report = audit("private://user:password@host")
    assert [run.files for run in report.runs] == [("private://***@host/a/1.tfevents",)]
    with pytest.raises(FileNotFoundError) as raised:
        read_run("private://user:password@host/b")
    assert str(raised.value) == "no such file or directory: private://***@host/b"


def test_a_version_of_an_object_is_refused():
    message = (
        r"reads what is there now, not an earlier version: leave out '\?versionId=3', got memory://runs/a\?versionId=3"
    )
    with pytest.raises(ValueError, match=message):
        read_run("memory://runs/a?versionId=3")
