"""Histories from elsewhere: points a second that `convert` brings into event files, by format; one core.

The peer reads the same with pandas, and logs it with tensorboardX, point by point: what one does without a converter.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.figures import OURS, Figure
from benchmarks.peers import Contender, compare
from benchmarks.scale import sized
from summaries.tools import convert

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROWS, TAGS = sized(50_000, 5_000), [f"metric_{i}" for i in range(10)]
POINTS = ROWS * len(TAGS)
RUN = "a" * 32


def figures() -> Iterator[Figure]:
    """Yield one for each format."""
    values = np.random.default_rng(0).standard_normal((ROWS, len(TAGS))).tolist()
    for name, write in FORMATS.items():
        with tempfile.TemporaryDirectory() as directory:
            source = write(directory, values)
            contenders = {OURS: Contender(converting, (source, os.path.join(directory, "out")))}
            if name == "CSV, wide":
                theirs = Contender(by_hand, (source, os.path.join(directory, "theirs")), "tensorboardX")
                contenders["pandas and tensorboardX"] = theirs
            what = f"convert {name}, {POINTS:,} points"
            yield compare(what, "M points/s", contenders, per=POINTS / 1e6, seconds=2.0, wanted="1")


def converting(source: str, out: str) -> Callable[[], object]:
    def run() -> None:
        shutil.rmtree(out, ignore_errors=True)
        convert(source, out)

    return run


def by_hand(source: str, out: str) -> Callable[[], object]:
    import pandas as pd
    import tensorboardX

    def run() -> None:
        shutil.rmtree(out, ignore_errors=True)
        with tensorboardX.SummaryWriter(out) as writer:
            for row in pd.read_csv(source).itertuples(index=False):
                for tag, value in zip(TAGS, row[1:], strict=True):
                    writer.add_scalar(tag, value, row[0])

    return run


def wide(directory: str, values: list[list[float]]) -> str:
    """Write as Lightning does; return what is to be read, as do the others."""
    lines = (f"{step},{','.join(map(repr, row))}\n" for step, row in enumerate(values))
    return _written(directory, "metrics.csv", f"step,{','.join(TAGS)}\n", *lines)


def long(directory: str, values: list[list[float]]) -> str:
    """Write as our own export does."""
    every = ((step, *pair) for step, row in enumerate(values) for pair in zip(TAGS, row, strict=True))
    lines = (f"a,{tag},{step},{1.7e9 + step},{value!r}\n" for step, tag, value in every)
    return _written(directory, "points.csv", "run,tag,step,wall_time,value\n", *lines)


def json_lines(directory: str, values: list[list[float]]) -> str:
    """Write an object for each step."""
    rows = ({"step": step, **dict(zip(TAGS, row, strict=True))} for step, row in enumerate(values))
    return _written(directory, "history.jsonl", *(json.dumps(row) + "\n" for row in rows))


def trainer_state(directory: str, values: list[list[float]]) -> str:
    """Write as transformers does."""
    rows = [{"step": step, **dict(zip(TAGS, row, strict=True))} for step, row in enumerate(values)]
    return _written(directory, "trainer_state.json", json.dumps({"log_history": rows, "global_step": ROWS}))


def mlflow(directory: str, values: list[list[float]]) -> str:
    """Write as MLflow's file store does."""
    run = os.path.join(directory, "mlruns", "0", RUN)
    os.makedirs(os.path.join(run, "metrics"))
    os.makedirs(os.path.join(run, "params"))
    _written(run, "meta.yaml", f"run_id: {RUN}\nrun_name: a\nstart_time: 1700000000000\n")
    for i, tag in enumerate(TAGS):
        lines = (f"{1_700_000_000_000 + step} {row[i]!r} {step}\n" for step, row in enumerate(values))
        _written(os.path.join(run, "metrics"), tag, *lines)
    return os.path.join(directory, "mlruns")


def parquet(directory: str, values: list[list[float]]) -> str:
    """Write a wide table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = dict(zip(TAGS, np.array(values).T, strict=True))
    pq.write_table(pa.table({"step": np.arange(ROWS), **columns}), path := os.path.join(directory, "history.parquet"))
    return path


def _written(directory: str, name: str, *texts: str) -> str:
    with open(path := os.path.join(directory, name), "w", encoding="utf-8") as file:
        file.writelines(texts)
    return path


FORMATS: dict[str, Callable[[str, list[list[float]]], str]] = {
    "CSV, wide": wide,
    "CSV, long": long,
    "JSON lines": json_lines,
    "trainer_state.json": trainer_state,
    "MLflow's files": mlflow,
    "Parquet": parquet,
}
