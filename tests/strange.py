"""Run tests on a strange machine: a combination of settings that nobody prepared for, drawn from a seed.

    python tests/strange.py                          one draw of all tests; its seed and settings are printed first
    python tests/strange.py --seed 7 tests/unit      that draw again, of some tests
    python tests/strange.py --draws 20               twenty of them
    python tests/strange.py --share 6                a sixth of the tests, drawn, too

Each setting is drawn by itself, and half of the time it is that of this machine. A setting that this machine cannot
have, such as another user's without root, is left out, and that is printed, too.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONG = "a path with späces/" + "ü" * 80  # about 200 bytes with what comes before and after
LONG_ASCII = "a path with spaces/" + "u" * 160  # in the locale C, TensorBoard, Hypothesis and mypy can't open the other
IN_2038 = (1 << 31) + 86400  # a day after 32 bits end
NOBODY = "65534"
HOST = "a-machine-whose-name-is-long.and-has-parts.of-somebodys-cluster"

ENVIRONMENTS: dict[str, dict[str, dict[str, str | None]]] = {
    # setting → choice → variable → value, None if it is not there
    "language": {
        "ASCII": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        "cp1252": {"PYTHONIOENCODING": "cp1252"},
        "comma": {"LC_ALL": "de_DE.UTF-8"},
    },
    "time zone": {"+05:45": {"TZ": "Asia/Kathmandu"}, "-03:30": {"TZ": "America/St_Johns"}},
    "home": {
        "none": {"HOME": None, "XDG_CACHE_HOME": None},
        "nowhere": {"HOME": "/nowhere"},
        "read-only": {"HOME": "/proc", "XDG_CACHE_HOME": None},
    },
    "terminal": {
        "80 columns": {"COLUMNS": "80"},
        "no columns": {"COLUMNS": "0"},
        "dumb": {"TERM": "dumb"},
        "none": {"TERM": None},
    },
    "hash seed": {"1": {"PYTHONHASHSEED": "1"}, "4711": {"PYTHONHASHSEED": "4711"}},
    "BLAS": {name: {"OPENBLAS_CORETYPE": name} for name in ("Nehalem", "Sandybridge", "Haswell")},
    "threads of BLAS": {"two": {"OPENBLAS_NUM_THREADS": "2"}},  # else conftest.py says one
    "clock": {
        "2038": {"STRANGE_CLOCK_AHEAD": str(IN_2038 - int(time.time()))},
        "leaps": {"STRANGE_CLOCK_LEAP": "3600"},
    },
    "memory": {"1 GB": {"STRANGE_MEMORY": str(1 << 30)}},  # of each program that a test starts
    "without": {name: {"STRANGE_WITHOUT": name} for name in ("pandas", "PIL", "numba", "pyarrow", "playwright")},
}
COMMANDS = {  # what the tests are started by; each starts the next one, so that the user's rights go last
    "host name": {"long": ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', HOST]},
    "temporary files": {
        "16 MB": ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=16m "$0" "$TMPDIR" && exec "$@"', "tmpfs"]
    },
    "processors": {"the first": ["taskset", "-c", "0"], "the last": ["taskset", "-c", str((os.cpu_count() or 1) - 1)]},
    "user": {"without rights": ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]},
}
OPTIONS = {"python": {"-O": ["-O"], "-W error": ["-W", "error"]}}
SWITCHES = {"umask": 0o077}
PLACES = ("far away", "far away, read-only")


def main() -> int:
    """Draw, run, and return the exit status: 0 if every draw was green."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, help="of the first draw; a random one is printed")
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--share", type=int, default=1, help="run one in so many of the tests' modules")
    options, tests = parser.parse_known_args()  # the rest is pytest's: paths and options
    os.environ["STRANGE_SHARE"] = str(options.share)
    first = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    results = {seed: run(seed, tests) for seed in range(first, first + options.draws)}
    red = [seed for seed, status in results.items() if status]
    print(f"{len(results) - len(red)} of {len(results)} draws are green" + (f"; red: {red}" if red else ""))
    return 1 if red else 0


