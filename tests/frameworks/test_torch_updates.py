"""The norms of updates: as the differences of weights have them, for every optimizer of torch, and others."""

import gc
from contextlib import nullcontext

import numpy as np
import pytest
from frameworks.reference_loop import batches, network

from summaries import audit, read_run

torch = pytest.importorskip("torch", reason="torch is not installed: make frameworks")
pytestmark = pytest.mark.filterwarnings("ignore")

from optim.integrations.selected import Selected  # noqa: E402
from optim.integrations.torch import attach  # noqa: E402 - it needs torch
from optim.integrations.torch_updates import Samples, StepWatch  # noqa: E402 - it needs torch

STEPS = 4


class Lion(torch.optim.Optimizer):
    """As the paper has it, with decoupled decay."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            first, second = group["betas"]
            for parameter in group["params"]:
                moment = self.state[parameter].setdefault("exp_avg", torch.zeros_like(parameter))
                parameter.mul_(1 - group["lr"] * group["weight_decay"])
                parameter.add_((first * moment + (1 - first) * parameter.grad).sign(), alpha=-group["lr"])
                moment.lerp_(parameter.grad, 1 - second)


class Larger(torch.optim.SGD):
    """Of a known optimizer's class, but it makes other steps."""

    def step(self, closure=None):
        super().step(closure)
        super().step(closure)


class Raises(torch.optim.SGD):
    """Fails in the middle of a step."""

    fails = False

    def step(self, closure=None):
        super().step(closure)
        if self.fails:
            raise RuntimeError("no more memory")


def sgd(**options):
    return lambda parameters: torch.optim.SGD(parameters, 0.05, **options)


def of(name, **options):
    return lambda parameters: getattr(torch.optim, name)(parameters, **options)


OPTIMIZERS = {
    "sgd": sgd(),
    "sgd, decay": sgd(weight_decay=0.1),
    "sgd, maximized": sgd(maximize=True, weight_decay=0.1),
    "sgd, momentum": sgd(momentum=0.9),
    "sgd, all": sgd(momentum=0.8, dampening=0.1, weight_decay=0.1),
    "sgd, nesterov": sgd(momentum=0.9, nesterov=True, weight_decay=0.1),
    "sgd, foreach": sgd(momentum=0.9, nesterov=True, foreach=True),
    "sgd, fused": sgd(momentum=0.9, fused=True),
    "sgd, a tensor as rate": lambda parameters: torch.optim.SGD(parameters, torch.tensor(0.05)),
    "adam": of("Adam", lr=1e-2),
    "adam, decay": of("Adam", lr=1e-2, weight_decay=0.1),
    "adam, amsgrad": of("Adam", lr=1e-2, amsgrad=True),
    "adam, fused": of("Adam", lr=1e-2, fused=True),
    "adam, foreach": of("Adam", lr=1e-2, foreach=True),
    "adamw": of("AdamW", lr=1e-2, weight_decay=0.3),
    "adamw, large epsilon": of("AdamW", lr=1e-2, eps=0.1),
    "nadam": of("NAdam", lr=1e-2),
    "adagrad": of("Adagrad", lr=1e-2),
    "rmsprop": of("RMSprop", lr=1e-2),
    "adafactor": of("Adafactor", lr=1e-2),
    "lion": lambda parameters: Lion(parameters, 1e-3, weight_decay=0.1),
    "larger": lambda parameters: Larger(parameters, 0.05),
}  # fmt: skip


def copies(model):
    return {name: parameter.detach().double().clone() for name, parameter in model.named_parameters()}


def logged(logdir):
    return {tag: series.value for tag, series in read_run(logdir).scalars.items()}


def check(logdir, moved, weights, tolerance):
    """What was logged is what was found by hand: name → norms of updates, and of weights before the step."""
    found = logged(logdir)
    for name, norms in moved.items():
        np.testing.assert_allclose(found[f"updates/norm/{name}"], norms, rtol=tolerance, err_msg=name)
        ratios = np.array(norms) / weights[name]
        np.testing.assert_allclose(found[f"updates/ratio/{name}"], ratios, rtol=tolerance, err_msg=name)


