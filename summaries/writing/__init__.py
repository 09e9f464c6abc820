"""What is logged → event files: writers, their buffers and background threads."""
