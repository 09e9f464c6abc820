"""Runs the cells of a notebook, and keeps what they show beside them.

`PYTHONPATH=tests python -m documentation.notebook docs/tutorials/notebook.ipynb` runs it and writes its outputs.
Cells are Python without magic; the value of a cell's last expression is shown, as HTML if it has that, as in Jupyter.
"""

import ast
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path


def cells_of(path):
    """The notebook's cells."""
    return json.loads(Path(path).read_text(encoding="utf-8"))["cells"]


def outputs_of(cells):
    """What each code cell shows when all are run in order, in the current directory: a list of outputs for each."""
    names = {"__name__": "__main__"}
    return [_shown("".join(cell["source"]), names) for cell in cells if cell["cell_type"] == "code"]


def _shown(source, names):
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(tree, "notebook", "exec"), names)  # noqa: S102 - our own
        value = None if last is None else eval(compile(last, "notebook", "eval"), names)  # noqa: S307 - likewise
    outputs = []
    if out.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(out.getvalue())})
    if value is not None:
        data = {"text/plain": _lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = _lines(value._repr_html_())
        outputs.append({"data": data, "metadata": {}, "output_type": "execute_result"})
    return outputs


def _lines(text):
    return text.splitlines(keepends=True)


def stored_outputs(cells):
    """What is stored beside each code cell, without the numbers that Jupyter counts."""
    return [
        [{key: value for key, value in output.items() if key != "execution_count"} for output in cell["outputs"]]
        for cell in cells
        if cell["cell_type"] == "code"
    ]


def write_outputs(path):
    """Run a notebook in a directory of its own, and write its outputs into it."""
    notebook = json.loads(Path(path).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as directory, contextlib.chdir(directory):
        outputs = outputs_of(notebook["cells"])
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, (cell, shown) in enumerate(zip(code, outputs, strict=True), 1):
        cell["execution_count"] = number
        cell["outputs"] = [
            {**output, "execution_count": number} if output["output_type"] == "execute_result" else output
            for output in shown
        ]
    Path(path).write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ["TZ"] = "UTC"
    write_outputs(os.path.abspath(sys.argv[1]))
