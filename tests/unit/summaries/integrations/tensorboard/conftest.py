"""What every test of the page in TensorBoard leaves behind: no thread at work."""

import pytest
from browser.plugin_runs import end_libraries


@pytest.fixture(autouse=True)
def _no_library_is_left():
    """Else it would look on, and log, in later tests, whose patches and stores are not its own."""
    yield
    end_libraries()
