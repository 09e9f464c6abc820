"""Fixtures for every test. What tests call by name is in `helpers` and `strategies`."""

import os

import pytest
from hypothesis import settings

settings.register_profile("no deadline", deadline=None)  # no test is about time, and some compile when they first run
settings.load_profile("no deadline")


@pytest.fixture
def logdir(tmp_path):
    """Where a writer may write; it does not exist yet."""
    return tmp_path / "run"


@pytest.fixture
def refuse_to_list(monkeypatch):
    """name → from now on directories whose path ends so cannot be listed."""
    real = os.scandir

    def refuse(name):
        def scandir(path):
            if str(path).endswith(name):
                raise PermissionError(13, "Permission denied", path)
            return real(path)

        monkeypatch.setattr(os, "scandir", scandir)

    return refuse
