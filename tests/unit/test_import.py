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


@pytest.mark.parametrize("module", ["summaries", "optim"])
def test_public_names(module):
    program = (
        f"import {module} as m; print([n for n in m.__all__ if not hasattr(m, n)], m.__all__ == sorted(m.__all__))"
    )
    assert run("-c", program) == "[] True\n"