def train(logdir, model, optimizer, data, tolerance=2e-4, loss=torch.nn.functional.mse_loss, **options):
    """Compare what is logged with the differences of the weights."""
    hook = attach(optimizer, logdir, model, **options)
    moved, weights = {}, {}
    for x, y in data:
        optimizer.zero_grad()
        before = copies(model)

        def closure(x=x, y=y):
            made = loss(model(x), y)
            made.backward()
            return made

        if isinstance(optimizer, torch.optim.LBFGS):
            optimizer.step(closure)
        else:
            closure()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.05)
            optimizer.step()
        after = copies(model)
        beside = after if isinstance(optimizer, torch.optim.LBFGS) else before  # it is measured after the step
        for name, value in after.items():
            moved.setdefault(name, []).append(float((value - before[name]).norm()))
            weights.setdefault(name, []).append(float(beside[name].norm()))
    hook.remove()
    check(logdir, moved, weights, tolerance)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_as_the_weights_differ(logdir, name):
    model = network(torch)
    train(logdir, model, OPTIMIZERS[name](model.parameters()), batches(torch, STEPS))


def test_groups_with_rates_of_their_own(logdir):
    model = network(torch)
    groups = [{"params": model[0].parameters(), "lr": 1e-3}, {"params": model[2].parameters(), "weight_decay": 0.5}]
    train(logdir, model, torch.optim.AdamW(groups, 1e-2), batches(torch, STEPS))


def test_lbfgs_that_makes_its_gradients_itself(logdir):
    model = network(torch)
    train(logdir, model, torch.optim.LBFGS(model.parameters(), 0.1, max_iter=3), batches(torch, STEPS))


def test_weights_of_half_precision_may_not_move(logdir):
    """Of an update that is below the distance of two numbers, nothing arrives: the difference says so."""
    model = torch.nn.Linear(8, 1, bias=False).bfloat16()
    torch.nn.init.ones_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    hook = attach(optimizer, logdir, model)
    model(torch.ones(1, 8).bfloat16()).sum().backward()
    optimizer.step()
    hook.remove()
    assert logged(logdir)["updates/norm/weight"].tolist() == [0.0]


