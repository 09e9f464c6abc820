"""Arguments of SummaryWriter by position: TF1's FileWriter, torch's and tensorboardX's writers order them differently.

TF1:          logdir, graph,   max_queue,  flush_secs, graph_def,  filename_suffix, session
torch:        logdir, comment, purge_step, max_queue,  flush_secs, filename_suffix
tensorboardX: the same,                                                             write_to_disk, log_dir, comet_config
"""

from __future__ import annotations

from numbers import Real
from typing import Any

from summaries.values import warn

__all__ = ["by_position"]

_TF1 = ("max_queue", "flush_secs", "graph_def", "filename_suffix", "session")
_TORCH = ("purge_step", "max_queue", "flush_secs", "filename_suffix", "write_to_disk", "log_dir", "comet_config")


def by_position(second: Any, others: tuple[Any, ...]) -> dict[str, Any]:
    """Name the arguments that follow the second one.

    The second argument decides: a comment is torch's, a graph TF1's. If it is None, the fifth decides (a number is
    torch's flush_secs, a graph is TF1's) or the seventh (a bool is tensorboardX's write_to_disk). If nothing decides,
    the order is TF1's: a purge_step that is taken as max_queue hides no data.

    Args:
        second: the second argument.
        others: the third and later arguments.

    Raises:
        TypeError: there are too many.

    Warns:
        UserWarning: the third argument could be either.

    >>> from summaries import GraphDef
    >>> by_position("_lr0.1", (500,)), by_position(GraphDef(), (10, 120))
    ({'purge_step': 500}, {'max_queue': 10, 'flush_secs': 120})
    """
    if not others:
        return {}
    fifth, seventh = (*others, *(None,) * 5)[2:5:2]
    torch = isinstance(second, str) or (
        second is None and (others[0] is None or isinstance(fifth, Real) or isinstance(seventh, bool))
    )
    names = _TORCH if torch else _TF1
    if len(others) > len(names):
        raise TypeError(f"SummaryWriter takes at most {2 + len(names)} arguments by position, got {2 + len(others)}")
    if second is None and fifth is None and not torch:
        warn(
            f"the third argument is taken as TF1's max_queue, got {others[0]!r}: if it is torch's purge_step, "
            "pass it by name"
        )
    return dict(zip(names, others, strict=False))
