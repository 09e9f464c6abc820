"""Importing our packages imports nothing heavy, and nothing that not everybody has."""

import pytest
from helpers import run

HEAVY = (
    "numba pandas pyarrow matplotlib PIL IPython fsspec tensorboard torch tensorflow rich onnx autograd scipy".split()  # noqa: SIM905
)


@pytest.mark.parametrize(
    ("module", "needed"), [("summaries", set()), ("summaries.cli", set()), ("optim", {"autograd"})], ids=str
)
def test_import_is_light(module, needed):
    names = run("-c", f"import {module}, sys; print(*{{name.partition('.')[0] for name in sys.modules}})")
    assert set(names.split()) & set(HEAVY) <= needed


@pytest.mark.parametrize("module", ["summaries", "optim"])
def test_no_module_hides_a_public_name(module):
    """`optim.gradients` is the function, whichever of the modules below were imported."""
    program = f"""
import importlib, pkgutil, types
import {module} as package
before = {{name: getattr(package, name) for name in package.__all__}}
for found in pkgutil.walk_packages(package.__path__, "{module}."):
    if found.name.rpartition(".")[2] != "__main__":
        try:
            importlib.import_module(found.name)
        except ImportError as error:  # an extra is not installed
            assert error.name.partition(".")[0] != "{module}", error
print([name for name, value in before.items() if getattr(package, name) is not value])
print([name for name, value in before.items() if isinstance(value, types.ModuleType)])
"""
    assert run("-c", program).splitlines() == ["[]", "[]"]


def test_gradients_is_the_function():
    program = "import optim.autodiff.gradients, optim; print(optim.gradients is optim.autodiff.gradients.gradients)"
    assert run("-c", program) == "True\n"


def test_the_name_of_optim_is_enough_for_an_integration():
    program = """
import sys, types, optim
print("optim.integrations" in sys.modules)
sys.modules["torch"] = None  # not installed
for name in ("ranks", "jax", "torch"):
    try:
        getattr(optim.integrations, name)
    except (AttributeError, ImportError) as error:
        print(type(error).__name__, error)
sys.modules["optim.integrations.torch"] = attached = types.ModuleType("optim.integrations.torch")
print(optim.integrations.torch is attached)
"""
    assert run("-c", program).splitlines() == [
        "False",
        "AttributeError module 'optim.integrations' has no attribute 'ranks'",
        "AttributeError module 'optim.integrations' has no attribute 'jax'",
        "ModuleNotFoundError import of torch halted; None in sys.modules",
        "True",
    ]
