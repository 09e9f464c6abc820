"""Reports of optimizer steps, and the summaries written from them."""
