from summaries.tools import *
