"""The wheel alone in empty environments: each Python at hand, oldest dependencies and newest; then with numba."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

from package.artifacts import ROOT, tool

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
SMOKE = Path(__file__).with_name("smoke.py")
UV = {
    **os.environ,
    # uv looks for Pythons on the path; pyenv's are beside it
    "PATH": os.pathsep.join([os.environ["PATH"], *map(str, Path.home().glob(".pyenv/versions/*/bin"))]),
    "UV_PYTHON_DOWNLOADS": os.environ.get("UV_PYTHON_DOWNLOADS", "never"),
    "UV_NO_CONFIG": "1",
}


@dataclass(frozen=True)
class Environment:
    """What is installed."""

    python: str
    age: str

    def __str__(self) -> str:
        """What is printed of it."""
        return f"Python {self.python}, {self.age} dependencies"

    def directory(self, environments: Path) -> Path:
        """Where it is, among the others."""
        return environments / f"{self.python}-{self.age}"


def try_all(wheel: Path, directory: Path) -> None:
    """Make all environments, as many at a time as there are processors, and use the package in each."""
    chosen = [Environment(*parts) for parts in product(interpreters(), ("oldest", "newest"))]
    failed = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        uses = pool.map(lambda environment: use(environment, wheel, directory), chosen)
        for environment, (status, said) in zip(chosen, uses, strict=True):
            print(f"{environment}: {said}", flush=True)
            failed += [str(environment)] * bool(status)
    if failed:
        sys.exit("failed: " + "; ".join(failed))


@cache
def interpreters() -> list[str]:
    """The Pythons that are on this machine; say of the others that they are skipped."""
    found = []
    for python in PYTHONS:
        command = [sys.executable, "-m", "uv", "python", "find", "--system", python]
        if subprocess.run(command, env=UV, capture_output=True, check=False).returncode:
            print(f"Python {python}: skipped, it is not on this machine; the public workflow has it")
        else:
            found.append(python)
    return found


def use(environment: Environment, wheel: Path, directory: Path) -> tuple[int, str]:
    """Install the wheel, and only what it needs; run the smoke test, and again with numba.

    Returns:
        The status, and what there is to say.
    """
    place = environment.directory(directory)
    tool("uv", "venv", "--quiet", "--system", "--python", environment.python, place / "venv", env=UV)
    pins = install(environment, place, wheel, "versions")
    status, said = smoke(place, "work", pins)
    if not status:
        with_numba = install(environment, place, wheel, "numba-versions", "--extra", "numba")
        # What numba is not used for is the same again, if all else is.
        parts = ["--only", "check_names,step_optimizers"] if set(pins) <= set(with_numba) else []
        status, more = smoke(place, "numba-work", with_numba, *parts)
        said += "\n" + more
    return status, said


def install(environment: Environment, place: Path, wheel: Path, name: str, *extra: str) -> list[str]:
    """Choose the dependencies, install them and the wheel, and return NAME==VERSION of each."""
    versions = place / f"{name}.txt"
    options = ["--quiet", "--only-binary", ":all:", "--python", python_in(place)]
    # The oldest are the oldest that have a wheel for this Python: NumPy 2.0 has none for 3.13.
    # The newest are those that we know of, or those that the index has today.
    known = [] if os.environ.get("NEWEST") == "today" else ["--constraint", ROOT / "constraints.txt"]
    chosen = {"oldest": ["--resolution", "lowest-direct"], "newest": known}[environment.age]
    needed = ["--no-annotate", "--no-header", ROOT / "pyproject.toml", "--output-file", versions]
    tool("uv", "pip", "compile", *options, *chosen, *extra, *needed, env=UV)
    tool("uv", "pip", "install", *options, "--requirements", versions, wheel, env=UV)
    return re.findall(r"^\S+==\S+", versions.read_text(encoding="utf-8"), re.MULTILINE)


def smoke(place: Path, name: str, pins: list[str], *parts: str) -> tuple[int, str]:
    """Run the smoke test in an empty directory; return its status, and what there is to say."""
    (place / name).mkdir()
    command = [python_in(place), "-I", SMOKE, *parts, *pins]
    done = subprocess.run(command, cwd=place / name, capture_output=True, encoding="utf-8", check=False)
    said = [done.stdout.strip(), " ".join(pins), *[done.stderr] * bool(done.returncode)]
    return done.returncode, "\n".join(said)


def python_in(place: Path) -> Path:
    """An environment's interpreter."""
    return place / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def time_imports(directory: Path, rounds: int = 5) -> None:
    """Print how long our packages take to import, in a newest environment: the best of some rounds."""
    place = Environment(interpreters()[0], "newest").directory(directory)
    for package in ("gradledger", "summaries", "optim"):
        command = [python_in(place), "-I", "-X", "importtime", "-c", f"import {package}"]
        said = [subprocess.run(command, capture_output=True, text=True, check=True).stderr for _ in range(rounds)]
        microseconds = min(int(text.splitlines()[-1].split("|")[1]) for text in said)
        print(f"import {package}: {microseconds / 1000:.0f} ms (the best of {rounds}, with -X importtime)")
