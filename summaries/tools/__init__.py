"""What looks after event files."""

from summaries.tools.verify import Verdict, verify

__all__ = ["Verdict", "verify"]
