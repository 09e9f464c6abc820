"""The hook on torch's optimizers: one point for each step, whatever is clipped before, after or between steps."""

import math

import numpy as np
import pytest
from frameworks.reference_loop import LR, batches, network

from summaries import read_run

torch = pytest.importorskip("torch", reason="torch is not installed: make frameworks")

from torch.nn.utils import clip_grad_norm_, clip_grad_value_  # noqa: E402 - imported by name before anything attaches

from optim.integrations.torch import attach  # noqa: E402 - it needs torch

BOUND = 0.05


class Loop:
    """A training by hand that knows the norm of the gradients whenever it is asked."""

    def __init__(self, logdir, optimizer=torch.optim.SGD, **options):
        self.model, self.logdir = network(torch), logdir
        self.optimizer = optimizer(self.model.parameters(), LR)
        self.hook = attach(self.optimizer, logdir, self.model, **options)
        self.data = iter(batches(torch, 100))

    def backward(self, factor=1.0):
        x, y = next(self.data)
        (factor * torch.nn.functional.mse_loss(self.model(x), y)).backward()

    def norm(self):
        return float(torch.nn.utils.get_total_norm([p.grad for p in self.model.parameters()]))

    def clip(self, bound=BOUND, **options):
        return torch.nn.utils.clip_grad_norm_(self.model.parameters(), bound, **options)

    def step(self):
        self.optimizer.step()
        self.optimizer.zero_grad()

    def logged(self):
        """(steps, global norms, tag → values)"""
        self.hook.remove()
        scalars = read_run(self.logdir).scalars
        found = scalars["gradients/global_norm"]
        return (
            found.step.tolist(),
            found.value.tolist(),
            {tag: series.value.tolist() for tag, series in scalars.items()},
        )


@pytest.fixture
def loop(logdir):
    return Loop(logdir)


def test_clipped_after_every_micro_batch(loop):
    wanted = []
    for _ in range(3):
        for micro in range(4):
            loop.backward()
            if micro == 3:
                wanted.append(loop.norm())
            loop.clip()
        loop.step()
    steps, values, tags = loop.logged()
    assert steps == [1, 2, 3]
    assert values == pytest.approx(wanted, rel=1e-5)
    assert tags["gradients/clip_norm"] == pytest.approx([BOUND] * 3)


@pytest.mark.parametrize("bounds", [(math.inf, BOUND), (0.3, BOUND), (BOUND, 0.3), (BOUND, math.inf)])
@pytest.mark.parametrize("every", [1, 2])
def test_several_clippings_count_as_one(logdir, bounds, every):
    loop, wanted = Loop(logdir, every_n_steps=every), []
    for _ in range(4):
        loop.backward()
        wanted.append(loop.norm())
        for bound in bounds:
            loop.clip(bound)
        loop.step()
    steps, values, tags = loop.logged()
    assert steps == list(range(every, 5, every))
    assert values == pytest.approx(wanted[every - 1 :: every], rel=1e-5)
    assert tags["gradients/clip_norm"] == pytest.approx([BOUND] * len(steps))
    assert tags["gradients/clipped_fraction"] == [1.0] * len(steps)


@pytest.mark.parametrize("to_none", [True, False])
@pytest.mark.parametrize("before", [True, False])
def test_a_clipping_after_the_step_shifts_nothing(loop, before, to_none):
    wanted = []
    for _ in range(4):
        loop.optimizer.zero_grad(set_to_none=to_none)
        loop.backward()
        wanted.append(loop.norm())
        if before:
            loop.clip()
        loop.optimizer.step()
        loop.clip(math.inf)
    steps, values, tags = loop.logged()
    assert steps == [1, 2, 3, 4]
    assert values == pytest.approx(wanted, rel=1e-5)
    assert ("gradients/clip_norm" in tags) == before


def test_the_share_is_of_all_steps_though_some_are_neither_due_nor_clipped(logdir):
    loop = Loop(logdir, every_n_steps=4)
    for number in range(1, 9):
        loop.backward()
        if number % 4 == 0:
            loop.clip(1e-6)
        loop.step()
    assert loop.logged()[2]["gradients/clipped_fraction"] == [1 / 4, 2 / 8]


def test_gradients_changed_after_clipping_are_logged_as_before_it(loop):
    loop.backward()
    wanted = loop.norm()
    loop.clip()
    for parameter in loop.model.parameters():
        parameter.grad += 1.0  # as noise for privacy
    loop.step()
    assert loop.logged()[1] == pytest.approx([wanted], rel=1e-5)


