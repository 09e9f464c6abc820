"""Trackio's databases, `<project>.db`: SQLite, with a row for each call of `log`.

    metrics   run_id · run_name · timestamp, ISO 8601 · step · metrics, JSON: name → number, nested, or {"_type": …}
    configs   run_id · run_name · config, JSON

Pictures lie below `media/`, under the path that a value names. Only files that a listing of that directory found are
read, so that a database cannot name any other. Where there is no column run_id, the name stands for it.

References: https://huggingface.co/docs/trackio
"""

from __future__ import annotations

import json
import os
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.reading.stated import flat
from summaries.storage.plain import files_below, open_database
from summaries.tools.formats.files import run_files
from summaries.tools.formats.gathering import Gatherer, RunNames
from summaries.tools.formats.media import histogram_of, picture
from summaries.tools.formats.points import Facts, Media, is_step

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from summaries.tools.formats.points import Item, LeftOut
    from summaries.wire.pb import Summary

__all__ = ["PATTERN", "is_trackio", "read_trackio"]

PATTERN = "*.db"
_TABLES = {"metrics", "configs"}
_METRICS = "SELECT {}, run_name, timestamp, step, metrics FROM metrics ORDER BY id"
_CONFIGS = "SELECT {}, run_name, config FROM configs"
_GROUP = "_Group"  # among the settings
_COUNT = "SELECT count(*) FROM {}"
_OTHERS = {
    "system_metrics": "statistics of the system",
    "traces": "traces",
    "alerts": "alerts",
    "artifacts": "artifacts",
}


def is_trackio(file: str) -> bool:
    """Whether a file is a database of Trackio's.

    Raises:
        ValueError: it is no database, or a broken one.
        OSError: it cannot be read.
    """
    with open_database(file) as database:
        return _tables(database) >= _TABLES


def read_trackio(path: str, left_out: LeftOut) -> Iterator[Item]:
    """Read the runs of a project, or of all projects in a directory, then as `<project>/<run>`.

    Args:
        path: the database, or Trackio's directory.
        left_out: counts what is left out, and keeps databases of a directory that are broken.

    Raises:
        ValueError: a file is no database of Trackio's, or is broken.
        OSError: a file cannot be read.
    """
    files = [file for _, file in run_files(path, PATTERN, left_out, _is_whole)]
    for file in files:
        project = os.path.splitext(os.path.basename(file))[0]
        with open_database(file) as database:
            if not _tables(database) >= _TABLES:
                raise ValueError(f"{file}: not a database of Trackio's, which has the tables metrics and configs")
            yield from _Project(database, file, f"{project}/" if len(files) > 1 else "", left_out).items()


def _is_whole(file: str) -> bool:
    """Whether a file is a database of Trackio's, all rows of which can be read; else raises, as `is_trackio` does."""
    with open_database(file) as database:
        if not _tables(database) >= _TABLES:
            return False
        for table in _TABLES:
            for _ in database.execute(f"SELECT * FROM {table}"):  # noqa: S608 - one of our own
                pass
        return True


def _tables(database: sqlite3.Connection) -> set[str]:
    """The names of tables; a view is none, which could compute forever."""
    return {name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


class _Project:
    """The runs of one database."""

    def __init__(self, database: sqlite3.Connection, file: str, prefix: str, left_out: LeftOut) -> None:
        self._database, self._prefix, self._left_out = database, prefix, left_out
        media = os.path.join(os.path.dirname(file), "media")
        paths = (os.path.join(folder, name) for folder, _, names in files_below(media) for name in names)
        self._media = {os.path.relpath(path, media).replace(os.sep, "/"): path for path in paths}
        self._names = RunNames(left_out)
        columns = [row[1] for row in database.execute("PRAGMA table_info(metrics)")]
        self._id = "run_id" if "run_id" in columns else "run_name"

    def items(self) -> Iterator[Item]:
        """All there is."""
        gatherer = Gatherer(self._left_out)
        rows = self._database.execute(_METRICS.format(self._id))
        for run_id, name, timestamp, step, metrics in rows:
            run, values, wall_time = self._run(name, run_id), self._object(metrics), _seconds(timestamp)
            if values and (b'"_type"' in metrics if isinstance(metrics, bytes) else '"_type"' in metrics):
                yield from self._without_media(run, step, wall_time, values)
            gatherer.add(run, step, wall_time, values)
            yield from gatherer.full()
        yield from gatherer.rest()
        for run_id, name, config in self._database.execute(_CONFIGS.format(self._id)):
            settings = self._object(config)
            own = {key: value for key, value in settings.items() if not key.startswith("_")}
            if isinstance(group := settings.pop(_GROUP, None), str):
                own.setdefault("group", group)
            self._left_out["settings of Trackio's own"] += sum(key.startswith("_") for key in settings)
            pairs = list(flat(own, ""))
            facts = dict(pairs)
            self._left_out["settings that have the name of another one"] += len(pairs) - len(facts)
            yield Facts(self._run(name, run_id), facts, {})
        for table in _OTHERS.keys() & _tables(self._database):
            ((count,),) = self._database.execute(_COUNT.format(table))
            self._left_out[_OTHERS[table]] += count

    def _run(self, name: str, run_id: str) -> str:
        return self._names.of(f"{self._prefix}{name}", run_id)

    def _object(self, text: object) -> dict[str, Any]:
        try:
            found = json.loads(text)  # type: ignore[arg-type]
        except (ValueError, RecursionError, TypeError):  # the last of NULL, or a number
            found = None
        if isinstance(found, dict):
            return found
        self._left_out["rows that are no JSON objects"] += 1
        return {}

    def _without_media(self, run: str, step: object, wall_time: float, values: dict[str, Any]) -> Iterator[Media]:
        """The media of a row, which are taken out of it; others are left for the gatherer, which counts them."""
        for tag, value in list(values.items()):
            if isinstance(value, dict) and "_type" in value:
                summary = self._summary(tag, value)
                if summary is not None and is_step(step):
                    yield Media(run, step, wall_time, summary)
                else:
                    self._left_out[f"values of {tag!r}, a {value['_type']}"] += 1
                del values[tag]

    def _summary(self, tag: str, value: dict[str, Any]) -> Summary | None:
        if value["_type"] == "trackio.histogram":
            return histogram_of(tag, value.get("bins"), value.get("values"))
        path = self._media.get(str(value.get("file_path")))
        return picture(tag, path) if path and value["_type"] == "trackio.image" else None


def _seconds(timestamp: str) -> float:
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except (ValueError, TypeError, OverflowError, OSError):  # the last two of years far off
        return np.nan
