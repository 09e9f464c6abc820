"""The table of runs: hyperparameters from where `stated` finds them, and values of tags."""

import json
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from browser.plugin_runs import library_of
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from javascript.page_types import keys

from summaries import SummaryWriter, read_run
from summaries.integrations.tensorboard.answers import ANSWERS
from summaries.integrations.tensorboard.books import Book
from summaries.integrations.tensorboard.table import MOST_COLUMNS, ends_of
from summaries.reading.stated import stated
from summaries.writing.event_file_writer import NonFiniteWarning


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    for seed, values in enumerate(([3.0, 1.0, 2.0], [5.0, np.inf, 4.0])):
        with SummaryWriter(root / f"lr=0.1_seed={seed}") as writer:
            writer.add_text("config", json.dumps({"width": 64, "lr": 7, "note": 2000 * "x"}))
            for step, value in zip((0, 10, 20), values, strict=True):
                with nullcontext() if np.isfinite(value) else pytest.warns(NonFiniteWarning):
                    writer.add_scalar("loss", value, step)
    return library_of(root)


def table(library, columns, **query):
    return ANSWERS["table"](library, {"columns": json.dumps(columns), **query})


def test_cells(library):
    asked = [["parameter", "lr"], ["parameter", "width"], ["last", "loss"], ["smallest", "loss"], ["largest", "loss"]]
    rows = dict(table(library, [*asked, ["last", "other"]])["rows"])
    assert rows["lr=0.1_seed=0"] == [0.1, 64.0, 2.0, 1.0, 3.0, None]
    assert rows["lr=0.1_seed=1"] == [0.1, 64.0, 4.0, 4.0, 5.0, None]  # the largest finite one


@pytest.mark.parametrize(
    ("step", "value"), [(-1, None), (0, 5.0), (9, 5.0), (10, "Infinity"), (19, "Infinity"), (30, 4.0), (31, None)]
)
def test_a_value_at_a_step_is_the_last_one_until_then_unless_the_run_has_ended(library, step, value):
    assert dict(table(library, [["at", "loss", step]])["rows"])["lr=0.1_seed=1"] == [value]


@pytest.mark.parametrize(
    ("tags", "main"),
    [
        (["lr", "val/loss", "train/loss", "test/loss"], ["train/loss", "val/loss"]),
        (["train_loss", "val_loss"], ["train_loss", "val_loss"]),
        (["train/loss", "val/accuracy", "interval/loss"], ["train/loss"]),
        (["val/loss"], ["val/loss"]),
        (["lr"], []),
    ],
)
def test_the_main_tags_are_a_loss_and_its_validation(tmp_path, tags, main):
    with SummaryWriter(tmp_path / "a") as writer:
        for step in range(5):
            for tag in tags:
                writer.add_scalar(tag, 1.0 / (1 + step), step)
    library = library_of(tmp_path)
    library.settled()
    assert table(library, [])["main"] == main


def test_columns_that_were_let_go_are_read_again_once(tmp_path):
    with SummaryWriter(tmp_path / "a") as writer:
        for step in (0, 10, 20):
            writer.add_scalar("loss", step + 1.0, step)
    library = library_of(tmp_path)
    book = library.book("a")
    book.let_go()
    assert table(library, [["at", "loss", 10]])["rows"] == [["a", [11.0]]]
    book.let_go()
    assert table(library, [["at", "loss", 10], ["last", "loss"]])["rows"] == [["a", [11.0, 21.0]]]
    assert book.columns is None


def test_hyperparameters_are_those_that_everybody_asks_for(library):
    found = {one["name"]: one for one in table(library, [])["parameters"]}
    book = library.book("lr=0.1_seed=0")
    assert set(found) == set(stated(book.name, book.columns.run))
    assert [*found][:2] == ["lr", "seed"]  # what names state comes first
    assert found["seed"] == {"name": "seed", "runs": 2, "values": 2, "source": "name", "chosen": True}
    assert (found["width"]["source"], found["width"]["chosen"], found["width"]["values"]) == ("config", False, 1)
    (row,) = [cells for name, cells in table(library, [["parameter", "note"]])["rows"] if name == book.name]
    assert row == [1000 * "x" + "…"]


def test_names_state_before_anything_is_read(library):
    assert {key: value for key, (value, _) in Book(library.book("lr=0.1_seed=1").files).stated.items()} == {
        "lr": 0.1,
        "seed": 1.0,
    }


def test_only_what_has_changed(library):
    version = table(library, [])["version"]
    assert table(library, [["last", "loss"]], since=str(version))["rows"] == []


def test_the_types_of_the_page(library):
    answer = table(library, [])
    assert keys("answers.d.ts", "TableAnswer") == set(answer)
    assert keys("answers.d.ts", "Parameter") == set(answer["parameters"][0])


@pytest.mark.parametrize(
    "asked",
    [
        "x",
        '{"a": 1}',
        '[["last"]]',
        '[["mean", "loss"]]',
        '[["at", "loss"]]',
        '[["at", "loss", 1.5]]',
        "[[1, 2]]",
        '[["at", "loss", true]]',
        '[["at", "loss", 1e400]]',
        json.dumps((MOST_COLUMNS + 1) * [["last", "a"]]),
    ],
)
def test_what_is_no_list_of_columns(library, asked):
    with pytest.raises(ValueError, match="columns must be a JSON list of at most 200 like") as raised:
        ANSWERS["table"](library, {"columns": asked})
    assert len(str(raised.value)) < 400


@given(arrays(np.float64, st.integers(1, 30), elements=st.floats(width=32)))
def test_ends_are_what_a_loop_finds(value):
    series = SimpleNamespace(latest=lambda: SimpleNamespace(value=value))
    last, low, high = ends_of(SimpleNamespace(scalars={"a": series}))["a"]
    finite = [one for one in value.tolist() if np.isfinite(one)]
    assert np.array_equal(last, value[-1], equal_nan=True)
    assert np.array_equal([low, high], [min(finite), max(finite)] if finite else 2 * [np.nan], equal_nan=True)


def test_ends_are_of_what_stands_after_a_restart(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step, value in ((0, 9.0), (1, 8.0), (2, 99.0), (1, 7.0)):
            writer.add_scalar("loss", value, step)
    assert ends_of(read_run(tmp_path))["loss"] == (7.0, 7.0, 9.0)
