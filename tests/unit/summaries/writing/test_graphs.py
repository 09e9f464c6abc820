"""Graphs by TensorFlow are read and written back as they were; what is a callable needs somebody to trace it."""

import subprocess
import sys

import pytest
from helpers import ROOT

from summaries import GraphDef, read_graph, write_graph

GOLDEN = ROOT / "tests/golden/events/tf1"


@pytest.mark.parametrize(("name", "as_text"), [("graph.pbtxt", True), ("graph.pb", False)])
def test_by_tensorflow_there_and_back(name, as_text, tmp_path):
    graph = read_graph(GOLDEN / name)
    assert len(graph.node) > 10
    assert graph == read_graph(GOLDEN / "graph.pb")
    path = write_graph(graph, tmp_path, name, as_text)
    assert read_graph(path) == graph
    if as_text:
        with open(path, "rb") as ours, open(GOLDEN / name, "rb") as theirs:
            assert ours.read() == theirs.read()
    else:
        with open(path, "rb") as ours:
            assert GraphDef.FromString(ours.read()) == graph


def test_a_callable_needs_optim():
    program = "from summaries import write_graph; write_graph(lambda: 0, '.', 'graph')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT)
    assert "TypeError: graph is a callable: import optim to trace a loss" in done.stderr
