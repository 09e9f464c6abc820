"""Linters of training runs, side by side: real trainings with and without a bug, and who tells which is which."""
