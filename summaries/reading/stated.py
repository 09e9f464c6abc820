"""What a run states of its hyperparameters, and where: in the hparams dashboard, its name, a text, or a file beside it.

    _hparams_/…   >   lr=0.1_seed=3   >   text `config`   >   hparams.yaml, args.json, …

Everybody asks here: tables, `compare` and `reduce`. What stands further left goes before what stands further right: a
name may round a value, or be changed where another run has the same.
"""

from __future__ import annotations

import json
import re
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from summaries.errors import FormatError
from summaries.storage.local import LocalStorage
from summaries.storage.names import directory_of, join
from summaries.storage.plain import open_below

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from summaries.reading.run import Run

    Value = bool | float | str

__all__ = [
    "STATING_TAGS",
    "Stated",
    "beside",
    "configuration",
    "exact",
    "flat",
    "from_name",
    "parsed",
    "stated",
    "unread_beside",
    "value_of",
]

_TEXTS = ("config", "args", "hparams", "hyperparameters", "params")
_FILES = ("hparams.yaml", "args.json", "params.json", ".hydra/config.yaml", "opt.yaml", "args.yaml")
STATING_TAGS = ("_hparams_/*", *_TEXTS, *(f"{name}/text_summary" for name in _TEXTS))
"""Patterns of the tags that state hyperparameters: to read no others is enough for `stated`."""

_MOST_BYTES = 1 << 20  # of a file or a text; a configuration is smaller
_PAIR = re.compile(
    r"(?:^|[/,;&\s_-])([A-Za-z][A-Za-z0-9_.]*?)=([^=/,;&\s]*?)(?=[,;&\s_-]+[A-Za-z][A-Za-z0-9_.]*=|[/,;&\s]|$)"
)
_INTEGER = re.compile(r"[+-]?\d+")
_ENTRY = re.compile(r"""( *)(?:'([^']+)'|"([^"]+)"|([^\s#'"\[\]{},&*!|>@`-][^:#]*?)) *:(?: +(.*))?""")
_COMMENT = re.compile(r"(?:^| +)#.*")


class Stated(NamedTuple):
    """A hyperparameter's value, and what states it: "name", "hparams", a text's tag, or a file's name."""

    value: Value
    source: str


def stated(name: str, run: Run) -> dict[str, Stated]:
    """The hyperparameters of a run: name → `Stated`, those of the hparams dashboard first.

    Numbers are floats, lists JSON text; of nested mappings, names are joined by dots: `optimizer.lr`. Nothing is
    evaluated: what is neither JSON nor plain YAML, a tagged object for example, is left out.

    Args:
        name: the run's name, which may state some: `lr=0.1_seed=3`.
        run: the run. At least the tags `STATING_TAGS` must have been read.
    """
    found: dict[str, Stated] = {}
    for source, values in chain(_purposely(name, run), _incidentally(run)):
        for key, value in values.items():
            found.setdefault(key, Stated(value, source))
    return found


def configuration(name: str, run: Run, by: Collection[str] = ()) -> dict[str, Value]:
    """The hyperparameters by which a run is grouped: those of the hparams dashboard and of its name.

    Files and texts state everything, such as directories and times, in which all runs differ. So of these, only what
    is asked for is added.

    Args:
        name: the run's name.
        run: the run, as for `stated`.
        by: the names that are asked for.
    """
    own = {key: value for _, values in reversed(list(_purposely(name, run))) for key, value in values.items()}
    if missing := set(by) - own.keys():
        own |= {key: value for key, (value, _) in stated(name, run).items() if key in missing}
    return own


def from_name(name: str) -> dict[str, Value]:
    """The hyperparameters that the name of a run states.

    >>> from_name("sweep/lr=1e-3_batch_size=32/act=relu,seed=1")
    {'lr': 0.001, 'batch_size': 32.0, 'act': 'relu', 'seed': 1.0}
    """
    return {key: value_of(text) for key, text in _PAIR.findall(name)}


def value_of(text: str) -> Value:
    """A value that is written down: a number, true or false, or else the text itself.

    What a float cannot hold stays text, and so does what only Python takes for a number: "0.1_2" is no 0.12.

    >>> value_of("1e-3"), value_of("0.1_2"), value_of("9007199254740993"), value_of("True")
    (0.001, '0.1_2', '9007199254740993', True)
    """
    try:
        number = float(text)
        return text if "_" in text or (_INTEGER.fullmatch(text) and number != int(text)) else number
    except ValueError:
        return {"true": True, "false": False}.get(text.lower(), text)


def parsed(text: str) -> dict[str, Value]:
    r"""The hyperparameters in a text: JSON, a Markdown table of two columns, or plain YAML, perhaps in a code block.

    >>> parsed("optimizer:\n  lr: 1e-3   # as usual\nlayers: [2, 2]\nnet: !!python/object:x.Net {}")
    {'optimizer.lr': 0.001, 'layers': '[2, 2]'}
    """
    lines = [line for line in text.strip().splitlines() if not line.startswith("```")]
    body = "\n".join(lines)
    if body.startswith("{"):
        try:
            return dict(flat(json.loads(body), ""))
        except (ValueError, RecursionError):
            return {}
    if body.startswith("|"):
        cells = [[cell.strip() for cell in line.strip().strip("|").split("|", 1)] for line in lines[2:]]
        return {row[0]: value_of(row[1]) for row in cells if len(row) == 2}  # noqa: PLR2004 - key and value
    return _yaml(lines)


