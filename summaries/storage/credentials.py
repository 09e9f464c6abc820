"""Keeps credentials out of addresses that are shown, and out of the messages of stores. Pure (no I/O)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Mask", "without_credentials"]

_HIDDEN = "***"
# Not compiled yet: that takes longer than to import most modules, and few programs have an address.
# s3://key:secret@bucket; a secret may contain a slash, and what follows a colon may be one up to the last @
_USER = r"(://)(?:[^/@:\s]*:\S*@|[^/@\s]+@)"
_QUERY = r"(https?://[^?\s]*\?)\S*"  # a signed URL
_SIGNED = r"(?i)\b([\w-]*(?:signature|credential|token|secret|passw(?:or)?d|passphrase|pwd|auth|key|sig)=)[^&\s]+"
_ADDRESS = r"\w://[^?\s]*\?\S*"  # with a query
_NAMES = r"(?i)key|secret|token|passw(?:or)?d|passphrase|pwd|credential|signature|sas|connection_string|cookie|auth"
_SHORTEST = 4  # a shorter value would be found in the middle of words


def without_credentials(address: str) -> str:
    """The address as it may be shown: without a user and password, and without signatures in its query.

    >>> without_credentials("s3://key:secret@bucket/runs"), without_credentials("runs/a@b")
    ('s3://***@bucket/runs', 'runs/a@b')
    """
    if "://" not in address:
        return address
    address = re.sub(_QUERY, rf"\1{_HIDDEN}", re.sub(_USER, rf"\1{_HIDDEN}@", address))
    return re.sub(_ADDRESS, lambda found: re.sub(_SIGNED, rf"\1{_HIDDEN}", found[0]), address)


class Mask:
    """Hides the credentials of one store in texts.

    Args:
        address: an address, which may contain credentials.
        options: the options of its file system, which may too.

    >>> Mask("s3://bucket", {"key": "AKIDEXAMPLE", "client_kwargs": {"region_name": "eu"}})("no AKIDEXAMPLE in eu")
    'no *** in eu'
    """

    def __init__(self, address: str, options: Mapping[str, object]) -> None:
        user = [part for found in re.finditer(_USER, address) for part in found[0][3:-1].split(":", 1)]
        values = {value for value in (*user, *_secrets(options)) if len(value) >= _SHORTEST}
        self._values = sorted(values, key=len, reverse=True)  # a value may contain another one

    def __call__(self, text: str) -> str:
        """Return the text without credentials."""
        for value in self._values:
            text = text.replace(value, _HIDDEN)
        return re.sub(_SIGNED, rf"\1{_HIDDEN}", without_credentials(text))


def _secrets(options: Mapping[str, object], *, all_of_them: bool = False) -> Iterator[str]:
    """The values of options whose names sound like credentials, at any depth."""
    for name, value in options.items():
        secret = all_of_them or re.search(_NAMES, str(name)) is not None
        if isinstance(value, Mapping):
            yield from _secrets(value, all_of_them=secret)
        elif isinstance(value, (list, tuple, set, frozenset)):
            yield from _secrets({str(at): each for at, each in enumerate(value)}, all_of_them=secret)
        elif secret and isinstance(value, (str, bytes, bytearray)):
            yield value if isinstance(value, str) else bytes(value).decode(errors="replace")
