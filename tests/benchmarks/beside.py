"""Two checkouts in one run: `python -m benchmarks.beside OTHER_CHECKOUT [bench_… …]`.

Each benchmark runs in the other checkout and in this one, in turns, so that a busy minute slows both. A line of the
table is one figure that both print: the least of the rounds, there and here, and the ratio; above 1 ours is slower.
"""

from __future__ import annotations

import os
import pkgutil
import re
import subprocess
import sys

import benchmarks

ROUNDS = int(os.environ.get("ROUNDS", "3"))
_FIGURE = re.compile(r"^(?P<label>.*?\S)\s{2,}(?P<figure>[\d,]+(?:\.\d+)?)\b")


def figures_of(checkout: str, name: str) -> dict[str, float]:
    """What one benchmark prints in a checkout: the first figure of each line, by the lines' labels."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((os.path.join(checkout, "tests"), checkout))}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", name],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(f"{name} failed in {checkout}:\n{done.stderr[-500:]}", file=sys.stderr)
    figures: dict[str, float] = {}
    title = ""
    for line in done.stdout.splitlines():
        found = _FIGURE.match(line)
        if found is None:
            title = line.strip().replace(", us", ", µs")  # as older checkouts write it
            continue
        label = f"{title}: {found['label'].strip()}" if line.startswith("  ") else found["label"].strip()
        figures[label] = float(found["figure"].replace(",", ""))
    return figures


def main(other: str, names: list[str]) -> None:
    """Run the benchmarks named, or all, in both checkouts."""
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    found = [module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name.startswith("bench_")]
    print(f"{'':72}{'other':>12}{'ours':>12}{'ratio':>8}")
    for name in names or found:
        rounds: dict[str, list[dict[str, float]]] = {other: [], here: []}
        for _ in range(ROUNDS):
            for checkout, of_checkout in rounds.items():
                of_checkout.append(figures_of(checkout, name))
        least = {checkout: _least(of_checkout) for checkout, of_checkout in rounds.items()}
        for label, figure in least[other].items():
            if label in least[here]:
                ours = least[here][label]
                print(
                    f"{name.removeprefix('bench_') + ': ' + label:72.72}{figure:12.3f}{ours:12.3f}{ours / figure:8.2f}"
                )


def _least(rounds: list[dict[str, float]]) -> dict[str, float]:
    labels = dict.fromkeys(label for figures in rounds for label in figures)
    return {label: min(figures[label] for figures in rounds if label in figures) for label in labels}


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), sys.argv[2:])
