"""What is done while the power fails, and what must be found afterwards.

A workload is a script, and a check of a directory as it is after the loss: of how many calls it has what they promise
when they return. That depends on nothing but what is there, so a state is checked once, whenever it may be found.
"""

import math
import os
from typing import NamedTuple

from summaries import export, read_run

__all__ = ["WORKLOADS", "Workload"]

BEGIN = """
import math, os, sys
root, source = sys.argv[1:]
confirmed = 0
def confirm():
    global confirmed
    confirmed += 1
    os.write(1, b"MARK %d\\n" % confirmed)
"""
RUNS = """
from summaries import SummaryWriter
def log(name, points=20):
    with SummaryWriter(os.path.join(source, name)) as writer:
        for step in range(points):
            writer.add_scalar("loss", step, step)
"""


class Workload(NamedTuple):
    """A script and a check.

    Attributes:
        script: writes below `root`; `source` is another directory, which does not suffer.
        check: called with root, source; returns how many calls may have returned if this is what is there; asserts
            what is promised whatever had returned.
    """

    script: str
    check: object


def points_of(path):
    """The steps that are read, without an error whatever is there."""
    try:
        run = read_run(path)
    except FileNotFoundError:
        return []
    series = run.scalars.get("loss", None) if "loss" in run.scalars else None
    if series is None:
        return []
    assert series.step.tolist() == series.value.tolist(), "a point has another value"
    return series.step.tolist()


WRITER = """
from summaries import SummaryWriter
writer = SummaryWriter(os.path.join(root, "new", "run"), flush_secs=math.inf, fsync=FSYNC)
for step in range(100):
    writer.add_scalar("loss", step, step)
    if step % 5 == 4:
        writer.add_text("note", "x" * 2000, step)
        writer.flush()
        confirm()
writer.add_scalar("loss", 100, 100)
writer.close()
confirm()
writer.add_scalar("loss", 101, 101)
writer.close()
confirm()
"""


def check_synced_writer(root, _source):
    steps = points_of(os.path.join(root, "new", "run"))
    assert len(set(steps)) == len(steps)
    flushed = [*range(0, 101, 5), 101, 102]  # points, when so many calls had returned
    return max(number for number, points in enumerate(flushed) if steps[:points] == list(range(points)))


def check_writer(root, _source):
    steps = points_of(os.path.join(root, "new", "run"))
    assert set(steps) <= set(range(102))
    return math.inf


SAVER = """
import numpy as np
from optim import Saver, Variable
v = Variable(np.zeros(300), name="v")
saver = Saver([v], max_to_keep=2)
for step in range(1, 6):
    v.assign(np.full(300, float(step)))
    saver.save(os.path.join(root, "new", "model"), STEP)
    confirm()
"""


def check_saver(root, _source):
    import numpy as np

    from optim import Saver, Variable, latest_checkpoint

    path = latest_checkpoint(os.path.join(root, "new"))
    if path is None and os.path.exists(os.path.join(root, "new", "model.safetensors")):
        path = os.path.join(root, "new", "model.safetensors")
    if path is None:
        return 0
    v = Variable(np.zeros(300), name="v")
    Saver([v]).restore(path)
    (saved,) = set(v.value.tolist())
    assert saved in range(1, 6)
    return saved


DATASET = (
    RUNS
    + """
from summaries import export
for number in range(3):
    log(f"run{number}")
    export(source, os.path.join(root, "new", "dataset"))
    confirm()
"""
)


def check_dataset(root, source):
    import pyarrow.parquet as pq

    target = os.path.join(root, "new", "dataset")
    want = {f"run{number}": 20 for number in range(3)}

    def rows():
        names = [name for name in os.listdir(target) if name.endswith(".parquet")] if os.path.isdir(target) else []
        tables = [pq.read_table(os.path.join(target, name)) for name in names]
        runs = [run for table in tables for run in table["run"].to_pylist()]
        return {run: runs.count(run) for run in runs}

    found = rows()
    export(source, target)
    assert rows() == want
    return next((number for number, run in enumerate(want) if found.get(run) != 20), len(want))


TABLE = (
    RUNS
    + """
from summaries import export
for number in range(3):
    log(f"run{number}")
    export(source, os.path.join(root, "new", "table.ENDING"))
    confirm()
"""
)


