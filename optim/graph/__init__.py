"""A loss as a TensorFlow graph, and what each call cost."""
