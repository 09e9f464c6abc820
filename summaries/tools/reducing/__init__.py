"""Statistics over several runs, step by step: reduce."""
