"""What a writer left in a directory: raw events, what TensorBoard makes of them, and other files.

Wall times of this hour are "now", and names made of the time are "<time>", so that two writers can be compared.
"""

from __future__ import annotations

import contextlib
import io
import re
import socket
import time
import wave
from typing import TYPE_CHECKING, Any

import numpy as np
from google.protobuf import text_format
from google.protobuf.json_format import MessageToDict
from PIL import Image, ImageSequence, UnidentifiedImageError
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef
from tensorboard.plugins.custom_scalar.layout_pb2 import Layout
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig
from tensorboard.util.tensor_util import make_ndarray

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.rows import Row

__all__ = ["by_tensorboard", "events", "frames", "observe", "run_files", "trials"]

KINDS = ("scalars", "histograms", "images", "audio", "tensors", "compressedHistograms")
AN_HOUR = 3600.0
PLAIN = (str, int, float, bool, type(None), tuple, list)
MADE_OF_THE_TIME = [
    (re.compile(rf"[A-Z][a-z]{{2}}\d\d_\d\d-\d\d-\d\d_{re.escape(socket.gethostname())}"), "<date>_<host>"),
    (re.compile(r"\b\d{10}\.\d+\b"), "<time>"),
]


def observe(row: Row, writer_class: Any, root: Path) -> dict[str, Any]:
    """Run the row below `root` with this class: what it returned and left, or the error that it raised."""
    directory = root / "run"
    try:
        with contextlib.chdir(root):
            writer = row.make(writer_class, str(directory))
            try:
                returned = row.use(writer)
            finally:
                writer.close()
    except Exception as error:  # noqa: BLE001 - whatever it is: one of the two may accept what the other does not
        return {"raised": error}
    left = everything(root) if row.view is None else row.view(root)
    return {"returned": _plain(returned, str(root)), "left": left}


def _plain(returned: Any, root: str) -> Any:
    if isinstance(returned, str):
        return _without_time(returned.replace(root, "<root>"))
    if type(returned) in {tuple, list}:
        return [_plain(item, root) for item in returned]
    return returned if isinstance(returned, PLAIN) else "an object"


def _without_time(name: str) -> str:
    for pattern, word in MADE_OF_THE_TIME:
        name = pattern.sub(word, name)
    return name


def everything(root: Path) -> dict[str, Any]:
    """All that is compared: run → events, run → TensorBoard's view, file → content."""
    return {"events": events(root), "tensorboard": by_tensorboard(root), "files": _other_files(root)}


def run_files(root: Path) -> dict[str, list[Path]]:
    """Run → its event files in order; runs whose names are made of the time are numbered."""
    runs: dict[str, list[Path]] = {}
    for directory in sorted({path.parent for path in root.rglob("*tfevents*")}):
        name = base = _without_time(directory.relative_to(root).as_posix())
        number = 1
        while name in runs:
            number += 1
            name = f"{base}#{number}"
        runs[name] = sorted(directory.glob("*tfevents*"), key=_age)
    return runs


def _age(path: Path) -> tuple[str, int]:
    """Files of one second are in the order of their last numbers, which writers count up."""
    second, *rest = path.name.split("tfevents.")[1].split(".")
    return second, next((int(part) for part in reversed(rest) if part.isdecimal()), 0)


# Raw events.


def events(root: Path) -> dict[str, list[Any]]:
    """Run → its events, each value of a summary by itself, without what every file begins with."""
    return {
        run: [point for path in files for event in LegacyEventFileLoader(str(path)).Load() for point in _points(event)]
        for run, files in run_files(root).items()
    }


def _points(event: Any) -> Iterator[dict[str, Any]]:
    what = event.WhichOneof("what")
    here = {"step": event.step, "time": _time(event.wall_time)}
    if what == "summary":
        yield from (here | _value(value) for value in event.summary.value)
    elif what is None:
        yield here
    elif what != "file_version":
        yield here | {what: WHATS[what](getattr(event, what))}


def _time(wall_time: float) -> float | str:
    return "now" if abs(wall_time - time.time()) < AN_HOUR else wall_time


def _value(value: Any) -> dict[str, Any]:
    """A summary's value; the data class is left out, which TensorBoard adds on reading where a writer does not."""
    plugin = value.metadata.plugin_data
    held = value.WhichOneof("value")
    return {
        "tag": value.tag,
        "plugin": plugin.plugin_name,
        "content": _content(plugin),
        "display name": value.metadata.display_name,
        "description": value.metadata.summary_description,
        held or "nothing": VALUES[held](getattr(value, held), value.tag) if held else None,
    }


def _content(plugin: Any) -> Any:
    if plugin.plugin_name == "hparams":
        return MessageToDict(HParamsPluginData.FromString(plugin.content))
    return plugin.content


def _tensor(tensor: Any, tag: str) -> Any:
    if tag == "custom_scalars__config__":
        return str(Layout.FromString(make_ndarray(tensor).item()))
    try:
        array = make_ndarray(tensor)
    except (ValueError, OverflowError, TypeError) as error:
        return f"TensorBoard cannot read it: {error}"
    return {"shape": list(array.shape), "dtype": array.dtype.name, "array": _comparable(array)}


