"""Whether the compiled scanner reads; without numba, one hint, and an error for those who ask for it."""

import subprocess
import sys

WITHOUT_NUMBA = """
import logging, sys
sys.modules["numba"] = None
import importlib.util
find = importlib.util.find_spec
import summaries.reading.fast
summaries.reading.fast.find_spec = lambda name: None if name == "numba" else find(name)
logging.basicConfig(format="%(message)s", stream=sys.stdout)
for _ in range(2):
    assert not summaries.reading.fast.use_fast(1 << 30, None)
try:
    summaries.reading.fast.use_fast(1, True)
except ImportError as error:
    print(error)
"""


def test_without_numba_there_is_one_hint():
    done = subprocess.run([sys.executable, "-c", WITHOUT_NUMBA], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "reading is many times faster with numba: pip install 'gradledger[fast]'",
        "the compiled scanner needs numba: pip install 'gradledger[fast]'",
    ]
