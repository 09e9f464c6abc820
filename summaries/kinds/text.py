"""Text summaries: Markdown for TensorBoard's text dashboard. Pure (no I/O)."""

from __future__ import annotations

from summaries.kinds.metadata import plugin_metadata
from summaries.values import as_tag
from summaries.wire.pb import Summary, TextPluginData
from summaries.wire.tensors import string_tensor

__all__ = ["text"]


def text(tag: str, text_string: str) -> Summary:
    """A Summary of one text.

    Args:
        tag: the tag, to which `/text_summary` is appended, as torch and tensorboardX do.
        text_string: Markdown.

    Raises:
        TypeError: the tag or the text is not a string.
        ValueError: the tag is not Unicode text.

    >>> text("note", "**warm-up** ends here").value[0].tensor.string_val[0]
    b'**warm-up** ends here'
    """
    tag = as_tag(tag)
    if not isinstance(text_string, str):
        raise TypeError(f"text_string must be a string, got {type(text_string).__name__}: {text_string!r}")
    metadata = plugin_metadata("text", TextPluginData().SerializeToString())
    tensor = string_tensor([text_string.encode("utf-8", "replace")], [1])
    return Summary(value=[Summary.Value(tag=f"{tag}/text_summary", tensor=tensor, metadata=metadata)])
