"""The command line, `gradledger`: `commands`, the `arguments` that they take, and `views` of what they print."""

from summaries.cli.program import main

__all__ = ["main"]
