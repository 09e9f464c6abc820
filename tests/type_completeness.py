"""Whether every public name has a known type and a docstring, for those who check types strictly or read in an editor.

    python tests/type_completeness.py       exit status 1 if a name has none

Pyright decides it (`--verifytypes`): it looks at a package as one who installed it does. What other packages leave
unknown does not count. `make types` runs it, in ten seconds.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("gradledger", "summaries", "optim")
EXCEPTIONS = {
    # Other packages' own types: those of the CRC library, of TensorBoard, and of frameworks that are not installed.
    r"summaries\.wire\.crc32c\.(crc32c|extend)$",
    r"gradledger\.tensorboard\.Gradledger(Loader|Plugin)\b",
    r"optim\.integrations\.(huggingface|keras|lightning|stable_baselines3)\.GradientCallback$",
    r"optim\.integrations\.(accelerate\.EventFileTracker|lightning\.EventFileLogger)$",
    r"summaries\.tools\.querying\.points\.PointDataset$",
    # The checks of a loop are of torch's types, and what each method does stands on the class that they fill in.
    r"optim\.wiring\.",
}


def main() -> int:
    """Print what is incomplete in each package; return the exit status."""
    incomplete = [line for package in PACKAGES for line in found_in(package)]
    print("\n".join(incomplete) or f"every public name of {', '.join(PACKAGES)} has its type and its docstring")
    return 1 if incomplete else 0


def found_in(package: str) -> list[str]:
    """What is incomplete in a package: a line each, a name and what it lacks."""
    wanted = ["--pythonpath", sys.executable, "--verifytypes", package, "--ignoreexternal", "--outputjson"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([pyright(), *wanted], env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    symbols = json.loads(done.stdout)["typeCompleteness"]["symbols"]
    assert len(symbols) > 100, f"pyright has not looked at {package}: {done.stdout[:1000]}"
    return [f"{symbol['name']}: {lack}" for symbol in symbols if symbol["isExported"] for lack in lacks(symbol)]


def pyright() -> str:
    """The program, which lies beside this Python's, or is found as the shell finds it."""
    beside = shutil.which("basedpyright", path=os.path.dirname(sys.executable))
    return beside or "basedpyright"


def lacks(symbol: dict[str, object]) -> list[str]:
    """What a name lacks; nothing if it is private, or one of the exceptions."""
    name = str(symbol["name"])
    if re.search(r"\._(?!_)", name) or any(re.match(pattern, name) for pattern in EXCEPTIONS):
        return []
    told = [item["message"] for item in symbol["diagnostics"]]
    unknown = not symbol["isTypeKnown"] or symbol["isTypeAmbiguous"]
    return told or (["its type is not known"] if unknown else [])


if __name__ == "__main__":
    sys.exit(main())
