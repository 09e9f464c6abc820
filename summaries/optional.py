"""What an extra brings: imported where it is used, and missed with words."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


__all__ = ["needs"]


def needs(module: str, extra: str) -> ModuleType:
    """Import a module that not everybody has.

    Raises:
        ImportError: it is not installed; the error says which extra brings it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        raise ImportError(f"this needs {package}: pip install 'gradledger[{extra}]'", name=error.name) from error
