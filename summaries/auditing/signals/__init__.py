"""Signals: which tag means what, and the series of a run by what they mean.

Rules look at runs only through these.
"""
