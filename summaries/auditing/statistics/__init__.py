"""Statistics of series: robust levels, excursions, the course of a loss, recurring events.

Pure NumPy: nothing here knows about tags, rules or files.
"""
