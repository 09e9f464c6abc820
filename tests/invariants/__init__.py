"""TrainCheck beside our hook: what each says of the same programs, with one mistake each and without."""
