"""Metadata that tells TensorBoard which dashboard a value is for. Pure (no I/O)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from summaries import wire

if TYPE_CHECKING:
    from summaries.wire.pb import SummaryMetadata

__all__ = ["METADATA_KEY", "MetadataOnce", "plugin_metadata"]

METADATA_KEY = b"\x4a"  # the first byte of the metadata in a Summary.Value
_DATA_CLASSES = {
    "scalars": "DATA_CLASS_SCALAR",
    "images": "DATA_CLASS_BLOB_SEQUENCE",
    "audio": "DATA_CLASS_BLOB_SEQUENCE",
    # These have no tensor. TensorBoard 2.21 adds an empty one if the class is unknown, as in torch's files; if it is
    # known, its Python loader answers every page with an error.
    "hparams": "DATA_CLASS_UNKNOWN",
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
    return wire.pb.SummaryMetadata(
        plugin_data=wire.pb.SummaryMetadata.PluginData(plugin_name=plugin_name, content=content),
        display_name=display_name,
        summary_description=description,
        data_class=_DATA_CLASSES.get(plugin_name, "DATA_CLASS_TENSOR"),
    )


class MetadataOnce:
    """Leaves out the metadata that a file has for a tag already, as TF1 does: readers keep a tag's first metadata."""

    def __init__(self) -> None:
        self._written: dict[str, bytes] = {}

    def without_written(self, data: bytes) -> tuple[bytes, dict[str, bytes]]:
        """A Summary's bytes without metadata that is written already, and the metadata of each tag that is new.

        Bytes without `METADATA_KEY` have no metadata.
        Metadata that differs from the tag's first is kept; so is that of a value with nothing else, as hparams have.
        """
        new: dict[str, bytes] = {}
        summary, repeated = wire.pb.Summary.FromString(data), False
        for value in summary.value:
            if not value.HasField("metadata"):
                continue
            metadata = value.metadata.SerializeToString()
            if self._written.get(value.tag) == metadata and value.WhichOneof("value") is not None:
                value.ClearField("metadata")
                repeated = True
            else:
                new[value.tag] = metadata
        return summary.SerializeToString() if repeated else data, new

    def note(self, new: dict[str, bytes]) -> None:
        """Take down what is written; only then, since another thread's value must not come before the metadata."""
        for tag, metadata in new.items():
            self._written.setdefault(tag, metadata)

    def begin_file(self) -> None:
        """Forget what is written: a new file has its own, and can be read alone."""
        self._written.clear()
