"""The layout of the custom-scalars dashboard: charts that draw several tags together. Pure (no I/O)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from summaries.kinds.metadata import plugin_metadata
from summaries.kinds.odd_values import warn_odd
from summaries.values import check_mapping
from summaries.wire.pb import Category, Chart, Layout, MarginChartContent, MultilineChartContent, Summary
from summaries.wire.tensors import string_tensor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["custom_scalars"]

_MARGIN_TAGS = 3


def custom_scalars(layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> Summary:
    """A Summary of a layout; TensorBoard expects one per run, without a step.

    Args:
        layout: category → chart title → ["Multiline", tags], where a tag may be a regular expression, or
            ["Margin", [value, lower, upper]]. Any other kind of chart becomes a Multiline, with a warning.

    Raises:
        TypeError: the layout is not made of mappings, or the tags are not strings.
        ValueError: a chart is not a kind and tags, or a margin chart does not have three tags.

    >>> summary = custom_scalars({"gradients": {"norm": ["Multiline", ["gradients/global_norm"]]}})
    >>> summary.value[0].tag
    'custom_scalars__config__'
    """
    check_mapping(layout, "layout")
    for title, charts in layout.items():
        check_mapping(charts, f"layout[{title!r}]")
        for name in (title, *charts):
            if not isinstance(name, str):
                raise TypeError(f"the titles in layout must be strings, got {type(name).__name__}: {name!r}")
    message = Layout(
        category=[
            Category(title=title, chart=[_chart(name, content) for name, content in charts.items()])
            for title, charts in layout.items()
        ]
    )
    tensor = string_tensor([message.SerializeToString()], [])
    metadata = plugin_metadata("custom_scalars")
    return Summary(value=[Summary.Value(tag="custom_scalars__config__", tensor=tensor, metadata=metadata)])


def _chart(title: str, content: Sequence[Any]) -> Chart:
    if not isinstance(content, (list, tuple)) or len(content) < 2:  # noqa: PLR2004 - kind and tags
        raise ValueError(f"chart {title!r} must be ['Multiline', tags] or ['Margin', tags], got {content!r}")
    kind, named = content[:2]
    tags = [named] if isinstance(named, str) or not isinstance(named, Iterable) else list(named)
    if not all(isinstance(tag, (str, bytes)) for tag in tags):
        raise TypeError(f"the tags of chart {title!r} must be a list of strings, got {named!r}")
    if kind != "Margin":
        if kind != "Multiline":
            warn_odd("chart", title, "is neither 'Multiline' nor 'Margin'", "it becomes a Multiline", repr(kind))
        return Chart(title=title, multiline=MultilineChartContent(tag=tags))
    if len(tags) != _MARGIN_TAGS:
        raise ValueError(f"margin chart {title!r} must have 3 tags (value, lower, upper), got {len(tags)}")
    value, lower, upper = tags
    series = MarginChartContent.Series(value=value, lower=lower, upper=upper)
    return Chart(title=title, margin=MarginChartContent(series=[series]))
