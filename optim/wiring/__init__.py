"""Checks of a torch training loop itself, at its steps: what is wired wrongly is told once, with names and the step.

`checks` calls the others; each knows one part of a loop, and looks only when that can have changed.
"""
