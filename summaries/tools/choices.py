"""What a user may choose from, by name: apart from what does it, so that the help of a command need not import that."""

from typing import Literal, get_args

__all__ = ["ALIGNMENTS", "FORMATS", "STATISTICS", "TARGETS", "Alignment", "Format"]

Alignment = Literal["exact", "union", "interpolate"]
ALIGNMENTS: tuple[Alignment, ...] = get_args(Alignment)
"""At which steps runs are reduced."""

Format = Literal[
    "events", "csv", "parquet", "jsonl", "mlflow", "wandb", "trainer", "trackio", "neptune", "swanlab", "clearml",
    "comet", "log",
]  # fmt: skip
FORMATS: tuple[Format, ...] = get_args(Format)
"""What runs are converted from; TARGETS are what they are converted to, too."""
TARGETS: tuple[Format, ...] = ("events", "csv", "parquet", "jsonl", "mlflow")

STATISTICS = ("mean", "std", "min", "max", "median")
"""What runs are reduced to by default."""
