"""gradledger by the name that one installs: all of `summaries`, with `optim` in it.

    gradledger.SummaryWriter   is summaries.SummaryWriter, and so with every public name of `summaries`
    gradledger.tools           is summaries.tools, and so with every module of `summaries`
    gradledger.optim           is optim, with all that is in it

Objects and modules are the same under both names, and pickles name `summaries` and `optim`. `aliases` finds what is
imported from below, as in `from gradledger.optim import AdamOptimizer`; `.pyi` files show it to type checkers.
`tensorboard` is where TensorBoard finds our page: it must not fail, so the two are imported when they are first used.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from gradledger import aliases

if TYPE_CHECKING:
    __version__: str
    import optim as optim
    from summaries import *
else:
    aliases.install()

    def __getattr__(name: str) -> object:
        if name == "optim":
            return import_module("gradledger.optim")
        summaries = import_module("summaries")
        if name not in dir(summaries):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
        value = globals()[name] = getattr(summaries, name)  # the next time, nobody asks here
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *dir(import_module("summaries")), "optim"})
