"""Optimizers: what drives a step, what an update is, and what stands around either."""
