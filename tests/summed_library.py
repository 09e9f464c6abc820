"""A small library to compile, for tests of `native`; programs that they start import it, too, so it needs little."""

from typing import Any, NamedTuple

import numpy as np

from summaries.native.calls import INTEGER, Array
from summaries.native.library import Library


class Pair(NamedTuple):
    """Two arrays."""

    first: Any
    second: Any


TYPES = {
    "total": (INTEGER, Array(np.float32), Pair(Array(np.int64, 2), Array([("x", "<i4"), ("y", "<f8")]))),
    "none": (),
}
SOURCE = """
from summaries.native.building import compiled, unpacker
from summed_library import TYPES
arguments = unpacker(TYPES["total"])

@compiled
def total(words):
    number, values, pair = arguments(words)
    for i in range(len(values)):
        number += int(values[i])
    for i in range(pair.first.shape[0]):
        number += 10 * pair.first[i, 1]
    for i in range(len(pair.second)):
        number += pair.second[i]["x"]
        pair.second[i]["y"] = number
    return number

@compiled
def none(words):
    pass
"""
COMPILING = "compiling the sum, once per machine (`gradledger warm-up` does it ahead of time)"


def summed_library(source):
    """The library, as a new process has it, whose source is in this file: `summed.py` in a directory of `sys.path`."""
    return Library("sum", "the sum", "summed", TYPES, [str(source)])


def check(library):
    """Call all its functions."""
    values, whole = np.array([1.0, 2.0], np.float32), np.arange(6).reshape(3, 2)
    records = np.array([(100, 0.0), (200, 0.0)], [("x", "<i4"), ("y", "<f8")])
    values.flags.writeable = False
    total = library.functions()["total"]
    assert total(1000, values, Pair(whole, records)) == 1000 + 3 + 90 + 300
    assert records["y"].tolist() == [1193.0, 1393.0]
    assert total(-7, values[:0], Pair(whole[:0], records[:0])) == -7
    assert library.functions()["none"]() == 0
