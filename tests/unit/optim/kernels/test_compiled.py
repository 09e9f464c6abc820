"""Compiled kernels are announced, give way to NumPy, and share work between threads after a fork."""

import functools
import logging
import os
import stat
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import run, run_script

from optim import rules
from optim.kernels import codegen, compiled, plan, threads
from optim.kernels.codegen import kernel_source
from optim.rules import Rule
from summaries.native.announcing import announce

needs_numba = pytest.mark.skipif(not compiled._installed(), reason="the extra `fast` is not installed")


@pytest.fixture
def _compiled():
    compiled.use("compiled")
    yield
    compiled.use(None)


PROGRAM = """
import sys
import numpy as np
import optim
assert "numba" not in sys.modules, "import optim must not import numba"
optim.set_num_threads(2)
w = optim.Variable(np.zeros(600_000, np.float32))
optim.GradientDescentOptimizer(1.0).apply_gradients([(np.ones(600_000, np.float32), w)])
assert (w.value == -1).all()
assert ("numba" in sys.modules) == (sys.argv[1] == "compiled")
assert "numba" in sys.modules or "numpy.ma" not in sys.modules, "no masked array was here"
if hasattr(__import__("os"), "fork") and sys.argv[1] == "compiled":
    import os, warnings
    warnings.simplefilter("ignore")  # that the process has threads is the point
    child = os.fork()
    optim.GradientDescentOptimizer(1.0).apply_gradients([(np.ones(600_000, np.float32), w)])
    assert (w.value == -2).all()
    if not child:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""


def program(tmp_path, engine):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    environment = os.environ | {"GRADLEDGER_CACHE_DIR": str(tmp_path / "cache"), "GRADLEDGER_KERNELS": engine}
    return run(path, engine, env=environment | {"PYTHONPATH": os.pathsep.join(["."])})


@needs_numba
def test_a_second_process_compiles_nothing_and_threads_survive_a_fork(tmp_path):
    program(tmp_path, "compiled")
    cache = tmp_path / "cache"
    assert not stat.S_IMODE((cache / "compiled").stat().st_mode) & 0o022
    kept = {path: path.stat().st_mtime_ns for path in cache.rglob("*.nb*")}
    assert kept
    program(tmp_path, "compiled")
    assert {path: path.stat().st_mtime_ns for path in cache.rglob("*.nb*")} == kept


def test_plain_kernels_need_no_numba(tmp_path):
    program(tmp_path, "plain")


@needs_numba
@pytest.mark.parametrize("report", [False, True])
@pytest.mark.parametrize("dtype", codegen.DTYPES)
@pytest.mark.parametrize(
    "rule", [rule for rule in vars(rules).values() if isinstance(rule, Rule)], ids=lambda r: r.name
)
def test_every_rule_is_compiled(rule, dtype, report):
    """NumPy would step in for a kernel that is not, with the same results: no other test notices."""
    assert compiled.kernel(rule, dtype, report) is not None


@needs_numba
def test_compiling_is_announced(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("GRADLEDGER_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiled, "_made", {})
    with caplog.at_level(logging.WARNING, "optim"):
        assert compiled.kernel(rules.GRADIENT_DESCENT, "float32", report=False) is not None
    assert caplog.messages == [
        "compiling the kernel gradient_descent_float32, once per machine (`gradledger warm-up` does it ahead of time)"
    ]


LATE = """
import logging, signal
import numpy as np
import optim
from optim.kernels import compiled

heard = []
logging.getLogger("optim").addFilter(heard.append)
w = optim.Variable(np.zeros(3, np.float32))


class Late(Exception):
    pass


def late(*_):  # one that comes where none is caught would end the program
    global caught
    if caught:
        caught = False
        raise Late


def step():
    optim.GradientDescentOptimizer(1.0).apply_gradients([(np.ones(3, np.float32), w)])


