"""Traces a loss as a TensorFlow graph, with the cost of each call."""
