"""Counting for histograms, compiled by numba; consistent with `kinds`. Pure (no I/O)."""
