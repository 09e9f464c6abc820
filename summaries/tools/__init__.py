"""Tools for event files and runs, with the names of the commands: ls, show, dump, tail, diff, verify, and others.

They read runs and files, and never change them.
"""

from summaries.tools.diff import Diff, Distance, RunDiff, TagDiff, diff
from summaries.tools.dump import DumpedEvent, dump
from summaries.tools.ls import Listing, ls
from summaries.tools.show import TagStatistics, ValueStatistics, show
from summaries.tools.tail import Point, tail
from summaries.tools.verify import Verdict, verify, verify_file

__all__ = [
    "Diff",
    "Distance",
    "DumpedEvent",
    "Listing",
    "Point",
    "RunDiff",
    "TagDiff",
    "TagStatistics",
    "ValueStatistics",
    "Verdict",
    "diff",
    "dump",
    "ls",
    "show",
    "tail",
    "verify",
    "verify_file",
]
