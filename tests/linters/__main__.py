"""Who tells a training with a bug from one without: `PYTHONPATH=tests python -m linters DIRECTORY`.

What is missing of the trainings is trained first, in the directory. Labels are read from `labels.json`: a table for the
programs that rules were made with, and one for those that were held out, as Markdown.
"""

import sys
import time
from pathlib import Path

from linters.corpus import HELD_OUT, labels, main
from linters.peers import LINTERS

HEAD = """| | precision | recall | F1 | accused of those without | processor ms a run |
| --- | --- | --- | --- | --- | --- |"""


def row(linter, directory, runs):
    """A line of a table: what a linter says of these runs, {name: the bug or ""}."""
    began = time.process_time()
    accused = {run: linter(directory / "runs" / run) for run in runs}
    secs = (time.process_time() - began) / len(runs)
    right = sum(accused[run] for run, bug in runs.items() if bug)
    wrong = sum(accused[run] for run, bug in runs.items() if not bug)
    recall, precision = right / sum(map(bool, runs.values())), right / max(right + wrong, 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return f"| {linter.__name__} | {precision:.2f} | {recall:.2f} | {f1:.2f} | {wrong} | {1000 * secs:.0f} |"


def report(directory):
    """Print both tables."""
    known = labels()
    for title, held in (("programs held out", True), ("programs that rules were made with", False)):
        runs = {run: bug for run, bug in known.items() if (run.split("/")[0] in HELD_OUT) is held}
        faulty = sum(map(bool, runs.values()))
        print(f"\n{title}: {faulty} trainings with a bug, {len(runs) - faulty} without\n")
        print(HEAD)
        for linter in LINTERS:
            linter(directory / "runs" / next(iter(runs)))  # imports
            print(row(linter, directory, runs), flush=True)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    main(place, ())
    report(place)
