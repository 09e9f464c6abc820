"""Runs written anew with an edit applied: merge, rename, drop, keep, thin, shift, repair."""
