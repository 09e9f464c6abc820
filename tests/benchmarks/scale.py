"""How much a benchmark does: all of it (`make bench`), or less (`make bench-quick`)."""

from __future__ import annotations

import os

VARIABLE = "GRADLEDGER_BENCH"  # processes of peers inherit it
QUICK = os.environ.get(VARIABLE) == "quick"


def sized(full: int, quick: int) -> int:
    """The size to measure at."""
    return quick if QUICK else full


def timed(seconds: float) -> float:
    """How long a contender is measured for, in seconds."""
    return seconds / 16 if QUICK else seconds
