"""Jupyter notebooks as pages, with the outputs that are stored in them."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from myst_parser.sphinx_ import Parser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docutils import nodes
    from sphinx.application import Sphinx

__all__ = ["as_markdown", "setup"]


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(_NotebookParser)
    return {"parallel_read_safe": True}


class _NotebookParser(Parser):  # type: ignore[misc]
    supported = ("notebook",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        text = as_markdown(json.loads(inputstring)["cells"])
        name = os.path.basename(document["source"])
        super().parse(f"{text}\n\n{{download}}`Download this notebook <{name}>`.", document)


def as_markdown(cells: list[dict[str, Any]]) -> str:
    """The cells of a notebook as one text in Markdown.

    >>> print(as_markdown([{"cell_type": "code", "source": ["1 + 1"], "outputs": [{"data": {"text/plain": ["2"]}}]}]))
    ```python
    1 + 1
    ```
    <BLANKLINE>
    ```text
    2
    ```
    """
    return "\n\n".join(part for cell in cells for part in _parts(cell))


def _parts(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        data = output.get("data", {})
        if "text/html" in data:
            yield f'```{{raw}} html\n<div class="wide">{"".join(data["text/html"])}</div>\n```'
        else:
            yield f"```text\n{''.join(data.get('text/plain') or output['text']).rstrip()}\n```"