def check_table(ending):
    def check(root, _source):
        path = os.path.join(root, "new", f"table.{ending}")
        if not os.path.exists(path):
            return 0
        if ending == "csv":
            with open(path, encoding="utf-8") as file:
                lines = file.read().split("\n")
            assert lines[0] == "run,tag,step,wall_time,value"
            assert lines[-1] == ""
            rows = len(lines) - 2
        else:
            import pyarrow.parquet as pq

            rows = pq.read_table(path).num_rows
        assert rows in {20, 40, 60}, f"{rows} rows"
        return rows // 20

    return check


REWRITTEN = (
    RUNS
    + """
from summaries.tools import TOOL
for number in range(3):
    log(f"run{number}")
confirm()
TOOL(SOURCE, os.path.join(root, "new", "out"))
confirm()
"""
)


def check_rewritten(runs):
    def check(root, _source):
        out = os.path.join(root, "new", "out")
        if not os.path.exists(out):
            return 1
        for run, want in runs.items():
            assert len(points_of(os.path.join(out, run))) == want
        return math.inf

    return check


CONVERTED = (
    RUNS
    + """
from summaries.tools import convert
log("run0")
confirm()
convert(source, os.path.join(root, "new", "mlruns"))
confirm()
"""
)


def check_converted(root, _source):
    from summaries.tools.formats.mlflow import read_mlflow
    from summaries.tools.formats.points import LeftOut, PointBatch

    target = os.path.join(root, "new", "mlruns")
    if not os.path.exists(target):
        return 1
    points = [item for item in read_mlflow(target, LeftOut()) if isinstance(item, PointBatch)]
    assert sum(len(batch.step) for batch in points) == 20
    return math.inf


CACHE = """
import fsspec
from summaries.storage.files import place_of
system = fsspec.filesystem("memory")
system.pipe_file("/crash/a.tfevents", b"data" * 500)
for more in range(3):
    storage, path = place_of("memory://crash/a.tfevents", cache=os.path.join(root, "new", "cache"))
    (file,) = storage.discover(path)
    with file.open(0) as opened:
        assert opened.read_range(0, 100_000)
    confirm()
    system.pipe_file("/crash/a.tfevents", system.cat("/crash/a.tfevents") + b"more" * 500)
"""


def check_cache(root, _source):
    from summaries.storage.cache import CachedFile

    directory = os.path.join(root, "new", "cache")
    names = os.listdir(directory) if os.path.isdir(directory) else []
    for name in names:
        path = os.path.join(directory, name)
        if os.path.isdir(path):
            continue
        with CachedFile(path) as entry:
            header = entry.header()
            if header is not None and entry.is_sound(header):
                whole = b"data" * 500 + b"more" * 1000
                assert entry.read_range(0, 10_000) == whole[: header.size]
                assert header.size in (2000, 4000, 6000)
    return math.inf


def script(text, **words):
    for word, value in words.items():
        text = text.replace(word, value)
    return BEGIN + text


WORKLOADS = {
    "writer": Workload(script(WRITER, FSYNC="False"), check_writer),
    "writer, fsync=True": Workload(script(WRITER, FSYNC="True"), check_synced_writer),
    "Saver": Workload(script(SAVER, STEP="step"), check_saver),
    "Saver, one name": Workload(script(SAVER, STEP="None"), check_saver),
    "export, a dataset": Workload(script(DATASET), check_dataset),
    "export, CSV": Workload(script(TABLE, ENDING="csv"), check_table("csv")),
    "export, Parquet": Workload(script(TABLE, ENDING="parquet"), check_table("parquet")),
    "repair": Workload(
        script(REWRITTEN, TOOL="repair", SOURCE="source"), check_rewritten({f"run{n}": 20 for n in range(3)})
    ),
    "thin": Workload(
        script(REWRITTEN.replace('"out"))', '"out"), every=2)'), TOOL="thin", SOURCE="source"),
        check_rewritten({f"run{n}": 10 for n in range(3)}),
    ),
    "merge": Workload(
        script(REWRITTEN, TOOL="merge", SOURCE='[os.path.join(source, f"run{n}") for n in range(3)]'),
        check_rewritten({".": 60}),
    ),
    "convert, MLflow": Workload(script(CONVERTED), check_converted),
    "cache": Workload(script(CACHE), check_cache),
}
