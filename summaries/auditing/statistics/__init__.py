"""Statistics of series, above `summaries.robust`: excursions, the course of a loss, recurring events, Student's t.

Pure NumPy: nothing here knows about tags, rules or files.
"""