def test_lbfgs_that_clips_in_its_closure(logdir):
    loop = Loop(logdir, lambda parameters, lr: torch.optim.LBFGS(parameters, lr, max_iter=5))
    x, y = batches(torch)[0]
    seen = []

    def closure():
        loop.optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(loop.model(x), y)
        loss.backward()
        seen[-1].append(loop.norm())
        loop.clip()
        return loss

    for _ in range(3):
        seen.append([])
        loop.optimizer.step(closure)
    steps, values, _ = loop.logged()
    assert steps == [1, 2, 3]
    assert min(map(len, seen)) > 1
    assert values == pytest.approx([each[-1] for each in seen], rel=1e-5)


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("clips", [False, True])
def test_steps_that_grad_scaler_skips_are_no_incidents(logdir, fused, clips):
    loop = Loop(logdir, lambda parameters, lr: torch.optim.SGD(parameters, lr, fused=fused), keep_last=10)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    wanted = []
    for i in range(6):
        x, y = next(loop.data)
        loop.optimizer.zero_grad()
        scaler.scale(torch.nn.functional.mse_loss(loop.model(x), y)).backward()
        if i in {0, 3}:
            loop.model[0].weight.grad[0, 0] = math.inf
        else:
            wanted.append(loop.norm() / scaler.get_scale())
        if clips:
            scaler.unscale_(loop.optimizer)
            loop.clip()
        scaler.step(loop.optimizer)
        scaler.update()
    steps, values, _ = loop.logged()
    assert steps == [1, 2, 3, 4]
    assert values == pytest.approx(wanted, rel=1e-5)
    assert not list(logdir.glob("incident*"))


def test_a_scale_of_zero_ends_no_training(loop):
    loop.backward()
    assert loop.hook.observe(scale=0) is None
    loop.step()
    assert loop.logged()[0] == [1]


def test_a_clipping_that_raises(loop):
    """Its step is skipped."""
    for i in range(3):
        loop.optimizer.zero_grad()
        loop.backward()
        if i == 1:
            loop.model[0].weight.grad[0, 0] = math.nan
            with pytest.raises(RuntimeError, match="non-finite"):
                loop.clip(error_if_nonfinite=True)
            continue
        loop.clip(error_if_nonfinite=True)
        loop.optimizer.step()
    steps, values, _ = loop.logged()
    assert steps == [1, 2]
    assert np.isfinite(values).all()


def test_functions_that_were_imported_by_name(loop):
    loop.backward()
    wanted = [loop.norm()]
    clip_grad_norm_(loop.model.parameters(), BOUND)
    loop.step()
    loop.backward()
    wanted.append(loop.norm())
    clip_grad_value_(loop.model.parameters(), 1e-4)
    assert loop.norm() < wanted[1] / 2
    loop.step()
    _, values, tags = loop.logged()
    assert values == pytest.approx(wanted, rel=1e-5)
    assert tags["gradients/clip_norm"] == pytest.approx([BOUND])


def test_steps_without_gradients(loop):
    loop.optimizer.step()
    loop.backward()
    loop.step()
    loop.optimizer.step()
    loop.backward()
    loop.clip()
    loop.step()
    assert loop.logged()[0] == [2, 4]


def test_a_loss_is_used_once(loop, logdir):
    for i in range(3):
        loop.backward()
        if i == 0:
            loop.hook.loss = 2.5
        loop.step()
    loop.hook.remove()
    losses = read_run(logdir).scalars["train/loss"]
    assert (losses.step.tolist(), losses.value.tolist()) == ([1], [2.5])


def test_a_loss_that_is_given(loop, logdir):
    """Of several before one step, as of accumulated batches, the mean."""
    for losses in ([2.0], [1.0, 4.0], []):
        loop.backward()
        for loss in losses:
            loop.hook.loss(torch.tensor(loss, requires_grad=True))
        loop.step()
    loop.hook.remove()
    logged = read_run(logdir).scalars["train/loss"]
    assert (logged.step.tolist(), logged.value.tolist()) == ([1, 2], [2.0, 2.5])


def test_a_loss_that_is_assigned_can_be_read(loop):
    loop.hook.loss = loss = loop.model(torch.ones(1, 8)).sum()
    assert loop.hook.loss is loss
    loop.hook.loss.backward()
    loop.step()
    assert loop.hook.report.loss == pytest.approx(float(loss.detach()))
    assert loop.hook.loss(loss) is loss


