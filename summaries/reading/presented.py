"""What runs and series show of themselves, in notebooks, plots and tables: `presenting` makes it, which stands above.

It is imported here and nowhere else in `reading`, by its name, and only when something is shown.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["presented"]


def presented(function: str, *arguments: Any, **options: Any) -> Any:
    """Call a function of `summaries.presenting`: "plots.plot_run" is `plot_run` in the module `plots`."""
    module, _, name = function.partition(".")
    return getattr(import_module(f"summaries.presenting.{module}"), name)(*arguments, **options)
