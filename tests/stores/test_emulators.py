"""A smoke test of each command over Azure's and Google's stores: azurite and gcp-storage-emulator."""

import json
import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import fsspec
import pytest
from processes.servers import running

from summaries import (
    GraphDef,
    SummaryWriter,
    audit,
    read_events,
    read_graph,
    read_logdir,
    read_run,
    write_graph,
)
from summaries.cli import main
from summaries.wire.pb import NodeDef

REASON = "needs servers of stores, which `make stores` installs"
AZURITE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="  # everybody's


@pytest.fixture(scope="module")
def azure(tmp_path_factory):
    pytest.importorskip("adlfs", reason=REASON)
    installed = os.path.join(sys.prefix, "node_modules", ".bin")
    azurite = shutil.which("azurite-blob", path=os.pathsep.join((installed, os.environ["PATH"])))
    if azurite is None:
        pytest.skip(f"azurite, by npm: {REASON}")
    place = tmp_path_factory.mktemp("azurite")
    command = [azurite, "--blobPort", "0", "--location", str(place), "--silent", "--skipApiVersionCheck"]
    # Asked to end, it waits for a minute or two for connections to be closed.
    with running(command, place / "log", end=subprocess.Popen.kill) as (_, server):
        text = f"AccountName=devstoreaccount1;AccountKey={AZURITE_KEY};BlobEndpoint={server}/devstoreaccount1;"
        options = {"connection_string": f"DefaultEndpointsProtocol=http;{text}"}
        fsspec.filesystem("az", **options).mkdir("bucket")
        yield SimpleNamespace(address="az://bucket/runs", options=options)


@pytest.fixture(scope="module")
def google():
    environment = pytest.MonkeyPatch()
    environment.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")  # else gcsfs asks Google what the bucket is
    pytest.importorskip("gcsfs", reason=REASON)
    emulator = pytest.importorskip("gcp_storage_emulator.server", reason=REASON)
    server = emulator.create_server("127.0.0.1", 0, in_memory=True, default_bucket="bucket")
    server.start()
    port = server._api._httpd.server_port
    options = {"endpoint_url": f"http://127.0.0.1:{port}", "token": "anon"}
    yield SimpleNamespace(address="gs://bucket/runs", options=options)
    server.stop()
    environment.undo()


@pytest.fixture(params=["azure", "google"])
def store(request, tmp_path):
    """Two runs in a store."""
    store = request.getfixturevalue(request.param)
    for name in ("a", "b/c"):
        with SummaryWriter(str(tmp_path / name)) as writer:
            for step in range(100):
                writer.add_scalar("train/loss", 2.0 - 0.01 * step, step, walltime=1.7e9 + step)
                writer.add_scalar("gradients/global_norm", 1.0, step, walltime=1.7e9 + step)
    system, root = fsspec.url_to_fs(store.address, **store.options)
    for path in tmp_path.rglob("*tfevents*"):
        system.pipe_file(f"{root}/{path.relative_to(tmp_path).as_posix()}", path.read_bytes())
    yield store
    system.rm(root, recursive=True)


def test_every_command(store, capsys, tmp_path):
    options = [
        part for name, value in store.options.items() for part in ("--storage-option", f"{name}={json.dumps(value)}")
    ]
    target = f"{store.address}/out.csv"
    for command, said in (
        (["verify", store.address], "201 events, 0 faults"),
        (["audit", store.address, "--cache-dir", str(tmp_path / "cache")], "2 runs"),
        (["audit", store.address, "--jobs", "2", "--cache-dir", str(tmp_path / "cache")], "2 runs"),
        (["compare", store.address], "2 runs in 2 groups, by train/loss"),
        (["clip-advice", f"{store.address}/a"], "suggested: clip_norm = 1"),
        (["export", store.address, target], f"{target}: 400 points"),
    ):
        assert main([*command, *options]) == 0, capsys.readouterr()
        assert said in capsys.readouterr().out


def test_writing(store):
    access = {"storage_options": store.options}
    with SummaryWriter(f"{store.address}/d", **access) as writer:
        for step in range(3):
            writer.add_scalar("loss", 1.0, step)
            writer.flush()
    graph = GraphDef(node=[NodeDef(name="x", op="Placeholder")])
    path = write_graph(graph, f"{store.address}/d", "graph.pbtxt", **access)
    assert read_graph(path, **access) == graph
    run = read_run(f"{store.address}/d", **access)
    assert run.scalars["loss"].step.tolist() == [0, 1, 2]
    assert len(run.files) == len(writer.paths) == 4


def test_reading(store):
    access = {"storage_options": store.options}
    runs = read_logdir(store.address, **access)
    assert {name: len(run.scalars["train/loss"]) for name, run in runs.items()} == {"a": 100, "b/c": 100}
    assert all(run.faults == () for run in runs.values())
    assert audit(store.address, **access).failures == ()
    steps = [event.step for event in read_events(f"{store.address}/a", follow=True, timeout_secs=0, **access)]
    assert max(steps) == 99
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_logdir(f"{store.address}/nowhere", **access)
