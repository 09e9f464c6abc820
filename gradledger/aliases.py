"""What is below `gradledger`: `gradledger.optim.rules` is `optim.rules`, `gradledger.tools` is `summaries.tools`.

Python looks for `gradledger.optim.rules` where its parent says, and the parent is `optim`: it would load the file a
second time, make other classes of it, and put them into `optim`. The finder here is asked first, and gives the module
that is there.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module, util
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

__all__ = ["install"]

_OWN = ("__main__", "aliases", "tensorboard")
"""The modules that are this package's own. To find them, nothing is imported: see `tensorboard`."""


def install() -> None:
    """Have Python ask for the modules below `gradledger` here."""
    sys.meta_path.insert(0, _Aliases())


class _Aliases:
    """A finder and loader of modules that are others. It is no `importlib.abc.Loader`, which takes long to import."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Called by Python for every import."""
        package, _, below = name.partition(".")
        if package != "gradledger" or not below or below in _OWN:
            return None
        found = util.find_spec(_original(name))
        if found and found.name == "optim":
            _check_that_it_is_ours(found)
        return found and ModuleSpec(name, self)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """Have Python make an empty module, which is dropped: it would write this spec into one that is in use."""

    def exec_module(self, module: ModuleType) -> None:
        """Import the original. What is in `sys.modules` afterwards is what the import returns, as Python promises."""
        sys.modules[module.__name__] = import_module(_original(module.__name__))


def _original(name: str) -> str:
    below = name.removeprefix("gradledger.")
    return below if below.split(".")[0] == "optim" else f"summaries.{below}"


def _check_that_it_is_ours(found: ModuleSpec) -> None:
    """Refuse to run another `optim`. Ours cannot be loaded beside it: its modules import one another by this name."""
    ours = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "optim")
    place = found.origin or str(found.submodule_search_locations)
    if os.path.dirname(os.path.realpath(place)) != ours:
        raise ImportError(
            f"gradledger.optim is the package optim in {ours}, but Python finds another optim before it: {place}. "
            "Rename that one, or move it into a package",
            name="optim",
            path=place,
        )
