"""Fixtures for every test. What tests call by name is in `helpers` and `strategies`."""

import pytest


@pytest.fixture
def logdir(tmp_path):
    """Where a writer may write; it does not exist yet."""
    return tmp_path / "run"
