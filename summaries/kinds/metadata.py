"""Metadata that tells TensorBoard which dashboard a value is for. Pure (no I/O)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from summaries import wire

if TYPE_CHECKING:
    from summaries.wire.pb import SummaryMetadata

__all__ = ["METADATA_KEY", "MetadataOnce", "plugin_metadata"]

METADATA_KEY = b"\x4a"  # the first byte of the metadata in a Summary.Value


def plugin_metadata(
    plugin_name: str,
    content: bytes = b"",
    display_name: str = "",
    description: str = "",
    data_class: str = "DATA_CLASS_TENSOR",
) -> SummaryMetadata:
    """The metadata of a value for one dashboard.

    Args:
        plugin_name: the dashboard's own name, for example "pr_curves".
        content: the dashboard's own message, serialized.
        display_name: shown instead of the tag.
        description: Markdown, shown next to the value.
        data_class: how TensorBoard stores the values: the name of a member of its enum DataClass.
    """
    return wire.pb.SummaryMetadata(
        plugin_data=wire.pb.SummaryMetadata.PluginData(plugin_name=plugin_name, content=content),
        display_name=display_name,
        summary_description=description,
        data_class=data_class,
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
