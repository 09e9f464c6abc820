"""What a program can ask about the runs below some places. Each question is a method; its docstring tells the program.

Nothing is written, and no path is taken: a question names runs and tags that an answer named before.
"""

from __future__ import annotations

import dataclasses
import fnmatch
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.auditing.comparison import compare_runs
from summaries.auditing.findings import Severity
from summaries.auditing.report.comparison import as_dict
from summaries.auditing.report.json import finding_as_dict
from summaries.auditing.report.payload import row as table_row
from summaries.auditing.rules import handbook
from summaries.integrations.mcp.bounded import meant, page, shown
from summaries.presenting.thinning import thin
from summaries.reading.media import Images, picture
from summaries.storage.names import by_number
from summaries.tools.showing import show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from summaries.auditing.config import Config
    from summaries.auditing.findings import RunReport
    from summaries.integrations.tensorboard.books import Book
    from summaries.integrations.tensorboard.library import Library
    from summaries.integrations.tensorboard.places import Place
    from summaries.reading.run import Run
    from summaries.tools.showing import TagStatistics

__all__ = ["Answers"]

_WAIT_SECS = 60.0
_MOST_POINTS = 1000
_MOST_BYTES = 1 << 20  # of a picture
_PARTS = {"groups": "group", "separations": "separation", "outliers": "outlier", "identical": "identical"}
_PARTS |= {"runs": "run", "left_out": "left_out"}


