"""Speed, with each peer beside us in the same run; no test looks at it."""
