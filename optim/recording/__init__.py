"""Records NumPy's operations on Variables inside a loss."""
