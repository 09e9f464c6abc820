from summaries.auditing import *
