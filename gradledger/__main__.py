"""`python -m gradledger` runs `gradledger`."""

import sys

from summaries.cli import main

sys.exit(main())
