"""Advice on clipping: the norms that a run recorded, and how often each bound would have clipped them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from summaries.reading.run import Run, read_run
from summaries.words import counted

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping
    from typing import Unpack

    from summaries.storage.files import Access

__all__ = ["BOUNDS", "NORM_TAG", "ClipAdvice", "clip_advice"]

NORM_TAG = "gradients/global_norm"
PERCENTILES = (1.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 100.0)
BOUNDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0)  # common values of clip_norm
_SUGGESTED = 90.0
_MOST_SHOWN = 8  # so many tags are named in an error
_CAPPED = 0.02  # if this share of the norms equals the largest, that is not an accident


@dataclass(frozen=True, slots=True)
class ClipAdvice:
    """What the recorded norms say about a bound for clipping.

    Attributes:
        tag: the tag with the norms.
        steps: number of norms.
        nonfinite: how many of them are NaN or infinite; the numbers below leave these out.
        mean: mean of the norms.
        percentiles: percentile → norm.
        would_clip: bound → the share of the norms above it, 0 to 1.
        suggested: the suggested bound: the 90th percentile of the norms that are not 0. It leaves nine steps out of ten
            as they are, and a single explosion does not change it much.
        capped: the share of the norms that equal the largest one, not counting that one.
    """

    tag: str
    steps: int
    nonfinite: int
    mean: float
    percentiles: Mapping[float, float]
    would_clip: Mapping[float, float]
    suggested: float
    capped: float

    @property
    def recorded_after_clipping(self) -> bool:
        """Whether the norms seem to be clipped already. Then they say nothing about larger bounds."""
        return self.capped >= _CAPPED

    def __str__(self) -> str:
        left_out = f", {self.nonfinite} of them not finite and left out" if self.nonfinite else ""
        lines = [f"{self.tag}: {counted(self.steps, 'step')}{left_out}, mean {self.mean:.4g}"]
        lines += [f"  {percentile:g} % are at most {norm:.4g}" for percentile, norm in self.percentiles.items()]
        lines += [f"  {bound:.4g} would have clipped {share:.1%}" for bound, share in self.would_clip.items()]
        lines += [f"suggested: clip_norm = {self.suggested:.3g}"]
        if self.recorded_after_clipping:
            lines += [f"{self.capped:.0%} of the norms equal the largest: were they recorded after clipping?"]
        return "\n".join(lines)


def clip_advice(
    run: Run | str | os.PathLike[str],
    tag: str = NORM_TAG,
    bounds: Iterable[float] = BOUNDS,
    last_step: int | None = None,
    **access: Unpack[Access],
) -> ClipAdvice:
    """Compute percentiles of recorded gradient norms, and the share of the steps that each bound would have clipped.

    This does not train anything: with another bound, the run would have continued differently. Points that a restart
    superseded do not count.

    Args:
        run: a Run, or a path as for `read_run`.
        tag: the tag with the norms before clipping, for example "train/grad_norm" as Hugging Face logs it.
        bounds: the bounds to evaluate, positive; by default from 0.1 to 100.
        last_step: use only the steps up to this one, for example before a run diverged; None uses all.
        **access: how an address is accessed: `storage_options` and `cache` as in `read_run`.

    Returns:
        The percentiles, the shares, and a suggested bound.

    Raises:
        LookupError: the run does not have this tag.
        ValueError: a bound is not positive, or no norm is positive and finite.
        OSError: the files cannot be read.

    >>> import tempfile
    >>> from summaries import SummaryWriter
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     for step in range(100):
    ...         writer.add_scalar("gradients/global_norm", 1 + step, step)
    >>> advice = clip_advice(writer.path, bounds=[50.0])
    >>> advice.percentiles[50.0], advice.would_clip, round(advice.suggested, 2)
    (50.5, {50.0: 0.5}, 90.1)

    References: Pascanu et al. 2013, https://arxiv.org/abs/1211.5063, who set the bound by statistics of the norm over
    many updates; Seetharaman et al. 2020, https://arxiv.org/abs/2007.14469, who set it to a percentile.
    """
    scalars = (run if isinstance(run, Run) else read_run(run, **access)).scalars
    if tag not in scalars:
        similar = [name for name in scalars if "norm" in name.lower()]
        shown = ", ".join(similar[:_MOST_SHOWN]) + (", …" if len(similar) > _MOST_SHOWN else "")
        raise LookupError(f"no scalars with tag {tag!r}; tags with 'norm' in them: {shown or 'none'}")
    series = scalars[tag].latest()
    values = series.value if last_step is None else series.value[series.step <= last_step]
    norms = values[np.isfinite(values)]
    if not (norms > 0).any():
        raise ValueError(f"{tag!r} must have a value that is positive and finite, got none of {len(values)}")
    percentiles = dict(zip(PERCENTILES, np.percentile(norms, PERCENTILES).tolist(), strict=True))
    return ClipAdvice(
        tag=tag,
        steps=len(values),
        nonfinite=len(values) - len(norms),
        mean=float(np.mean(norms)),
        percentiles=percentiles,
        would_clip={bound: float(np.mean(norms > bound)) for bound in map(_bound, bounds)},
        suggested=float(np.percentile(norms[norms > 0], _SUGGESTED)),
        capped=float(np.count_nonzero(np.isclose(norms, norms.max(), rtol=1e-5, atol=0.0)) - 1) / len(norms),
    )


def _bound(bound: float) -> float:
    if not 0 < bound < math.inf:
        raise ValueError(f"a bound must be positive and finite, got {bound}")
    return float(bound)
