"""Metadata that tells TensorBoard which dashboard a value is for. Pure (no I/O)."""

from __future__ import annotations

from summaries.wire.pb import (
    DATA_CLASS_BLOB_SEQUENCE,
    DATA_CLASS_SCALAR,
    DATA_CLASS_TENSOR,
    DATA_CLASS_UNKNOWN,
    SummaryMetadata,
)

__all__ = ["plugin_metadata"]

_DATA_CLASSES = {
    "scalars": DATA_CLASS_SCALAR,
    "images": DATA_CLASS_BLOB_SEQUENCE,
    "audio": DATA_CLASS_BLOB_SEQUENCE,
    # These have no tensor. TensorBoard 2.21 adds an empty one if the class is unknown, as in torch's files; if it is
    # known, its Python loader answers every page with an error.
    "hparams": DATA_CLASS_UNKNOWN,
}


def plugin_metadata(
    plugin_name: str, content: bytes = b"", display_name: str = "", description: str = ""
) -> SummaryMetadata:
    """The metadata of a value for one dashboard.

    Args:
        plugin_name: the dashboard's own name, for example "pr_curves".
        content: the dashboard's own message, serialized.
        display_name: shown instead of the tag.
        description: Markdown, shown next to the value.
    """
    return SummaryMetadata(
        plugin_data=SummaryMetadata.PluginData(plugin_name=plugin_name, content=content),
        display_name=display_name,
        summary_description=description,
        data_class=_DATA_CLASSES.get(plugin_name, DATA_CLASS_TENSOR),
    )
