"""Event files → events, columns and runs."""
