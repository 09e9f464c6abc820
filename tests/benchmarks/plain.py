"""Calls that are made with or without compiled code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from summaries.native import library

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["engaged"]


def engaged(kernels: str | None, call: Callable[..., Any], *arguments: Any, **options: Any) -> Callable[[], Any]:
    """The call, made with "plain", "compiled", or what there is."""

    def run() -> Any:
        library.use(kernels)
        try:
            return call(*arguments, **options)
        finally:
            library.use(None)

    return run
