"""Gradients of any library (mappings, pytrees, torch modules) as leaves by name.

A leaf stays where it is: a torch or JAX array is returned as it is, and any other becomes a NumPy array. Nothing here
imports torch or JAX: their objects are recognized by their methods, or by modules that are already loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from summaries.foreign_arrays import NARROW, library_of, to_numpy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["gradients_by_name", "leaves_like", "named_parameters"]

_WRAPPERS = {"_fsdp_wrapped_module", "_orig_mod", "_checkpoint_wrapped_module", "_forward_module"}
"""Components that torch's wrappers of modules insert into names; tags leave them out."""


_HOLDERS = {"DistributedDataParallel", "DataParallel"}  # of a module that they call "module"


def gradients_by_name(tree: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The gradients, and also the weights if the tree holds parameters, which have both.

    Args:
        tree: as in `leaves_like`; or with torch parameters as leaves, or a torch module.

    Returns:
        The existing gradients, and the parameters that have them, both by name.

    Raises:
        TypeError: a leaf is not an array of floating dtype, or has no name.
        ValueError: a name is given twice.

    >>> gradients_by_name({"layer": {"w": np.ones(2), "b": None}})
    ({'layer/w': array([1., 1.])}, {})
    """
    leaves = _leaves(tree, "gradients")
    parameters = _parameters(leaves)
    leaves.update(zip(parameters, map(_gradient, parameters.values()), strict=True))
    if type(None) in set(map(type, leaves.values())):
        leaves.update({name: _flat_gradient(p) for name, p in parameters.items() if leaves[name] is None})
        leaves = {name: leaf for name, leaf in leaves.items() if leaf is not None}
        parameters = {name: parameter for name, parameter in parameters.items() if name in leaves}
    return _arrays(leaves, "gradients"), parameters


def leaves_like(tree: Any, what: str, like: Mapping[str, Any]) -> Sequence[Any]:
    """The arrays of a tree with the names of `like`, in its order.

    Args:
        tree: name → array; nested mappings, lists, named tuples and, if JAX is loaded, its pytrees get names like
            "outer/inner". Or pairs of name and array. Arrays may be of any library, on any device.
        what: the argument's name, for errors.
        like: arrays whose names and shapes these must have; only the names if None stands for an array.

    Raises:
        TypeError: a leaf is not an array of floating dtype, or has no name.
        ValueError: a name of `like` is missing, or its array has another shape; or a name is given twice.
    """
    leaves = _leaves(tree, what)
    arrays = []
    for name, gradient in like.items():
        leaf = leaves.get(name)
        if leaf is None:
            raise ValueError(f"{what} must have an array for every gradient, got none for {name!r}")
        array = _array(leaf, what, name)
        if gradient is not None and array.shape != gradient.shape:
            shapes = f"{tuple(gradient.shape)}, got {tuple(array.shape)}"
            raise ValueError(f"{what} of {name!r} must have the gradient's shape {shapes}")
        arrays.append(array)
    return arrays


_gradient = attrgetter("grad")


def _parameters(leaves: Mapping[str, Any]) -> dict[str, Any]:
    """Those leaves that are torch parameters; asking that of each takes longer than of their types."""
    torch = sys.modules.get("torch")
    if torch is None:
        return {}
    kind = torch.nn.Parameter
    if set(map(type, leaves.values())) == {kind}:
        return dict(leaves)
    return {name: leaf for name, leaf in leaves.items() if isinstance(leaf, kind)}


def _flat_gradient(parameter: Any) -> Any:
    """What stands for a torch parameter's gradient of None: zeros if FSDP gave this rank nothing of it."""
    if "_fsdp_flattened" in parameter.__dict__ and parameter.requires_grad:
        return parameter.detach().new_zeros(parameter.shape)
    return None


def _leaves(tree: Any, what: str) -> dict[str, Any]:
    """Name → leaf, with checked names."""
    pairs = _pairs(tree)
    _check_names(_unzipped(pairs)[0], what, type(tree).__name__)
    return dict(pairs)


def _pairs(tree: Any) -> list[tuple[str, Any]]:
    """(name, leaf) of each leaf."""
    if hasattr(tree, "named_parameters"):
        return named_parameters(tree)
    pairs = list(tree) if isinstance(tree, Iterator) else tree
    return pairs if _are_pairs(pairs) else list(_walk(pairs, ()))


@lru_cache(maxsize=16)  # the names are the same at every step
def _check_names(names: tuple[str, ...], what: str, kind: str) -> None:
    seen: set[str] = set()
    for name in names:
        if not name:
            raise TypeError(f"{what} must have names, as in {{'w': array}}, got {kind}")
        if not _is_text(name):
            raise ValueError(f"{what} must have names without lone surrogates, got {name!r}")
        if name in seen:
            raise ValueError(f"{what} must have each name once, got {name!r} twice")
        seen.add(name)


def named_parameters(module: Any) -> list[tuple[str, Any]]:
    """A torch module's parameters, by their names in the module that the user wrote, whatever wraps it."""
    names, parameters = _distinct(module)
    return list(zip(_plain(names, "module." if type(module).__name__ in _HOLDERS else ""), parameters, strict=True))


def _distinct(module: Any) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """What its `named_parameters` gives; torch hashes each parameter to leave out second ones, which takes as long."""
    names: tuple[str, ...]
    torch = sys.modules.get("torch")
    if torch is not None and type(module).named_parameters is torch.nn.Module.named_parameters:
        names, parameters = _unzipped(module.named_parameters(remove_duplicate=False))
        if len(set(map(id, parameters))) == len(parameters):
            return names, parameters
    return _unzipped(module.named_parameters())


def _unzipped(pairs: Iterable[tuple[str, Any]]) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """The names, and the leaves."""
    names, leaves = tuple(zip(*pairs, strict=True)) or ((), ())
    return names, leaves


@lru_cache(maxsize=16)
def _plain(names: tuple[str, ...], within: str) -> list[str]:
    parts = [name.removeprefix(within).split(".") for name in names]
    return [".".join([part for part in each if part not in _WRAPPERS]) for each in parts]


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _are_pairs(tree: Any) -> bool:
    """Whether the tree is a list of pairs (name, array)."""
    return isinstance(tree, list) and all(
        isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)  # noqa: PLR2004 - a pair
        for pair in tree
    )


