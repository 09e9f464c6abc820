"""The command line, `gradledger`: a module for each command. They parse options and print; `tools` does the work."""

from summaries.cli.program import main

__all__ = ["main"]
