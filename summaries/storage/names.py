"""Names of event files, and paths, local or with a scheme. Pure (no I/O)."""

from __future__ import annotations

import functools
import itertools
import os
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "as_path",
    "by_number",
    "checked_suffix",
    "directory_of",
    "event_file_name",
    "host_name",
    "is_event_file",
    "is_remote",
    "join",
    "not_before",
    "part_name",
    "relative",
    "whole_name",
]

counter: itertools.count[int] = itertools.count()
_LAST_SECS = 9_999_999_999.0  # the last one of ten digits
# Not compiled yet: a program that only logs needs them rarely or never.
_NUMBER = r"((?<==)\d{1,18}(?:\.\d{1,18})?(?:e[-+]?\d{1,3})?|\d{1,18})"
_SECS = r"events\.out\.tfevents\.(\d{10})\."
_PART = r"(events\.out\.tfevents\.\d{10}\.[^/]*\.\d+\.\d{6})\.\d{6}([^/]*)\Z"


def event_file_name(secs: float, suffix: str = "", *, unique: bool = False) -> str:
    """Name a new event file: ``events.out.tfevents.<secs>.<host>.<pid>.<counter><suffix>``.

    Args:
        secs: now, in seconds since the epoch; written with ten digits, so that a run's files sort by age. Files of the
            same second sort by the counter.
        suffix: appended unchanged.
        unique: whether something random follows the host's name: containers may share that, the pid and the second.
            It is the same in a process, so that its files sort by the counter.
    """
    host = host_name().replace(os.sep, "_")
    if unique:
        host += f"-{_random_of(os.getpid())}"
    return f"events.out.tfevents.{int(secs):010d}.{host}.{os.getpid()}.{next(counter):06d}{suffix}"


def not_before(secs: float, names: Iterable[str]) -> float:
    """The time for the name of an event file that is to sort behind those of these names: now, if the clock is right.

    Args:
        secs: now, in seconds since the epoch.
        names: of a directory's files.

    >>> not_before(1795202364.5, ["events.out.tfevents.1795202364.vm.77.0"])
    1795202364.5
    >>> not_before(1795198764.5, ["events.out.tfevents.1795202364.vm.77.0"])  # it was set back by an hour
    1795202365.0
    """
    latest = max((int(match[1]) for name in names if (match := re.match(_SECS, name))), default=0)
    return secs if int(secs) >= latest else min(latest + 1.0, _LAST_SECS)


@functools.cache
def _random_of(_process: int) -> str:
    return os.urandom(6).hex()


@functools.cache
def host_name() -> str:
    """This machine's name, looked up once: at exit, when files may still be created, nothing can be imported."""
    import socket  # noqa: PLC0415 - importing it takes a millisecond

    return socket.gethostname()


def checked_suffix(suffix: Any) -> str:
    """Return the suffix of an event file's name if it is valid.

    Raises:
        TypeError: the suffix is not a string.
        ValueError: the suffix contains a path separator.
    """
    if not isinstance(suffix, str):
        raise TypeError(f"filename_suffix must be a string, got {type(suffix).__name__}: {suffix!r}")
    if "/" in suffix or os.sep in suffix:
        raise ValueError(f"filename_suffix must be a part of a file's name, without separators, got {suffix!r}")
    return suffix


def by_number(name: str) -> list[tuple[float, str]]:
    """A sort key that puts version_2 before version_10, and lr=0.003 before lr=0.01.

    Behind "=", a number may have decimals and an exponent.

    >>> sorted(["run/a.10", "run/a.9", "run"], key=by_number)
    ['run', 'run/a.9', 'run/a.10']
    """
    return [(_value(part) if index % 2 else -1, part) for index, part in enumerate(re.split(_NUMBER, name))]


def _value(number: str) -> float:
    return int(number) if number.isdecimal() else float(number)


def part_name(name: str, number: int, suffix: str) -> str:
    """Name one of the objects that an event file in a store is made of; they sort by number.

    Args:
        name: what `event_file_name` returns, without a suffix.
        number: the object's, from 0.
        suffix: the end of the file's name.
    """
    return f"{name}.{number:06d}{suffix}"


