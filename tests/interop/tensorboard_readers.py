"""tensorboard's two readers: every point of every scalar of every run below a directory, as each reads it."""

import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import grpc
from helpers import polls
from tensorboard import context
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.data import grpc_provider, provider
from tensorboard.data.proto import data_provider_pb2_grpc
from tensorboard_data_server import server_binary

ALL = 1 << 30  # more points than any run has


def by_accumulator(logdir):
    """{run: {tag: [(step, wall time, value)]}} from the Python reader, with all points."""
    runs = {}
    for directory in sorted(logdir.iterdir()):
        accumulator = EventAccumulator(str(directory), size_guidance={"scalars": 0}).Reload()
        tags = accumulator.Tags()["scalars"]
        runs[directory.name] = {tag: [(p.step, p.wall_time, p.value) for p in accumulator.Scalars(tag)] for tag in tags}
    return runs


def by_server(logdir, finished):
    """The same from the Rust server, polled until `finished(runs)`, because it reads while it serves."""
    return _polled(logdir, _scalars, finished)


def _polled(logdir, read, finished):
    found = {}
    with tempfile.TemporaryDirectory() as scratch, _data_provider(logdir, Path(scratch) / "port") as data:
        for _ in polls():
            found = read(data)
            if finished(found):
                break
    return found  # incomplete if it never finished: the caller's comparison shows it


def _scalars(data):
    ctx = context.RequestContext()
    arguments = {"experiment_id": "", "plugin_name": "scalars"}
    listed = data.list_scalars(ctx, **arguments)
    series = data.read_scalars(ctx, **arguments, downsample=ALL, run_tag_filter=provider.RunTagFilter())
    return {
        run: {tag: [(p.step, p.wall_time, p.value) for p in series.get(run, {}).get(tag, [])] for tag in tags}
        for run, tags in listed.items()
    }


@contextmanager
def _data_provider(logdir, port_file):
    arguments = ["--logdir", str(logdir), "--port", "0", "--reload", "once", "--samples-per-plugin", "scalars=all"]
    with subprocess.Popen([server_binary(), *arguments, "--port-file", str(port_file)]) as server:
        try:
            for _ in polls():
                if port_file.exists() and port_file.read_text().endswith("\n"):
                    break
                assert server.poll() is None
            address = f"localhost:{port_file.read_text().strip()}"
            limit = [("grpc.max_receive_message_length", 1 << 28)]
            with grpc.secure_channel(address, grpc.local_channel_credentials(), options=limit) as channel:
                stub = data_provider_pb2_grpc.TensorBoardDataProviderStub(channel)
                yield grpc_provider.GrpcDataProvider(address, stub)
        finally:
            server.kill()


TENSORS = ("histograms", "text", "pr_curves", "mesh", "custom_scalars", "tensor")
BLOBS = ("images", "audio")


def counts_by_server(logdir, finished):
    """{(plugin, run, tag): points} of everything that the Rust server keeps, polled until `finished(counts)`."""
    return _polled(logdir, _counts, finished)


def _counts(data):
    ctx = context.RequestContext()
    kinds = [(data.read_scalars, ("scalars",)), (data.read_tensors, TENSORS), (data.read_blob_sequences, BLOBS)]
    found = {}
    for read, plugins in kinds:
        for plugin in plugins:
            every = provider.RunTagFilter()
            runs = read(ctx, experiment_id="", plugin_name=plugin, downsample=ALL, run_tag_filter=every)
            found |= {(plugin, run, tag): len(points) for run, tags in runs.items() for tag, points in tags.items()}
    return found
