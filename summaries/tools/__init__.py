"""Tools for event files and runs, with the names of the commands: `from summaries.tools import merge`.

Look: `ls`, `show`, `dump`, `tail`, `diff`. Mend: `verify`, `repair`. Reshape: `merge`, `rename`, `drop`, `keep`,
`thin`, `shift`, `reduce`, `export`, `convert`; `label` and `note` add to a run. What rewrites runs writes to a new
place; originals are never changed. Each is imported when it is first used, from a module that does not have its name.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from summaries.tools.annotating import label, note
    from summaries.tools.conversion import Converted, convert
    from summaries.tools.copying import Rewritten
    from summaries.tools.differing import Diff, Distance, RunDiff, TagDiff, diff
    from summaries.tools.dumping import DumpedEvent, dump
    from summaries.tools.exporting import Exported, export
    from summaries.tools.listing import Listing, ls
    from summaries.tools.merging import merge
    from summaries.tools.reduction import Reduced, ReducedTag, reduce
    from summaries.tools.renaming import rename
    from summaries.tools.repairing import repair
    from summaries.tools.selecting import drop, keep
    from summaries.tools.shifting import shift
    from summaries.tools.showing import TagStatistics, ValueStatistics, show
    from summaries.tools.tailing import Point, tail
    from summaries.tools.thinning import thin
    from summaries.tools.verifying import Verdict, verify, verify_file, verify_logdir

__all__ = [
    "Converted",
    "Diff",
    "Distance",
    "DumpedEvent",
    "Exported",
    "Listing",
    "Point",
    "Reduced",
    "ReducedTag",
    "Rewritten",
    "RunDiff",
    "TagDiff",
    "TagStatistics",
    "ValueStatistics",
    "Verdict",
    "convert",
    "diff",
    "drop",
    "dump",
    "export",
    "keep",
    "label",
    "ls",
    "merge",
    "note",
    "reduce",
    "rename",
    "repair",
    "shift",
    "show",
    "tail",
    "thin",
    "verify",
    "verify_file",
    "verify_logdir",
]

_NAMES = {
    "annotating": ("label", "note"),
    "conversion": ("Converted", "convert"),
    "copying": ("Rewritten",),
    "differing": ("Diff", "Distance", "RunDiff", "TagDiff", "diff"),
    "dumping": ("DumpedEvent", "dump"),
    "exporting": ("Exported", "export"),
    "listing": ("Listing", "ls"),
    "merging": ("merge",),
    "reduction": ("Reduced", "ReducedTag", "reduce"),
    "renaming": ("rename",),
    "repairing": ("repair",),
    "selecting": ("drop", "keep"),
    "shifting": ("shift",),
    "showing": ("TagStatistics", "ValueStatistics", "show"),
    "tailing": ("Point", "tail"),
    "thinning": ("thin",),
    "verifying": ("Verdict", "verify", "verify_file", "verify_logdir"),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a tool on first use."""
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"summaries.tools.{module}"), name)
    globals()[name] = value
    return value
