"""Runs beside each other: what they were given, what they reached, and what makes the difference.

files → hyperparameters and outcomes of each run → groups → what separates them → Comparison → report
"""

from summaries.auditing.comparison.compare import compare_runs
from summaries.auditing.comparison.results import Comparison, Estimate, Group, Member, Outlier, Separation, Taught

__all__ = ["Comparison", "Estimate", "Group", "Member", "Outlier", "Separation", "Taught", "compare_runs"]
