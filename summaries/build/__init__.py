"""What people log, as Summary messages: one file for each kind. Pure (no I/O)."""

from summaries.build.audio import audio
from summaries.build.custom_scalars import custom_scalars
from summaries.build.histogram import all_finite, check_bins, histogram, histogram_raw
from summaries.build.hparams import hparams
from summaries.build.image import figure, image, image_with_boxes, images, video
from summaries.build.merge import merge
from summaries.build.mesh import mesh
from summaries.build.pr_curve import pr_curve, pr_curve_raw
from summaries.build.scalar import ScalarsTemplate, scalar, zero_fraction
from summaries.build.tensor import tensor
from summaries.build.text import text

__all__ = [
    "ScalarsTemplate",
    "all_finite",
    "audio",
    "check_bins",
    "custom_scalars",
    "figure",
    "histogram",
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
    "text",
    "video",
    "zero_fraction",
]
