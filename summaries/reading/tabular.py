"""What has scalars, and gives them as tables."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from summaries.reading.presented import presented

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from summaries.patterns import Patterns

__all__ = ["Tabular"]


class Tabular:
    """What has scalars, and gives them as tables. `Run` and `Runs` are two such things."""

    @abstractmethod
    def _runs_by_name(self) -> Mapping[str | None, Any]:
        """Each run by its name; the name None if there is only one run, and tables do not name it."""

    def to_arrow(
        self, wide: bool = False, latest: bool = False, tags: Patterns = None, hparams: bool = False
    ) -> pa.Table:
        """Return the scalars as an Arrow table. Steps, times and values are not copied if there is only one tag.

        Args:
            wide: whether there is a row for each step, with the columns step, wall_time (the latest of the row), and
                one for each tag, null where a tag has no point. If a tag has several points at a step, the one that
                was written last stands. False gives a row for each point, with the columns tag, step, wall_time and
                value. With several runs, the first column of both is run.
            latest: whether to leave out the points that a restart superseded, as `Series.latest` does.
            tags: which tags to include: a shell pattern or several; None means all.
            hparams: whether to add a column for each hyperparameter, `hparams/lr`: float64, or text if a value is not a
                number. They come from the run's name (`lr=0.1_seed=3`), then the hparams dashboard, a text such as
                `config`, and files beside the event files: `hparams.yaml`, `args.json`, `params.json`,
                `.hydra/config.yaml`, `opt.yaml`. The field's metadata says which, as `source`. What was not read, since
                `read_run` was given other tags, is not found.

        Returns:
            A table whose run and tag are dictionary-encoded strings, step is int64, and the rest is float64; wall_time
            in seconds since the epoch.

        Raises:
            ImportError: pyarrow is missing; the message says how to install it.
        """
        return presented("tables.to_arrow", self._runs_by_name(), wide, latest, tags, hparams)

    def to_pandas(
        self, wide: bool = False, latest: bool = False, tags: Patterns = None, hparams: bool = False
    ) -> pd.DataFrame:
        """Return the scalars as a DataFrame: run and tag are categorical, and what is missing is NaN.

        Args:
            wide: whether a row is a step, with a column for each tag, instead of a point.
            latest: whether points that a restart superseded are left out.
            tags: which tags, by shell patterns; None for all.
            hparams: whether there is a column for each hyperparameter, as in `to_arrow`; `.attrs["hparams"]` of the
                DataFrame says of each where it comes from.

        Returns:
            The columns of `to_arrow`: step int64, wall_time float64 in seconds since the epoch, values float64.

        Raises:
            ImportError: pandas is missing; the message says how to install it.

        >>> import tempfile
        >>> from summaries import SummaryWriter, read_run
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_scalar("loss", 0.5, 7)
        >>> read_run(writer.path).to_pandas()[["tag", "step", "value"]].to_dict("records")
        [{'tag': 'loss', 'step': 7, 'value': 0.5}]
        """
        return presented("tables.to_pandas", self._runs_by_name(), wide, latest, tags, hparams)

    def to_polars(
        self, wide: bool = False, latest: bool = False, tags: Patterns = None, hparams: bool = False
    ) -> pl.DataFrame:
        """Return the scalars as a Polars DataFrame, which shares its memory with an Arrow table.

        Args:
            wide: whether a row is a step, with a column for each tag, instead of a point.
            latest: whether points that a restart superseded are left out.
            tags: which tags, by shell patterns; None for all.
            hparams: whether there is a column for each hyperparameter, as in `to_arrow`.

        Returns:
            The columns of `to_arrow`.

        Raises:
            ImportError: polars or pyarrow is missing; the message says how to install it.
        """
        return presented("tables.to_polars", self._runs_by_name(), wide, latest, tags, hparams)
