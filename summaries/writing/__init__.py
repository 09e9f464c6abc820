"""Writes event files: the writers, their buffers and their background threads."""
