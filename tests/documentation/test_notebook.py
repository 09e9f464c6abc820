"""The notebook of the tutorials shows what its cells show when they are run, here and in Jupyter."""

import time

import pytest
from documentation.notebook import cells_of, outputs_of, stored_outputs, write_outputs
from documentation.pages import DOCS

NOTEBOOK = DOCS / "tutorials/notebook.ipynb"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def test_the_outputs_are_those_of_the_cells():
    pytest.importorskip("pandas", reason="the extra `export` is not installed")
    cells = cells_of(NOTEBOOK)
    assert outputs_of(cells) == stored_outputs(cells)


def test_jupyter_shows_the_same():
    nbclient = pytest.importorskip("nbclient", reason="Jupyter is not installed: make notebook")
    pytest.importorskip("pandas", reason="the extra `export` is not installed")
    import nbformat

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    stored = texts_of(notebook.cells)
    # A kernel that is slow sends what one cell prints in several parts.
    nbclient.NotebookClient(notebook, timeout=600, startup_timeout=600, coalesce_streams=True).execute()
    assert texts_of(notebook.cells) == stored


def texts_of(cells):
    """What each cell prints, and the text of its value; Jupyter also shows figures."""
    shown = [output for cell in cells for output in cell.get("outputs", ()) if output.output_type != "display_data"]
    return [output.get("text") or output.data["text/plain"] for output in shown]


def test_what_is_written_is_what_is_shown(tmp_path):
    path = tmp_path / "x.ipynb"
    path.write_text(
        '{"cells": [{"cell_type": "markdown", "source": ["# x"]}, {"cell_type": "code", "outputs": [], "source":'
        ' ["x = 1\\n", "print(2)\\n", "x + 2"]}, {"cell_type": "code", "outputs": [], "source": ["x = 4"]}]}'
    )
    write_outputs(path)
    assert stored_outputs(cells_of(path)) == [
        [
            {"name": "stdout", "output_type": "stream", "text": ["2\n"]},
            {"data": {"text/plain": ["3"]}, "metadata": {}, "output_type": "execute_result"},
        ],
        [],
    ]
