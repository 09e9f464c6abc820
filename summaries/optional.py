"""Optional dependencies: imported where they are used, with an error that names the extra to install."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


__all__ = ["needs"]


def needs(module: str, extra: str) -> ModuleType:
    """Import a module of an optional dependency.

    Raises:
        ImportError: it is not installed; the error names the extra that installs it. If it is installed, but misses a
            module itself, the error is its own.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != package:
            raise
        raise ImportError(f"this needs {package}: pip install 'gradledger[{extra}]'", name=error.name) from None
