"""The Python blocks of README, each run in a process and a directory of its own, as a reader would paste it."""

import ast
import os
import re
import subprocess
import sys
from importlib.util import find_spec

from helpers import ROOT

BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
_EXTRAS = {".to_pandas(": "pandas", "Saver(": "safetensors", "s3://": "s3fs"}


def missing(block):
    """The modules that a block needs and that are not installed."""
    names = set()
    for node in ast.walk(ast.parse(block)):
        if isinstance(node, ast.ImportFrom):
            names.add(node.module)
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    wanted = {name.partition(".")[0] for name in names} | {module for text, module in _EXTRAS.items() if text in block}
    return sorted(name for name in wanted if find_spec(name) is None)


def run(block, directory, **environment):
    """Run a block in this directory; what it printed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    command = [sys.executable, "-c", block]
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
