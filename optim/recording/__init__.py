"""What NumPy does to Variables inside a loss, recorded."""
