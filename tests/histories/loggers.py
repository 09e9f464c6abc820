"""The table of loggers whose histories are read: what is kept of each, and what is lost."""

from typing import NamedTuple

from helpers import ROOT

PAGE = ROOT / "docs" / "commands" / "convert.md"
BEGIN, END = "<!-- begin of the table of loggers -->\n", "<!-- end of the table of loggers -->\n"
POINTS = "steps and values"


class Logger(NamedTuple):
    """A logger: its package and version, the format by which it is read, and the case of `written.py`."""

    name: str
    package: str
    version: str
    format: str
    kept: str
    lost: str
    notes: tuple[str, ...] = ()


TIMELESS = "points had no time, and got that of the conversion"
LOGGERS = {
    "wandb": Logger(
        "W&B, offline", "wandb", "0.31.0", "wandb", f"{POINTS}, times, configuration, notes",
        "texts, media, statistics of the system", ("values of 'text' that are no numbers: 5 left out",),
    ),
    "trackio": Logger(
        "Trackio", "trackio", "0.43.0", "trackio",
        f"{POINTS}, times, configuration, group, pictures, histograms",
        "texts, tables, other media, traces, alerts, statistics of the system; digits of integers beyond 2⁵³",
        ("values of 'text' that are no numbers: 5 left out", "values of 'tab', a trackio.table: 1 left out",
         "settings of Trackio's own: 2 left out", "pictures, texts and histograms: 2 kept"),
    ),
    "swanlab": Logger(
        "SwanLab, offline and local", "swanlab", "0.10.3", "swanlab",
        f"{POINTS}, times, configuration, description, pictures, texts",
        "other media, the console's output", ("pictures, texts and histograms: 2 kept",),
    ),
    "clearml": Logger(
        "ClearML, offline", "clearml", "2.1.12", "clearml",
        f"{POINTS}, times, configuration, comment, pictures, single values at step 0",
        "plots, the console's output; NaN and infinities, which ClearML itself stores as 0",
        ("events of the type plot: 1 left out", "pictures, texts and histograms: 1 kept"),
    ),
    "comet_ml": Logger(
        "Comet, offline", "comet_ml", "3.58.8", "comet",
        f"{POINTS}, times, configuration, notes, pictures, texts", "epochs, histograms, other files",
        ("files of the type histogram3d: 1 left out", "pictures, texts and histograms: 2 kept"),
    ),
    "lightning": Logger(
        "Lightning's CSVLogger", "lightning", "2.6.6", "csv", f"{POINTS}, `hparams.yaml`", "times, which it has not",
        (f"13 {TIMELESS}",),
    ),
    "keras": Logger(
        "Keras' CSVLogger", "keras", "3.15.1", "csv", f"{POINTS}, the epoch being the step", "times, which it has not",
        (f"10 {TIMELESS}",),
    ),
    "ultralytics": Logger(
        "Ultralytics' `results.csv`", "ultralytics", "8.4.190", "csv",
        f"{POINTS}, the epoch being the step; `args.yaml`; seconds since the start, as the curve `time`",
        "times; digits, of which Ultralytics itself stores five or so", (f"15 {TIMELESS}",),
    ),
    "transformers": Logger(
        "transformers' `trainer_state.json`", "transformers", "5.23.0", "trainer",
        f"{POINTS}, of checkpoints the longest history; settings of the Trainer", "times, which it has not",
        (f"13 {TIMELESS}",),
    ),
}  # fmt: skip
UNWRITTEN = [
    ("Neptune's exporter", "neptune-exporter 0.1.0", "neptune",
     f"{POINTS}, times, configuration, histograms, texts", "files; points whose step is no integer"),
    ("plain logs", "", "log", f"{POINTS}, times at the beginning of a line", "lines without a step, which are counted"),
]  # fmt: skip


def table():
    """The lines of the table, as the page has them."""
    rows = [
        (one.name, f"{one.package} {one.version}", f"`{one.format}`", one.kept, one.lost) for one in LOGGERS.values()
    ] + [(name, version, f"`{format_}`", kept, lost) for name, version, format_, kept, lost in UNWRITTEN]
    head = ("Logger", "Written by", "Format", "What is kept", "What is lost")
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, ("---",) * len(head), *rows))


def main():
    """Write the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
