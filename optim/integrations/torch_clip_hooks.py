"""Notices torch's functions that clip gradients, before they clip.

A hook of the optimizer sees gradients only after the loop has clipped them. While somebody watches, these functions
tell the watchers first: `torch.nn.utils.clip_grad_norm_`, `clip_grads_with_norm_` and `clip_grad_value_`, and the
method `clip_grad_norm_` of FSDP1's modules. Torch's functions are thin wrappers; what they wrap is replaced, so that a
loop that has imported one by name before is noticed too.
"""

from __future__ import annotations

import functools
import inspect
import math
import threading
import weakref
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch.distributed import is_available

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Watcher", "unwatch", "watch"]

_FUNCTIONS = ("clip_grad_norm_", "clip_grads_with_norm_", "clip_grad_value_")


class Watcher(Protocol):
    """Is told of clippings."""

    def before_clipping(self, parameters: list[Any], bound: float, order: float) -> bool:
        """Look at gradients that are about to be clipped, and say whether they concern this watcher.

        Args:
            parameters: whose gradients they are.
            bound: on the norm; infinite if only values are clipped.
            order: of the norm; NaN if only values are clipped.
        """

    def after_clipping(self, norm: Any) -> None:
        """Look at them again, if they do.

        Args:
            norm: the norm of all of them before, if the function tells it or was told.
        """


_watchers: list[weakref.ref[Watcher]] = []  # in order: on every rank the same one measures first
_restorers: list[Callable[[], Any]] = []
_inside = threading.local()  # its `clipping` is set in a thread while it clips: clipping functions call one another


def watch(watcher: Watcher) -> None:
    """Tell this watcher of clippings, until `unwatch` or until nobody else refers to it."""
    if not _watchers:
        for name in _FUNCTIONS:
            if hasattr(torch.nn.utils, name):
                _replace_function(name)
        if is_available():
            from torch.distributed.fsdp import FullyShardedDataParallel  # noqa: PLC0415 - not in every build of torch

            _replace_attribute(FullyShardedDataParallel, "clip_grad_norm_")
    _watchers.append(weakref.ref(watcher, _remove))


def unwatch(watcher: Watcher) -> None:
    """No longer tell this watcher; after the last one torch's functions are as they were."""
    for reference in [candidate for candidate in _watchers if candidate() is watcher]:
        _remove(reference)


def _remove(reference: weakref.ref[Watcher]) -> None:
    if reference in _watchers:
        _watchers.remove(reference)
    while _restorers and not _watchers:
        _restorers.pop()()


def _replace_function(name: str) -> None:
    """Replace what torch's function wraps, or if it wraps nothing the function itself."""
    function = getattr(torch.nn.utils, name)
    inner = getattr(function, "__wrapped__", None)
    for cell in function.__closure__ or ():
        if inner is not None and cell.cell_contents is inner:
            cell.cell_contents = _watched(inner)
            _restorers.append(functools.partial(setattr, cell, "cell_contents", inner))
            return
    _replace_attribute(torch.nn.utils, name)


def _replace_attribute(owner: Any, name: str) -> None:
    original = getattr(owner, name)
    setattr(owner, name, _watched(original))
    _restorers.append(functools.partial(setattr, owner, name, original))


def _watched(original: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which tells the watchers before and after."""
    signature = inspect.signature(original)
    if not {"parameters", "self"} & set(signature.parameters):
        return original  # somebody has put another function there: what it is given is not known

    @functools.wraps(original)
    def clip(*arguments: Any, **named: Any) -> Any:
        if getattr(_inside, "clipping", False):
            return original(*arguments, **named)
        call_arguments = signature.bind(*arguments, **named).arguments
        if "self" in call_arguments:  # a module
            parameters = list(call_arguments["self"].parameters())
        else:
            parameters = call_arguments["parameters"]
            parameters = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
            call_arguments["parameters"] = parameters  # it may have been an iterator
        of_values = math.nan if "clip_value" in call_arguments else 2.0
        bound, order = (
            float(call_arguments.get("max_norm", math.inf)),
            float(call_arguments.get("norm_type", of_values)),
        )
        watchers = [watcher for reference in list(_watchers) if (watcher := reference()) is not None]
        concerned = [watcher for watcher in watchers if watcher.before_clipping(parameters, bound, order)]
        _inside.clipping, result = True, None
        try:
            result = original(**call_arguments)
            return result
        finally:
            _inside.clipping = False
            for watcher in concerned:
                watcher.after_clipping(call_arguments.get("total_norm", result))

    uncompiled: Callable[..., Any] = torch.compiler.disable(clip)
    return uncompiled
