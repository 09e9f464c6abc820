"""Builds Summary messages from users' values: a module for each kind, imported when it is used. Pure (no I/O)."""

from typing import TYPE_CHECKING

from summaries.lazy import lazy

if TYPE_CHECKING:
    from summaries.kinds import (
        audio as audio,
        counting as counting,
        custom_scalars as custom_scalars,
        distribution as distribution,
        graph as graph,
        histogram as histogram,
        hparams as hparams,
        image as image,
        merge as merge,
        mesh as mesh,
        meta_graph as meta_graph,
        openvino as openvino,
        pr_curve as pr_curve,
        scalar as scalar,
        tensor as tensor,
        tensorflow_bins as tensorflow_bins,
        text as text,
    )
else:
    _, __getattr__, __dir__ = lazy(
        __name__,
        {
            "": "audio counting custom_scalars distribution graph histogram hparams image merge "
            "mesh meta_graph openvino pr_curve scalar tensor tensorflow_bins text"
        },
    )
