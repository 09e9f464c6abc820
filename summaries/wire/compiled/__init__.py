"""Scanning of records, messages and scalars, compiled by numba; consistent with `wire`. Pure (no I/O)."""
