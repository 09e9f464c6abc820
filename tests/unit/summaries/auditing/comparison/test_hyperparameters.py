"""Hyperparameters from names and tables."""

import pytest

from summaries.auditing.comparison.hyperparameters import from_name, is_seed, read_table, stem, varying


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("lr=0.1_bs=32", {"lr": 0.1, "bs": 32}),
        ("sweep/learning_rate=1e-3-batch_size=32", {"learning_rate": 0.001, "batch_size": 32}),
        ("lr=-0.5,act=relu,bias=True", {"lr": -0.5, "act": "relu", "bias": True}),
        ("a/model.dim=8/seed=1", {"model.dim": 8, "seed": 1}),
        ("opt=adam_w_lr=0.1", {"opt": "adam", "w_lr": 0.1}),
        ("version_3", {}),
        (".", {}),
    ],
)
def test_from_names(name, found):
    assert from_name(name) == found


def test_what_varies():
    runs = [{"lr": 0.1, "seed": 1.0, "act": "relu"}, {"lr": 0.2, "seed": 2.0, "act": "relu"}, {"lr": 0.2, "wd": 0.0}]
    assert varying(runs) == ("lr", "act", "wd")


@pytest.mark.parametrize("name", ["seed", "Seed", "train.seed", "random_state", "fold", "trial1"])
def test_seeds(name):
    assert is_seed(name)


def test_stems():
    names = ["a_1", "a/version_2", "a", "3", "b-seed=4"]
    assert [stem(name) for name in names] == ["a", "a", "a", "3", "b"]


def test_tables(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("\ufeffrun,lr,note,label\na,0.1,,good\nb,0.2,slow,\n", encoding="utf-8")
    table = read_table(str(path))
    assert table.rows == {"a": {"lr": 0.1}, "b": {"lr": 0.2, "note": "slow"}}
    assert table.labels == {"a": "good"}
    path.write_text("name,lr\na,1\n")
    with pytest.raises(ValueError, match=r"runs.csv: there must be a column 'run', got name, lr$"):
        read_table(str(path))
    path.write_text("run,label\na,fine\n")
    with pytest.raises(ValueError, match=r"runs.csv: a label must be good, bad or empty, got 'fine' for a$"):
        read_table(str(path))
