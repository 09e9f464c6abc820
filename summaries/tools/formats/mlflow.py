"""MLflow's file store, read and written: a directory of files for each run.

    <store>/<experiment id>/meta.yaml            name: …
    <store>/<experiment id>/<run id>/meta.yaml   run_name: … · lifecycle_stage: active or deleted
                                     metrics/<name>   a line for each point: time in ms since the epoch, value, step
                                     params/<name>    the value
                                     tags/<name>      the value; mlflow.runName is the run's name

A name with slashes is a path of directories. MLflow keeps times in whole milliseconds.

References: https://mlflow.org/docs/latest/self-hosting/architecture/backend-store/
"""

from __future__ import annotations

import json
import os
import re
import uuid
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from summaries.reading.stated import value_of
from summaries.storage.plain import create_text, files_below, is_directory, text_below
from summaries.tools.formats.gathering import RunNames
from summaries.tools.formats.points import EXACT, ROW, STEPS, Facts, PointBatch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from summaries.reading.run import Run
    from summaries.tools.formats.points import Item, LeftOut

__all__ = ["Names", "is_mlflow", "read_mlflow", "write_mlflow"]

_META, _METRICS, _PARAMS, _TAGS = "meta.yaml", "metrics", "params", "tags"
_RUN_NAME, _NOTE = "mlflow.runName", "mlflow.note.content"
_FEWEST_FIELDS = 2  # in a line of a metric: older stores have no step
_OTHER_SPACES = "\t\r\v\f\x1c\x1d\x1e\x1f"  # of ASCII
_UNFIT = re.compile(r"[^\w\-. :/]", re.ASCII)  # in names
_MOST_CHARACTERS = 250
_FINISHED, _LOCAL = 3, 4  # MLflow's RunStatus and SourceType


def is_mlflow(path: str) -> bool:
    """Whether a directory is a file store of MLflow, an experiment or a run of one."""
    return is_directory(path) and next(_runs(path), None) is not None


def _runs(path: str) -> Iterator[str]:
    """The directories of runs at and below a path, sorted."""
    for folder, folders, files in files_below(path):
        if _META in files and any(name in folders for name in (_METRICS, _PARAMS, _TAGS)):
            folders.clear()
            yield folder


def read_mlflow(path: str, left_out: LeftOut) -> Iterator[Item]:
    """Read the runs of a store, an experiment or a run; one run at a time is in memory, its points ordered by time.

    A run is named `<experiment>/<run>`, without the experiment if there is only one; of several with one name, the
    others get their ids appended. Parameters that are numbers or truth values are read as such; MLflow's own tags but
    the note are left out.

    Args:
        path: the directory.
        left_out: counts what is left out.

    Raises:
        FileNotFoundError: there is no run.
        OSError: a file cannot be read.
    """
    runs = list(_runs(path))
    if not runs:
        raise FileNotFoundError(f"no run of MLflow ({_META} beside {_METRICS}, {_PARAMS} or {_TAGS}) below {path}")
    several = len({os.path.dirname(run) for run in runs}) > 1
    names = RunNames(left_out)
    for run in runs:
        meta = _meta(run)
        if meta.get("lifecycle_stage") == "deleted":
            left_out["runs that are deleted in MLflow"] += 1
            continue
        tags = dict(_texts(os.path.join(run, _TAGS), left_out))
        name = tags.pop(_RUN_NAME, "") or meta.get("run_name") or os.path.basename(run)
        if several:
            above = os.path.dirname(run)
            name = f"{_meta(above).get('name') or os.path.basename(above)}/{name}"
        name = names.of(name, os.path.basename(run))
        yield _points(run, name, left_out)
        texts = {tag.replace(_NOTE, "note"): text for tag, text in tags.items() if _NOTE in tag or "mlflow." not in tag}
        left_out["tags of MLflow's own"] += len(tags) - len(texts)
        yield Facts(name, {key: value_of(text) for key, text in _texts(os.path.join(run, _PARAMS), left_out)}, texts)


