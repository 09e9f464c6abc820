"""A dataset is kept current: only what has changed is read and written, and nothing is there twice or half."""

import json
import os
import pickle
import shutil
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from summaries import Exported, SummaryWriter, export, read_logdir
from summaries.execution.tasks import Died
from summaries.tools.exporting import dataset, manifest, part
from summaries.tools.formats import parquet_file

pq = pytest.importorskip("pyarrow.parquet", reason="an extra")
ds = pytest.importorskip("pyarrow.dataset", reason="an extra")


def write_run(directory, start=0, tag="loss"):
    with SummaryWriter(directory) as writer:
        for step in range(start, start + 5):
            writer.add_scalar(tag, float(step), step, walltime=1.7e9)


@pytest.fixture
def logs(tmp_path):
    for name in ("a", "b/c", "d"):
        write_run(tmp_path / "logs" / name)
    return tmp_path / "logs"


@pytest.fixture
def opened(monkeypatch):
    """The runs that are read."""
    names = []
    read = part.read_files

    def listening(files, *arguments, **options):
        names.append(os.path.basename(os.path.dirname(files[0].path)))
        return read(files, *arguments, **options)

    monkeypatch.setattr(part, "read_files", listening)
    return names


def rows(target):
    """Every (run, tag, step, value), sorted, as whoever reads all files sees them."""
    return sorted(
        tuple(row[name] for name in ("run", "tag", "step", "value"))
        for path in target.glob("*.parquet")
        for row in pq.read_table(path).to_pylist()
    )


def wanted(logs, **options):
    table = read_logdir(logs, **options).to_arrow()
    return sorted(tuple(row[name] for name in ("run", "tag", "step", "value")) for row in table.to_pylist())


def test_a_new_dataset(logs, tmp_path):
    heard = []
    done = export(logs, tmp_path / "ds", on_run=lambda name, _: heard.append(name))
    assert done == Exported(15, ("a", "b/c", "d"))
    assert heard == ["a", "b/c", "d"]
    assert sorted(os.listdir(tmp_path / "ds")) == ["_manifest.json", "part-00000.parquet"]
    assert rows(tmp_path / "ds") == wanted(logs)
    schema = pq.read_schema(tmp_path / "ds/part-00000.parquet")
    assert [str(kind) for kind in schema.types] == ["string", "string", "int64", "double", "double"]
    assert schema.names == read_logdir(logs).to_arrow().schema.names


def test_a_query_for_a_tag_reads_its_row_groups_alone(logs, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_file, "_FEW_ROWS", 10)
    monkeypatch.setattr(parquet_file, "_ROW_GROUP_ROWS", 10)
    for name in ("a", "d"):  # b/c is taken from the file as it is
        for tag in ("other", "accuracy", "loss"):
            write_run(logs / name, tag=tag)
        export(logs, tmp_path / "ds")
    of_loss = ds.field("tag") == "loss"
    (fragment,) = ds.dataset(tmp_path / "ds", format="parquet").get_fragments()
    groups = [len(group.to_table()) for group in fragment.split_by_row_group(of_loss)]
    assert (sum(groups), fragment.metadata.num_row_groups) == (25, 5)
    assert rows(tmp_path / "ds") == wanted(logs)
    assert fragment.count_rows(filter=of_loss) == 25


def test_a_dataset_of_version_1_is_written_again(logs, tmp_path):
    path = tmp_path / "ds/_manifest.json"
    export(logs, tmp_path / "ds")
    as_it_was = path.read_text()
    path.write_text(as_it_was.replace('"gradledger_dataset": 2', '"gradledger_dataset": 1'))
    assert export(logs, tmp_path / "ds").written == ("a", "b/c", "d")
    assert path.read_text() == as_it_was


