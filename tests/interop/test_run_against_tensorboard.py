"""Every golden file reads to the values that tensorboard's own reader gives.

TensorFlow's summary_iterator was compared by hand, message by message, and gives the same: it is no dependency.
"""

import pathlib

import numpy as np
import pytest
from engines import ENGINES, read_logdir
from tensorboard.backend.event_processing.plugin_event_accumulator import EventAccumulator
from tensorboard.util import tensor_util

EVENTS = pathlib.Path(__file__).parents[1] / "golden" / "events"
DIRECTORIES = sorted({path.parent for path in EVENTS.rglob("*tfevents*")})
PLUGINS = {
    "histograms": "histograms",
    "images": "images",
    "audio": "audio",
    "text": "texts",
    "pr_curves": "pr_curves",
    "mesh": "meshes",
}


@pytest.fixture(scope="module", params=ENGINES)
def runs(request):
    return read_logdir(EVENTS, engine=request.param)


@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda path: str(path.relative_to(EVENTS)))
def test_same_values(runs, directory):
    run = runs[str(directory.relative_to(EVENTS))]
    everything = dict.fromkeys((*PLUGINS, "scalars"), 0)
    theirs = EventAccumulator(str(directory), {"tensors": 0}, everything, purge_orphaned_data=False)
    theirs.Reload()
    tags = theirs.Tags()["tensors"]
    compared = 0
    for tag in tags:
        metadata = theirs.summary_metadata.get(tag)  # one without a plugin is not among them
        plugin = metadata.plugin_data.plugin_name if metadata else ""
        if plugin.startswith("graph") and tag not in run.tags:
            continue  # graphs come as tags of tensorboard's own; compared below
        events = theirs.Tensors(tag)
        if plugin == "scalars":
            ours = run.scalars[tag]
            want = [tensor_util.make_ndarray(event.tensor_proto).item() for event in events]
            np.testing.assert_array_equal(np.float32(ours.value), np.float32(want))
        else:
            ours = getattr(run, PLUGINS.get(plugin, "tensors")).get(tag)
            if ours is None:  # metadata without a value: hparams
                assert plugin == "hparams"
                assert tag in run.metadata
                continue
            for mine, event in zip(ours, events, strict=True):
                _same(plugin, mine, tensor_util.make_ndarray(event.tensor_proto))
        assert ours.step.tolist() == [event.step for event in events]
        assert ours.wall_time.tolist() == [event.wall_time for event in events]
        compared += 1
    assert compared
    assert set(run.tags) <= set(tags)


def _same(plugin, mine, theirs):
    if plugin == "images":
        width, height, *encoded = theirs.tolist()
        assert (mine.width, mine.height, list(mine.encoded)) == (int(width), int(height), encoded)
    elif plugin == "audio":
        assert list(mine.encoded) == theirs.reshape(len(theirs), -1)[:, 0].tolist()
    elif plugin == "text":
        assert mine == theirs.item().decode()
    elif plugin == "histograms":
        np.testing.assert_array_equal(np.float32(mine), np.float32(theirs))
    else:
        np.testing.assert_array_equal(mine, theirs)


def test_graphs(runs):
    for directory, nodes, timings in (("tf1", 19, ["step3"]), ("torch_tensors", 9, ["step1"])):
        theirs = EventAccumulator(str(EVENTS / directory))
        theirs.Reload()
        assert len(runs[directory].graph.node) == len(theirs.Graph().node) == nodes
        assert sorted(runs[directory].run_metadata) == timings
