"""Run a rule over arrays in one pass: compiled by numba, or on blocks by NumPy."""