def test_only_what_has_changed_is_read_and_written(logs, tmp_path, opened, monkeypatch):
    monkeypatch.setattr(dataset, "_PART_RUNS", 2)  # a and b/c share a file
    target = tmp_path / "ds"
    export(logs, target)
    before = {path.name: path.stat().st_ino for path in target.iterdir()}
    opened.clear()
    assert export(logs, target) == Exported(0, (), ("a", "b/c", "d"))
    assert {path.name: path.stat().st_ino for path in target.iterdir()} == before
    write_run(logs / "a", 5)  # a resumed run
    write_run(logs / "e")  # a new one
    assert export(logs, target) == Exported(15, ("a", "e"), ("b/c", "d"))
    assert opened == ["a", "e"]
    assert rows(target) == wanted(logs)
    assert sorted(path.name for path in target.glob("*.parquet")) == ["part-00000.parquet", "part-00001.parquet"]


def test_large_runs_have_files_of_their_own_and_small_ones_share(logs, tmp_path, monkeypatch):
    size = sum(path.stat().st_size for path in (logs / "a").iterdir())
    write_run(logs / "b/c", 5)
    monkeypatch.setattr(dataset, "_PART_BYTES", size * 3 // 2)
    target = tmp_path / "ds"
    for name in ("e", "f", "g"):
        export(logs, target)
        assert rows(target) == wanted(logs)
        write_run(logs / name)
    parts = json.loads((target / "_manifest.json").read_text())["files"]
    assert [sorted(runs) for runs in parts.values()] == [["a"], ["b/c"], ["d"], ["e"], ["f"]]
    monkeypatch.setattr(dataset, "_PART_BYTES", 1 << 20)
    export(logs, target)
    parts = json.loads((target / "_manifest.json").read_text())["files"]
    assert list(parts.values())[-1].keys() == {"f", "g"}
    assert rows(target) == wanted(logs)


def test_a_run_without_bytes_may_come_first(logs, tmp_path):
    (logs / "empty.tfevents").touch()
    assert export(logs, tmp_path / "ds").written == (".", "a", "b/c", "d")
    assert export(logs, tmp_path / "ds").unchanged == (".", "a", "b/c", "d")


def test_other_tags_write_everything_again(logs, tmp_path):
    write_run(logs / "a", tag="lr")
    target = tmp_path / "ds"
    export(logs, target, tags="lr")
    assert rows(target) == wanted(logs, tags="lr")
    assert export(logs, target).written == ("a", "b/c", "d")
    assert rows(target) == wanted(logs)
    assert export(logs, target, latest=True).written == ("a", "b/c", "d")
    assert export(logs, target, latest=True).written == ()
    assert export(logs, target, latest=True, incremental=False).written == ("a", "b/c", "d")


def test_other_tags_of_some_runs_write_the_rest_again_next_time(logs, tmp_path):
    target = tmp_path / "ds"
    write_run(logs / "a", tag="lr")
    export(logs, target)
    assert export(logs, target, tags="loss", runs="d") == Exported(5, ("d",), ())
    assert export(logs, target, tags="loss") == Exported(10, ("a", "b/c"), ("d",))
    assert rows(target) == wanted(logs, tags="loss")
    assert export(logs, target, tags="loss", runs="d", incremental=False) == Exported(5, ("d",), ())
    assert export(logs, target, tags="loss") == Exported(0, (), ("a", "b/c", "d"))


def test_runs_that_vanish_stay_until_they_are_deleted(logs, tmp_path, opened):
    target = tmp_path / "ds"
    export(logs, target)
    everything = wanted(logs)
    shutil.rmtree(logs / "b")
    write_run(logs / "d", 5)
    opened.clear()
    assert export(logs, target) == Exported(10, ("d",), ("a",), ("b/c",))
    assert opened == ["d"]
    assert {row for row in rows(target) if row[0] == "b/c"} == {row for row in everything if row[0] == "b/c"}
    assert [row for row in rows(target) if row[0] != "b/c"] == wanted(logs)
    assert export(logs, target, delete=True) == Exported(0, (), ("a", "d"), ("b/c",))
    assert rows(target) == wanted(logs)
    assert export(logs, target, delete=True) == Exported(0, (), ("a", "d"))


def test_the_last_run_of_a_file_is_deleted(logs, tmp_path, monkeypatch):
    """The file stays, empty, for the next runs: a reader may be reading it."""
    monkeypatch.setattr(dataset, "_PART_RUNS", 1)
    target = tmp_path / "ds"
    export(logs, target)
    shutil.rmtree(logs / "d")
    export(logs, target, delete=True)
    assert len(pq.read_table(target / "part-00002.parquet")) == 0
    write_run(logs / "e")
    export(logs, target)
    assert max(path.name for path in target.glob("*.parquet")) == "part-00002.parquet"
    assert rows(target) == wanted(logs)


def test_runs_that_are_not_chosen_are_left_alone(logs, tmp_path, opened):
    target = tmp_path / "ds"
    export(logs, target)
    everything = rows(target)
    shutil.rmtree(logs / "d")
    write_run(logs / "b/c", 5)
    opened.clear()
    assert export(logs, target, runs="a", delete=True) == Exported(0, (), ("a",))
    assert (rows(target), opened) == (everything, [])


def test_names_that_are_not_text_and_odd_tags(logs, tmp_path):
    try:
        write_run(os.fsdecode(os.fsencode(logs) + b"/r\xff\n\x1b"), tag="a\nb\x1b[31m")
    except OSError:
        pytest.skip("the file system has only names that are text")
    target = tmp_path / "ds"
    assert export(logs, target).rows == 20
    want = rows(target)
    assert {row[:2] for row in want} >= {("r\\udcff\n\x1b", "a\nb\x1b[31m")}
    shutil.rmtree(logs / "a")
    write_run(logs / "d", tag="other")
    assert export(logs, target).rows == 10
    assert [row for row in rows(target) if row[1] != "other"] == want


@pytest.mark.only_on_disks(reason="a store has no empty directories")
def test_a_directory_that_is_empty_deletes_nothing(logs, tmp_path):
    """As a file system that is not mounted is."""
    target = tmp_path / "ds"
    export(logs, target)
    everything = rows(target)
    shutil.rmtree(logs)
    logs.mkdir()
    with pytest.raises(FileNotFoundError, match="no event file"):
        export(logs, target, delete=True)
    assert rows(target) == everything


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("file", ["part-", "_manifest"])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(5))
def test_whenever_it_is_killed_every_run_is_there_once_as_it_was_or_is(logs, tmp_path, monkeypatch, at, after, file):
    """At each of the files that it puts in place, before and after it does."""
    monkeypatch.setattr(dataset, "_PART_RUNS", 2)
    target = tmp_path / "ds"
    export(logs, target)
    old = rows(target)
    shutil.rmtree(logs / "d")
    write_run(logs / "a", 5)
    for name in ("0", "e", "f", "g"):
        write_run(logs / name)
    new = wanted(logs)
    put, left = os.replace, [at]

    def dying(source, destination):
        dies = os.path.basename(destination).startswith(file) and left[0] <= 0
        left[0] -= os.path.basename(destination).startswith(file)
        if not dies or after:
            put(source, destination)
        if dies:
            monkeypatch.setattr(manifest.Manifest, "save", lambda _: None)  # nothing runs after a kill
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", dying)
        patch.setattr(shutil, "rmtree", lambda *_args, **_options: None)
        try:
            export(logs, target, delete=True)
        except Killed:
            pass
        else:
            assert left[0] >= 0
        got = rows(target)
        assert len(set(got)) == len(got)
        for name in {row[0] for row in old + new}:
            own = [[row for row in table if row[0] == name] for table in (got, old, new)]
            assert own[0] in own[1:], name
        patch.undo()
    monkeypatch.undo()
    for note in target.glob(".gradledger.*.tmp/.gradledger"):
        os.utime(note, (0, 0))  # what is an hour old is removed
    export(logs, target, delete=True)
    assert rows(target) == new
    assert [name for name in os.listdir(target) if name.endswith(".tmp")] == []