def whole_name(path: str) -> str:
    """The event file that an object is a part of: its name without the number; any other path as it is.

    >>> whole_name("s3://bucket/events.out.tfevents.1795202364.vm.77.000000.000003.end")
    's3://bucket/events.out.tfevents.1795202364.vm.77.000000.end'
    """
    return re.sub(_PART, r"\1\2", path)


def is_event_file(name: str) -> bool:
    """Whether TensorBoard, and we, consider a file of this name an event file.

    >>> is_event_file("runs/a/events.out.tfevents.1795202364.vm"), is_event_file("tfevents/notes.txt")
    (True, False)
    """
    return "tfevents" in os.path.basename(name)


def as_path(name: str) -> str:
    r"""The name of a run, as some file states it, as a relative path that stays below the directory it is put in.

    Characters that file systems do not take, and parts that lead elsewhere, are percent-encoded. What is longer than
    file systems take is cut, and ends with a part of its checksum.

    >>> as_path("sweep/lr=0.1"), as_path("/etc/../a\\b\n"), as_path("")
    ('sweep/lr=0.1', 'etc/%2E%2E/a%5Cb%0A', '.')
    >>> as_path("x" * 1000)
    'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-44f8354494a5ba03'
    """
    parts = [
        _cut("%2E%2E" if part == ".." else _fit(part), _MOST_OF_NAME)
        for part in name.split("/")
        if part not in {"", "."}
    ]
    return _cut("/".join(parts), _MOST_OF_PATH) or "."


_UNFIT = r'[\x00-\x1f\x7f\\:*?"<>|\ud800-\udfff]' if os.name == "nt" else r"[\x00-\x1f\x7f\\\ud800-\udc7f\udd00-\udfff]"
_BEYOND_ASCII = "[^\x00-\x7f\udc80-\udcff]"  # the last of these are bytes that Python could not decode
_MOST_OF_NAME, _MOST_OF_PATH = 200, 2000  # bytes; Linux takes 255 and 4095, with what is put before and behind
_KEPT = 45  # characters of at most four bytes


def _fit(part: str) -> str:
    fit = re.sub(_UNFIT, _percent, part)
    try:
        os.fsencode(fit)
    except UnicodeEncodeError:  # a locale without UTF-8
        return re.sub(_BEYOND_ASCII, _percent, fit)
    return fit


def _cut(path: str, most: int) -> str:
    encoded = os.fsencode(path)
    if len(encoded) <= most:
        return path
    import hashlib  # noqa: PLC0415 - it takes two milliseconds to import, and few names are so long

    return f"{path[:_KEPT].rstrip('/')}-{hashlib.sha256(encoded).hexdigest()[:16]}"


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode(errors="surrogatepass"))


def is_remote(path: str) -> bool:
    """Whether a path is an address with a scheme, for fsspec.

    >>> is_remote("s3://bucket/run"), is_remote("runs/a")
    (True, False)
    """
    return "://" in path


def join(directory: str, *names: str) -> str:
    """The path of a file below a directory, remote or not."""
    return "/".join((directory.rstrip("/"), *names)) if is_remote(directory) else os.path.join(directory, *names)


def directory_of(path: str) -> str:
    """The directory that a file is in, remote or not.

    >>> directory_of("s3://bucket/run/events.out.tfevents.1.vm"), directory_of("a.tfevents")
    ('s3://bucket/run', '')
    """
    return path.rpartition("/")[0] if is_remote(path) else os.path.dirname(path)


def relative(directory: str, root: str) -> str:
    """A directory's path relative to another, with slashes; "." for that one itself. Both are remote, or both local.

    >>> relative("s3://bucket/runs/a/b", "s3://bucket/runs/"), relative("runs", "./runs")
    ('a/b', '.')
    """
    below = directory.removeprefix(root.rstrip("/"))
    if is_remote(root):
        return below.strip("/") or "."
    if below != directory and below[:1] in {"/", os.sep}:  # as `discover` returns them; relpath is much slower
        return below.strip("/" + os.sep).replace(os.sep, "/")
    return os.path.relpath(directory, root).replace(os.sep, "/")
