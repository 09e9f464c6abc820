"""Fixtures for every test. Functions that tests call are in `helpers` and `strategies`."""

import os

import pytest
from hypothesis import settings

settings.register_profile("no deadline", deadline=None)  # no test is about time, and some compile when they first run
settings.load_profile("no deadline")


@pytest.fixture
def logdir(tmp_path):
    """A directory for a writer, which does not exist yet."""
    return tmp_path / "run"


@pytest.fixture
def refuse_to_list(monkeypatch):
    """name → None: from then on, directories whose path ends in this name cannot be listed."""
    real = os.scandir

    def refuse(name):
        def scandir(path):
            if str(path).endswith(name):
                raise PermissionError(13, "Permission denied", path)
            return real(path)

        monkeypatch.setattr(os, "scandir", scandir)

    return refuse