def test_a_run_that_cannot_be_read_keeps_its_rows(logs, tmp_path, monkeypatch):
    target = tmp_path / "ds"
    export(logs, target)
    old = rows(target)
    for name in ("a", "b/c"):
        write_run(logs / name, 5)
    write_run(logs / "e")
    read = part.read_files

    def failing(files, *arguments, **options):
        if "/c/" in files[0].path or "/e/" in files[0].path:
            raise PermissionError(13, "Permission denied", files[0].path)
        return read(files, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(part, "read_files", failing)
        with pytest.raises(OSError, match="Permission denied") as raised:
            export(logs, target)
    paths = [min(map(str, (logs / name).iterdir())) for name in ("b/c", "e")]
    assert str(raised.value) == (
        f"the others are exported, but not b/c: [Errno 13] Permission denied: {paths[0]!r}; "
        f"e: [Errno 13] Permission denied: {paths[1]!r}"
    )
    got = rows(target)
    assert [row for row in got if row[0] == "b/c"] == [row for row in old if row[0] == "b/c"]
    assert [row for row in got if row[0] == "a"] == [row for row in wanted(logs) if row[0] == "a"]
    assert export(logs, target).written == ("b/c", "e")
    assert rows(target) == wanted(logs)


@pytest.mark.only_on_disks(reason="a link that leads nowhere")
def test_what_cannot_be_read_is_not_taken_for_deleted(logs, tmp_path, refuse_to_list):
    target = tmp_path / "ds"
    export(logs, target)
    old = rows(target)
    (logs / "d/y.tfevents").symlink_to("nowhere")
    shutil.rmtree(logs / "a")
    with pytest.raises(OSError, match="the others are exported, but not d: "):
        export(logs, target)
    refuse_to_list("b")
    errors = []
    done = export(logs, target, delete=True, on_error=errors.append)
    assert [error.filename for error in errors] == [str(logs / "b"), str(logs / "d/y.tfevents")]
    assert done == Exported(0, (), (), ("a",))
    assert rows(target) == [row for row in old if row[0] != "a"]


def test_a_worker_that_dies_is_told_with_its_run(logs, tmp_path, monkeypatch):
    monkeypatch.setattr(dataset, "run_tasks", lambda _, parts, **_how: [(part, Died("killed")) for part in parts])
    errors = []
    assert export(logs, tmp_path / "ds", on_error=errors.append) == Exported(0, ())
    assert list(map(str, errors)) == ["a: killed", "b/c: killed", "d: killed"]


def test_a_file_of_the_dataset_that_is_missing(logs, tmp_path):
    target = tmp_path / "ds"
    export(logs, target)
    (target / "part-00000.parquet").unlink()
    write_run(logs / "a", 5)
    with pytest.raises(FileNotFoundError, match="missing") as raised:
        export(logs, target)
    path = target / "part-00000.parquet"
    assert str(raised.value) == f"a file of the dataset is missing: {path}; export again, with incremental=False"
    export(logs, target, incremental=False)
    assert rows(target) == wanted(logs)


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor(logs, tmp_path, kind, monkeypatch):
    monkeypatch.setattr(dataset, "_PART_RUNS", 1)
    with kind(2) as executor:
        done = export(logs, tmp_path / "ds", executor=executor)
    assert (done.rows, done.written) == (15, ("a", "b/c", "d"))
    assert rows(tmp_path / "ds") == wanted(logs)
    assert len(list((tmp_path / "ds").glob("*.parquet"))) == 3


def test_the_task_is_picklable(logs, tmp_path):
    task = part.WritePart(str(tmp_path), None, ["loss"], False)
    assert pickle.loads(pickle.dumps(task)) == task  # noqa: S301 - our own
