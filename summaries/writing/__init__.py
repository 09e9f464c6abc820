"""Writes event files: the writers, their buffers and their background threads.

A SummaryWriter is an EventFileWriter with methods for each kind, and with the runs below its own. An EventFileWriter
has a RunFile, whose states are a table; that has an EventQueue. The Flusher and the process's hooks call it.
"""
