"""Queues, their runners, and the Coordinator that stops threads together."""
