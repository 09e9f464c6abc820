"""Queues, queue runners, and the Coordinator that stops threads together."""
