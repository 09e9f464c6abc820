"""GL3xx: losses that fail at a moment or take a bad course."""
