"""The cases of this folder need a CUDA device: without one they are skipped, and `make gpu` fails and says so."""

import pytest

NONE = "no GPU: torch sees no CUDA device, so nothing of this was run"


def has_device():
    """Whether torch is installed, and sees a device."""
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Skip, or if only this folder was asked for, fail: a run without a device is no success."""
    here = [item for item in items if item.path.parent.name == "gpu"]
    if here and not has_device():
        if len(here) == len(items):
            pytest.exit(NONE, returncode=1)
        for item in here:
            item.add_marker(pytest.mark.skip(reason=NONE))
