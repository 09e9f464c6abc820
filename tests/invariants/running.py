"""Runs a case: bare, with our hook, and as TrainCheck wants it; each in a process of its own, on one thread."""

import itertools
import json
import math
import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

BIN = Path(sys.executable).parent
_LOOP = "for i in range(20):\n"
_HOOK = """from optim.integrations.torch import attach
attach(optimizer, {logdir!r}, model{options})
"""
_TOLD = re.compile(r"WiringWarning: step (\d+): .*\[gradledger rule (GL\d+)\]$", re.MULTILINE)


def timed(text):
    """The script that also prints the processor seconds of each step."""
    head, loop = text.split(_LOOP)
    return (
        f"{head}import json\nimport time\n\nmarks = []\n{_LOOP}    marks.append(time.process_time())\n{loop}"
        'marks.append(time.process_time())\nprint("marks", json.dumps(marks))\n'
    )


def written(case, folder, *, hook=False):
    """The path of the script of a case."""
    folder.mkdir(parents=True, exist_ok=True)
    text = timed(case.source())
    if hook:
        text = text.replace(_LOOP, _HOOK.format(logdir=str(folder / "events"), options=case.options) + _LOOP)
    path = folder / f"{case.name.replace('-', '_')}.py"
    path.write_text(text)
    return path


def ran(command, output):
    """Run a program: what it prints, which goes to a file, whether it ended well, and its processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with output.open("w") as file:
        done = subprocess.run(
            [str(part) for part in command],
            env={**os.environ, "OMP_NUM_THREADS": "1", "PATH": f"{BIN}:{os.environ['PATH']}"},
            cwd=output.parent, stdout=file, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    secs = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return output.read_text(errors="replace"), done.returncode == 0, secs


def per_step(text):
    """Processor seconds of each step but the first, which also imports."""
    marks = json.loads(re.search(r"marks (\[.*?\])", text)[1])
    return [b - a for a, b in itertools.pairwise(marks)][1:]


def with_hook(case, folder):
    """What our hook says: [(code, step)]; and the seconds of each step."""
    text, fine, _ = ran([BIN / "python", written(case, folder, hook=True)], folder / "hook.txt")
    assert fine, text
    return [(code, int(step)) for step, code in _TOLD.findall(text)], per_step(text)


def bare(case, folder):
    """The seconds of each step."""
    text, fine, _ = ran([BIN / "python", written(case, folder)], folder / "bare.txt")
    assert fine, text
    return per_step(text)


def traced(case, folder, *invariants):
    """The folder of a trace of all, or of what invariants need; the seconds of each step, and those of the whole."""
    trace = folder / "trace"
    shutil.rmtree(trace, ignore_errors=True)
    command = [BIN / "traincheck-collect", "--pyscript", written(case, folder), "--models-to-track", "model"]
    command += ["--output-dir", trace, *(["--invariants", *invariants] if invariants else [])]
    text, fine, secs = ran(command, folder / "collect.txt")
    assert fine, text
    return trace, per_step(text), secs


def inferred(traces, path):
    """Infer invariants from traces; the seconds that it takes."""
    text, fine, secs = ran([BIN / "traincheck-infer", "-f", *traces, "-o", path], path.with_suffix(".txt"))
    assert fine, text
    return secs


def checked(trace, invariants, folder):
    """The violations, and the seconds that it takes to find them."""
    results = folder / "results"
    shutil.rmtree(results, ignore_errors=True)
    command = [BIN / "traincheck-check", "-f", trace, "-i", invariants, "-o", results, "--no-html-report"]
    text, fine, secs = ran(command, folder / "check.txt")
    assert fine, text
    logs = [path.read_text() for path in results.rglob("failed.log")]
    assert logs, text
    parts = [json.loads(part) for part in re.split(r"(?<=^}\n)", logs[0], flags=re.MULTILINE) if part.strip()]
    return [violation(part) for part in parts], secs


def violation(part):
    """What the checker says of an invariant: its words, its kind, and the step of the last record that violates it."""
    records = [(one["time"], one["meta_vars.step"]) for one in part["trace"] if one.get("meta_vars.step") is not None]
    steps = [step for _, step in sorted(records) if not math.isnan(step)]
    invariant = part["invariant"]
    return {
        "text": invariant["text_description"],
        "relation": invariant["relation"],
        "step": steps[-1] if steps else None,
    }


def measured(case, place):
    """All that is measured of a case, now or earlier; every step is traced."""
    folder = place / "cases" / case.name
    path = folder / "measured.json"
    if not path.exists():
        told, hooked = with_hook(case, folder)
        found = {"bare": bare(case, folder), "told": told, "hooked": hooked}
        trace, found["traced"], found["collection"] = traced(case, folder)
        found["violations"], found["check"] = checked(trace, place / f"{case.program}.json", folder)
        path.write_text(json.dumps(found))
    return json.loads(path.read_text())


def mended(case, place):
    """The same of a program without a mistake; and with what its invariants need traced, in the first ten steps."""
    folder = place / "cases" / case.name
    path = folder / "mended.json"
    if not path.exists():
        invariants = place / f"{case.program}.json"
        trace, steps, _ = traced(case, folder / "selected", invariants)
        violations, _ = checked(trace, invariants, folder / "selected")
        path.write_text(json.dumps({"selected": steps[:9], "violations_selected": violations}))
    return measured(case, place) | json.loads(path.read_text())
