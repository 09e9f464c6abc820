"""Optimizers: the driver of a step, the updates, and the wrappers around them."""
