"""Tools for event files and runs: verify, export, and advice on clipping.

They read runs and files, and never change them.
"""

from summaries.tools.verify import Verdict, verify, verify_file, verify_logdir

__all__ = ["Verdict", "verify", "verify_file", "verify_logdir"]
