"""What `strange.py` does inside pytest: a random order, and packages that are as if they were not installed."""

import contextlib
import os
import random
import subprocess
import sys
from importlib import machinery
from itertools import groupby


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


def pytest_collection_modifyitems(items):
    """Shuffle the modules, and the tests in each."""
    chance = random.Random(os.environ["STRANGE_SEED"])
    modules = [list(of_one) for _, of_one in groupby(items, key=lambda item: item.location[0])]
    chance.shuffle(modules)
    for module in modules:
        chance.shuffle(module)
    items[:] = [item for module in modules for item in module]
