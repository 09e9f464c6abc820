from summaries.auditing.live import *
