"""Whether compiled code reads: not if that takes longer; without numba, one hint, and an error for who asks for it."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from summaries.reading import fast

MB = 1 << 20
WITHOUT_NUMBA = """
import logging, sys
sys.modules["numba"] = None
import importlib.util
find = importlib.util.find_spec
import summaries.native.library
summaries.native.library.find_spec = lambda name: None if name == "numba" else find(name)
from summaries.reading.fast import use_fast
logging.basicConfig(format="%(message)s", stream=sys.stdout)
for _ in range(2):
    assert not use_fast(1 << 30, None)
try:
    use_fast(1, True)
except ImportError as error:
    print(error)
"""


def test_without_numba_there_is_one_hint():
    done = subprocess.run([sys.executable, "-c", WITHOUT_NUMBA], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "reading is many times faster with numba: pip install 'gradledger[fast]'",
        "the compiled scanner needs numba: pip install 'gradledger[fast]'",
    ]


@pytest.mark.parametrize(
    ("size", "told", "state", "want"),
    [
        (1, None, "loaded", True),
        (1, None, "kept", False),  # loading takes longer
        (2 * MB, None, "kept", False),
        (20 * MB, None, "kept", True),
        (20 * MB, None, "", False),  # compiling takes longer
        (100 * MB, None, "", False),
        (1000 * MB, None, "", True),
        (1000 * MB, None, "broken", False),
        (1, True, "", True),
        (1000 * MB, False, "loaded", False),
    ],
)
def test_the_choice(monkeypatch, size, told, state, want):
    monkeypatch.setattr(fast, "has_compiler", lambda: True)
    monkeypatch.setattr(fast, "_hint", lambda: None)
    library = SimpleNamespace(
        is_loaded=state == "loaded", is_kept=lambda: state == "kept", can_be_called=lambda: state != "broken"
    )
    assert fast.use_fast(size, told, library) is want


def test_a_hint_where_compiling_ahead_would_help(monkeypatch, caplog):
    monkeypatch.setattr(fast, "has_compiler", lambda: True)
    fast._hint.cache_clear()
    library = SimpleNamespace(is_loaded=False, is_kept=lambda: False)
    assert [fast.use_fast(size * MB, None, library) for size in (20, 100, 100)] == [False] * 3
    assert caplog.messages == [
        "reading is many times faster after `gradledger warm-up`, which compiles the scanner once"
    ]
    fast._hint.cache_clear()
