"""Clipped optimizers: any number of bounds, and a gradient whose norm is 5."""

import numpy as np

from optim import clip_gradients_by_norm

NORM5 = np.float32([3.0, 4.0])


def clip(*bounds):
    """Wraps in a clipping of each bound, the last one outermost."""

    def wrap(optimizer):
        for bound in bounds:
            optimizer = clip_gradients_by_norm(optimizer, bound)
        return optimizer

    return wrap
