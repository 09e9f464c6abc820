"""What other loggers wrote is read as it was: each of the real libraries writes, offline, and we compare."""

from importlib import metadata
from importlib.util import find_spec

import numpy as np
import pytest
from histories.loggers import LOGGERS, PAGE, table
from histories.written import FLAT, LOSS, ODD, write

from summaries import read_logdir
from summaries.tools import convert

ACCURACY = [i * 0.1 for i in range(5)]
STEPS = list(range(5)), [10, 11, 12]
EPOCHS, EPOCHS_FROM_1 = list(range(5)), list(range(1, 6))

# The tags of the losses, and of NaN and infinities, and others; and the steps of each.
SERIES = {
    "wandb": {"loss": (STEPS[0], LOSS), "odd": (STEPS[1], ODD), "train.acc": (STEPS[0], ACCURACY)},
    "trackio": {"loss": (STEPS[0], LOSS), "odd": (STEPS[1], ODD), "train.acc": (STEPS[0], ACCURACY)},
    "swanlab": {"loss": (STEPS[0], LOSS), "odd": (STEPS[1], ODD), "train/acc": (STEPS[0], ACCURACY)},
    "clearml": {"loss/train": (STEPS[0], LOSS), "odd/odd": (STEPS[1], [0.0] * 3), "Summary/final": ([0], [1 / 3])},
    "comet_ml": {"loss": (STEPS[0], LOSS), "odd": (STEPS[1], ODD), "train/acc": (STEPS[0], ACCURACY)},
    "lightning": {"loss": (STEPS[0], LOSS), "odd": (STEPS[1], ODD)},
    "keras": {"loss": (EPOCHS, LOSS), "odd": (EPOCHS, (ODD * 2)[:5])},
    "transformers": {"loss": (STEPS[0], LOSS), "odd": (STEPS[1], ODD)},
    "ultralytics": {"train/loss": (EPOCHS_FROM_1, [float(f"{loss:.6g}") for loss in LOSS])},
}
CONFIGURATIONS = {"keras": {}, "transformers": {f"trial_params.{name}": value for name, value in FLAT.items()}}
PICTURES = {"trackio": "img", "swanlab": "img", "clearml": "img/a", "comet_ml": "img"}


@pytest.mark.parametrize("library", SERIES)
def test_every_number_is_as_it_was(library, tmp_path):
    if find_spec(library) is None:
        pytest.skip("`make histories` installs it, or `make frameworks`")
    (tmp_path / "written").mkdir()
    write(library, tmp_path / "written")
    done = convert(tmp_path / "written", tmp_path / "runs", double_precision=True)
    assert done.source_format == LOGGERS[library].format
    ((_, run),) = read_logdir(tmp_path / "runs").items()
    for tag, (steps, values) in SERIES[library].items():
        series = run.scalars[tag]
        assert series.step.tolist() == steps
        np.testing.assert_array_equal(series.value, values)
        assert 1.7e9 < series.wall_time.min() <= series.wall_time.max() < 1e10
    wanted = CONFIGURATIONS.get(library, FLAT)
    assert {name: value for name, value in run.hparams.items() if name in wanted} == wanted
    if library in PICTURES:
        picture = run.images[PICTURES[library]][0]
        assert (picture.height, picture.width) == (8, 9)
    notes = [note for note in done.notes if not note.startswith(("the run ", "parameters of Comet's own"))]
    assert tuple(sorted(notes)) == tuple(sorted(LOGGERS[library].notes))


@pytest.mark.parametrize("library", SERIES)
def test_the_table_names_the_version_that_wrote(library):
    try:
        version = metadata.version(LOGGERS[library].package)
    except metadata.PackageNotFoundError:
        pytest.skip("`make histories` installs it, or `make frameworks`")
    assert version == LOGGERS[library].version


def test_the_page_has_the_table():
    """`PYTHONPATH=tests python -m histories.loggers` writes it."""
    assert table() in PAGE.read_text(encoding="utf-8")