class Answers:
    """Answers about the runs of a library.

    Args:
        library: the runs.
        places: where they are.
        config: what the audit looks for.
    """

    def __init__(self, library: Library, places: Sequence[Place], config: Config) -> None:
        self._library, self._places, self._config = library, places, config

    def list_runs(self, match: str = "*", cursor: str = "") -> str:
        """List the runs: steps, points, the last value of the main curve, and the number of findings, worst first.

        Args:
            match: only runs whose names match this pattern, such as "lr=0.1*".
            cursor: the `next` of the answer before, to go on.
        """
        head: dict[str, Any] = {"places": [place.name or "." for place in self._places], "reading": not self._settled()}
        head["failures"] = [f"{failure.path}: {failure.reason}" for failure in self._library.failures]
        return page(head, self._books(match), cursor, _overview)

    def describe_run(self, run: str, cursor: str = "") -> str:
        """Describe a run: framework, label, notes, damage of its files, hyperparameters, and each tag with statistics.

        Args:
            run: its name, as an answer has it.
            cursor: the `next` of the answer before, to go on.
        """
        book, columns = self._opened(run)
        report = book.told()
        assert report is not None
        head = {
            "run": book.name,
            "files": len(report.files),
            "logger": report.logger,
            "label": report.label,
            "main": report.main,
            "steps": report.steps,
            "wall_times": report.wall_times,
            "damage": [str(fault) for fault in columns.faults],
            "failures": [f"{failure.path}: {failure.reason}" for failure in report.failures],
        }
        rows: list[dict[str, Any]] = [{"hyperparameter": name, "value": x} for name, x in columns.hparams.items()]
        rows += [{"note": note.text, "step": note.step} for note in report.notes]
        rows += [_statistics(one) for one in show(columns)]
        return page(head, rows, cursor)

    def compare_tag(self, tag: str, match: str = "*", cursor: str = "") -> str:
        """Compare one scalar tag over runs: first, last, smallest and largest value, mean, and their steps.

        Args:
            tag: the tag, as an answer has it.
            match: only runs whose names match this pattern.
            cursor: the `next` of the answer before, to go on.
        """
        self._settled()
        having = [book for book in self._books(match) if tag in map(shown, book.tags)]
        if not having:
            raise LookupError(f"none of these runs has the scalar {shown(tag)!r}")

        def row(book: Book) -> dict[str, Any]:
            name = meant(book.tags, tag, "tag")
            run = self._opened(book.name)[1]
            return {"run": book.name} | next(_statistics(one) for one in show(run, name) if one.tag == name)

        return page({"tag": tag}, having, cursor, row)

    def compare_sweep(
        self, by: str = "", metric: str = "", maximize: bool = False, place: str = "", cursor: str = ""
    ) -> str:
        """Compare the runs of a sweep: groups of hyperparameters, what separates good runs from bad ones, outliers.

        Args:
            by: hyperparameters to group by, such as "lr,bs"; "" for all that vary.
            metric: the scalar tag to compare by; "" for the main loss.
            maximize: whether larger values are better.
            place: which of the `places` of list_runs, if there are several.
            cursor: the `next` of the answer before, to go on.
        """
        self._settled()
        named = {one.name or ".": one for one in self._places}
        if not place and len(named) > 1:
            raise ValueError(f"place must be one of {', '.join(map(shown, named))}")
        where = named[meant(list(named), place, "place")] if place else self._places[0]
        tags = list(dict.fromkeys(tag for book in self._books("*") for tag in book.tags))
        compared = compare_runs(
            where.path,
            self._config,
            by=[name for name in by.split(",") if name],
            metric=meant(tags, metric, "tag") if metric else None,
            maximize=maximize,
        )
        told = as_dict(compared)
        rows = [{name: one} for part, name in _PARTS.items() for one in told.pop(part)]
        del told["version"], told["tool"]
        return page(told, rows, cursor)

    def findings(self, run: str = "", severity: str = "info", cursor: str = "") -> str:
        """List what the audit found, worst first in each run: code, tag, steps, message, and its evidence in numbers.

        Args:
            run: the name of a run; "" for all.
            severity: the least severity: "info", "warning" or "error".
            cursor: the `next` of the answer before, to go on.
        """
        names = [one.name.lower() for one in Severity]
        if severity not in names:
            raise ValueError(f"severity must be one of {', '.join(names)}, got {shown(severity)!r}")
        least = Severity[severity.upper()]
        reading = not self._settled()
        reports = [self._opened(run)[0].told()] if run else [book.told() for book in self._books("*")]
        found = [one for report in reports if report for one in report.findings if one.severity >= least]
        return page({"reading": reading}, found, cursor, finding_as_dict)

    def curve(
        self, run: str, tag: str, points: int = 100, start: int | None = None, stop: int | None = None, cursor: str = ""
    ) -> str:
        """The points of a scalar as [step, value]: of each stretch the smallest and the largest, and all NaN stretches.

        Points that a restart superseded are left out.

        Args:
            run: the name of the run.
            tag: the tag.
            points: how many points there may be, from 6 to 1000; a curve with fewer is whole.
            start: the first step; by default that of the curve.
            stop: the last step; by default that of the curve.
            cursor: the `next` of the answer before, to go on.
        """
        if not 6 <= points <= _MOST_POINTS:  # noqa: PLR2004 - what one stretch may need
            raise ValueError(f"points must be from 6 to {_MOST_POINTS}, got {points}")
        scalars = self._opened(run)[1].scalars
        name = meant(list(scalars), tag, "tag")
        series = scalars[name].latest()
        within = np.ones(len(series), bool)
        within &= True if start is None else series.step >= start
        within &= True if stop is None else series.step <= stop
        step, value = series.step[within], series.value[within]
        kept = np.arange(len(step)) if len(step) <= points else thin(value, (points - 2) // 4)
        head = {"run": run, "tag": name, "points": len(step), "columns": ["step", "value"]}
        return page(head, list(zip(step[kept].tolist(), value[kept].tolist(), strict=True)), cursor)

    def image(self, run: str, tag: str, step: int | None = None, index: int = 0) -> tuple[str, bytes, str]:
        """A picture that a run logged, and what it is.

        Args:
            run: the name of the run.
            tag: the tag of images.
            step: its step; by default the last one.
            index: which picture, of a step with several.
        """
        images = self._opened(run)[1].images
        name = meant(list(images), tag, "tag of images")
        items = images[name]
        of_step: Images = items[-1] if step is None else items.at(step)
        count = len(of_step.encoded)
        if not 0 <= index < count:
            raise LookupError(f"there are {count} images at this step, got the index {index}")
        data, kind = picture(of_step.encoded[index], _MOST_BYTES)
        steps = sorted(set(items.step.tolist()))
        head = {"run": run, "tag": name, "step": steps[-1] if step is None else step, "index": index, "images": count}
        size = {"width": of_step.width, "height": of_step.height, "steps": steps}
        return page(head | size, (), ""), data, kind

    def explain_rule(self, code: str) -> str:
        """Explain a finding's rule: what it means, what to do, and where its thresholds come from.

        Args:
            code: the code of the rule, such as GL304.
        """
        return handbook.page(meant(list(handbook.index()), code, "rule"))

    def _settled(self) -> bool:
        """Wait for all that is there to be read; False if that takes too long."""
        return self._library.settled(_WAIT_SECS)

    def _books(self, match: str) -> list[Book]:
        """The runs that match, in the order of their names."""
        books = [book for book in self._library.since(-1)[0] if fnmatch.fnmatchcase(shown(book.name), match)]
        return sorted(books, key=lambda book: by_number(book.name))

    def _opened(self, run: str) -> tuple[Book, Run]:
        """A run, with its columns in memory.

        Raises:
            LookupError: there is no such run.
            OSError: nothing of it can be read.
            TimeoutError: it is still being read.
        """
        self._settled()
        book = self._library.book(meant(self._library.names(), run, "run"), _WAIT_SECS)
        columns = book.columns  # once: another thread may let go of them
        if columns is None:
            raise TimeoutError(f"run {shown(run)!r} is still being read")
        return book, columns.run


def _overview(book: Book) -> dict[str, Any]:
    report: RunReport | None = book.told()
    if report is None:
        return {"name": book.name, "reading": True}
    row = table_row(report)
    row["errors"], row["warnings"], row["notes"] = row.pop("counts")
    row["last"] = row.pop("loss")
    del row["spark"], row["norm"]
    return row | {"steps_a_second": book.rate}


def _statistics(one: TagStatistics) -> dict[str, Any]:
    """A tag: how many values, and what they are."""
    row = {"tag": one.tag, "kind": one.kind, "count": one.count, "steps": one.steps}
    row |= {name: number for name in ("superseded", "restarts") if (number := getattr(one, name))}
    if one.values is None:
        return row
    values = {field.name: getattr(one.values, field.name) for field in dataclasses.fields(one.values)}
    quantiles = values.pop("quantiles")
    return row | values | {"median": quantiles[0.5]}
