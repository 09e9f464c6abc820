"""Computes gradients from a recording: the derivatives, and the backward pass."""