def _comparable(array: np.ndarray) -> Any:
    if array.dtype.kind == "V":  # bfloat16
        return array.astype(np.float32)
    return array.tolist() if array.dtype.kind in "OSU" else array


def _picture(image: Any, tag: str) -> dict[str, Any]:
    size = {"height": image.height, "width": image.width, "channels": image.colorspace}
    return size | {"pixels": _pixels(image.encoded_image_string)}


def _pixels(encoded: bytes) -> Any:
    try:
        with Image.open(io.BytesIO(encoded)) as picture:
            return [np.asarray(frame.convert("RGBA")) for frame in ImageSequence.Iterator(picture)]
    except UnidentifiedImageError:
        return encoded


def _sound(audio: Any, tag: str) -> dict[str, Any]:
    heard = {"rate": audio.sample_rate, "channels": audio.num_channels, "frames": audio.length_frames}
    with wave.open(io.BytesIO(audio.encoded_audio_string)) as sound:
        samples = np.frombuffer(sound.readframes(sound.getnframes()), np.uint8)
        return heard | {"type": audio.content_type, "bytes a sample": sound.getsampwidth(), "samples": samples}


def _distribution(histogram: Any, tag: str) -> dict[str, Any]:
    edges = {"limits": np.array(histogram.bucket_limit), "counts": np.array(histogram.bucket)}
    moments = {name: getattr(histogram, name) for name in ("min", "max", "num", "sum", "sum_squares")}
    return moments | edges


VALUES = {
    "simple_value": lambda value, tag: value,
    "tensor": _tensor,
    "image": _picture,
    "audio": _sound,
    "histo": _distribution,
    "obsolete_old_style_histogram": lambda value, tag: value,
}


def _graph(data: bytes) -> dict[str, Any]:
    graph = GraphDef.FromString(data)
    nodes = {
        node.name: [node.op, list(node.input), node.device, {key: str(node.attr[key]) for key in node.attr}]
        for node in graph.node
    }
    return {"nodes": nodes, "producer": graph.versions.producer, "functions": len(graph.library.function)}


def _meta_graph(data: bytes) -> dict[str, Any]:
    meta = MetaGraphDef.FromString(data)
    graph = _graph(meta.graph_def.SerializeToString())
    return {"graph": graph, "collections": sorted(meta.collection_def), "tags": list(meta.meta_info_def.tags)}


WHATS = {
    "graph_def": _graph,
    "meta_graph_def": _meta_graph,
    "session_log": lambda log: [log.status, log.checkpoint_path, log.msg],
    "tagged_run_metadata": lambda tagged: tagged.tag,  # the rest are times
    "log_message": str,
}


# What TensorBoard shows.


def by_tensorboard(root: Path) -> dict[str, Any]:
    """Run → kind → tag → the steps, and the values of scalars, as TensorBoard's own reader has them."""
    return {run: _accumulated(str(files[0].parent)) for run, files in run_files(root).items()}


def _accumulated(directory: str) -> dict[str, Any]:
    reader = EventAccumulator(directory, size_guidance=dict.fromkeys(KINDS, 0)).Reload()
    tags = reader.Tags()
    read = {"scalars": reader.Scalars, "histograms": reader.Histograms, "images": reader.Images, "audio": reader.Audio}
    read["tensors"] = reader.Tensors
    seen: dict[str, Any] = {
        kind: {tag: [_point(p) for p in get(tag)] for tag in tags[kind]} for kind, get in read.items()
    }
    seen["plugins"] = {tag: data.plugin_data.plugin_name for tag, data in reader.summary_metadata.items()}
    return seen | {
        "graph": tags["graph"],
        "meta_graph": tags["meta_graph"],
        "run_metadata": sorted(tags["run_metadata"]),
    }


def _point(point: Any) -> Any:
    return (point.step, point.value) if hasattr(point, "value") else point.step


# Narrower views.


def trials(root: Path) -> list[Any]:
    """The rows of the HPARAMS page: the hyperparameters of each trial and its metrics; of a run, it shows the first."""
    found = []
    for points in events(root).values():
        scalars = {point["tag"]: point["simple_value"] for point in points if "simple_value" in point}
        starts = [point["content"] for point in points if point.get("tag") == "_hparams_/session_start_info"]
        found += [[start["sessionStartInfo"].get("hparams", {}), scalars] for start in starts[:1]]
    return sorted(found, key=repr)


def frames(root: Path) -> list[Any]:
    """Number and size of the frames of each video."""
    pictures = [point["image"] for points in events(root).values() for point in points if "image" in point]
    return [[len(image["pixels"]), image["height"], image["width"]] for image in pictures]


# Other files.


def _other_files(root: Path) -> dict[str, Any]:
    files = sorted(path for path in root.rglob("*") if path.is_file() and "tfevents" not in path.name)
    return {_without_time(path.relative_to(root).as_posix()): _file(path) for path in files}


def _file(path: Path) -> Any:
    if path.suffix == ".png":
        return _pixels(path.read_bytes())
    if path.suffix == ".pbtxt" and path.name.startswith("projector"):
        return str(text_format.Parse(path.read_text(encoding="utf-8"), ProjectorConfig()))
    return path.read_text(encoding="utf-8")
