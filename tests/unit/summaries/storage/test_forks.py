"""What a forked child inherits of its parent's file systems stays open in the child."""

import os
import subprocess
import sys

import pytest

# Each file system has a connection, which says so when it is closed.
FORKED = """
import gc, os, weakref
import fsspec
from fsspec.implementations.memory import MemoryFileSystem
from summaries.storage.object_store import file_system

class Connected(MemoryFileSystem):
    protocol = "connected"
    def __init__(self, number=0, **options):
        super().__init__(number=number, **options)
        weakref.finalize(self, close, number)

def close(number):
    print(f"closed {number} in the {'parent' if os.getpid() == parent else 'child'}", flush=True)

parent = os.getpid()
fsspec.register_implementation("connected", Connected)
for number in (1, 2):
    file_system("connected://runs", {"number": number})
child = os.fork()
if child == 0:
    file_system("connected://runs", {"number": 3})  # fsspec forgets the others now
    gc.collect()
    os._exit(0)
os.waitpid(child, 0)
file_system("connected://runs", {"number": 1})
Connected.clear_instance_cache()
gc.collect()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_closes_nothing_of_its_parent():
    """The parent does, when it needs them no longer."""
    command = [sys.executable, "-W", "ignore", "-c", FORKED]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert sorted(done.stdout.splitlines()) == ["closed 1 in the parent", "closed 2 in the parent"]
    assert done.stderr == ""
