"""Notices torch's functions that clip gradients, before they clip.

A hook of the optimizer sees gradients only after the loop has clipped them. While somebody watches, these functions are
replaced by ones that tell the watchers first: `torch.nn.utils.clip_grad_norm_` and `clip_grads_with_norm_`, and the
method `clip_grad_norm_` of FSDP1's modules. A function that the loop has imported by name before is not noticed.
"""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

import torch
from torch.distributed import is_available

if TYPE_CHECKING:
    from collections.abc import Callable

    Watcher = Callable[[list[Any], float, float], None]

__all__ = ["unwatch", "watch"]

_watchers: list[Watcher] = []
_originals: list[tuple[Any, str, Any]] = []
_depth = [0]  # of clipping functions that call one another


def watch(watcher: Watcher) -> None:
    """Call the watcher with (parameters, bound, order of the norm) before gradients are clipped."""
    if not _watchers:
        _replace(torch.nn.utils, "clip_grad_norm_")
        if hasattr(torch.nn.utils, "clip_grads_with_norm_"):
            _replace(torch.nn.utils, "clip_grads_with_norm_")
        if is_available():
            from torch.distributed.fsdp import FullyShardedDataParallel  # noqa: PLC0415 - not in every build of torch

            _replace(FullyShardedDataParallel, "clip_grad_norm_")
    _watchers.append(watcher)


def unwatch(watcher: Watcher) -> None:
    """No longer call the watcher; the last one restores torch's functions."""
    if watcher in _watchers:
        _watchers.remove(watcher)
        while _originals and not _watchers:
            owner, name, original = _originals.pop()
            setattr(owner, name, original)


def _replace(owner: Any, name: str) -> None:
    original = getattr(owner, name)
    signature = inspect.signature(original)

    @functools.wraps(original)
    def clip(*arguments: Any, **named: Any) -> Any:
        given = signature.bind(*arguments, **named).arguments
        if "self" in given:  # a module
            parameters = list(given["self"].parameters())
        else:
            parameters = given["parameters"]
            parameters = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
            given["parameters"] = parameters  # it may have been an iterator
        _depth[0] += 1
        try:
            for watcher in list(_watchers) if _depth[0] == 1 else ():
                watcher(parameters, float(given["max_norm"]), float(given.get("norm_type", 2.0)))
            return original(**given)
        finally:
            _depth[0] -= 1

    setattr(owner, name, clip)
    _originals.append((owner, name, original))
