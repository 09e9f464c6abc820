"""An update of one's own: a rule alone, and each public hook; what it lacks is refused before anything changes."""

import numpy as np
import pytest

import optim
from optim import Optimizer, Rule, Update, Variable, checks, rules
from optim.checkpoints.state import CheckpointArray
from optim.kernels import plan


def leaky(g, v, a, learning_rate, leak):
    a = leak * a + g
    return v - learning_rate * a, a


LEAKY = Rule(leaky, ("sum",), "", moves_at_rest=True)


def applied(optimizer, w, gradient=1.0):
    return optimizer.apply_gradients([(np.full(w.shape, gradient, w.dtype), w)])


def test_a_rule_alone_is_enough():
    w, leak = Variable([0.0], name="w"), Variable(0.5)
    optimizer = Optimizer(Update(LEAKY, lambda: 1.0, "Leaky", initial={"sum": 2.0}, labels={"sum": "s"}, leak=leak))
    applied(optimizer, w)
    leak.assign(0.0)
    applied(optimizer, w)
    assert w.value.tolist() == [-3.0]
    assert [(slot.name, slot.value.tolist()) for slot in optimizer.variables()] == [("w/s", [1.0])]
    assert (optimizer.get_name(), optimizer.update.steps, optimizer.rule) == ("Leaky", 2, LEAKY)


@pytest.mark.parametrize("leak", [float("nan"), float("inf")])
def test_a_hyperparameter_that_the_package_does_not_know_must_be_finite(leak):
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole text is compared
        Update(LEAKY, 1.0, "Leaky", leak=leak)
    assert str(raised.value) == f"leak must be finite, got {leak}"


def test_a_number_that_the_formula_lacks_changes_nothing():
    w = Variable([1.0], name="w")
    optimizer = Optimizer(Update(LEAKY, 1.0, "Leaky", momentum=0.5))
    with pytest.raises(LookupError) as raised:
        applied(optimizer, w)
    assert str(raised.value) == (
        "the formula of 'Leaky' takes 'leak', which must be a hyperparameter or come from formula_numbers;"
        " got learning_rate, momentum"
    )
    assert (w.value.tolist(), w.version, optimizer.update.steps) == ([1.0], 0, 0)


class Logged(Update):
    """Writes down which hook was called, and remembers something beside its slots."""

    def __init__(self, **hyperparameters):
        self.calls = []
        self.total = Variable(0.0, trainable=False, name="total")
        super().__init__(LEAKY, 1.0, "Logged", **hyperparameters)
        self.calls.clear()

    def bound(self, name):
        return checks.up_to_one if name == "leak" else super().bound(name)

    def check(self, values, dtypes):
        self.calls.append(("check", values["leak"], sorted(map(str, dtypes))))

    def prepare(self, values, dtypes):
        self.calls.append(("prepare", values["leak"], sorted(map(str, dtypes))))

    def formula_numbers(self, values, dtype):
        self.calls.append(("formula_numbers", str(dtype)))
        return super().formula_numbers(values, dtype)

    def finish(self, values):
        self.calls.append(("finish", values["leak"]))
        self.total.assign(self.total + 1)

    def other_variables(self):
        return [self.total]

    def state(self, variables, stored=None):
        yield from super().state(variables, stored)
        yield CheckpointArray.of_variable(self.total, f"{self.name}/total")

    def keep_only(self, variables):
        self.calls.append(("keep_only", [variable.name for variable in variables]))
        super().keep_only(variables)


def test_each_hook_is_called_in_its_place():
    update = Logged(leak=0.5)
    w, half = Variable([0.0], name="w"), Variable([0.0], name="half", dtype=np.float16)
    wide = Variable([0.0], name="wide", dtype=np.float64)
    Optimizer(update).apply_gradients([(np.ones(1, v.dtype), v) for v in (w, half, wide)])
    asked = [("formula_numbers", dtype) for dtype in ("float32", "float32", "float64")]  # once for each dtype given
    assert update.calls[2:5] == asked
    dtypes = ["float32", "float64"]
    assert [*update.calls[:2], *update.calls[5:]] == [("check", 0.5, dtypes), ("prepare", 0.5, dtypes), ("finish", 0.5)]
    names = [variable.name for variable in Optimizer(update).variables()]
    assert names == ["half/Logged", "total", "w/Logged", "wide/Logged"]


def test_a_bound_of_ones_own():
    with pytest.raises(ValueError, match=r"^leak must be from 0 to 1, got 2\.0$"):
        Logged(leak=2.0)


def test_a_check_that_refuses_changes_nothing():
    class Choosy(Logged):
        def check(self, values, dtypes):
            raise ValueError("not today")

    w, optimizer = Variable([1.0], name="w"), Optimizer(Choosy(leak=0.5))
    with pytest.raises(ValueError, match=r"^not today$"):
        applied(optimizer, w)
    assert (w.value.tolist(), optimizer.get_slot_names(), optimizer.update.calls) == ([1.0], [], [])


def test_an_interrupted_step_is_finished_and_counts(monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(plan.Plan, "run", interrupted)
    w, update = Variable([1.0], name="w"), Logged(leak=0.5)
    with pytest.raises(KeyboardInterrupt):
        applied(Optimizer(update), w)
    assert (update.calls[-1], update.steps, w.version) == (("finish", 0.5), 1, 1)


def test_what_it_remembers_is_saved_and_restored():
    def begin():
        w = Variable([1.0], name="w")
        return w, optim.skip_nonfinite_steps(Optimizer(Logged(leak=0.5)))

    w, optimizer = begin()
    for gradient in (1.0, np.nan, 2.0):
        applied(optimizer, w, gradient)
    stored = {entry.name: entry.value.copy() for entry in optimizer.state([w])}
    assert {name: float(value.reshape(-1)[0]) for name, value in stored.items()} == {
        "Logged/steps": 2,
        "w/Logged": 2.5,
        "Logged/total": 2,
        "Logged/skipped_in_a_row": 0,
        "Logged/skipped_steps": 1,
    }
    other_w, other = begin()
    for entry in other.state([other_w], stored):
        entry.assign(stored[entry.name])
    assert other.update.calls == [("keep_only", ["w"])]
    assert other.update.slotted([other_w]) == [other_w]
    assert (other.update.steps, other.skipped_steps, other.get_slot(other_w, "sum").value.tolist()) == (2, 1, [2.5])
    assert [variable.value.tolist() for variable in other.variables()] == [2.0, [2.5]]


def test_an_optimizer_needs_an_update():
    with pytest.raises(TypeError) as raised:
        Optimizer(0.5)
    assert str(raised.value) == "update must be an Update, got float: 0.5"


@pytest.mark.parametrize("rule", [rules.ADAM, rules.NADAM])
def test_a_rule_of_the_package_says_what_it_lacks(rule):
    optimizer = Optimizer(Update(rule, 0.1, "Mine", beta1=0.9, beta2=0.99, epsilon=0.0))
    with pytest.raises(LookupError, match=r"^the formula of 'Mine' takes 'alpha', which must be a hyperparameter or "):
        applied(optimizer, Variable([1.0]))
