"""Kernels come compiled; a rule of one's own is compiled by numba, or run by NumPy; threads survive a fork."""

import builtins
import logging
import os
import threading

import numpy as np
import pytest
from helpers import run, run_script
from optimizing.applied_rules import apply_rule

from optim import rules
from optim.kernels import codegen, compiled, own, threads
from optim.kernels.codegen import kernel_source
from optim.rules import Rule
from summaries.native import library

needs_library = pytest.mark.skipif(not library.is_available(), reason="no compiled code")
needs_numba = pytest.mark.skipif(not own.has_numba() or not library.is_available(), reason="an extra")

PROGRAM = """
import os, sys, warnings
import numpy as np
import optim
optim.set_num_threads(2)
w = optim.Variable(np.zeros(600_000, np.float32))
optim.GradientDescentOptimizer(1.0).apply_gradients([(np.ones(600_000, np.float32), w)], report=True)
assert (w.value == -1).all()
assert "numba" not in sys.modules
assert "numpy.ma" not in sys.modules, "no masked array was here"
if hasattr(os, "fork"):
    warnings.simplefilter("ignore")  # that the process has threads is the point
    child = os.fork()
    optim.GradientDescentOptimizer(1.0).apply_gradients([(np.ones(600_000, np.float32), w)])
    assert (w.value == -2).all()
    if not child:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.parametrize("engine", ["plain", pytest.param("compiled", marks=needs_library)])
def test_no_step_needs_numba_and_threads_survive_a_fork(tmp_path, engine):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    told = "plain" if engine == "plain" else ""
    run(path, engine, env=os.environ | {"GRADLEDGER_KERNELS": told, "PYTHONPATH": "."})


@needs_library
@pytest.mark.parametrize("report", [False, True])
@pytest.mark.parametrize("dtype", codegen.DTYPES)
@pytest.mark.parametrize(
    "rule", [rule for rule in vars(rules).values() if isinstance(rule, Rule) and rule is not rules.FTRL],
    ids=lambda r: r.name,
)  # fmt: skip
def test_every_rule_comes_compiled(monkeypatch, rule, dtype, report):
    """NumPy would step in for a kernel that is not, with the same results: no other test notices."""
    monkeypatch.setattr(own, "has_numba", lambda: False)
    for each in (rule, rule.sparse or rule):
        assert (compiled.kernel(each, dtype, report) is not None) == (each.reports or not report)


def test_without_numba_there_is_no_kernel_of_an_own_rule(monkeypatch, caplog):
    monkeypatch.setattr(own, "has_numba", lambda: False)
    assert compiled.kernel(Rule(lambda g, v: (v - g,), (), "another function"), "float32", False) is None
    assert caplog.messages == []


@needs_numba
def test_compiling_is_told_once(caplog):
    def halved(g, v):
        return (v - 0.5 * g,)

    rule = Rule(halved, (), "")
    with caplog.at_level(logging.WARNING, "optim"):
        for _ in range(2):
            assert compiled.kernel(rule, "float32", report=False) is not None
    assert caplog.messages == ["compiling the kernel halved_float32, once per process"]


@needs_numba
def test_the_thread_that_asks_imports_nothing(monkeypatch):
    """An import that a signal handler breaks off may leave the lock of all imports held, and others waiting for it."""
    imported, real = [], builtins.__import__

    def seen(name, *args, **kwargs):
        if threading.current_thread() is threading.main_thread():
            imported.append(name)
        return real(name, *args, **kwargs)

    rule = Rule(lambda g, v: (v - 0.25 * g,), (), "")
    monkeypatch.setattr(builtins, "__import__", seen)
    assert compiled.kernel(rule, "float32", report=True) is not None
    assert imported == []


LATE = """
import logging, signal
import numpy as np
import optim

# Before any signal: an import that one breaks off may leave the lock of all imports held, in CPython.
from optim import Optimizer, Update

heard = []
logging.getLogger("optim").addFilter(heard.append)
w = optim.Variable(np.zeros(3, np.float32))
own = optim.Rule(lambda g, v, learning_rate: (v - learning_rate * g,), (), "")


class Late(Exception):
    pass


def late(*_):  # one that comes where none is caught would end the program
    global caught
    if caught:
        caught = False
        raise Late


def step():
    Optimizer(Update(own, 1.0, "Own")).apply_gradients([(np.ones(3, np.float32), w)])


caught = False
signal.signal(signal.SIGALRM, late)
for delay in (0.01, 0.3, 0.6):  # numba is imported, the kernel compiled
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
blamed = [record.msg for record in heard if "cannot" in record.msg]
print(w.value[0] - before, blamed)
"""


@needs_numba
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals")
def test_what_a_signal_handler_raises_is_no_fault_of_numbas(tmp_path):
    *late, last = run_script(tmp_path, LATE, env=os.environ | {"PYTHONPATH": "."}).splitlines()
    assert late
    assert last == "-1.0 []"


@needs_numba
def test_a_formula_with_another_function_is_run_by_numpy(caplog):
    rule = Rule(lambda g, v: (v - np.tan(g),), (), "kernels have no tangent")
    w = np.ones(3)
    with caplog.at_level(logging.WARNING, "optim"):
        apply_rule(rule, (), w, np.zeros(3))
    assert w.tolist() == [1, 1, 1]
    assert "cannot be compiled, so NumPy runs it" in caplog.text


@needs_numba
def test_a_formula_may_be_typed_at_a_prompt(caplog):
    rule = Rule(eval("lambda g, v: (v - np.exp(g) * np.log(v),)"), (), "has no source")  # noqa: S307
    w, g = np.float32([1.0, 2.0, 3.0]), np.float32([0.5, -1.0, 2.0])
    wanted = w - np.exp(g) * np.log(w)
    apply_rule(rule, (), w, g)
    np.testing.assert_allclose(w, wanted, rtol=1e-6)
    assert "cannot be compiled" not in caplog.text


@needs_numba
def test_numba_may_be_switched_off(monkeypatch, caplog):
    import numba

    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    assert compiled.kernel(Rule(lambda g, v: (v - 2 * g,), (), ""), "float32", False) is None
    assert "cannot be compiled, so NumPy runs it" in caplog.text


def test_a_kernel_reads_each_array_once():
    source = kernel_source(rules.ADAM, "float32", report=False)
    assert [source.count(f"load(a{k}, i)") for k in range(4)] == [1, 1, 1, 1]
    assert [source.count(f"store(a{k}, i, ") for k in range(4)] == [0, 1, 1, 1]


def test_the_number_of_threads_is_checked():
    with pytest.raises(ValueError, match=r"^the number of threads must be positive, got 0$"):
        threads.set_num_threads(0)
