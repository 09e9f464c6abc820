"""Fixtures for every test. Functions that tests call are in `helpers`."""

import gc
import os
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from summaries.native import library
from summaries.storage import files

TESTS = Path(__file__).parent
HELPERS = {path.stem for path in TESTS.iterdir() if path.is_dir() or path.suffix == ".py"}
pytest.register_assert_rewrite(*HELPERS - sys.modules.keys())  # what they assert is told in full, and holds with -O

# No test is about time, some compile when they first run, and a machine may be as busy as it likes.
# Examples that failed are kept in the checkout, where that can be written.
KEPT = {} if os.access(TESTS.parent, os.W_OK) else {"database": None}
settings.register_profile("no deadline", deadline=None, suppress_health_check=[HealthCheck.too_slow], **KEPT)
# At another place, what is decoded is what was decoded on the disk: a few examples show what the place does to it.
settings.register_profile("elsewhere", settings.get_profile("no deadline"), max_examples=20)
settings.load_profile("no deadline")


def pytest_addoption(parser):
    """`--place`: run the tests of the readers against a store. `--site`: check the links of the documentation."""
    parser.addoption("--place", help="put local files below this address (or s3: a server's), and read them from there")
    parser.addoption("--site", help="the directory of the documentation that `make docs` has built")


def pytest_configure(config):
    """Add the marker of tests that say what is only true of disks; be in one time zone and width wherever this runs."""
    if config.getoption("--place"):
        settings.load_profile("elsewhere")
    if "STRANGE_SEED" not in os.environ:  # a strange machine is what it says
        os.environ["TZ"] = "UTC"
        os.environ.pop("COLUMNS", None)
    if hasattr(time, "tzset"):
        time.tzset()
    config.addinivalue_line("markers", "only_on_disks(reason): with --place, skip this test, because of this reason")
    config.addinivalue_line("markers", "each_tensorboard: `make plugin` runs it in the oldest TensorBoard, too")


def pytest_collection_modifyitems(config, items):
    """With `--place`, skip what is only true of disks."""
    if not config.getoption("--place"):
        return
    for item in items:
        if mark := item.get_closest_marker("only_on_disks"):
            item.add_marker(pytest.mark.skip(reason=mark.kwargs["reason"]))


def pytest_collection_finish():
    """Take what was collected out of the garbage collector's sight: each look at it would take a third of a second."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def utc(monkeypatch):
    """Times are told in UTC. Windows has no zone of a process."""
    set_zone = getattr(time, "tzset", lambda: None)
    monkeypatch.setenv("TZ", "UTC")
    set_zone()
    yield
    monkeypatch.undo()
    set_zone()


@pytest.fixture(autouse=True)
def _elsewhere(request, monkeypatch):
    if place := request.config.getoption("--place"):
        from stores.mirror import mirror_at

        monkeypatch.setattr(files, "LOCAL", mirror_at(place))


@pytest.fixture(params=["plain", "compiled"])
def each_engine(request):
    """Run the test with the plain engine, and with the compiled one."""
    if request.param == "compiled" and not library.is_available():
        pytest.skip("there is no compiled code for this machine")
    library.use(request.param)
    yield
    library.use(None)


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