def test_numbers_of_the_loops_own(loop, logdir):
    loop.backward()
    loop.step()
    loop.hook.log("eval/accuracy", torch.tensor(0.5))
    loop.hook.log("eval/accuracy", 0.75, step=7)
    with pytest.raises(TypeError):
        loop.hook.log("eval/accuracy", "much")
    loop.hook.remove()
    logged = read_run(logdir).scalars["eval/accuracy"]
    assert (logged.step.tolist(), logged.value.tolist()) == ([1, 7], [0.5, 0.75])


def test_histograms_are_of_gradients_before_clipping(logdir):
    loop = Loop(logdir, histograms_every_n_steps=1)
    loop.backward()
    largest = float(loop.model[0].weight.grad.abs().max())
    loop.clip(1e-6)
    loop.step()
    loop.hook.remove()
    edges = read_run(logdir).histograms["histograms/gradients/0.weight"][0]
    assert np.abs(edges[edges[:, 2] > 0][:, :2]).max() == pytest.approx(largest, rel=0.2)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("more", "the measured parameters lack 1 of those that the loop clips"),
        ("fewer", "the loop does not clip 1 of the measured parameters"),
    ],
)
def test_other_parameters_are_clipped_than_are_measured(loop, how, told):
    extra = torch.nn.Parameter(torch.ones(3))
    parameters = list(loop.model.parameters())
    wanted = []

    def train():
        for _ in range(2):
            loop.backward()
            extra.grad = torch.ones(3)
            wanted.append(loop.norm())
            torch.nn.utils.clip_grad_norm_([*parameters, extra] if how == "more" else parameters[1:], BOUND)
            loop.step()

    with pytest.warns(UserWarning, match=f"^{told}") as warned:
        train()
    assert [str(one.message) for one in warned] == [f"{told}, so gradients/clipped and its like are not logged"]
    _, values, tags = loop.logged()
    assert values == pytest.approx(wanted, rel=1e-5)
    assert "gradients/clipped" not in tags


@pytest.mark.filterwarnings("ignore::optim.integrations.torch.WiringWarning")
def test_parameters_that_the_optimizer_is_given_later(logdir):
    model = network(torch)
    optimizer = torch.optim.SGD(model[2].parameters(), LR)
    hook = attach(optimizer, logdir, model)
    wanted = []
    for step, (x, y) in enumerate(batches(torch, 4)):
        if step == 2:
            optimizer.add_param_group({"params": model[0].parameters()})
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        trained = [p for group in optimizer.param_groups for p in group["params"]]
        wanted.append(float(torch.nn.utils.clip_grad_norm_(trained, BOUND)))
        optimizer.step()
    hook.remove()
    scalars = read_run(logdir).scalars
    assert scalars["gradients/global_norm"].value.tolist() == pytest.approx(wanted, rel=1e-5)
    assert scalars["gradients/clip_norm"].step.tolist() == [1, 2, 3, 4]
    assert scalars["gradients/norm/0.weight"].step.tolist() == [3, 4]
    assert scalars["gradients/norm/2.weight"].step.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("alone", [True, False])
def test_complex_parameters_are_left_out(logdir, alone):
    model = torch.nn.ParameterDict({"c": torch.nn.Parameter(torch.ones(2, dtype=torch.complex64))})
    if not alone:
        model["r"] = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD(model.parameters(), LR)

    def train():
        hook = attach(optimizer, logdir, model)
        for _ in range(2):
            sum(parameter.abs().sum() for parameter in model.values()).backward()
            optimizer.step()
            optimizer.zero_grad()
        hook.remove()

    with pytest.warns(UserWarning, match="^gradients of complex parameters are not measured: c$") as warned:
        train()
    assert len(warned) == 1
    found = [tag for tag in read_run(logdir).scalars if tag.startswith("gradients/norm/")] if not alone else []
    assert found == ([] if alone else ["gradients/norm/r"])


@pytest.mark.filterwarnings("ignore")
def test_a_compiled_step(loop):
    """The hook runs between the compiled parts."""

    @torch.compile(backend="eager")
    def step():
        loop.clip()
        loop.optimizer.step()

    wanted = []
    for _ in range(3):
        loop.optimizer.zero_grad()
        loop.backward()
        wanted.append(loop.norm())
        step()
    steps, values, tags = loop.logged()
    assert steps == [1, 2, 3]
    assert values == pytest.approx(wanted, rel=1e-5)
    assert tags["gradients/clip_norm"] == pytest.approx([BOUND] * 3)
