"""Tools for event files and runs: verify, export, reduce, convert, and advice on clipping.

They read runs and files, and never change them. Each is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from summaries.tools.verify import Verdict, verify, verify_file

if TYPE_CHECKING:
    from summaries.tools.conversion import Converted, convert
    from summaries.tools.reduction import Reduced, ReducedTag, reduce

__all__ = ["Converted", "Reduced", "ReducedTag", "Verdict", "convert", "reduce", "verify", "verify_file"]

# No module has the name of its function: importing it would put it in the function's place.
_MODULES = {
    **dict.fromkeys(("Converted", "convert"), "conversion"),
    **dict.fromkeys(("Reduced", "ReducedTag", "reduce"), "reduction"),
}


def __getattr__(name: str) -> object:
    """Import a tool on first use: writers and readers need none."""
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value
