"""Event files that other writers made: we read in them what tensorboard's own reader reads."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

from summaries import summary_iterator

GOLDEN = Path(__file__).parents[1] / "golden" / "events"
MANIFEST = json.loads((GOLDEN / "MANIFEST.json").read_text(encoding="utf-8"))
EVENT_FILES = sorted(name for name in MANIFEST if "tfevents" in name)


def test_the_files_are_the_manifest_s():
    files = {path.relative_to(GOLDEN).as_posix(): path.read_bytes() for path in GOLDEN.rglob("*") if path.is_file()}
    del files["MANIFEST.json"]
    sums = {name: (hashlib.sha256(data).hexdigest(), len(data)) for name, data in files.items()}
    assert sums == {name: (entry["sha256"], entry["bytes"]) for name, entry in MANIFEST.items()}


def test_there_is_a_file_of_every_writer():
    writers = {MANIFEST[name]["writer"].partition(" ")[0].partition(".")[0] for name in EVENT_FILES}
    assert writers == {"tensorboardX", "tf", "torch"}


def kinds(events):
    """How many events there are of each kind, and how many values of each kind of summary."""
    counts = Counter()
    for event in events:
        counts[event.WhichOneof("what")] += 1
        counts.update(value.WhichOneof("value") for value in event.summary.value)
    return counts


@pytest.mark.parametrize("name", EVENT_FILES)
def test_same_events_as_tensorboard(name):
    path = str(GOLDEN / name)
    ours = list(summary_iterator(path))
    theirs = list(LegacyEventFileLoader(path).Load())
    assert kinds(ours) == kinds(theirs)
    assert len(ours) > 1
    for our, their in zip(ours, theirs, strict=True):
        assert our.SerializeToString(deterministic=True) == their.SerializeToString(deterministic=True)
