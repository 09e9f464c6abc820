"""What people log, as Summary messages: one file for each kind."""

from summaries.build.scalar import scalar

__all__ = ["scalar"]
