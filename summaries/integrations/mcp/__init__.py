"""What a program may ask about runs, over the Model Context Protocol: answers in words and numbers, of a bounded size.

`answers` knows the runs and no protocol, `bounded` how much is said at once, `server` the protocol and no runs.
"""
