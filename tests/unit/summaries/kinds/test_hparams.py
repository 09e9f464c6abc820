"""Hyperparameters: the types that are kept, and what is refused, word for word."""

import numpy as np
import pytest

import summaries

REFUSED = {
    "a list of hyperparameters": (
        summaries.hparams,
        ([1], {}),
        TypeError,
        "hparam_dict must be a dictionary, got list: [1]",
    ),
    "a hyperparameter that is a list": (
        summaries.hparams,
        ({"layers": [1, 2]}, {}),
        TypeError,
        "hyperparameter 'layers' must be a bool, a number or a string, got list: [1, 2]",
    ),
    "a domain of another type": (
        summaries.hparams,
        ({"lr": 0.1}, {}, {"lr": ["a"]}),
        TypeError,
        "hparam_domain_discrete['lr'] must contain values of the same type as the hyperparameter, got ['a']",
    ),
    "a domain of nothing": (
        summaries.hparams,
        ({"lr": 0.1}, {}, {"bs": [1]}),
        ValueError,
        "hparam_domain_discrete names 'bs', which is not in hparam_dict: ['lr']",
    ),
    "a hyperparameter without a name": (
        summaries.hparams,
        ({1: 2}, {}),
        TypeError,
        "the names in hparam_dict must be non-empty strings, got 1",
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
    "a value outside of its domain": (
        summaries.hparams,
        ({"lr": 1.0}, {}, {"lr": [2.0, 3.0]}),
        ValueError,
        "hparam_domain_discrete['lr'] must contain the hyperparameter's value, got [2.0, 3.0]",
    ),
}


@pytest.mark.parametrize(("build", "args", "kind", "text"), REFUSED.values(), ids=REFUSED)
def test_what_the_error_says(build, args, kind, text):
    with pytest.raises(kind) as caught:
        build(*args)
    assert str(caught.value) == text


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
