"""A run's hyperparameters, from the hparams dashboard's session start. Pure (no I/O)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError

from summaries.wire.pb import HParamsPluginData

if TYPE_CHECKING:
    from collections.abc import Mapping

    from summaries.wire.pb import SummaryMetadata

__all__ = ["hyperparameters"]

_SESSION_START_TAG = "_hparams_/session_start_info"


def hyperparameters(metadata: Mapping[str, SummaryMetadata]) -> dict[str, bool | float | str]:
    """Hyperparameter → value, from the hparams dashboard's session start; {} if it is missing or unreadable."""
    if _SESSION_START_TAG not in metadata:
        return {}
    data = HParamsPluginData()
    try:
        data.ParseFromString(metadata[_SESSION_START_TAG].plugin_data.content)
    except DecodeError:
        return {}
    values: dict[str, bool | float | str] = {}
    for name, value in sorted(data.session_start_info.hparams.items()):  # a map of protobuf has no order
        kind = value.WhichOneof("kind")
        if kind in ("number_value", "string_value", "bool_value"):
            values[name] = getattr(value, kind)
    return values
