"""Reading from a real S3 server: the same as from the disk, with as few requests as there can be."""

import subprocess
import sys
import threading
import time
import traceback
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict

import numpy as np
import pytest
from engines import ENGINES, read_logdir, read_run

from summaries import SummaryWriter, audit, clip_advice, compare, export, read_events, verify
from summaries.auditing.config import Config
from summaries.auditing.watch import watch
from summaries.cli import main
from summaries.storage import prefetch


@pytest.fixture
def runs(tmp_path, s3):
    """Healthy, diverging, damaged, resumed and nested runs, and other files, on the disk and in the store."""
    rng = np.random.default_rng(0)
    for name in ("healthy", "diverging", "nested/deep", "damaged", "resumed"):
        for part in range(2 if name == "resumed" else 1):
            with SummaryWriter(str(tmp_path / "runs" / name), filename_suffix=f".{part}") as writer:
                for step in range(part * 150, 300 + part * 150):
                    loss = 0.99**step + (step / 20 if name == "diverging" else 0) + 0.01 * rng.random()
                    writer.add_scalar("train/loss", loss, step, walltime=1.7e9 + step)
                    writer.add_scalar("gradients/global_norm", 1 + rng.random(), step, walltime=1.7e9 + step)
                writer.add_histogram("weights", rng.standard_normal(100), 1)
                writer.add_text("note", "hello", 1)
    (path,) = (tmp_path / "runs/damaged").iterdir()
    data = bytearray(path.read_bytes())
    data[5000:5100] = bytes(100)
    path.write_bytes(data[:-7])
    (tmp_path / "runs/empty.tfevents").touch()
    (tmp_path / "runs/healthy/checkpoint.bin").write_bytes(bytes(1000))
    s3.put_tree(tmp_path / "runs", "runs/")
    s3.proxy.requests.clear()
    return str(tmp_path / "runs"), f"{s3.address}/runs", {"storage_options": s3.options}


def columns(runs):
    """All that was read, with the files' addresses below the directory."""
    (first, *_) = {run.files[0].rpartition("/runs/")[0] for run in runs.values()}
    return {
        name: (
            [path.removeprefix(first) for path in run.files],
            [str(fault).replace(first, "") for fault in run.faults],
            [(tag, s.step.tobytes(), s.wall_time.tobytes(), s.value.tobytes()) for tag, s in run.scalars.items()],
            [(tag, [array.tobytes() for array in items]) for tag, items in run.histograms.items()],
            [items.value for items in run.texts.values()],
        )
        for name, run in runs.items()
    }


@pytest.mark.parametrize("range_bytes", [1000, prefetch.RANGE_BYTES])
@pytest.mark.parametrize("engine", ENGINES)
def test_columns_and_faults_are_the_local_ones(runs, engine, range_bytes, monkeypatch):
    monkeypatch.setattr(prefetch, "RANGE_BYTES", range_bytes)
    local, remote, access = runs
    assert columns(read_logdir(remote, engine=engine, **access)) == columns(read_logdir(local, engine=engine))
    for name in ("damaged", "resumed"):
        ours, theirs = read_run(f"{remote}/{name}", engine=engine, **access), read_run(f"{local}/{name}", engine=engine)
        assert columns({name: ours}) == columns({name: theirs})


def findings(report, place):
    """What was found, with the files' addresses below the directory."""
    return [str(asdict(finding)).replace(place, "") for finding in report.findings]


def test_findings_are_the_local_ones(runs, capsys):
    local, remote, access = runs
    ours, theirs = audit(remote, **access), audit(local)
    assert findings(ours, remote) == findings(theirs, local)
    assert {finding.run for finding in ours.findings} >= {"damaged", "diverging"}
    assert ours.failures == theirs.failures == ()
    assert [run.points for run in ours.runs] == [run.points for run in theirs.runs]


def test_requests(runs, s3):
    """One listing, one read of each file that is not empty, and nothing else."""
    _, remote, access = runs
    for read in (read_logdir, audit):
        s3.proxy.requests.clear()
        read(remote, **access)
        assert s3.proxy.counts() == (1, 6, 0)
        assert all(request.range for request in s3.proxy.requests if request.is_read)


