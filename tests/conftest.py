"""Fixtures for every test. Functions that tests call are in `helpers` and `strategies`."""

import os

import pytest
from hypothesis import settings

from summaries.storage import files

settings.register_profile("no deadline", deadline=None)  # no test is about time, and some compile when they first run
settings.load_profile("no deadline")


def pytest_addoption(parser):
    """`--place`: run the tests of the readers against a store."""
    parser.addoption("--place", help="put local files below this address (or s3: a server's), and read them from there")


ONLY_LOCAL = {
    "test_nothing_there": "a store has no empty directories",
    "test_verify[paths4": "likewise",
    "test_verify[paths6": "likewise",
    "test_a_value_whose_file_has_changed": "S3 refuses to read an object that was replaced",
    "test_a_file_that_vanishes_may_come_back": "it counts on a listing that takes no time",
}


def pytest_collection_modifyitems(config, items):
    """With `--place`, leave out what is only true of disks."""
    if not config.getoption("--place"):
        return
    for item in items:
        for name, reason in ONLY_LOCAL.items():
            if item.name.startswith(name):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(autouse=True)
def _elsewhere(request, monkeypatch):
    if place := request.config.getoption("--place"):
        from stores.mirror import mirror_at

        monkeypatch.setattr(files, "LOCAL", mirror_at(place))


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
