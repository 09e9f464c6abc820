"""Tools for event files and runs, with the names of the commands: `from summaries.tools import merge`.

Look: `ls`, `show`, `dump`, `tail`, `diff`. Mend: `verify`, `repair`. Reshape: `merge`, `rename`, `drop`, `keep`,
`thin`, `shift`, `reduce`, `export`, `convert`; `label` and `note` add to a run. What rewrites runs writes to a new
place; originals are never changed. Each is imported when it is first used, from a module that does not have its name.
"""

from typing import TYPE_CHECKING

from summaries.lazy import lazy

if TYPE_CHECKING:
    __version__: str
    from summaries.tools.annotating import label as label, note as note
    from summaries.tools.conversion import Converted as Converted, convert as convert
    from summaries.tools.rewriting.copying import Rewritten as Rewritten
    from summaries.tools.differing import (
        Diff as Diff,
        Distance as Distance,
        RunDiff as RunDiff,
        TagDiff as TagDiff,
        diff as diff,
    )
    from summaries.tools.dumping import DumpedEvent as DumpedEvent, dump as dump
    from summaries.tools.exporting import Exported as Exported, export as export
    from summaries.tools.listing import Listing as Listing, ls as ls
    from summaries.tools.rewriting.merging import merge as merge
    from summaries.tools.reducing.reduction import Reduced as Reduced, ReducedTag as ReducedTag, reduce as reduce
    from summaries.tools.rewriting.renaming import rename as rename
    from summaries.tools.rewriting.repairing import repair as repair
    from summaries.tools.rewriting.selecting import drop as drop, keep as keep
    from summaries.tools.rewriting.shifting import shift as shift
    from summaries.tools.showing import TagStatistics as TagStatistics, ValueStatistics as ValueStatistics, show as show
    from summaries.tools.tailing import Point as Point, tail as tail
    from summaries.tools.rewriting.thinning import thin as thin
    from summaries.tools.verifying import (
        Verdict as Verdict,
        verify as verify,
        verify_file as verify_file,
        verify_logdir as verify_logdir,
    )
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            "annotating": "label note",
            "conversion": "Converted convert",
            "rewriting.copying": "Rewritten",
            "differing": "Diff Distance RunDiff TagDiff diff",
            "dumping": "DumpedEvent dump",
            "exporting": "Exported export",
            "listing": "Listing ls",
            "rewriting.merging": "merge",
            "reducing.reduction": "Reduced ReducedTag reduce",
            "rewriting.renaming": "rename",
            "rewriting.repairing": "repair",
            "rewriting.selecting": "drop keep",
            "rewriting.shifting": "shift",
            "showing": "TagStatistics ValueStatistics show",
            "tailing": "Point tail",
            "rewriting.thinning": "thin",
            "verifying": "Verdict verify verify_file verify_logdir",
        },
    )
