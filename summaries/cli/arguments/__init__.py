"""What is typed: options that several commands share, and what shells complete."""
