"""What `strange.py` does inside pytest: a random order, and packages that are as if they were not installed."""

import os
import random
import sys
from itertools import groupby

for name in filter(None, os.environ.get("STRANGE_WITHOUT", "").split(",")):
    sys.modules[name] = None  # its import fails, and find_spec finds nothing


def pytest_collection_modifyitems(items):
    """Shuffle the modules, and the tests in each."""
    chance = random.Random(os.environ["STRANGE_SEED"])
    modules = [list(of_one) for _, of_one in groupby(items, key=lambda item: item.location[0])]
    chance.shuffle(modules)
    for module in modules:
        chance.shuffle(module)
    items[:] = [item for module in modules for item in module]
