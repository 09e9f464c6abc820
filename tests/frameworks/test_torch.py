"""The hook on torch's optimizers: before clipping, however the loop clips; with scaled and accumulated gradients."""

from functools import partial

import numpy as np
import pytest
from frameworks.examples import check_logged, run_example
from frameworks.reference_loop import CLIP, LR, STEPS, batches, by_hand, compare, network, norms

from summaries import SummaryWriter, audit, read_logdir, read_run

torch = pytest.importorskip("torch", reason="torch is not installed: make frameworks")
pytestmark = pytest.mark.filterwarnings("ignore")

from optim.integrations.torch import attach  # noqa: E402 - it needs torch


def train(hook, model, optimizer, clip=None, accumulate=1):
    for i, (x, y) in enumerate(batches(torch, STEPS * accumulate)):
        loss = torch.nn.functional.mse_loss(model(x), y)
        (loss / accumulate).backward()
        if (i + 1) % accumulate == 0:
            hook.loss = loss
            if clip is not None:
                clip(model)
            optimizer.step()
            optimizer.zero_grad()
    hook.remove()


def attached(logdir, optimizer=torch.optim.SGD, **options):
    model = network(torch)
    made = optimizer(model.parameters(), LR)
    return attach(made, logdir, model, **options), model, made


def test_without_clipping(logdir):
    train(*attached(logdir))
    scalars = compare(logdir, by_hand(torch, None), None)
    x, y = batches(torch)[0]
    first = float(torch.nn.functional.mse_loss(network(torch)(x), y))
    assert (len(scalars["train/loss"]), scalars["train/loss"].value[0]) == (STEPS, pytest.approx(first))
    assert scalars["train/learning_rate"].value.tolist() == pytest.approx([LR] * STEPS)


@pytest.mark.parametrize(
    "clip",
    [
        lambda model: torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP),
        lambda model: torch.nn.utils.clip_grad_norm_(iter(list(model.parameters())), max_norm=CLIP),
        lambda model: torch.nn.utils.clip_grads_with_norm_(
            model.parameters(), CLIP, torch.nn.utils.get_total_norm([p.grad for p in model.parameters()])
        ),
    ],
)
def test_clipping_is_noticed(logdir, clip):
    train(*attached(logdir), clip)
    compare(logdir, by_hand(torch))


def test_accumulated(logdir):
    train(*attached(logdir), lambda model: torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP), 3)
    compare(logdir, by_hand(torch, accumulate=3))


def test_clipping_that_is_not_noticed_has_to_be_told(logdir):
    """Values are clipped by a function of the loop's own."""
    hook, model, optimizer = attached(logdir, clip_norm=CLIP)

    def clip(model):
        hook.observe()
        factor = CLIP / torch.nn.utils.get_total_norm([p.grad for p in model.parameters()])
        for parameter in model.parameters():
            parameter.grad *= factor

    train(hook, model, optimizer, clip)
    compare(logdir, by_hand(torch))


def test_clipping_that_is_not_told_of_raises(logdir):
    hook, model, optimizer = attached(logdir, clip_norm=CLIP)
    with pytest.raises(RuntimeError) as raised:
        train(hook, model, optimizer)
    hook.remove()
    assert str(raised.value) == (
        "the loop clips by 0.05, and the gradients were not seen before that: call hook.observe() before they are "
        "clipped"
    )


def test_layers_clipped_one_by_one_have_no_common_bound(logdir):
    def clip(model):
        for layer in (model[0], model[2]):
            torch.nn.utils.clip_grad_norm_(layer.parameters(), 1e3)

    train(*attached(logdir), clip)
    compare(logdir, by_hand(torch, None), None)


def test_another_optimizers_clipping_is_its_own(logdir):
    hook, model, optimizer = attached(logdir)
    other = network(torch)

    def clip(_):
        other(torch.ones(1, 8)).sum().backward()
        torch.nn.utils.clip_grad_norm_(other.parameters(), 0.01)

    train(hook, model, optimizer, clip)
    compare(logdir, by_hand(torch, None), None)


def test_part_of_a_model(logdir):
    model = network(torch)
    optimizer = torch.optim.SGD(model[2].parameters(), LR)
    hook = attach(optimizer, logdir, model)
    model(torch.ones(1, 8)).sum().backward()
    optimizer.step()
    hook.remove()
    assert [variable.name for variable in hook.report.variables] == ["2.weight", "2.bias"]