def _purposely(name: str, run: Run) -> Iterator[tuple[str, dict[str, Value]]]:
    """Where somebody said what matters: (source, values), the first goes before the others."""
    yield "hparams", run.hparams
    yield "name", from_name(name)


def _incidentally(run: Run) -> Iterator[tuple[str, dict[str, Value]]]:
    """Where a program wrote down all that it knew: (source, values), likewise."""
    for text in _TEXTS:
        for tag in (text, f"{text}/text_summary"):
            if tag in run.tags and tag in run.texts:
                yield text, parsed(_last_text(run, tag))
    for file in _FILES:
        if content := _beside(run, file):
            yield file, parsed(content)


def _last_text(run: Run, tag: str) -> str:
    try:
        text = run.texts[tag][-1]
    except FormatError:
        return ""
    return text if isinstance(text, str) and len(text) <= _MOST_BYTES else ""


def beside(directory: str) -> dict[str, Value]:
    """The hyperparameters that files in a local directory state; a link, which may lead anywhere, states none."""
    found: dict[str, Value] = {}
    for file in _FILES:
        found = parsed(_content(directory, file)) | found
    return found


def unread_beside(directory: str) -> list[str]:
    """The names of such files whose text states none."""
    texts = {file: _content(directory, file) for file in _FILES}
    return [file for file, text in texts.items() if text.strip() not in {"", "{}"} and not parsed(text)]


def _beside(run: Run, file: str) -> str:
    """The text of a file in the directory of the run's event files; "" if it cannot be read, or is no text."""
    if not run.stored:
        return ""
    first = run.stored[0]
    directory = directory_of(first.path)
    if isinstance(first.storage, LocalStorage):
        return _content(directory, file)
    try:
        with first.storage.open(join(directory, file)) as opened:
            return opened.read_range(0, _MOST_BYTES).decode()
    except (OSError, UnicodeDecodeError):
        return ""


def _content(directory: str, file: str) -> str:
    """The text of a local file; "" if it cannot be read, is no text, or is behind a link, which could show any file."""
    try:
        with open_below(join(directory, file), directory or ".") as opened:
            return opened.read(_MOST_BYTES).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return ""


def flat(tree: Any, prefix: str) -> Iterator[tuple[str, Value]]:
    """The leaves of nested mappings, with their paths as names: lists as JSON text, numbers as floats; null is none.

    An integer that a float cannot hold is text.

    >>> dict(flat({"opt": {"lr": 1, "betas": [0.9, 0.999]}, "seed": None}, ""))
    {'opt.lr': 1.0, 'opt.betas': '[0.9, 0.999]'}
    """
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from flat(value, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(tree, (str, bool)):
        yield prefix, tree
    elif isinstance(tree, (int, float)):
        yield prefix, exact(tree)
    elif isinstance(tree, list):
        yield prefix, json.dumps(tree)


def exact(number: float) -> Value:
    """A number as a float; an integer that is none, as text."""
    try:
        return str(number) if isinstance(number, int) and number != float(number) else float(number)
    except OverflowError:
        return str(number)


def _yaml(lines: list[str]) -> dict[str, Value]:
    """The scalars of nested mappings in block style, and lists of scalars, by path; all else is passed over."""
    found: dict[str, Value] = {}
    lists: dict[str, list[str | None]] = {}
    above: list[tuple[int, str]] = []  # the mappings around a line: (indent, name)
    skipped = None  # the indent of an entry whose further lines are passed over
    for line in lines:
        entry = _ENTRY.fullmatch(line.rstrip())
        indent = len(line) - len(line.lstrip(" "))
        if not line.strip() or (skipped is not None and indent > skipped):
            continue
        skipped = None if entry else indent  # an item of a list, and what belongs to it
        if entry is None:
            if names := [name for outer, name in above if outer <= indent]:
                _add_item(lists.setdefault(".".join(names), []), line)
            continue
        while above and above[-1][0] >= indent:
            above.pop()
        name = entry[2] or entry[3] or entry[4]
        text = _uncommented(entry[5] or "")
        if not text:
            above.append((indent, name))
        elif (value := _scalar(text)) is not None:
            found[".".join([*(outer for _, outer in above), name])] = value
        else:
            skipped = indent
    return found | {name: f"[{', '.join(map(str, items))}]" for name, items in lists.items() if None not in items}


def _add_item(items: list[str | None], line: str) -> None:
    """Add the item of a list in block style to the others; None, which spoils the list, if it is no scalar."""
    text = _uncommented(line.strip().removeprefix("- "))
    is_scalar = line.lstrip(" ").startswith("- ") and text and not _ENTRY.fullmatch(text) and _scalar(text) is not None
    items.append(text if is_scalar else None)


def _uncommented(text: str) -> str:
    return text.strip() if text[:1] in ("'", '"') else _COMMENT.sub("", text).strip()


def _scalar(text: str) -> Value | None:
    """A YAML scalar in one line, or a list as text; None for what is neither: null, tags, blocks, aliases, mappings."""
    quote = text[0]
    if quote in "'\"":
        end = re.fullmatch(rf"{quote}([^{quote}\\]*){quote}(?: +#.*)?", text)
        return end[1] if end else None
    if text in ("null", "~", "Null", "NULL") or quote in "!|>&*{%@`" or (quote == "[" and text[-1] != "]"):
        return None
    return value_of(text.replace(".", "", 1) if text.lstrip("-") in (".inf", ".nan") else text)