def test_a_listing_takes_one_request_per_thousand_keys(s3):
    for i in range(1100):
        s3.put(f"runs/{i:04d}/model.bin", b"x")
    with pytest.raises(FileNotFoundError, match="no event file"):
        read_logdir(f"{s3.address}/runs", storage_options=s3.options)
    assert s3.proxy.counts() == (2, 0, 0)


def test_ranges_of_a_large_file(s3, tmp_path, monkeypatch):
    monkeypatch.setattr(prefetch, "RANGE_BYTES", 10_000)
    with SummaryWriter(str(tmp_path)) as writer:
        for step in range(2000):
            writer.add_scalar("loss", step, step)
    s3.put_tree(tmp_path)
    run = read_run(s3.address, storage_options=s3.options)
    assert run.scalars["loss"].value.tolist() == list(range(2000))
    (size,) = (path.stat().st_size for path in tmp_path.iterdir())
    assert s3.proxy.counts() == (1, -(-size // 10_000), 0)
    ranges = sorted(int(request.range[6:].split("-")[0]) for request in s3.proxy.requests if request.range)
    assert ranges == list(range(0, size, 10_000))


@pytest.mark.parametrize("target", ["x.csv", "x.parquet", "dataset"])
def test_an_export_to_a_bucket(runs, s3, tmp_path, target):
    local, remote, access = runs
    done = export(remote, f"{s3.address}/out/{target}", **access)
    assert done == export(local, tmp_path / target)
    path = "part-00000.parquet" if target == "dataset" else ""
    written = s3.get(f"out/{target}/{path}".rstrip("/"))
    assert written == (tmp_path / target / path).read_bytes()


def test_a_dataset_in_a_bucket_is_kept_current(runs, s3, tmp_path):
    """What has not changed costs a listing and the manifest; DuckDB and Polars read what is there."""
    duckdb = pytest.importorskip("duckdb", reason="`make stores` installs it")
    polars = pytest.importorskip("polars", reason="`make stores` installs it")
    _, remote, access = runs
    target = f"{s3.address}/out"
    export(remote, target, **access)
    s3.proxy.requests.clear()
    assert export(remote, target, **access).written == ()
    assert s3.proxy.counts() == (1, 1, 1)  # s3fs asks for the size of the manifest before
    with SummaryWriter(f"{remote}/healthy", **access) as writer:
        writer.add_scalar("train/loss", 0.5, 1000)
    assert export(remote, target, tags=None, **access).written == ("healthy",)
    for name in ("_manifest.json", "part-00000.parquet"):
        (tmp_path / name).write_bytes(s3.get(f"out/{name}"))
    want = {(name, len(table)) for name, table in points(remote, access).items()}
    table = duckdb.read_parquet(f"{tmp_path}/*.parquet")
    assert set(table.aggregate("run, count(*)").fetchall()) == want
    frame = polars.scan_parquet(f"{tmp_path}/*.parquet").group_by("run").len().collect()
    assert set(frame.rows()) == want


def points(place, access):
    """Each run's scalars as a long table."""
    return {name: run.to_arrow() for name, run in read_logdir(place, **access).items() if run.scalars}


def test_an_export_by_other_processes(runs, s3, tmp_path):
    """They read the bucket and write to it themselves."""
    _, remote, access = runs
    with ProcessPoolExecutor(2) as executor:
        done = export(remote, f"{s3.address}/out", executor=executor, **access)
    assert done == export(remote, tmp_path / "out", **access)
    assert s3.get("out/part-00000.parquet") == (tmp_path / "out/part-00000.parquet").read_bytes()


def test_every_command(runs, s3, capsys, tmp_path):
    import json

    _, remote, _ = runs
    options = [
        part for name, value in s3.options.items() for part in ("--storage-option", f"{name}={json.dumps(value)}")
    ]
    assert main(["verify", remote, *options]) == 1
    assert len([line for line in capsys.readouterr().out.splitlines() if line.startswith(remote)]) == 7
    assert main(["audit", remote, "--jobs", "2", *options]) == 1
    assert "train/loss" in capsys.readouterr().out
    assert main(["compare", remote, *options]) == 1
    assert "5 runs in 5 groups, by train/loss" in capsys.readouterr().out
    assert main(["clip-advice", f"{remote}/healthy", *options]) == 0
    assert "suggested: clip_norm" in capsys.readouterr().out
    assert main(["export", remote, f"{s3.address}/x.csv", *options]) == 1
    assert f"{s3.address}/x.csv: " in capsys.readouterr().out
    assert clip_advice(f"{remote}/healthy", storage_options=s3.options).steps == 300
    for command in ("audit", "compare"):
        main([command, remote, "--format", "json", *options])
        shown = capsys.readouterr().out
        main([command, remote, "--format", "json", "--output", f"{s3.address}/{command}.json", *options])
        assert s3.get(f"{command}.json").decode() == shown


def test_writing(s3):
    """Each flush is one request, which creates an object; credentials are in no error."""
    access = {"storage_options": s3.options}
    with SummaryWriter(f"{s3.address}/live", **access) as writer:
        for step in range(3):
            writer.add_scalar("loss", step, step)
            writer.flush()
    puts = [request for request in s3.proxy.requests if request.method == "PUT"]
    assert len(puts) == len(writer.paths) == len(s3.proxy.requests) == 4
    assert read_run(f"{s3.address}/live", **access).scalars["loss"].value.tolist() == [0, 1, 2]
    secret = {**s3.options, "endpoint_url": f"http://127.0.0.1:1/{s3.options['secret']}"}  # where nothing listens
    with pytest.raises(OSError, match="could not be written") as raised:
        SummaryWriter(f"{s3.address}/live", storage_options={**secret, "client_kwargs": {}})
    assert s3.options["secret"] not in "".join(traceback.format_exception(raised.value))


def test_comparing(runs):
    local, remote, access = runs
    ours, theirs = compare(remote, **access), compare(local)
    assert repr(ours).replace(remote, local) == repr(theirs)  # faults name their files


def test_a_cache_makes_the_second_time_a_listing(runs, s3, tmp_path):
    local, remote, access = runs
    cached = {**access, "cache": str(tmp_path / "cache")}
    first = audit(remote, **cached)
    s3.proxy.requests.clear()
    again = audit(remote, **cached)
    assert s3.proxy.counts() == (1, 0, 0)
    assert findings(again, remote) == findings(first, remote) == findings(audit(local), local)
    assert columns(read_logdir(remote, **cached)) == columns(read_logdir(local))
    kept = b"".join(path.read_bytes() for path in (tmp_path / "cache").iterdir())
    assert s3.options["secret"].encode() not in kept


def objects(tmp_path, count):
    """An event file that grows: its first steps, and so on."""
    with SummaryWriter(str(tmp_path / "growing")) as writer:
        for step in range(count):
            writer.add_scalar("train/loss", 2.0 - 0.01 * step, step)
    with open(writer.path, "rb") as file:
        data = file.read()
    each = (len(data) - 50) // count
    return [data[: len(data) - each * (count - step)] for step in (count // 2, count)]


def test_following(s3, tmp_path):
    """A growing object, then the run's next one: within one poll of their being written, only what is new is read."""
    half, whole = objects(tmp_path, 100)
    s3.put("run/1.tfevents", half)
    stop, seen, sizes = threading.Event(), [], []
    following = read_events(f"{s3.address}/run", follow=True, stop=stop, timeout_secs=120, storage_options=s3.options)
    for event in following:
        if not event.HasField("summary"):
            continue
        seen.append(event.step)
        if len(seen) == 50:
            s3.proxy.requests.clear()
            s3.put("run/1.tfevents", whole)
        if len(seen) == 100:
            sizes = [request.range for request in s3.proxy.requests if request.range]
            s3.put("run/2.tfevents", whole)
        if len(seen) == 200:
            stop.set()
    assert seen == [*range(100), *range(100)]
    assert sizes == [f"bytes={len(half) - 256}-{len(whole) - 1}"]
    assert s3.proxy.counts() == (s3.proxy.counts()[0], 2, 0)


def test_a_follower_sees_points_within_a_poll(s3, tmp_path):
    _, whole = objects(tmp_path, 100)
    s3.put("run/1.tfevents", whole)
    seen, stop, listings = threading.Event(), threading.Event(), {}

    def follow():
        events = read_events(f"{s3.address}/run", follow=True, stop=stop, storage_options=s3.options)
        for number, _ in enumerate(events):
            if number in {100, 101}:  # the last of the first file, the first of the second
                listings[number] = s3.proxy.counts()[0]
                seen.set()

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    assert seen.wait(120)
    seen.clear()
    s3.put("run/2.tfevents", whole)
    put = s3.proxy.counts()[0]  # with the one that was under way
    assert seen.wait(120)
    stop.set()
    thread.join()
    assert listings[101] <= put + 1


def test_watching_fetches_what_is_new(s3, tmp_path):
    half, whole = objects(tmp_path, 100)
    s3.put("runs/a/1.tfevents", whole)
    s3.put("runs/b/1.tfevents", half)
    stop = threading.Event()

    def change():
        deadline = time.monotonic() + 120
        while s3.proxy.counts()[0] < 2 and time.monotonic() < deadline:  # what was listed first has been read then
            time.sleep(0.01)
        s3.put("runs/b/1.tfevents", whole)
        while s3.proxy.counts()[1] < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        stop.set()

    thread = threading.Thread(target=change, daemon=True)
    thread.start()
    found = watch(f"{s3.address}/runs", Config(), poll_secs=0.1, stop=stop, storage_options=s3.options)
    assert [finding for new in found for finding in new] == []
    thread.join()
    reads = [request for request in s3.proxy.requests if request.is_read]
    assert [request.range for request in reads][2:] == [f"bytes={len(half) - 256}-{len(whole) - 1}"]
    assert reads[2].path.startswith("/" + s3.name + "/runs/b/")


def test_one_file_takes_a_query_of_its_size(runs, s3):
    _, remote, access = runs
    path = read_run(f"{remote}/healthy", **access).files[0]
    for read in (verify, read_run):
        s3.proxy.requests.clear()
        read(path, **access)
        assert s3.proxy.counts() == (0, 1, 1)


AT_EXIT = """
import json, multiprocessing, sys, threading, time
from summaries import SummaryWriter

address, how = sys.argv[1:3]
options = json.loads(sys.argv[3])
options["config_kwargs"]["connector_args"] = {"keepalive_timeout": 0.01}  # the last flush takes a new connection

def log(first=0):
    for step in range(first, first + 100):
        writer.add_scalar("loss", step, step)

def later():
    time.sleep(1)
    log(100)

def begin():
    global writer
    writer = SummaryWriter(address, storage_options=options)
    log()
    time.sleep(0.2)

if __name__ == "__main__":
    if how == "spawn":
        process = multiprocessing.get_context("spawn").Process(target=begin)
        process.start()
        process.join()
        sys.exit()
    begin()
    if how == "thread":
        threading.Thread(target=later).start()
    if how == "status":
        sys.exit(3)
    if how == "interrupt":
        raise KeyboardInterrupt
"""


@pytest.mark.parametrize(("how", "count"), [("end", 100), ("status", 100), ("interrupt", 100), ("spawn", 100),
                                            ("thread", 200)])  # fmt: skip
def test_a_process_that_ends_loses_nothing(s3, tmp_path, how, count):
    """Though its writer was not closed; even what a thread logs after the main thread has ended."""
    import json

    script = tmp_path / "script.py"
    script.write_text(AT_EXIT)
    options = json.loads(json.dumps(s3.options).replace("127.0.0.1", "localhost"))
    command = [sys.executable, str(script), f"{s3.address}/exit", how, json.dumps(options)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert "lost" not in done.stderr
    assert len(read_run(f"{s3.address}/exit", storage_options=s3.options).scalars["loss"]) == count
