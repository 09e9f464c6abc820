"""A report in the formats that people and programs read: one module for each, one function in each."""
