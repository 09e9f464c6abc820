"""GL501 to GL505: the updates of variables, the slots of optimizers, and learning rates."""
