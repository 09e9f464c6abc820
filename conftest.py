"""What every test and every docstring's example may count on."""

import os
import signal
from importlib.util import find_spec

# The tests' matrices are small: a second thread of BLAS gains them nothing, and waits in a loop that keeps a processor
# busy. With one, what really trains takes a seventh of the processor time. Programs that tests start inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest

import gradledger  # noqa: F401 - first as a package: pytest would load a module whose examples it runs a second time
import optim  # noqa: F401 - likewise
import summaries  # noqa: F401 - likewise
from summaries.native.building import stale
from summaries.native.targets import DIRECTORY

collect_ignore: list[str] = []
collect_ignore_glob = [  # each needs its framework; tests/frameworks tests them
    "tests/frameworks/[!t]*",  # programs
    "tests/loops/*",
    "optim/integrations/*",
    "optim/wiring/*",
]
collect_ignore_glob += [
    "summaries/wire/compiled/*",
    "summaries/kinds/compiled/*",
    "summaries/native/source.py",
]  # to build
if find_spec("safetensors") is None:  # likewise
    collect_ignore += ["optim/checkpoints/files.py", "optim/checkpoints/saver.py"]
if find_spec("numba") is None:
    collect_ignore += [f"optim/kernels/{name}.py" for name in ("intrinsics", "shipped", "sums", "writing")]
if find_spec("pyarrow") is None:
    collect_ignore += ["summaries/tools/querying/lazy_frame.py", "summaries/tools/querying/points.py"]
if find_spec("tensorboard") is None:
    collect_ignore += ["gradledger/tensorboard.py"]


if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # a shell's job in the background; programs that we start inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

for old in stale():
    if os.path.exists(os.path.join(DIRECTORY, old.file)):  # code that expects other arguments crashes
        pytest.exit(f"{old.file} was made of other sources: run `make native`", returncode=3)


IN_DOCTESTS = {
    "summaries.reading.tabular.Tabular.to_pandas": "pandas",
    "summaries.tools.querying.dataset": "pyarrow",
}


@pytest.fixture(autouse=True)
def _names_in_doctests(request: pytest.FixtureRequest, doctest_namespace: dict[str, object]) -> None:
    module = IN_DOCTESTS.get(request.node.name)
    if module is not None and find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    doctest_namespace["np"] = np
