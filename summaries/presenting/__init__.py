"""Shows runs, series and tables: in notebooks, plots, data frames and on terminals. `reading` calls it by name only."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for programs that pack others up: they see no import by name
    from summaries.presenting import display as display
    from summaries.presenting import plots as plots
    from summaries.presenting import tables as tables
