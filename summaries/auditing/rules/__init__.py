"""The rules, by code: a module or a package for each family, and a page for each rule in `pages`.

A rule is a function over the signals of a run; see `rule`. `registry` has them all, and `handbook` what a page says of
them, which is known without importing them.
"""

from typing import TYPE_CHECKING

from summaries.lazy import lazy

if TYPE_CHECKING:
    from summaries.auditing.rules.registry import BETWEEN_RANKS as BETWEEN_RANKS
    from summaries.auditing.rules.registry import RULES as RULES
else:
    __all__, __getattr__, __dir__ = lazy(__name__, {"registry": "BETWEEN_RANKS RULES"})
