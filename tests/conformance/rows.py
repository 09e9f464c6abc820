"""A row of the tables: one use of one method, and whether our writer does what the original does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["SAME", "Row", "Verdict", "accepted", "calls", "different", "refused", "row", "tf1"]


@dataclass(frozen=True)
class Verdict:
    """What our writer does beside the original: "same", or what else it does, and why."""

    word: str
    reason: str = ""


SAME = Verdict("same")


def different(reason: str) -> Verdict:
    """Both store something; not the same."""
    return Verdict("different", reason)


def refused(reason: str) -> Verdict:
    """Ours raises an error; the original does not."""
    return Verdict("refused", reason)


def accepted(reason: str) -> Verdict:
    """The original raises an error; ours does not."""
    return Verdict("accepted", reason)


@dataclass(frozen=True)
class Row:
    """One use of one method, by each library that has it."""

    method: str
    what: str
    use: Callable[[Any], Any]
    """Called with an open writer. What it returns is compared if it is plain: numbers, text, tuples, lists, None."""
    make: Callable[[Any, str], Any]
    """Called with the class and a directory; returns the open writer."""
    view: Callable[[Path], Any] | None
    """What is compared of the directory that it wrote; None means everything."""
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    """Library → verdict. A library that lacks the method has none."""


def _plainly(writer_class: Any, directory: str) -> Any:
    return writer_class(directory)


def _one_scalar(writer: Any) -> None:
    writer.add_scalar("tag", 1.0, 1)


def row(
    method: str,
    what: str,
    use: Callable[[Any], Any] = _one_scalar,
    *,
    make: Callable[[Any, str], Any] = _plainly,
    view: Callable[[Path], Any] | None = None,
    torch: Verdict | None = SAME,
    tensorboardX: Verdict | None = SAME,
) -> Row:
    """A row about the two libraries whose methods have the same names."""
    verdicts = {"torch": torch, "tensorboardX": tensorboardX}
    return Row(method, what, use, make, view, {name: verdict for name, verdict in verdicts.items() if verdict})


def calls(method: str, *first: Any, **usual: Any) -> Callable[..., Row]:
    """A function that makes rows of one method: from what is special about the call, and its further arguments.

    `torch`, `tensorboardX` and `view` are those of `row`; `usual` holds what they are if a row does not say.
    """

    def with_arguments(what: str, *arguments: Any, **options: Any) -> Row:
        chosen = usual | {name: options.pop(name) for name in ("torch", "tensorboardX", "view") if name in options}
        return row(method, what, lambda writer: getattr(writer, method)(*first, *arguments, **options), **chosen)

    return with_arguments


def tf1(
    method: str,
    what: str,
    use: Callable[[Any], Any],
    verdict: Verdict = SAME,
    *,
    make: Callable[[Any, str], Any] = _plainly,
    view: Callable[[Path], Any] | None = None,
) -> Row:
    """A row about TF1's FileWriter."""
    return Row(method, what, use, make, view, {"TF1": verdict})
