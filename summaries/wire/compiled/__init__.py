"""What `wire` means, compiled by numba: scanning records, messages and scalars. Pure (no I/O)."""
