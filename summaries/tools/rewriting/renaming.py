"""Renaming: tags and runs get new names, by patterns."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from summaries.tools.rewriting.copying import chosen_runs, copied
from summaries.tools.rewriting.rewriter import Edit
from summaries.words import listed

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping
    from typing import Unpack

    from summaries.storage.files import Access
    from summaries.tools.rewriting.copying import Rewritten

    Pairs = Mapping[str, str] | Iterable[tuple[str, str]]
    """(old, new) of each rule."""

__all__ = ["rename"]

_WILDCARD = re.compile(r"\*|\?|\[!?\]?[^]]*\]")


def rename(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    tags: Pairs = (),
    runs: Pairs = (),
    regex: bool = False,
    on_run: Callable[[str], object] = lambda _name: None,
    on_error: Callable[[OSError], object] | None = None,
    **access: Unpack[Access],
) -> Rewritten:
    r"""Write runs with other names of tags, or of the runs themselves.

    An old name may be a shell pattern; each `*` in the new name then stands for what the next wildcard of the old one
    matched: `loss*` → `train/loss*` makes `train/loss_a` of `loss_a`. As a regular expression, the old name is
    replaced wherever it matches, as sed does: `^loss` → `train/loss`; `(.*)/(.*)` → `\2/\1`. The first rule that
    matches a name applies. Names inside of the hparams dashboard's and custom scalars' settings stay as they are.

    A kill or a loss of power leaves nothing of the output, or all; when this returns, a local one is on the disk.

    Args:
        path: a run's directory, a directory of runs, or an event file; a local path or an address.
        output: the new directory, which gets the same tree.
        tags: (old, new) of each rule for tags, or {old: new}.
        runs: the same for the names of runs: their paths below the directory, with slashes.
        regex: whether the old names are regular expressions, and the new ones may refer to their groups.
        on_run: called with the name of each run when it is written.
        on_error: called with the error of each file and each directory that cannot be read; the others are written all
            the same. If None, the error is raised.
        **access: how addresses are accessed: `storage_options` and `cache` as in `read_run`.

    Raises:
        ValueError: two tags of a run, or two runs, would have the same name; a new name has more wildcards than the old
            one, or is no name; an old one is not a regular expression.
        LookupError: a rule matches no tag, or no run.
        FileNotFoundError: there is no such path, or no event file below it.
        FileExistsError: there is something at the output already.
        OSError: a file cannot be written; or one, or a directory, cannot be read, and there is no `on_error`.

    >>> import os, tempfile
    >>> from summaries import SummaryWriter, read_run
    >>> place = tempfile.mkdtemp()
    >>> with SummaryWriter(os.path.join(place, "run")) as writer:
    ...     writer.add_scalar("loss_a", 0.5, 0)
    ...     writer.add_scalar("accuracy", 0.9, 0)
    >>> _ = rename(os.path.join(place, "run"), os.path.join(place, "new"), tags={"loss*": "train/loss*"})
    >>> read_run(os.path.join(place, "new")).tags
    ('train/loss_a', 'accuracy')
    """
    of_tags, of_runs = _Rules("tag", tags, regex=regex), _Rules("run", runs, regex=regex)
    if not (of_tags.rules or of_runs.rules):
        raise ValueError("there must be at least one old name and a new one, got none")
    files = chosen_runs(path, None, on_error and (lambda _: None), **access)  # `copied` tells what cannot be listed
    names = _Names("run", of_runs)
    new_names = {name: _checked(names(name)) for name in files}
    of_runs.check()

    def edit_of(_files: object, _source: object) -> Edit:
        edit = Edit()
        edit.renamed = _Names("tag", of_tags)
        return edit

    return copied(
        path,
        output,
        edit_of,
        name_of=new_names.__getitem__,
        check=of_tags.check,
        on_run=on_run,
        on_error=on_error,
        **access,
    )


class _Names:
    """New names of the tags of one run, or of runs, each of which must be another.

    Args:
        noun: what has the names.
        rules: gives a new name.
    """

    def __init__(self, noun: str, rules: _Rules) -> None:
        self._noun = noun
        self._rules = rules
        self._taken: dict[str, str] = {}  # new → old

    def __call__(self, name: str) -> str:
        """The new name; see `rename` for what is raised."""
        new = self._rules(name)
        old = self._taken.setdefault(new, name)
        if old != name:
            raise ValueError(
                f"each {self._noun} must have a name of its own: {old!r} and {name!r} would both be {new!r}"
            )
        return new


class _Rules:
    """Rules for new names, the first of which that matches applies.

    Args:
        noun: what has the names.
        pairs: (old, new) of each rule.
        regex: whether these are regular expressions.
    """

    def __init__(self, noun: str, pairs: Pairs, *, regex: bool) -> None:
        rules = list(pairs.items() if hasattr(pairs, "items") else pairs)
        self.rules = [(old, (_by_expression if regex else _by_pattern)(old, new)) for old, new in rules]
        self._noun = noun
        self._unmatched = {old for old, _ in rules}
        self._seen: dict[str, None] = {}

    def __call__(self, name: str) -> str:
        """The new name; the name itself if no rule matches."""
        self._seen[name] = None
        for old, rule in self.rules:
            new = rule(name)
            if new is not None:
                self._unmatched.discard(old)
                if not new:
                    raise ValueError(f"a {self._noun} must have a name, got '' for {name!r}")
                return new
        return name

    def check(self) -> None:
        """Raise a LookupError if a rule matched no name."""
        for old, _ in self.rules:
            if old in self._unmatched:
                there = f"there are {listed(list(self._seen))}" if self._seen else "there is none"
                raise LookupError(f"no {self._noun} matches {old!r}; {there}")


def _by_expression(old: str, new: str) -> Callable[[str], str | None]:
    try:
        expression = re.compile(old)
    except re.error as error:
        raise ValueError(f"an old name must be a regular expression, got {old!r}: {error}") from None

    def rule(name: str) -> str | None:
        try:
            renamed, count = expression.subn(new, name)
        except (re.error, IndexError) as error:
            raise ValueError(f"a new name must refer to groups of {old!r}, got {new!r}: {error}") from None
        return renamed if count else None

    return rule


def _by_pattern(old: str, new: str) -> Callable[[str], str | None]:
    r"""A rule with wildcards.

    >>> rule = _by_pattern("*_[ab]", "*/part_*")
    >>> rule("loss_a"), rule("loss_c")
    ('loss/part_a', None)
    """
    expression, end = "", 0
    for wildcard in _WILDCARD.finditer(old):
        text = wildcard[0]
        inside = text[1:-1].replace("\\", "\\\\")
        group = {"*": ".*?", "?": "."}.get(text) or f"[{'^' + inside[1:] if inside[:1] == '!' else inside}]"
        expression += f"{re.escape(old[end : wildcard.start()])}({group})"
        end = wildcard.end()
    compiled = re.compile(expression + re.escape(old[end:]), re.DOTALL)
    pieces = new.split("*")
    if len(pieces) - 1 > compiled.groups:
        raise ValueError(f"a new name must have no more wildcards than the old one, got {new!r} for {old!r}")

    def rule(name: str) -> str | None:
        match = compiled.fullmatch(name)
        if match is None:
            return None
        filled = [*match.groups()[: len(pieces) - 1], ""]
        return "".join(piece + text for piece, text in zip(pieces, filled, strict=True))

    return rule


def _checked(name: str) -> str:
    """A run's new name, if it is a path below the output."""
    normal = posixpath.normpath(name)
    if normal.startswith(("/", "../")) or normal == "..":
        raise ValueError(f"a run's name must be a path below the output, got {name!r}")
    return normal
