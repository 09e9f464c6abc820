"""Formats other than event files, one in each module: reading gives points in batches, writing takes runs."""
