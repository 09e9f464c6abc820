"""Which hyperparameters vary, and what tables say."""

import pytest

from summaries.auditing.comparison.hyperparameters import is_seed, read_table, stem, varying


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