def _points(run: str, name: str, left_out: LeftOut) -> PointBatch:
    """All points of a run, by time; those of the same time in the order of steps."""
    tags, columns = [], [np.empty(0, ROW)]
    for tag, text in _texts(os.path.join(run, _METRICS), left_out):
        tags.append(tag)
        columns.append(_metric(tag, text, left_out))
    rows = np.concatenate(columns)
    numbers = np.repeat(np.arange(len(tags)), [len(column) for column in columns[1:]])
    order = np.lexsort((rows["step"], rows["wall_time"]))
    rows = rows[order]
    return PointBatch(name, tags, numbers[order], rows["step"], rows["wall_time"], rows["value"])


def _metric(tag: str, text: str, left_out: LeftOut) -> NDArray[np.void]:
    """The points of one metric."""
    lines = text.splitlines()
    if (plain := _plain_metric(text, lines)) is not None:
        return plain
    rows = []
    for line in lines:
        parts = line.split()
        try:
            step = int(parts[2]) if len(parts) > _FEWEST_FIELDS else 0
            if step not in STEPS:
                raise OverflowError  # noqa: TRY301 - as the division does
            rows.append((step, int(parts[0]) / 1000, float(parts[1])))
        except (ValueError, IndexError, OverflowError):
            left_out[f"lines of {tag!r} that are no points"] += 1
    return np.array(rows, ROW)


def _plain_metric(text: str, lines: list[str]) -> NDArray[np.void] | None:
    """The points of lines of three numbers, with a space between two; None if one is another."""
    words, spaces = text.split(), map(str.count, lines, repeat(" "))
    is_odd = not text.isascii() or any(space in text for space in _OTHER_SPACES)
    if is_odd or len(words) != 3 * len(lines) or not {2}.issuperset(spaces):
        return None
    rows = np.empty(len(lines), ROW)
    try:
        milliseconds, value, step = (
            np.fromiter(map(of, words[i::3]), dtype, len(lines))
            for i, (of, dtype) in enumerate(((int, np.int64), (float, np.float64), (int, np.int64)))
        )
    except (ValueError, OverflowError):
        return None
    if np.abs(milliseconds).max(initial=0) > EXACT:
        return None
    rows["step"], rows["wall_time"], rows["value"] = step, milliseconds / 1000, value
    return rows


def _texts(directory: str, left_out: LeftOut) -> Iterator[tuple[str, str]]:
    """(name, contents) of each file below a directory, sorted."""

    def leave_out(_path: str) -> None:
        left_out["links, pipes and devices"] += 1

    for folder, _, files in files_below(directory, leave_out):
        for file in files:
            path = os.path.join(folder, file)
            name = os.path.relpath(path, directory).replace(os.sep, "/")
            yield name.encode(errors="backslashreplace").decode(), text_below(path)


def _meta(directory: str) -> dict[str, str]:
    """The texts of a meta.yaml, which is a flat mapping; {} if there is none."""
    try:
        lines = text_below(os.path.join(directory, _META)).split("\n")
    except OSError:
        return {}
    pairs = (line.partition(": ") for line in lines if not line.startswith((" ", "-")))
    return {key: _unquoted(value.strip()) for key, _, value in pairs}


def _unquoted(text: str) -> str:
    if text.startswith("'") and text.endswith("'"):
        return text[1:-1].replace("''", "'")
    try:
        return str(json.loads(text)) if text.startswith('"') else text
    except ValueError:
        return text


def write_mlflow(runs: Iterable[tuple[str, Run]], directory: str, experiment: str) -> tuple[int, dict[str, str]]:
    """Write a file store with one experiment.

    Args:
        runs: (name, run). Scalars become metrics, hyperparameters parameters.
        directory: an existing empty directory.
        experiment: the name of the experiment.

    Returns:
        The number of points, and tag → metric for those whose names MLflow does not take.

    Raises:
        OSError: a file cannot be written.
    """
    above = os.path.join(directory, str(uuid.uuid4().int % 10**18).zfill(18))
    meta = {"artifact_location": "", "experiment_id": os.path.basename(above), "name": experiment}
    _write_meta(above, {**meta, "lifecycle_stage": "active"})
    points, names = 0, Names()
    for name, run in runs:
        points += _write_run(os.path.join(above, uuid.uuid4().hex), name, run, names)
    return points, names.changed


