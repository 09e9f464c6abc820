"""Runs every benchmark in turn: `make bench`. Peers that are not installed are named and skipped."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks


def main(names: list[str]) -> None:
    """Run the benchmarks named, or all."""
    found = [module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name.startswith("bench_")]
    for name in names or found:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"== {name}: {(module.__doc__ or '').partition(chr(10))[0]}")
        module.main()
        print()


if __name__ == "__main__":
    main(sys.argv[1:])
