"""What runs logged beside scalars: images, sounds and texts one step at a time, histograms over all steps.

A value is read from its file when it is asked for, and nothing of it is kept. A browser is given the bytes of a file
only as a type that runs nothing: no SVG, and no markup.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from summaries.auditing.report.packed import plain
from summaries.errors import FormatError
from summaries.reading.kinds import KINDS
from summaries.reading.media import Audio, Images, image_type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from summaries.integrations.tensorboard.books import Book
    from summaries.reading.run import Run
    from summaries.reading.series import Items

__all__ = ["Content", "Stacked", "content", "items_of", "shelf", "stacked", "told"]

_SOUNDS = {
    b"RIFF": "audio/wav",
    b"OggS": "audio/ogg",
    b"fLaC": "audio/flac",
    b"ID3": "audio/mpeg",
    b"\xff\xfb": "audio/mpeg",
}
_MOST_CHARACTERS = 200_000  # of the texts of a step
_MOST_POINTS = 1000  # of a PR curve
_BINS = 64
_PRECISION, _RECALL = 4, 5  # the rows of a PR curve
_TAILS = (2.0, 98.0)  # percentiles of the ends of all histograms: what lies further out is in the outer bins


class Content(NamedTuple):
    """What a browser shows as it is.

    Attributes:
        kind: its type, as in Content-Type.
        data: its bytes.
    """

    kind: str
    data: bytes


class Stacked(NamedTuple):
    """Histograms of several steps in the same bins.

    Attributes:
        step: int64[n].
        low: the left edge of the first bin.
        high: the right edge of the last one.
        cells: float64[bins, n], the share of each histogram that lies in a bin; NaN where it could not be read.
    """

    step: NDArray[np.int64]
    low: float
    high: float
    cells: NDArray[np.float64]


def shelf(books: Iterable[Book]) -> list[dict[str, Any]]:
    """The kinds that runs have: each `kind`, `noun`, and `tags`: [tag, the number of runs that have it]."""
    books = list(books)
    found = []
    for kind, row in KINDS.items():
        tags = Counter(chain.from_iterable(book.media.get(kind, ()) for book in books))
        if tags:
            found.append({"kind": kind, "noun": row.nouns, "tags": list(tags.items())})
    return found


def items_of(run: Run, kind: str, tag: str) -> Items:
    """The values of a tag that stand.

    Raises:
        ValueError: there is no such kind.
        LookupError: the run has no such tag of this kind.
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    items: Items | None = getattr(run, kind).get(tag)
    if items is None:
        raise LookupError(f"the run has no {KINDS[kind].nouns} with tag {tag!r}")
    return items.latest()


def told(kind: str, items: Items, index: int) -> dict[str, Any]:
    """A value for JSON: its `step`, and what there is of it.

    Of images, `size` in pixels, and of each its type in `types`, "" if no browser shows it; of sounds, also their
    `labels`; `texts`, and whether they were `cut`; `precision` and `recall` of a PR curve; of what is something else,
    `about`.

    Raises:
        LookupError: there is no such value.
        FormatError: it cannot be read.
        OSError: its file can no longer be read.
    """
    value: Any = _at(items, index)
    head = {"step": int(items.step[index])}
    if isinstance(value, Images):
        return head | {"size": [value.width, value.height], "types": [_type(one) for one in value.encoded]}
    if isinstance(value, Audio):
        return head | {"labels": list(value.labels), "types": [_type(one) for one in value.encoded]}
    if kind == "texts":
        texts = [value] if isinstance(value, str) else [str(one) for one in np.asarray(value).ravel()]
        return head | _cut(texts)
    if kind == "pr_curves" and np.shape(value)[0:1] > (_RECALL,):
        kept = np.unique(np.linspace(0, value.shape[1] - 1, min(value.shape[1], _MOST_POINTS)).round().astype(int))
        rows = {"precision": value[_PRECISION], "recall": value[_RECALL]}
        return head | {name: [plain(one) for one in line[kept].tolist()] for name, line in rows.items()}
    array = np.asarray(value)
    return head | {"about": f"{array.dtype} {list(array.shape)}"}


