"""Integrations: what puts runs and findings into other people's programs."""