@pytest.mark.parametrize("name", ["sgd, all", "adamw", "lion", "adafactor"])
def test_large_parameters(logdir, name):
    """By a sample, of a matrix of half a million elements, to two hundredths."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.Tanh(), torch.nn.Linear(1024, 3))
    data = [(torch.randn(8, 512), torch.randn(8, 3)) for _ in range(2)]
    train(logdir, model, OPTIMIZERS[name](model.parameters()), data, 2e-4 if name in {"sgd, all", "lion"} else 2e-2)


@pytest.mark.parametrize(
    "make", [lambda parameters: torch.optim.SparseAdam(list(parameters), 1e-2), sgd(), sgd(momentum=0.5)]
)
def test_sparse_gradients(logdir, make):
    model = torch.nn.Sequential(torch.nn.Embedding(5000, 4, sparse=True), torch.nn.Flatten())
    optimizer = make(model.parameters())
    hook = attach(optimizer, logdir, model)
    moved = []
    for step in range(3):
        optimizer.zero_grad()
        before = copies(model)
        model(torch.tensor([[3, 70 + step, 3, 4999]])).square().sum().backward()
        optimizer.step()
        moved += [float((after - before[name]).norm()) for name, after in copies(model).items()]
    hook.remove()
    found = logged(logdir)["updates/norm/0.weight"]
    if isinstance(optimizer, torch.optim.SGD) and optimizer.param_groups[0]["momentum"]:
        found, moved = found[:1], moved[:1]  # then rows without a gradient move, too
    np.testing.assert_allclose(found, moved, rtol=1e-4)


def test_only_due_steps_are_looked_at(logdir):
    model = network(torch)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    hook = attach(optimizer, logdir, model, every_n_steps=2)
    for x, y in batches(torch, 4):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    hook.remove()
    assert read_run(logdir).scalars["updates/norm/0.weight"].step.tolist() == [2, 4]


def storages():
    """Where the elements of all tensors lie, and how many bytes there are."""
    gc.collect()
    fake = torch._subclasses.FakeTensor  # what compiling has left lies nowhere
    tensors = [each for each in gc.get_objects() if isinstance(each, torch.Tensor) and not isinstance(each, fake)]
    of_each = [
        tensor.untyped_storage() for tensor in tensors + [t.grad for t in tensors if t.is_leaf and t.grad is not None]
    ]
    return {storage.data_ptr(): storage.nbytes() for storage in of_each}


def test_a_small_parameter_beside_a_large_one(logdir):
    """It is looked at by itself."""
    model = torch.nn.Linear(128, 64)
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    hook, before = attach(optimizer, logdir, model), model.bias.detach().clone()
    model(torch.ones(2, 128)).square().sum().backward()
    optimizer.step()
    hook.remove()
    moved = float((model.bias.detach() - before).norm())
    assert read_run(logdir).scalars["updates/norm/bias"].value.tolist() == pytest.approx([moved])


def test_parameters_that_move_between_steps(logdir):
    """Samples are chosen again, of elements where they are now; and of those whose elements lie in another order."""
    model = torch.nn.Linear(128, 96)
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    hook, moved = attach(optimizer, logdir, model), []
    for place in (lambda w: w, lambda w: w.clone(), lambda w: w.t().contiguous().t(), lambda w: w.double()):
        model.weight.data = place(model.weight.data)
        model.weight.grad = model.weight.data.sign()
        model.bias.grad = torch.ones(96)
        before = model.weight.detach().clone()
        optimizer.step()
        moved.append(float((model.weight.detach() - before).norm()))
        optimizer.state.clear()
    hook.remove()
    np.testing.assert_allclose(read_run(logdir).scalars["updates/norm/weight"].value, moved, rtol=1e-5)


def test_no_copy_of_the_model_is_made(logdir):
    """What is held between the hook's two halves of a step is a sixteenth of a large parameter."""
    model = torch.nn.Linear(2048, 1024)
    optimizer = torch.optim.Adagrad(model.parameters())
    model(torch.ones(1, 2048)).sum().backward()
    selected = Selected(model, optimizer)
    before = storages()
    watch = StepWatch(optimizer, selected, Samples(), has_closure=False)
    held = {where: size for where, size in storages().items() if where not in before}
    assert watch is not None
    assert 0 < sum(held.values()) <= 4 * (2048 * 1024 / 16 + 1024)


@pytest.mark.parametrize(("rate", "code"), [(0.3, "GL501"), (1e-9, "GL501"), (1e-2, None)])
def test_the_audit_sees_them(logdir, rate, code):
    model = network(torch)
    optimizer = torch.optim.Adam(model.parameters(), rate)
    hook = attach(optimizer, logdir, model)
    for x, y in batches(torch, 60):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        hook.loss(loss)
        optimizer.step()
    hook.remove()
    codes = {finding.code for finding in audit(str(logdir)).findings}
    assert ("GL501" in codes) == (code == "GL501"), codes


def test_a_step_that_raises_is_logged_without_its_update(logdir):
    model = network(torch)
    optimizer = Raises(model.parameters(), 0.1)
    hook = attach(optimizer, logdir, model)
    for number in range(3):
        model(torch.ones(1, 8)).sum().backward()
        optimizer.fails = number == 1
        with pytest.raises(RuntimeError) if optimizer.fails else nullcontext():
            optimizer.step()
    hook.remove()
    scalars = read_run(logdir).scalars
    assert scalars["gradients/global_norm"].step.tolist() == [1, 2, 3]
    assert scalars["updates/norm/0.weight"].step.tolist() == [1, 3]


def test_the_audit_sees_the_update_before_the_loss(logdir):
    """One step at a rate that is fifty times as high: its update jumps, and the next loss does."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), 5e-3)
    hook = attach(optimizer, logdir, model)
    x = torch.randn(512, 8)
    y = torch.sin(x.sum(1, keepdim=True))
    for step in range(400):
        rows = torch.randperm(512)[:500]
        optimizer.param_groups[0]["lr"] = 0.25 if step == 250 else 5e-3
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x[rows]), y[rows])
        loss.backward()
        hook.loss(loss)
        optimizer.step()
    hook.remove()
    (found,) = (finding for finding in audit(str(logdir)).findings if finding.code == "GL505")
    assert found.message == "the norm of the updates jumps 1 point before train/loss does, at 1 spike"
