"""Report formats: text, JSON, GitHub annotations, SARIF and an HTML page, a module and a function for each.

`folded` and `progress` serve people at a terminal; `payload`, `panels` and `packed` serve the page.
"""
