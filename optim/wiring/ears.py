"""What listens at modules and parameters: it cannot raise, is silent while torch compiles, and stays out of copies."""

from __future__ import annotations

import functools
import logging
import sys
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Ear"]

_log = logging.getLogger("optim")


class Ear:
    """A hook that calls a function, and returns nothing.

    Args:
        call: what to call; None for nothing.
    """

    def __init__(self, call: Callable[..., Any] | None) -> None:
        self._call = call
        self.__torch_unserializable__ = (
            True  # as torch.utils.hooks.unserializable_hook says: a tensor is saved without it
        )

    def stop(self) -> None:
        """Hear nothing any more; a hook that is taken off a module makes torch compile it again."""
        self._call = None

    def __call__(self, *arguments: Any) -> None:
        if torch.compiler.is_compiling() or self._call is None:
            return
        try:
            self._call(*arguments)
        except Exception:  # noqa: BLE001 - whatever it is, the training goes on
            self._call = None
            _log.debug("a check of the training loop failed, and is left out", exc_info=True)

    def __deepcopy__(self, memo: object) -> Ear:
        return Ear(None)

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial, (sys.audit, "gradledger.ear")  # in a saved model: takes anything, and does nothing
