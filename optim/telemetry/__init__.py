"""What steps did: reports, and the summaries that are made of them."""
