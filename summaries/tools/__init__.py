"""Tools for event files and runs, imported when they are first used: from `summaries.tools import merge`.

Look: `verify`. Mend: `repair`. Reshape: `merge`, `rename`, `drop`, `keep`, `thin`, `shift`; `label` and `note` add to a
run. Further: export, and advice on clipping. What rewrites runs writes to a new place; originals are never changed.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from summaries.tools.verify import Verdict, verify, verify_file

if TYPE_CHECKING:
    from summaries.tools.annotating import label, note
    from summaries.tools.copying import Rewritten
    from summaries.tools.merging import merge
    from summaries.tools.renaming import rename
    from summaries.tools.repairing import repair
    from summaries.tools.selecting import drop, keep
    from summaries.tools.shifting import shift
    from summaries.tools.thinning import thin

__all__ = [
    "Rewritten",
    "Verdict",
    "drop",
    "keep",
    "label",
    "merge",
    "note",
    "rename",
    "repair",
    "shift",
    "thin",
    "verify",
    "verify_file",
]

_MODULES = {
    "Rewritten": "copying",
    "drop": "selecting",
    "keep": "selecting",
    "label": "annotating",
    "merge": "merging",
    "note": "annotating",
    "rename": "renaming",
    "repair": "repairing",
    "shift": "shifting",
    "thin": "thinning",
}


def __getattr__(name: str) -> object:
    """Import a tool on first use."""
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"summaries.tools.{module}"), name)
    globals()[name] = value
    return value