def test_a_model_that_the_optimizer_does_not_train(logdir):
    with pytest.raises(
        ValueError, match=r"^the optimizer must train parameters of the model, got none in common: prep"
    ):
        attach(torch.optim.SGD(network(torch).parameters(), LR), logdir, network(torch))


def test_a_closure_computes_the_gradients(logdir):
    hook, model, optimizer = attached(logdir)
    wanted = []

    def closure(x, y):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(*x), y)
        loss.backward()
        wanted.append(norms(torch, model))
        return loss

    for *x, y in batches(torch):
        optimizer.step(partial(closure, x, y))
    hook.remove()
    scalars = read_run(logdir).scalars
    for tag in ("gradients/global_norm", "gradients/norm/0.weight"):
        np.testing.assert_allclose(scalars[tag].value, [step[tag] for step in wanted], rtol=1e-5)


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("clips", [False, True])
def test_grad_scaler(logdir, fused, clips):
    """A fused optimizer unscales gradients itself, unless the loop has done so to clip them."""
    hook, model, optimizer = attached(logdir, lambda parameters, lr: torch.optim.SGD(parameters, lr, fused=fused))
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    for x, y in batches(torch):
        scaler.scale(torch.nn.functional.mse_loss(model(x), y)).backward()
        if clips:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    hook.remove()
    compare(logdir, by_hand(torch, CLIP if clips else None), CLIP if clips else None)


def test_a_step_that_the_scaler_skips(logdir):
    """It is not logged, and does not count, though the loop clips its gradients before."""
    hook, model, optimizer = attached(logdir)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    for spoilt in (False, True, False):
        scaler.scale(model(torch.full((1, 8), np.inf if spoilt else 1.0)).sum()).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    hook.remove()
    norms_found = read_run(logdir).scalars["gradients/global_norm"]
    assert np.isfinite(norms_found.value).tolist() == [True, True]
    assert norms_found.step.tolist() == [1, 2]


def test_a_removed_hook_leaves_torch_as_it_was(logdir):
    (cell,) = torch.nn.utils.clip_grad_norm_.__closure__
    before = cell.cell_contents
    hook, model, optimizer = attached(logdir)
    assert cell.cell_contents is not before
    hook.remove()
    assert cell.cell_contents is before
    model(torch.ones(1, 8)).sum().backward()
    optimizer.step()
    assert hook.report is None


def test_a_writer_stays_the_callers(logdir):
    with SummaryWriter(logdir) as writer:
        train(*attached(writer, every_n_steps=2))
        assert not writer.closed
    assert read_run(logdir).scalars["gradients/global_norm"].step.tolist() == [2, 4, 6]


def test_an_optimizer_of_stable_baselines(logdir):
    """Its loop clips inside of `train`, and has no callback there."""
    sb3 = pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed: make frameworks")
    model = sb3.A2C("MlpPolicy", "CartPole-v1", max_grad_norm=0.01, device="cpu", seed=0)
    hook = attach(model.policy.optimizer, logdir, model.policy)
    model.learn(30)
    hook.remove()
    scalars = read_run(logdir).scalars
    assert scalars["gradients/clip_norm"].value.tolist() == pytest.approx([0.01] * 6)
    assert (scalars["gradients/global_norm"].value > 0.02).all()
    norms_of_layers = [series.value[0] for tag, series in scalars.items() if tag.startswith("gradients/norm/")]
    assert np.linalg.norm(norms_of_layers) == pytest.approx(scalars["gradients/global_norm"].value[0], rel=1e-5)


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """What the example has logged."""
    return run_example("torch", tmp_path_factory.mktemp("example"))


def test_the_example(example):
    check_logged(example, "0.weight", 20)


def test_the_examples_spoilt_batch_is_recorded(example):
    incident = read_logdir(example)["incident=150"]
    assert incident.scalars["train/loss"].step.tolist() == list(range(101, 163))
    assert incident.texts["incident/text_summary"][0] == "a spike of the loss and a spike of the gradients' norm"
    assert {finding.code for finding in audit(str(example)).findings if finding.run == "incident=150"} >= {"GL302"}
