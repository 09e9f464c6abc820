"""Saving and restoring: state, checkpoint files, and the Saver."""