caught = False
signal.signal(signal.SIGALRM, late)
for delay in (0.01, 0.3, 0.6, 0.9):  # numba is imported, the first kernel compiled, the next
    try:
        caught = True
        signal.setitimer(signal.ITIMER_REAL, delay)
        step()
        caught = False
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Late:
        print("late")
before = w.value[0]
step()
blamed = [record.msg for record in heard if "cannot" in record.msg or "nothing" in record.msg]
print(w.value[0] - before, compiled.available(), blamed)
"""


@needs_numba
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals")
def test_what_a_signal_handler_raises_is_no_fault_of_numbas(tmp_path):
    environment = os.environ | {"GRADLEDGER_CACHE_DIR": str(tmp_path / "cache"), "GRADLEDGER_KERNELS": "compiled"}
    *late, last = run_script(tmp_path, LATE, env=environment | {"PYTHONPATH": "."}).splitlines()
    assert late
    assert last == "-1.0 True []"


@needs_numba
@pytest.mark.usefixtures("_compiled")
def test_a_formula_with_another_function_is_run_by_numpy(caplog):
    rule = Rule(lambda g, v: (v - np.tan(g),), (), "kernels have no tangent")
    w = np.ones(3)
    with caplog.at_level(logging.WARNING, "optim"):
        plan.apply_rule(rule, (), w, np.zeros(3))
    assert w.tolist() == [1, 1, 1]
    assert "cannot be compiled, so NumPy runs it" in caplog.text


@needs_numba
@pytest.mark.usefixtures("_compiled")
def test_a_formula_may_be_typed_at_a_prompt(caplog):
    rule = Rule(eval("lambda g, v: (v - np.exp(g) * np.log(v),)"), (), "has no source")  # noqa: S307
    w, g = np.float32([1.0, 2.0, 3.0]), np.float32([0.5, -1.0, 2.0])
    wanted = w - np.exp(g) * np.log(w)
    plan.apply_rule(rule, (), w, g)
    np.testing.assert_allclose(w, wanted, rtol=1e-6)
    assert "cannot be compiled" not in caplog.text


def test_a_kernel_reads_each_array_once():
    source = kernel_source(rules.ADAM, "float32", report=False)
    assert [source.count(f"load(a{k}, i)") for k in range(4)] == [1, 1, 1, 1]
    assert [source.count(f"store(a{k}, i, ") for k in range(4)] == [0, 1, 1, 1]


def test_settings_are_checked():
    with pytest.raises(ValueError, match=r"^kernels must be 'plain', 'compiled' or None, got 'fast'$"):
        compiled.use("fast")
    with pytest.raises(ValueError, match=r"^the number of threads must be positive, got 0$"):
        threads.set_num_threads(0)
    with pytest.raises(ValueError, match=r"^kernels are compiled for float32 and float64, got 'float16'$"):
        compiled.compile_kernels([rules.ADAM], ["float16"])


@needs_numba
def test_compiling_ahead_of_time_is_one_line(monkeypatch, caplog):
    def load(title, source):
        announce(f"the kernel {title}", logging.getLogger("optim"))
        return SimpleNamespace(run=print)

    monkeypatch.setattr(compiled, "load", load)
    monkeypatch.setattr(compiled, "_made", {})
    monkeypatch.setattr(compiled, "_wanted", ["compiled"])
    assert compiled.compile_kernels([rules.ADAM], ["float32", "float64"]) == 10
    assert caplog.messages == [
        "compiling the kernels of optimizers, once per machine (`gradledger warm-up` does it ahead of time)"
    ]


def test_what_the_environment_says_wrongly_is_told(monkeypatch, caplog):
    monkeypatch.setenv("GRADLEDGER_KERNELS", "foo")
    monkeypatch.setattr(compiled, "_by_default", functools.cache(compiled._by_default.__wrapped__))
    with caplog.at_level(logging.WARNING, "optim"):
        compiled.available()
        compiled.available()
    assert caplog.messages == ["GRADLEDGER_KERNELS must be 'plain' or 'compiled', got 'foo', which is ignored"]
