"""What can be said without Dask; tests/cluster has it."""

import sys
from concurrent.futures import Executor

import pytest

from summaries.cli import main
from summaries.execution.dask import DaskExecutor, on_dask


def test_dask_is_missing(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    text = "this needs distributed: pip install 'gradledger[cluster]'"
    with pytest.raises(ImportError) as raised, on_dask("local"):
        pass
    assert str(raised.value) == text
    (tmp_path / "a.tfevents").touch()
    assert main(["verify", str(tmp_path), "--dask", "local"]) == 2
    assert capsys.readouterr() == ("", f"gradledger: {text}\n")


def test_another_executor_is_left_as_it_is():
    executor = Executor()
    assert DaskExecutor.instead_of(executor) is executor
