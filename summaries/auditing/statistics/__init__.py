"""Statistics of series: robust levels, excursions, the course of a loss, events that recur.

Pure NumPy: nothing here knows about tags, rules or files.
"""
