"""Saving and restoring: what has state, the files, and the Saver."""
