"""Comet's offline archives, `<id>.zip`, or an unpacked one: what an experiment logged.

    experiment.json   offline_id, project_name, start_time
    messages.json     on each line {"type": …, "payload": {…, "local_timestamp": ms}}:
                      metric_msg     metric {metricName, metricValue, step, epoch} | context
                      parameter_msg  param or params {paramName, paramValue, source}; nested names are joined by |
                      log_other      key, value; Name is that of the experiment
                      file_upload    file_path, upload_type, additional_params {fileName, step}

References: https://www.comet.com/docs/v2/guides/experiment-management/offline-experiment/
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from summaries.reading.stated import flat
from summaries.tools.formats.archives import archives, opened
from summaries.tools.formats.gathering import Gatherer, RunNames
from summaries.tools.formats.media import picture_of, words
from summaries.tools.formats.points import Facts, LeftOut, Media, is_step, mapping, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from summaries.tools.formats.archives import Archive
    from summaries.tools.formats.points import Item
    from summaries.wire.pb import Summary

__all__ = ["MEMBERS", "read_comet"]

MEMBERS = ("experiment.json", "messages.json")
_OWN = ("curr_step", "curr_epoch", "offline_experiment", "hasNestedParams")  # which Comet logs by itself


def read_comet(path: str, left_out: LeftOut) -> Iterator[Item]:
    """Read the experiment of an offline archive, or those of all archives below a directory.

    A run has the name of its experiment, or its id; of several with one name, the others get their ids appended. A
    metric that was logged in a context, such as `train`, is the tag `train/<name>`.

    Args:
        path: the ZIP file or folder of an archive, or a directory of these.
        left_out: counts what is left out.

    Raises:
        ValueError: it is no whole archive.
        OSError: a file cannot be read.
    """
    names = RunNames(left_out)
    for file in archives(path, MEMBERS, left_out):
        with opened(file) as archive:
            run_id = str(archive.object(MEMBERS[0]).get("offline_id", file))
            yield from _Experiment(archive, left_out).items(run_id, names)


class _Experiment:
    """One experiment, whose name may stand anywhere among its messages."""

    def __init__(self, archive: Archive, left_out: LeftOut) -> None:
        self._archive, self._left_out = archive, left_out

    def items(self, run_id: str, names: RunNames) -> Iterator[Item]:
        """All there is."""
        messages = self._messages(self._left_out)
        others = {str(message.get("key")): message.get("value") for kind, message in messages if kind == "log_other"}
        run = names.of(str(others.pop("Name", None) or run_id), run_id)
        gatherer = Gatherer(self._left_out)
        hyperparameters: dict[str, bool | float | str] = {}
        for kind, message in self._messages(LeftOut()):
            if kind == "metric_msg":
                self._add(gatherer, run, message)
                yield from gatherer.full()
            elif kind == "parameter_msg":
                hyperparameters.update(self._parameter(message))
            elif kind == "file_upload":
                yield from self._file(run, message)
            elif kind != "log_other":
                self._left_out[f"messages of the type {kind}"] += 1
        yield from gatherer.rest()
        yield Facts(run, hyperparameters, {key: str(value) for key, value in others.items() if key not in _OWN})

    def _messages(self, left_out: LeftOut) -> Iterator[tuple[str, dict[str, Any]]]:
        for row in self._archive.rows(MEMBERS[1], left_out):
            payload = row.get("payload")
            if isinstance(payload, dict):
                yield str(row.get("type")), payload
            else:
                left_out["messages without a payload"] += 1

    def _add(self, gatherer: Gatherer, run: str, message: dict[str, Any]) -> None:
        metric = mapping(message.get("metric"), self._left_out)
        name, context = str(metric.get("metricName")), message.get("context")
        tag = f"{context}/{name}" if context else name
        gatherer.add(run, metric.get("step"), seconds(message.get("local_timestamp")), {tag: metric.get("metricValue")})

    def _parameter(self, message: dict[str, Any]) -> dict[str, bool | float | str]:
        parameter = mapping(message.get("param") or message.get("params"), self._left_out)
        name = str(parameter.get("paramName"))
        if name in _OWN:
            self._left_out["parameters of Comet's own"] += 1
            return {}
        return dict(flat(parameter.get("paramValue"), name.replace("|", ".")))

    def _file(self, run: str, message: dict[str, Any]) -> Iterator[Media]:
        details = mapping(message.get("additional_params"), self._left_out)
        step, kind = details.get("step"), message.get("upload_type")
        summary = self._summary(
            str(kind), str(details.get("fileName") or details.get("figName")), str(message.get("file_path"))
        )
        if summary is None or not is_step(step):
            self._left_out[f"files of the type {kind}"] += 1
        else:
            yield Media(run, step, seconds(message.get("local_timestamp")), summary)

    def _summary(self, kind: str, tag: str, name: str) -> Summary | None:
        if name not in self._archive.names or kind not in {"visualization", "text-sample"}:
            return None
        with self._archive.open(name) as file:
            data = file.read()
        if kind == "visualization":
            return picture_of(tag, data)
        return words("text", data.decode(errors="backslashreplace"))
