"""What commands print: tables, curves, numbers, faults; on the terminal, as JSON or into a file."""
