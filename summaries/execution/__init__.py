"""Execution: runs one task for many items in other processes of this machine, any of which may die."""
