"""Which tag is what: names that loggers give, and the signals of a run that rules look at."""
