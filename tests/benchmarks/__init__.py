"""Speed, measured with each peer in the same run; no test depends on it."""
