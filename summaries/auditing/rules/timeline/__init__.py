"""GL2xx: the steps and wall times of a run, its pauses, and how it was interrupted."""
