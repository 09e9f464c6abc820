"""Packages whose names are imported when they are first asked for, as PEP 562 and SPEC 1 have it.

A package writes its names twice, and a test holds the two together: as imports that only type checkers, editors and
freezers of programs see, and as the table below, which is all that runs.

Why not `lazy_loader`, which Scientific Python keeps for this: it would be a dependency, and bring `packaging`, for the
lines below; and it reads its table from a stub beside the module, which programs such as PyInstaller leave behind.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

__all__ = ["lazy", "load"]


def lazy(
    package: str, where: Mapping[str, str], elsewhere: Mapping[str, str] | None = None
) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """What a package has as `__all__`, `__getattr__` and `__dir__`, for its names to be imported on first use.

    Args:
        package: its name.
        where: module below the package → the names to take from it, between spaces; "" → modules that the package's
            name is enough for, as in `summaries.reading`. They are not in `__all__`.
        elsewhere: names that are asked for by mistake, and what the error then adds.

    Returns:
        The three, in this order. `__getattr__` also knows `__version__`.

    >>> names, find, listed = lazy("summaries", {"errors": "Fault FormatError", "": "errors"})
    >>> names, find("Fault").__module__, "errors" in listed()
    (['Fault', 'FormatError'], 'summaries.errors', True)
    """
    modules = {name: module for module, names in where.items() for name in names.split()}

    def find(name: str) -> object:
        value: object
        if name == "__version__":
            from summaries.version import VERSION  # noqa: PLC0415 - few ask

            value = VERSION
        elif name not in modules:
            hint = (elsewhere or {}).get(name, "")
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}{hint}", name=name, obj=sys.modules.get(package)
            )
        elif not modules[name]:
            return import_module(f"{package}.{name}")
        else:
            value = getattr(import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, value)  # the next time, nobody asks here
        return value

    return (
        sorted(name for name, module in modules.items() if module),
        find,
        lambda: sorted({*vars(sys.modules[package]), *modules, "__version__"}),
    )


def load(package: ModuleType) -> None:
    """Import all that a lazy package imports on first use."""
    for name in dir(package):
        if not name.startswith("_"):
            getattr(package, name)
