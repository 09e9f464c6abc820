"""Machine code of our compiled functions: where it is kept, how it is loaded, how numba makes it. Knows no events."""
