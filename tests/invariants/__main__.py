"""What TrainCheck and our hook say of the same programs: `PYTHONPATH=tests python -m invariants DIRECTORY`.

What is missing in the directory is measured first, so that it can be stopped and gone on with. The tables are printed
as Markdown, and all that was measured is in `results.json`.
"""

import json
import statistics
import sys
from pathlib import Path

from invariants.cases import HEALTHY, MISTAKES, REFERENCES
from invariants.running import inferred, measured, mended, traced

MISTAKEN = """| mistake | rule | wrong from step | the hook | TrainCheck: of the mistake | other new violations |
| --- | --- | --- | --- | --- | --- |"""
SOUND = """| healthy program | the hook | TrainCheck: new violations |
| --- | --- | --- |"""
COST = """| program | bare | the hook | TrainCheck: all traced | what is needed | inference | check | violations |
| --- | --- | --- | --- | --- | --- | --- | --- |"""
ORDER = {"FunctionLeadRelation", "FunctionCoverRelation"}  # which its tutorial says to ignore


def learned(place):
    """Infer the invariants of each program from its references; processor seconds of each."""
    path = place / "inference.json"
    secs = json.loads(path.read_text()) if path.exists() else {}
    for name, cases in REFERENCES.items():
        if name not in secs:
            traces = [traced(case, place / "references" / case.name)[0] for case in cases]
            secs[name] = inferred(traces, place / f"{name}.json")
            path.write_text(json.dumps(secs))
    return secs


def new(found, own):
    """Violations that the mended program itself does not have."""
    return [one for one in found["violations"] if one["text"] not in {other["text"] for other in own["violations"]}]


def first(steps):
    """The words for the first of some steps: TrainCheck, too, counts from 1, and 0 is what comes before the loop."""
    return f"step {min([step for step in steps if step] or steps)}" if steps else "no"


def counted(violations):
    """How many there are, and how many of these are not of the order of calls."""
    return f"{len(violations)} ({sum(one['relation'] not in ORDER for one in violations)})"


def mistake_row(case, found, own):
    """A line of the first table."""
    about, others = [], []
    for one in new(found, own):
        (about if case.spoken_of(one["text"]) else others).append(one)
    told = first([step for code, step in found["told"] if code == case.code])
    words = first([int(one["step"] or 0) for one in about])
    return [case.name.replace("_", " "), case.code, case.since, told, words, counted(others)]


def healthy_row(case, found, own):
    """A line of the second table."""
    told = ", ".join(code for code, _ in found["told"]) or "nothing"
    return [case.name.replace("_", " "), told, counted(new(found, own))]


def cost_row(name, own, inference):
    """A line of the third table: processor time of the median step, of inference and check; violations of both ways."""
    steps = [1000 * statistics.median(own[key]) for key in ("bare", "hooked", "traced", "selected")]
    violations = f"{len(own['violations'])}, {len(own['violations_selected'])}"
    return [name, *(f"{ms:.1f} ms" for ms in steps), f"{inference:.0f} s", f"{own['check']:.0f} s", violations]


def printed(head, rows):
    """Print a table."""
    print("\n" + head)
    for row in rows:
        print("| " + " | ".join(str(word) for word in row) + " |")


def main(place):
    """Measure what is missing, and print the tables."""
    place.mkdir(parents=True, exist_ok=True)
    inference = learned(place)
    own = {name: mended(cases[0], place) for name, cases in REFERENCES.items()}
    found = {case.name: measured(case, place) for case in (*MISTAKES, *HEALTHY)}
    (place / "results.json").write_text(json.dumps({"mended": own, "cases": found, "inference": inference}, indent=1))
    printed(MISTAKEN, [mistake_row(case, found[case.name], own[case.program]) for case in MISTAKES])
    printed(SOUND, [healthy_row(case, found[case.name], own[case.program]) for case in HEALTHY])
    printed(COST, [cost_row(name, own[name], inference[name]) for name in REFERENCES])


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
