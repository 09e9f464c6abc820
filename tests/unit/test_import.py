"""Importing our packages imports nothing heavy, and nothing that not everybody has."""

import pytest
from helpers import run

HEAVY = "numba pandas pyarrow matplotlib PIL fsspec tensorboard torch tensorflow rich onnx autograd scipy".split()  # noqa: SIM905


@pytest.mark.parametrize(
    ("module", "needed"), [("summaries", set()), ("summaries.cli", set()), ("optim", {"autograd"})], ids=str
)
def test_import_is_light(module, needed):
    names = run("-c", f"import {module}, sys; print(*{{name.partition('.')[0] for name in sys.modules}})")
    assert set(names.split()) & set(HEAVY) <= needed