def _write_run(directory: str, name: str, run: Run, names: Names) -> int:
    for folder in (_METRICS, _PARAMS, _TAGS, "artifacts"):  # without which MLflow takes it for none of its runs
        os.makedirs(os.path.join(directory, folder))
    own = names.of(run.scalars)
    for tag, series in run.scalars.items():
        times = np.nan_to_num(np.round(series.wall_time * 1000), nan=0.0, posinf=0.0, neginf=0.0).astype(np.int64)
        rows = zip(times.tolist(), series.value.tolist(), series.step.tolist(), strict=True)
        _write(
            os.path.join(directory, _METRICS, own[tag]), (f"{time} {value!r} {step}\n" for time, value, step in rows)
        )
    for key, metric in names.of(run.hparams).items():
        _write(os.path.join(directory, _PARAMS, metric), [str(run.hparams[key])])
    _write(os.path.join(directory, _TAGS, _RUN_NAME), [name])
    every = [series.wall_time[[0, -1]] for series in run.scalars.values()]
    finite = [time for times in every for time in times.tolist() if np.isfinite(time)] or [0.0]
    experiment_id, run_id = directory.split(os.sep)[-2:]
    meta = {
        "artifact_uri": "", "end_time": int(max(finite) * 1000), "entry_point_name": "", "experiment_id": experiment_id,
        "lifecycle_stage": "active", "run_id": run_id, "run_name": name, "run_uuid": run_id, "source_name": "",
        "source_type": _LOCAL, "source_version": "", "start_time": int(min(finite) * 1000), "status": _FINISHED,
        "tags": [], "user_id": "",
    }  # fmt: skip
    _write_meta(directory, meta)
    return sum(map(len, run.scalars.values()))


def _write(path: str, lines: Iterable[str]) -> None:
    with create_text(path) as file:
        file.writelines(lines)


def _write_meta(directory: str, meta: dict[str, object]) -> None:
    """Write a meta.yaml; JSON's values are YAML's, too."""
    _write(os.path.join(directory, _META), (f"{key}: {json.dumps(value)}\n" for key, value in meta.items()))


class Names:
    """Turns tags into names of MLflow's, and remembers which are others.

    A name consists of letters, digits, spaces and `_-.:/`; its parts between slashes are not empty, "." or "..". Names
    are paths of files, so that none is the directory of another.

    Attributes:
        changed: tag → name, of those that differ.

    >>> names = Names()
    >>> names.of(["loss", "loss/train", "größe", "../x"])
    {'loss': 'loss_', 'loss/train': 'loss/train', 'größe': 'gr__e', '../x': '__/x'}
    >>> list(names.changed)
    ['loss', 'größe', '../x']
    """

    def __init__(self) -> None:
        self.changed: dict[str, str] = {}

    def of(self, tags: Iterable[str]) -> dict[str, str]:
        """Tag → name, for the tags of one run."""
        wanted = {tag: _fit(tag) for tag in tags}
        folders = {
            "/".join(parts[:end]) for parts in (n.split("/") for n in wanted.values()) for end in range(1, len(parts))
        }
        taken = {name.casefold() for name in folders}
        names = {}
        for tag, name in sorted(wanted.items(), key=lambda pair: pair[0] != pair[1]):  # those that fit keep their names
            while name.casefold() in taken:
                name += "_"  # noqa: PLW2901 - until it is one of its own
            taken.add(name.casefold())
            names[tag] = name
            if name != tag:
                self.changed[tag] = name
        return {tag: names[tag] for tag in wanted}


def _fit(tag: str) -> str:
    parts = _UNFIT.sub("_", tag)[:_MOST_CHARACTERS].split("/")
    return "/".join("_" * max(len(part), 1) if set(part) <= {"."} else part for part in parts)
