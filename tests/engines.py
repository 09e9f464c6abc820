"""Readers that are told what to read with: "plain", "compiled", or None for what there is."""

from contextlib import contextmanager

import pytest

import summaries
from summaries.native import library
from summaries.reading.reader import reader

needs_compiled = pytest.mark.skipif(not library.is_available(), reason="there is no compiled code for this machine")
ENGINES = ["plain", pytest.param("compiled", marks=needs_compiled)]
BOTH = ["plain", "compiled"] if library.is_available() else ["plain"]


@contextmanager
def using(engine):
    library.use(engine)
    try:
        yield
    finally:
        library.use(None)


def read_run(path, engine=None, **options):
    with using(engine):
        return summaries.read_run(path, **options)


def read_logdir(path, engine=None, **options):
    with using(engine):
        return summaries.read_logdir(path, **options)


def reader_of(engine=None, **options):
    """A reader of one run."""
    with using(engine):
        return reader(**options)