def content(items: Items, index: int, item: int) -> Content:
    """The bytes of one image or sound, with its type.

    Raises:
        LookupError: there is no such value, or no such item of it, as in what is no image or sound.
        ValueError: it is nothing that a browser shows.
        FormatError: it cannot be read.
        OSError: its file can no longer be read.
    """
    value = _at(items, index)
    encoded = value.encoded if isinstance(value, Images | Audio) else ()
    if not 0 <= item < len(encoded):
        raise LookupError(f"there is no item {item} in value {index} of tag {items.tag!r}")
    data = encoded[item]
    kind = _type(data)
    if not kind:
        wanted = "a PNG, JPEG or GIF" if isinstance(value, Images) else "a WAV, Ogg, FLAC or MP3"
        raise ValueError(f"what a browser shows must be {wanted}, got {len(data)} bytes that begin with {data[:8]!r}")
    return Content(kind, data)


def stacked(items: Items, most: int) -> Stacked:
    """The histograms of at most `most` steps, evenly chosen, in the same bins: 64, or one if all values are the same.

    Where what lies in a bucket lies in several bins, each has its part.

    Args:
        items: n histograms.
        most: the number of steps, positive.
    """
    at = np.unique(np.linspace(0, len(items) - 1, min(len(items), most)).round().astype(int))
    histograms = [_histogram(items, int(index)) for index in at]
    ends = np.array([[one[0, 0], one[-1, 1]] for one in histograms if len(one)]).reshape(-1, 2)
    if not len(ends):
        return Stacked(items.step[at], 0.0, 1.0, np.full((1, len(at)), np.nan))
    low, high = float(np.percentile(ends[:, 0], _TAILS[0])), float(np.percentile(ends[:, 1], _TAILS[1]))
    edges = np.linspace(low, high, _BINS + 1) if high > low else np.array([low, high])
    return Stacked(items.step[at], low, high, np.array([_shares(one, edges) for one in histograms]).T)


def _histogram(items: Items, index: int) -> NDArray[np.float64]:
    """float64[k, 3] of finite buckets in order; [0, 3] if it cannot be read."""
    try:
        buckets = np.asarray(items[index], np.float64).reshape(-1, 3)
    except FormatError:  # the audit tells of it
        return np.empty((0, 3))
    buckets = buckets[np.isfinite(buckets).all(axis=1) & (buckets[:, 2] > 0)]
    return buckets[np.argsort(buckets[:, 0], kind="stable")]


def _shares(buckets: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of a histogram between two edges each, and in the outer ones also what lies beyond."""
    if not len(buckets):
        return np.full(len(edges) - 1, np.nan)
    left, right, count = buckets.T
    with np.errstate(over="ignore"):  # of a bucket that is hardly wider than nothing
        within = np.clip((edges[:, None] - left) / np.where(right > left, right - left, 1.0), 0.0, 1.0)
    below = np.where(right > left, within, edges[:, None] > left) @ count
    below[0], below[-1] = 0.0, count.sum()
    shares: NDArray[np.float64] = np.diff(below) / count.sum()
    return shares


def _at(items: Items, index: int) -> Any:
    if not 0 <= index < len(items):
        raise LookupError(f"there is no value {index} of tag {items.tag!r}")
    return items[index]


def _type(data: bytes) -> str:
    """The type of an image or of a sound; "" for what a browser is not given."""
    if found := image_type(data):
        return f"image/{found}"
    return next((kind for start, kind in _SOUNDS.items() if data.startswith(start)), "")


def _cut(texts: list[str]) -> dict[str, Any]:
    """Texts, up to so many characters together."""
    kept, room = [], _MOST_CHARACTERS
    for text in texts:
        kept.append(text[:room])
        room -= len(kept[-1])
        if room <= 0:
            break
    return {"texts": kept, "cut": sum(map(len, kept)) < sum(map(len, texts))}
