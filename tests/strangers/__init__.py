"""Runs that strangers published, and what was true, false or missing in what the audit said of them."""
