"""Signals: the meaning of each tag, and the series of a run by meaning.

Rules see runs only through these.
"""
