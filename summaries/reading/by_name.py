"""ByName: tags or runs by their names; a name that is not there is an error that tells the nearest ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from summaries.words import counted, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["ByName", "UnknownNameError"]

Value = TypeVar("Value")
_NEAREST = 3


class UnknownNameError(KeyError):
    """There is no such name. The message is composed when it is asked for: many programs only catch the error.

    Attributes:
        args: the name.
    """

    def __init__(self, name: object, lacking: str = "there is no", names: Sequence[str] = ()) -> None:
        super().__init__(name)
        self._lacking = lacking
        self._names = names

    def __str__(self) -> str:
        """What is lacking, and the nearest names; some names, if none is near."""
        start = f"{self._lacking} {quoted(self.args[0])}"
        if not self._names:
            return f"{start}; there are none"
        near = nearest(self.args[0], self._names) if isinstance(self.args[0], str) else []
        if near:
            return f"{start}; did you mean {' or '.join(map(quoted, near))}?"
        return f"{start}; there {'is' if len(self._names) == 1 else 'are'} {listed(list(map(quoted, self._names)))}"


class ByName(dict[str, Value]):
    """A dict, whose KeyError names the nearest names.

    Args:
        items: as for a dict.
        lacking: the beginning of the error's message.

    >>> ByName({"train/loss": 1, "lr": 2}, "no scalars are tagged")["los"]
    Traceback (most recent call last):
        ...
    summaries.reading.by_name.UnknownNameError: no scalars are tagged 'los'; did you mean 'train/loss'?
    """

    __slots__ = ("_lacking",)
    noun = "tag"

    def __init__(
        self, items: Mapping[str, Value] | Iterable[tuple[str, Value]] = (), lacking: str = "there is no"
    ) -> None:
        super().__init__(items)
        self._lacking = lacking

    def __repr__(self) -> str:
        names = f": {listed(list(map(quoted, self)))}" if self else ""
        return f"{type(self).__name__}({counted(len(self), self.noun)}{names})"

    def __missing__(self, name: object) -> Value:
        raise UnknownNameError(name, self._lacking, tuple(self))


def nearest(name: str, names: Sequence[str]) -> list[str]:
    """Up to three names that are like this one, or contain it, best first."""
    import difflib  # noqa: PLC0415 - only an error's text needs it

    near = difflib.get_close_matches(name, names, _NEAREST)
    containing = sorted((other for other in names if name and name.lower() in other.lower()), key=len)
    return list(dict.fromkeys([*near, *containing]))[:_NEAREST]
