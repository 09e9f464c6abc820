"""GL4xx: the gradients of all variables and of each, how they are clipped, and overflows of scaled losses."""
