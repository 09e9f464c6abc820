"""`python -m summaries` is `gradledger`."""

import sys

from summaries.cli import main

sys.exit(main())
