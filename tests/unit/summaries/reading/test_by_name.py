"""Tags and runs by name: a dict, but for the error of a name that is not there, word for word."""

import copy
import pickle

import pytest

from summaries import Runs, SummaryWriter, read_logdir
from summaries.reading.by_name import ByName, UnknownNameError, nearest

TAGS = ByName(dict.fromkeys(["train/loss", "val/loss", "lr", "weights/loss_scale"]), "no scalars are tagged")


@pytest.mark.parametrize(
    ("tags", "name", "told"),
    [
        (TAGS, "los", "'los'; did you mean 'val/loss' or 'train/loss' or 'weights/loss_scale'?"),
        (TAGS, "LR", "'LR'; did you mean 'lr'?"),
        (TAGS, "train/los", "'train/los'; did you mean 'train/loss'?"),
        (TAGS, "xyz", "'xyz'; there are 'train/loss', 'val/loss' and 2 others"),
        (TAGS, "", "''; there are 'train/loss', 'val/loss' and 2 others"),
        (TAGS, 3, "'3'; there are 'train/loss', 'val/loss' and 2 others"),
        (ByName({"a": 1}, "no scalars are tagged"), "xyz", "'xyz'; there is 'a'"),
        (ByName({}, "no scalars are tagged"), "\x1b", "'\\x1b'; there are none"),
    ],
)
def test_a_name_that_is_not_there(tags, name, told):
    with pytest.raises(KeyError) as raised:
        tags[name]
    assert str(raised.value) == f"no scalars are tagged {told}"
    assert raised.value.args == (name,)


def test_the_error_goes_to_another_process():
    error = UnknownNameError("los", "no scalars are tagged", ("loss",))
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301 - made above
    assert str(copy.copy(error)) == str(error)


def test_it_is_a_dict():
    assert dict(TAGS) == TAGS
    assert TAGS.get("los") is None
    assert "los" not in TAGS
    for other in (copy.copy(TAGS), copy.deepcopy(TAGS), pickle.loads(pickle.dumps(TAGS))):  # noqa: S301
        assert other == TAGS
        with pytest.raises(KeyError, match="no scalars are tagged 'los'"):
            other["los"]


def test_the_repr_is_short():
    assert repr(TAGS) == "ByName(4 tags: 'train/loss', 'val/loss' and 2 others)"
    assert repr(ByName({"a": 1})) == "ByName(1 tag: 'a')"
    assert repr(Runs()) == "Runs(0 runs)"
    assert len(repr(ByName(dict.fromkeys(["x" * 10_000, "y" * 10_000])))) < 200


def test_the_nearest_names_are_few():
    assert len(nearest("loss", [f"loss/{number}" for number in range(100)])) == 3
    assert nearest("abc", []) == []


def test_runs_and_their_tags(tmp_path):
    for name in ("baseline", "clipped"):
        with SummaryWriter(tmp_path / name) as writer:
            writer.add_scalar("train/loss", 1.0, 0)
            writer.add_histogram("weights", [1.0, 2.0], 0)
    runs = read_logdir(tmp_path)
    run = runs["baseline"]
    assert repr(runs) == "Runs(2 runs: 'baseline' and 'clipped')"
    found = {}
    for mapping in (runs, run.scalars, run.histograms, run.images, run.audio, run.pr_curves, run.meshes, run.texts):
        with pytest.raises(KeyError) as raised:
            mapping["basline"]
        found[str(raised.value).partition(" 'basline'; ")[0]] = str(raised.value).partition("; ")[2]
    assert found == {
        "no run is named": "did you mean 'baseline'?",
        "no scalars are tagged": "there is 'train/loss'",
        "no histograms are tagged": "there is 'weights'",
        "no images are tagged": "there are none",
        "no audio is tagged": "there are none",
        "no PR curves are tagged": "there are none",
        "no meshes are tagged": "there are none",
        "no texts are tagged": "there are none",
    }
