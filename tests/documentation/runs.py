"""The runs that the examples in docs/commands and docs/how-to are about: the same bytes on every day and machine.

python runs.py  # writes them below `runs`
"""

from pathlib import Path

from summaries import Event, histogram, scalar, text
from summaries.wire.records import frame

START = 1_700_000_000.0
STEPS = 100


def write(directory):
    """Three runs below `directory`: two seeds that learn, and one with a rate so high that it diverges."""
    for name, rate in (("lr=0.1_seed=0", 0.1), ("lr=0.1_seed=1", 0.1), ("lr=0.5_seed=0", 0.5)):
        path = Path(directory, name, "events.out.tfevents.1700000000.host.1.0")
        path.parent.mkdir(parents=True)
        path.write_bytes(b"".join(_records(rate, seed=int(name[-1]))))


def _records(rate, seed):
    yield _record(0, file_version="brain.Event:2")
    yield _record(0, summary=text("notes/plan", f"rate {rate}, seed {seed}"))
    for step in range(STEPS):
        learned = 2.0 * 0.96**step + 0.25 + 0.01 * seed
        loss = learned if rate < 0.5 or step < 40 else 0.64 * 1.06 ** (step - 40)
        yield _record(step, summary=scalar("train/loss", loss + 0.01 * ((step * 7 + seed) % 5)))
        yield _record(step, summary=scalar("gradients/global_norm", 0.5 + loss / 2))
        if step % 10 == 9:
            yield _record(step, summary=scalar("val/loss", loss + 0.1))
    yield _record(STEPS - 1, summary=histogram("weights", [rate * (value - 50) for value in range(101)]))


def _record(step, **what):
    return frame(Event(wall_time=START + step, step=step, **what).SerializeToString())


if __name__ == "__main__":
    write("runs")
