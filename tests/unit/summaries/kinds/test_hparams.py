"""Hyperparameters: the types that are kept, and what is refused, word for word."""

import numpy as np
import pytest

import summaries
from summaries import Summary
from summaries.wire.pb import HParamsPluginData

REFUSED = {
    "a list of hyperparameters": (
        summaries.hparams,
        ([1], {}),
        TypeError,
        "hparam_dict must be a dictionary, got list: [1]",
    ),
    "a domain of another type": (
        summaries.hparams,
        ({"lr": 0.1}, {}, {"lr": ["a"]}),
        TypeError,
        "hparam_domain_discrete['lr'] must contain values of the same type as the hyperparameter, got ['a']",
    ),
    "a hyperparameter without a name": (
        summaries.hparams,
        ({1: 2}, {}),
        TypeError,
        "the names in hparam_dict must be strings, got 1",
    ),
    "a metric that is none": (
        summaries.hparams,
        ({"lr": 1}, {"loss": None}),
        TypeError,
        "metric_dict['loss'] must be a number, got NoneType: None",
    ),
    "a domain of letters": (
        summaries.hparams,
        ({"mode": "xyz"}, {}, {"mode": "xyz"}),
        TypeError,
        "hparam_domain_discrete['mode'] must be a list of values, got 'xyz'",
    ),
}


@pytest.mark.parametrize(("build", "args", "kind", "text"), REFUSED.values(), ids=REFUSED)
def test_what_the_error_says(build, args, kind, text):
    with pytest.raises(kind) as caught:
        build(*args)
    assert str(caught.value) == text


def stored(summary):
    """Of a Summary of hyperparameters: name → value, and name → domain."""
    parts = [HParamsPluginData.FromString(value.metadata.plugin_data.content) for value in summary.value]
    values = {
        name: getattr(value, value.WhichOneof("kind")) for name, value in parts[1].session_start_info.hparams.items()
    }
    domains = {
        info.name: [getattr(value, value.WhichOneof("kind")) for value in info.domain_discrete.values]
        for info in parts[0].experiment.hparam_infos
        if info.HasField("domain_discrete")
    }
    return values, domains


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"a": 1}, "{'a': 1}"),
        (b"x", "b'x'"),
        (np.zeros(2), "[0. 0.]"),
        (len, "len"),
        (int, "int"),
    ],
    ids=repr,
)
def test_what_is_stored_as_text(given, text):
    """tensorboardX takes all of these, and leaves most of the cells empty."""
    kind = type(given).__name__
    message = f"^hyperparameter 'k' should be a bool, a number or a string, got {kind}: stored as text$"
    with pytest.warns(UserWarning, match=message):
        summary = summaries.hparams({"k": given}, {})
    assert stored(summary)[0] == {"k": text}


@pytest.mark.parametrize("given", [[1, 2], [1], (1, 2), []])
def test_a_list_is_refused(given):
    """As torch does, which says ValueError too."""
    with pytest.raises(ValueError, match=r"^hyperparameter 'k' must be a bool, a number or a string, got ") as raised:
        summaries.hparams({"k": given}, {})
    assert str(raised.value).endswith(f"got {given!r}: str() makes it one")


def test_odd_domains():
    """torch takes both without a word."""
    text = r"^hparam_domain_discrete names 'bs', which is not in hparam_dict: it is left out$"
    with pytest.warns(UserWarning, match=text):
        assert stored(summaries.hparams({"lr": 0.5}, {}, {"bs": [1]})) == ({"lr": 0.5}, {})
    text = r"^hparam_domain_discrete\['lr'\] should contain the hyperparameter's value, got \[2.0, 3.0\]$"
    with pytest.warns(UserWarning, match=text):
        assert stored(summaries.hparams({"lr": 0.5}, {}, {"lr": [2.0, 3.0]})) == ({"lr": 0.5}, {"lr": [2.0, 3.0]})


def test_names_may_be_empty():
    with pytest.warns(UserWarning, match=r"^tag should not be empty"):
        summary = summaries.hparams({"": 1}, {"": 0.5})
    assert stored(Summary(value=summary.value[:3]))[0] == {"": 1.0}
    assert summary.value[3].simple_value == 0.5


def test_bools_stay_bools_among_hyperparameters():
    given = {"nesterov": np.True_, "lr": np.float32(0.5), "layers": 3, "name": "a", "none": None}
    summary = summaries.hparams(given, {"loss": 1.0}, {"layers": [1, 2, 3]})
    content = summaries.wire.pb.HParamsPluginData.FromString(summary.value[1].metadata.plugin_data.content)
    kinds = {name: value.WhichOneof("kind") for name, value in content.session_start_info.hparams.items()}
    assert kinds == {
        "nesterov": "bool_value",
        "lr": "number_value",
        "layers": "number_value",
        "name": "string_value",
    }
