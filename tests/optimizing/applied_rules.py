"""A rule applied once, to arrays of its own."""

from optim.kernels.plan import Plan
from optim.kernels.scale_and_bounds import Clip


def apply_rule(rule, hyperparameters, variable, gradient, slots=(), scale=1.0):
    """Update the variable and the slots in place, by the gradient times `scale`."""
    Plan(rule, [(variable, *slots)]).run([gradient], hyperparameters, Clip(scale))
