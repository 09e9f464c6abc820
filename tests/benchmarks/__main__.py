"""Runs every benchmark, or those that are named: `python -m benchmarks [--quick] [--json FILE] [bench_… …]`.

Each yields figures and growths, which are printed as they come; all are summed up in one table at the end.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import sys
import time
import traceback
from dataclasses import asdict, replace
from typing import Any

import benchmarks
from benchmarks import peers, scale, table
from benchmarks.figures import Figure
from benchmarks.growth import Growth
from benchmarks.machine import description


def main() -> int:
    """Run the benchmarks named, or all; the exit status is 1 if one failed."""
    found = [module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name.startswith("bench_")]
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="bench_…", help="which to run (default: all)")
    parser.add_argument("--quick", action="store_true", help="smaller sizes and fewer rounds")
    parser.add_argument("--json", metavar="FILE", help="write everything there, too")
    arguments = parser.parse_args()
    if arguments.quick and not scale.QUICK:  # sizes are fixed when modules are imported: begin anew
        os.environ[scale.VARIABLE] = "quick"
        os.execv(sys.executable, [sys.executable, "-m", "benchmarks", *sys.argv[1:]])  # noqa: S606
    results: dict[str, Any] = {
        "quick": scale.QUICK,
        "machine": description(),
        "figures": [],
        "growths": [],
        "left_out": [],
    }
    print(*(f"{name}: {value}" for name, value in results["machine"].items()), sep="\n")
    failed = [name for name in arguments.names or found if not run(name, results)]
    if len(arguments.names) != 1:
        print(*table.lines(results), sep="\n")
    if arguments.json:
        os.makedirs(os.path.dirname(os.path.abspath(arguments.json)), exist_ok=True)
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
        print(f"\nwritten to {arguments.json}")
    if failed:
        print(f"failed: {', '.join(failed)}")
    return bool(failed)


def run(name: str, results: dict[str, Any]) -> bool:
    """Run one, print what it yields, and keep it; whether all went well."""
    began = time.perf_counter()
    try:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"\n== {name}: {(module.__doc__ or '').partition(chr(10))[0]}", flush=True)
        for result in module.figures():
            if scale.QUICK and isinstance(result, Figure):  # these are of the whole size
                result = replace(result, was=None, wanted="")  # noqa: PLW2901
            print(*result.lines(), sep="\n", flush=True)
            if isinstance(result, Growth):
                results["growths"].append(
                    {"bench": name, **asdict(result), "exponent": result.exponent, "interval": result.interval}
                )
            else:
                results["figures"].append({"bench": name, **asdict(result), "ratios": result.ratios()})
    except peers.NotInstalledError as error:
        print(f"  left out: {error}")
        results["left_out"].append(f"{name}: {error}")
    except Exception:  # noqa: BLE001 - whatever it raises, the others shall run
        traceback.print_exc()
        return False
    finally:
        if not scale.QUICK:  # to start them takes long
            peers.stop()
    print(f"({time.perf_counter() - began:.0f} s)", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
