"""Builds Summary messages from users' values: one module for each kind. Pure (no I/O)."""

from summaries.kinds.audio import audio
from summaries.kinds.custom_scalars import custom_scalars
from summaries.kinds.distribution import check_bins, distribution
from summaries.kinds.histogram import histogram, histogram_bytes, histogram_raw
from summaries.kinds.hparams import hparams
from summaries.kinds.image import figure, image, image_with_boxes, images, video
from summaries.kinds.merge import merge
from summaries.kinds.mesh import mesh
from summaries.kinds.pr_curve import pr_curve, pr_curve_raw
from summaries.kinds.scalar import ScalarsTemplate, scalar, zero_fraction
from summaries.kinds.tensor import tensor
from summaries.kinds.tensorflow_bins import tensorflow_edges
from summaries.kinds.text import text

__all__ = [
    "ScalarsTemplate",
    "audio",
    "check_bins",
    "custom_scalars",
    "distribution",
    "figure",
    "histogram",
    "histogram_bytes",
    "histogram_raw",
    "hparams",
    "image",
    "image_with_boxes",
    "images",
    "merge",
    "mesh",
    "pr_curve",
    "pr_curve_raw",
    "scalar",
    "tensor",
    "tensorflow_edges",
    "text",
    "video",
    "zero_fraction",
]
