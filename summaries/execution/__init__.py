"""One task, many runs: where the work is done."""
