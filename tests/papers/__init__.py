"""`make papers`: what papers say of optimizers, reproduced with ours; writes docs/papers.md and its figures."""