def drawn(seed: int) -> dict[str, str]:
    """Setting → choice, without those that are left as they are here."""
    chance = random.Random(seed)
    tables = {**ENVIRONMENTS, **COMMANDS, **OPTIONS, **{name: {"yes": None} for name in SWITCHES}}
    tables["checkout"] = dict.fromkeys(PLACES)
    draws = {name: chance.choice([*choices, *[""] * len(choices)]) for name, choices in tables.items()}
    return {name: choice for name, choice in draws.items() if choice and is_possible(name, choice)}


def is_possible(name: str, choice: str) -> bool:
    """Whether this machine can have the setting; if not, that is printed."""
    if name in COMMANDS:
        can = starts_python(COMMANDS[name][choice])
    elif name == "language" and choice == "comma":
        can = b"de_DE" in subprocess.run(["locale", "-a"], capture_output=True, check=False).stdout
    else:
        can = name not in ("clock", "memory") or sys.platform == "linux"
    if not can:
        print(f"left out, as this machine cannot: {name} {choice}")
    return can


def starts_python(command: list[str]) -> bool:
    """Whether this Python, and no other, starts under a command: a user may not be able to read it."""
    if shutil.which(command[0]) is None:
        return False
    environment = {**os.environ, "TMPDIR": tempfile.gettempdir()}
    program = [*command, sys.executable, "-c", "import sys; print(end=sys.version)"]
    return subprocess.run(program, env=environment, capture_output=True, check=False).stdout == sys.version.encode()


def clock_library(directory: Path) -> Path:
    """Compile the library that shifts clocks, by the compiler that links our own."""
    library = directory / "clock.so"
    compiler = [sys.executable, "-m", "ziglang", "cc", "-shared", "-fPIC", "-O2", "-ffreestanding", "-nostdlib"]
    subprocess.run([*compiler, "-o", str(library), str(ROOT / "tests" / "strange_clock.c")], check=True)
    return library


def run(seed: int, tests: list[str]) -> int:
    """Run the tests in one draw; return pytest's exit status."""
    settings = drawn(seed)
    print(f"seed {seed}: " + (", ".join(f"{name} {choice}" for name, choice in settings.items()) or "as it is here"))
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as temporary:
        os.chmod(temporary, 0o755)  # noqa: S103 - another user has to come through
        path = LONG_ASCII if settings.get("language") == "ASCII" else LONG
        root = checkout(Path(temporary, path), settings["checkout"]) if "checkout" in settings else ROOT
        scratch, kept = Path(temporary, "tmp"), Path(temporary, "kept")  # what programs write there, and what tests do
        for directory in (scratch, kept):
            directory.mkdir()
            directory.chmod(0o1777)  # as /tmp is
        options = ["-p", "strange_plugin", "-p", "no:cacheprovider", "--basetemp", str(kept / "pytest")]
        if settings.get("python") == "-O":
            options += ["-W", "ignore::pytest.PytestConfigWarning"]
        program = [
            *(word for name, table in COMMANDS.items() for word in table.get(settings.get(name, ""), [])),
            *(["env", f"LD_PRELOAD={clock_library(Path(temporary))}"] if "clock" in settings else []),
            *[sys.executable, *OPTIONS["python"].get(settings.get("python", ""), [])],
            *["-m", "pytest", *options, *tests],
        ]
        done = subprocess.run(
            program,
            cwd=root,
            env=environment(settings, root, scratch, seed),
            umask=SWITCHES["umask"] if "umask" in settings else -1,
            check=False,
        )
    return done.returncode


def checkout(directory: Path, place: str) -> Path:
    """A copy of the checkout below a directory."""
    root = directory / "gradledger"
    shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(".git", ".venv*", "build", "node_modules", "__pycache__"))
    if "read-only" in place:
        for path in (root, *root.rglob("*")):
            path.chmod(path.stat().st_mode & ~0o222)
    return root


def environment(settings: dict[str, str], root: Path, scratch: Path, seed: int) -> dict[str, str]:
    """The environment's variables in a draw."""
    paths = os.pathsep.join((str(root), str(root / "tests")))
    changed: dict[str, str | None] = {"PYTHONPATH": paths, "STRANGE_SEED": str(seed), "TMPDIR": str(scratch)}
    changed["PYTHONDONTWRITEBYTECODE"] = "1"
    for name in ENVIRONMENTS.keys() & settings.keys():
        changed |= ENVIRONMENTS[name][settings[name]]
    return {name: value for name, value in (os.environ | changed).items() if value is not None}


if __name__ == "__main__":
    sys.exit(main())
