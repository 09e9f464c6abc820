"""Write docs/papers.md and its figures; fail if a number is not as it should be."""

import sys
import time
from pathlib import Path

from helpers import ROOT

from papers import convergence, edge, forecasts, heavy_tails, marginal, spikes

PAGE = Path(ROOT) / "docs/papers.md"
HEAD = """\
# Papers, reproduced

What papers say of optimizers, and what ours do in the same place. `make papers` runs all of it in minutes and
writes this page: the numbers are the same at each run on one machine, and nearly so on others. Each section says
which settings are ours.
"""


def main():
    sections = []
    for module in (edge, spikes, forecasts, convergence, marginal, heavy_tails):
        began = time.monotonic()
        for section in module.sections():
            sections.append(section)
            print(f"{section.title}: {time.monotonic() - began:.0f} s")
            for what, theirs, ours, right in section.rows:
                print(f"  {'ok ' if right else 'NOT'} {what}: {theirs}; here {ours}")
    figures = PAGE.parent / "papers"
    figures.mkdir(exist_ok=True)
    for section in sections:
        for figure in section.figures:
            (figures / f"{figure.name}.svg").write_text(figure.svg(), encoding="utf-8")
    PAGE.write_text(HEAD + "\n" + "\n\n".join(section.markdown() for section in sections) + "\n", encoding="utf-8")
    return 0 if all(section.holds for section in sections) else 1


if __name__ == "__main__":
    sys.exit(main())
