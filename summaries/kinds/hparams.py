"""Hyperparameters and the metrics to compare runs by, for the hparams dashboard. Pure (no I/O)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from google.protobuf.struct_pb2 import ListValue, Value

from summaries.kinds.metadata import plugin_metadata
from summaries.kinds.scalar import scalar
from summaries.values import as_float, check_mapping, warn
from summaries.wire.pb import (
    Experiment,
    HParamInfo,
    HParamsPluginData,
    MetricInfo,
    MetricName,
    SessionEndInfo,
    SessionStartInfo,
    Summary,
    hparams_pb2,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["hparams"]

_EXPERIMENT, _START, _END = (f"_hparams_/{part}" for part in ("experiment", "session_start_info", "session_end_info"))


def hparams(
    hparam_dict: Mapping[str, Any],
    metric_dict: Mapping[str, Any],
    hparam_domain_discrete: Mapping[str, Sequence[Any]] | None = None,
) -> Summary:
    """A Summary of a run's hyperparameters and of the metrics shown in its row of the table.

    Args:
        hparam_dict: name → bool, number or string; bools stay bools. None is left out. Anything else but a list is
            stored as text: a function or class as its name.
        metric_dict: tag → number, each also stored as a scalar.
        hparam_domain_discrete: name → every value that it can take, of the same type as its value. Names that are not
            hyperparameters are left out.

    Raises:
        TypeError: an argument is not a mapping, a name is not a string, or a domain's values differ in type from the
            hyperparameter.
        ValueError: a hyperparameter is a list or a tuple.

    Warns:
        UserWarning: a value is stored as text, a domain is left out, or a domain does not contain the value.

    >>> [value.tag for value in hparams({"lr": 0.1, "nesterov": True}, {"accuracy": 0.9}).value]
    ['_hparams_/experiment', '_hparams_/session_start_info', '_hparams_/session_end_info', 'accuracy']
    """
    check_mapping(hparam_dict, "hparam_dict")
    check_mapping(metric_dict, "metric_dict")
    for argument, names in (("hparam_dict", hparam_dict), ("metric_dict", metric_dict)):
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"the names in {argument} must be strings, got {name!r}")
    domains = hparam_domain_discrete or {}
    check_mapping(domains, "hparam_domain_discrete")
    for name in domains:
        if name not in hparam_dict:
            warn(f"hparam_domain_discrete names {name!r}, which is not in hparam_dict: it is left out")
    values = {name: _value(name, value) for name, value in hparam_dict.items() if value is not None}
    experiment = Experiment(
        hparam_infos=[_info(name, value, domains.get(name)) for name, value in values.items()],
        metric_infos=[MetricInfo(name=MetricName(tag=tag)) for tag in metric_dict],
    )
    parts = {
        _EXPERIMENT: HParamsPluginData(experiment=experiment),
        _START: HParamsPluginData(session_start_info=SessionStartInfo(hparams=values)),
        _END: HParamsPluginData(session_end_info=SessionEndInfo(status=hparams_pb2.STATUS_SUCCESS)),
    }
    summary = Summary()
    for tag, content in parts.items():
        # There is no tensor. TensorBoard 2.21 adds an empty one if the class is unknown, as in torch's files; if it is
        # known, its Python loader answers every page with an error.
        data = content.SerializeToString(deterministic=True)
        summary.value.add(tag=tag, metadata=plugin_metadata("hparams", data, data_class="DATA_CLASS_UNKNOWN"))
    for tag, metric in metric_dict.items():
        summary.MergeFrom(scalar(tag, as_float(metric, f"metric_dict[{tag!r}]")))
    return summary


def _value(name: str, value: Any) -> Value:
    if isinstance(value, str):
        return Value(string_value=value)
    if isinstance(value, (bool, np.bool_)):  # before numbers: a bool is an int
        return Value(bool_value=bool(value))
    if isinstance(value, (list, tuple)):
        wanted = f"hyperparameter {name!r} must be a bool, a number or a string"
        raise ValueError(f"{wanted}, got {value!r}: str() makes it one")  # noqa: TRY004 - as torch does
    if not isinstance(value, (bytes, bytearray)):
        try:
            return Value(number_value=as_float(value))
        except (TypeError, ValueError):
            pass
    warn(f"hyperparameter {name!r} should be a bool, a number or a string, got {type(value).__name__}: stored as text")
    return Value(string_value=getattr(value, "__name__", None) or str(value))


_TYPES = {
    "bool_value": hparams_pb2.DATA_TYPE_BOOL,
    "number_value": hparams_pb2.DATA_TYPE_FLOAT64,
    "string_value": hparams_pb2.DATA_TYPE_STRING,
}


def _info(name: str, value: Value, domain: Sequence[Any] | None) -> HParamInfo:
    kind = value.WhichOneof("kind") or ""
    info = HParamInfo(name=name, type=_TYPES[kind])
    if domain is None and kind == "bool_value":
        domain = (False, True)  # only a column with a domain can be filtered by its values
    if domain is not None:
        if isinstance(domain, str) or not isinstance(domain, Iterable):
            raise TypeError(f"hparam_domain_discrete[{name!r}] must be a list of values, got {domain!r}")
        choices = [_value(name, choice) for choice in domain]
        if any(choice.WhichOneof("kind") != kind for choice in choices):
            raise TypeError(
                f"hparam_domain_discrete[{name!r}] must contain values of the same type as the hyperparameter,"
                f" got {list(domain)!r}"
            )
        if value not in choices:
            warn(f"hparam_domain_discrete[{name!r}] should contain the hyperparameter's value, got {list(domain)!r}")
        info.domain_discrete.CopyFrom(ListValue(values=choices))
    return info
