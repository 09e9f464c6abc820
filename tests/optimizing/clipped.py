"""What optimizers get and leave: a gradient whose norm is 5, clipping to several bounds, and the gradient after it."""

import numpy as np

from optim import GradientDescentOptimizer, Variable, clip_gradients_by_norm

NORM5 = np.float32([3.0, 4.0])


def clip(*bounds):
    """Wraps in a clipping of each bound, the last one outermost."""

    def wrap(optimizer):
        for bound in bounds:
            optimizer = clip_gradients_by_norm(optimizer, bound)
        return optimizer

    return wrap


def applied(wrap, gradient):
    """What gradient descent with rate 1 moves by, the other way: the gradient as the wrapper left it."""
    w = Variable(np.zeros(len(gradient)), name="w")
    report = wrap(GradientDescentOptimizer(1.0)).apply_gradients([(np.array(gradient), w)])
    return -w.value, report
