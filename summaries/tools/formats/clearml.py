"""ClearML's offline sessions, `offline-<id>.zip` or the folder of one: what a task reported.

    task.json       name, project_name, comment, hyperparams: section → name → {"value": text}
    metrics.jsonl   on each line a list of events: {"timestamp": ms, "type": "training_stats_scalar", "iter": …,
                    "metric": …, "variant": …, "value": …}, and pictures, plots and so on
    data/<project>/<task>/metrics/<metric>/<variant>/…   the pictures

A single value has the iteration -2³¹. ClearML itself stores NaN and infinities as 0.

References: https://clear.ml/docs/latest/docs/guides/set_offline
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from summaries.reading.stated import value_of
from summaries.tools.formats.archives import archives, opened
from summaries.tools.formats.gathering import Gatherer, RunNames
from summaries.tools.formats.media import picture_of
from summaries.tools.formats.points import Facts, Media, is_step, mapping, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from summaries.tools.formats.archives import Archive
    from summaries.tools.formats.points import Item, LeftOut
    from summaries.wire.pb import Summary

__all__ = ["MEMBERS", "read_clearml"]

MEMBERS = ("task.json", "metrics.jsonl")
_SCALAR, _PICTURE = "training_stats_scalar", "training_debug_image"
_SINGLE = -(1 << 31)  # the iteration of a single value
_GENERAL = "General"  # the section of what `Task.connect` is given


def read_clearml(path: str, left_out: LeftOut) -> Iterator[Item]:
    """Read the task of an offline session, or those of all sessions below a directory.

    A run has the name of its task; of several with one name, the others get their ids appended. A metric's series is
    the tag `<metric>/<variant>`; a single value lies at step 0.

    Args:
        path: the ZIP file or folder of a session, or a directory of these.
        left_out: counts what is left out.

    Raises:
        ValueError: it is no whole session.
        OSError: a file cannot be read.
    """
    names = RunNames(left_out)
    for file in archives(path, MEMBERS, left_out):
        with opened(file) as session:
            task = session.object(MEMBERS[0])
            run_id = str(task.get("id", file))
            run = names.of(str(task.get("name") or run_id), run_id)
            yield from _events(run, session, left_out)
            comment = task.get("comment")
            yield Facts(run, _hyperparameters(task, left_out), {"comment": comment} if isinstance(comment, str) else {})


def _events(run: str, session: Archive, left_out: LeftOut) -> Iterator[Item]:
    gatherer = Gatherer(left_out)
    for event in session.rows(MEMBERS[1], left_out):
        kind, step, wall_time = event.get("type"), event.get("iter"), seconds(event.get("timestamp"))
        tag = f"{event.get('metric')}/{event.get('variant')}"
        if kind == _SCALAR:
            gatherer.add(run, 0 if step == _SINGLE else step, wall_time, {tag: event.get("value")})
            yield from gatherer.full()
            continue
        summary: Summary | None = None
        name = f"data/{event.get('key')}"
        if kind == _PICTURE and name in session.names:
            with session.open(name) as file:
                summary = picture_of(tag, file.read())
        if summary is None or not is_step(step):
            left_out[f"events of the type {kind}"] += 1
        else:
            yield Media(run, step, wall_time, summary)
    yield from gatherer.rest()


def _hyperparameters(task: dict[str, Any], left_out: LeftOut) -> dict[str, bool | float | str]:
    """The parameters by name; those of other sections with their section's name before theirs."""
    found: dict[str, bool | float | str] = {}
    for section, parameters in mapping(task.get("hyperparams"), left_out).items():
        for name, parameter in mapping(parameters, left_out).items():
            own = name.replace("/", ".")
            found[own if section == _GENERAL else f"{section}.{own}"] = value_of(
                str(mapping(parameter, left_out).get("value", ""))
            )
    return found
