"""The audit: what went wrong in a training run, where, how bad, and by what evidence."""
