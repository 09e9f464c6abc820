"""What `strange.py` does inside pytest: a random order, and packages that are as if they were not installed."""

import contextlib
import doctest
import os
import random
import subprocess
import sys
from importlib import machinery
from itertools import groupby

import pytest


class Finder(machinery.PathFinder):
    """It does not find the package that this draw is without."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        is_missing = name.partition(".")[0] == os.environ.get("STRANGE_WITHOUT")
        return None if is_missing else super().find_spec(name, path, target)


sys.meta_path[:] = [Finder if finder is machinery.PathFinder else finder for finder in sys.meta_path]

if encoding := os.environ.get("PYTHONIOENCODING"):  # as where a system has it: what is written so is read so
    subprocess._text_encoding = lambda: encoding

if memory := int(os.environ.get("STRANGE_MEMORY", "0")):
    import resource  # only on Unix, where this is drawn

    class Popen(subprocess.Popen):
        """Its process can have so much data, and no more; the one in which all tests run needs more."""

        def __init__(self, *arguments, **named):
            super().__init__(*arguments, **named)
            with contextlib.suppress(PermissionError):  # a program with another user's rights, such as mount
                resource.prlimit(self.pid, resource.RLIMIT_DATA, (memory, memory))

    subprocess.Popen = Popen


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """A test that needs the package that this draw is without, and is told so, is skipped."""
    error = call.excinfo and call.excinfo.value
    if isinstance(error, doctest.UnexpectedException):
        error = error.exc_info[1]
    missing = os.environ.get("STRANGE_WITHOUT")
    if missing and isinstance(error, ImportError) and (error.name == missing or f"needs {missing}" in str(error)):
        skipped = pytest.skip.Exception(f"without {missing}: {error}").with_traceback(error.__traceback__)
        call.excinfo = pytest.ExceptionInfo.from_exception(skipped)
    return (yield)


def pytest_collection_modifyitems(config, items):
    """Shuffle the modules, and the tests in each; of the modules, take the share that is wanted."""
    chance = random.Random(os.environ["STRANGE_SEED"])
    modules = [list(of_one) for _, of_one in groupby(items, key=lambda item: item.location[0])]
    chance.shuffle(modules)
    for module in modules:
        chance.shuffle(module)
    count = -(-len(modules) // int(os.environ["STRANGE_SHARE"]))
    config.hook.pytest_deselected(items=[item for module in modules[count:] for item in module])
    items[:] = [item for module in modules[:count] for item in module]
