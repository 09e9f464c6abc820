"""Execution: run one task for many items, somewhere else.

Today in processes of this machine, any of which may die.
"""