def _walk(tree: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """(name, leaf) of each leaf of the tree."""
    children = None if hasattr(tree, "dtype") else _children(tree)  # anything with a dtype is an array
    if children is None:
        yield "/".join(path), tree
        return
    for key, child in children:
        yield from _walk(child, (*path, key))


def _children(tree: Any) -> list[tuple[str, Any]] | None:
    """The children of a node, by name; None for a leaf."""
    if isinstance(tree, Mapping):
        return [(str(key), child) for key, child in tree.items()]
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return list(zip(tree._fields, tree, strict=True))
    if isinstance(tree, (list, tuple)):
        return [(str(i), child) for i, child in enumerate(tree)]
    jax = sys.modules.get("jax")
    if jax is None or tree is None or jax.tree_util.all_leaves([tree]):
        return None
    pairs, _ = jax.tree_util.tree_flatten_with_path(tree)
    return [(jax.tree_util.keystr(path, simple=True, separator="/"), leaf) for path, leaf in pairs]


def _arrays(leaves: dict[str, Any], what: str) -> dict[str, Any]:
    """`_array` of each leaf; quickly for torch's, of which there may be many, and small."""
    kinds = {library_of(kind) for kind in set(map(type, leaves.values()))}
    if kinds == {"torch"} and all(map(sys.modules["torch"].Tensor.is_floating_point, leaves.values())):
        return leaves
    return {name: _array(leaf, what, name) for name, leaf in leaves.items()}


def _array(leaf: Any, what: str, name: str) -> Any:
    """The leaf itself if it is torch's or JAX's; else in memory that NumPy can read, its own where that is possible."""
    library = library_of(type(leaf))
    if library in {"torch", "DTensor"}:
        if leaf.is_floating_point():
            return leaf
        raise TypeError(f"{what} of {name!r} must be of floating dtype, got {str(leaf.dtype).removeprefix('torch.')}")
    array = leaf if library == "jax" else to_numpy(leaf, f"{what} of {name!r}", widened=True)
    if array is None:
        raise TypeError(f"{what} of {name!r} must be an array, got {type(leaf).__name__}: {leaf!r}")
    if array.dtype.kind != "f" and not array.dtype.name.startswith(NARROW):  # floating, though NumPy does not say so
        raise TypeError(f"{what} of {name!r} must be of floating dtype, got {array.dtype}")
    return array
