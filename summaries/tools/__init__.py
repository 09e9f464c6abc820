"""Tools for event files and runs: verify, export, and advice on clipping.

They read runs and files, and never change them.
"""

from summaries.tools.verify import Verdict, verify

__all__ = ["Verdict", "verify"]
