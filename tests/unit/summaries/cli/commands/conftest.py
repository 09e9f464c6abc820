import pytest
from documentation import runs as documented_runs


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Those of the documentation, in `runs` below the current directory."""
    monkeypatch.chdir(tmp_path)
    documented_runs.write("runs")
