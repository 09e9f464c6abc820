"""What a user may choose from, by name: apart from what does it, so that the help of a command need not import that."""

from typing import Literal, get_args

__all__ = ["ALIGNMENTS", "FORMATS", "STATISTICS", "Alignment", "Format"]

Alignment = Literal["exact", "union", "interpolate"]
ALIGNMENTS: tuple[Alignment, ...] = get_args(Alignment)
"""At which steps runs are reduced."""

Format = Literal["events", "csv", "parquet", "jsonl", "mlflow", "wandb"]
FORMATS: tuple[Format, ...] = get_args(Format)
"""What is converted into what."""

STATISTICS = ("mean", "std", "min", "max", "median")
"""What runs are reduced to by default."""
