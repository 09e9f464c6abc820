"""The hook on torch's optimizers never ends a training, keeps no model alive, and refuses what it cannot use."""

import gc
import importlib
import shutil
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from frameworks.reference_loop import LR, batches, network

from summaries import SummaryWriter, read_run

torch = pytest.importorskip("torch", reason="torch is not installed: make frameworks")

from optim.integrations import torch_clip_hooks  # noqa: E402 - it needs torch
from optim.integrations.torch import attach  # noqa: E402 - it needs torch


class FullDisk(SummaryWriter):
    """Writes nothing more when the disk is full."""

    full = False

    def add_summary(self, *arguments, **named):
        if self.full:
            raise OSError(28, "No space left on device")
        super().add_summary(*arguments, **named)

    def flush(self):
        if self.full:
            raise OSError(28, "No space left on device")
        super().flush()


def train(optimizer, model, at=None, steps=6):
    for step, (x, y) in enumerate(batches(torch, steps)):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        if at is not None and step == 3:
            at()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def test_another_function_in_the_place_of_torchs_clipping(logdir, monkeypatch):
    """What it is given is not known, so the gradients are measured as they are at the step."""
    clip = torch.nn.utils.clip_grad_norm_
    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", lambda weights, most: clip(list(weights), most))
    model = network(torch)
    optimizer = torch.optim.SGD(model.parameters(), LR)
    hook = attach(optimizer, logdir, model)
    train(optimizer, model)
    hook.remove()
    assert len(read_run(logdir).scalars["gradients/global_norm"]) == 6


@pytest.mark.filterwarnings("ignore::optim.integrations.torch.WiringWarning")
@pytest.mark.parametrize("keep_last", [None, 10])
def test_a_full_disk(logdir, keep_last):
    model = network(torch)
    optimizer = torch.optim.SGD(model.parameters(), LR)
    writer = FullDisk(logdir)
    hook = attach(optimizer, writer, model, keep_last=keep_last)

    def fill():
        writer.full = True
        model[0].weight.grad[0, 0] = float("nan")

    def through():
        train(optimizer, model, fill)
        hook.dump("looking")
        hook.remove()

    with pytest.warns(UserWarning, match="cannot be logged") as warned:
        through()
    assert [str(one.message) for one in warned if one.category is UserWarning] == [
        "gradients cannot be logged, the training goes on: [Errno 28] No space left on device"
    ]
    assert hook.report.step == 6
    writer.full = False
    writer.close()
    assert read_run(logdir).scalars["gradients/global_norm"].step.tolist() == [1, 2, 3]


@pytest.mark.filterwarnings("ignore::optim.integrations.torch.WiringWarning")
def test_an_incident_that_cannot_be_written(logdir, monkeypatch):
    """Where its directory would be, nothing can be created."""
    model = network(torch)
    optimizer = torch.optim.SGD(model.parameters(), LR)
    hook = attach(optimizer, logdir, model, keep_last=10, every_n_steps=100)

    def spoil():
        model[0].weight.grad[0, 0] = float("nan")
        shutil.rmtree(logdir)
        logdir.write_text("a file")

    def through():
        train(optimizer, model, spoil)
        hook.remove()

    with pytest.warns(UserWarning, match="^gradients cannot be logged, the training goes on: ") as warned:
        through()
    assert [one.category for one in warned].count(UserWarning) == 1
    assert hook.report.step == 6


@pytest.mark.parametrize("removed", [True, False])
def test_no_model_is_kept_alive(logdir, removed):
    (cell,) = torch.nn.utils.clip_grad_norm_.__closure__
    before = cell.cell_contents
    model = network(torch)
    optimizer = torch.optim.SGD(model.parameters(), LR)
    hook = attach(optimizer, logdir, model, keep_last=10)
    train(optimizer, model)
    if removed:
        hook.remove()
    alive = weakref.ref(model)
    del model, optimizer, hook
    gc.collect()
    assert alive() is None
    assert cell.cell_contents is before


def test_arguments_in_another_order(logdir):
    model = network(torch)
    with pytest.raises(TypeError) as raised:
        attach(model, logdir, torch.optim.SGD(model.parameters(), LR))
    assert str(raised.value) == (
        "attach(optimizer, writer, model) needs a torch optimizer and a torch module, got Sequential as optimizer and "
        "SGD as model"
    )
    assert not logdir.exists()


def test_options_that_are_refused_create_nothing(logdir):
    model = network(torch)
    optimizer = torch.optim.SGD(model.parameters(), LR)
    with pytest.raises(ValueError, match=r"^every_n_steps must be positive, got 0$"):
        attach(optimizer, logdir, model, every_n_steps=0)
    assert not logdir.exists()


class Told:
    """A watcher that counts what it is told."""

    def __init__(self):
        self.before = self.after = 0

    def before_clipping(self, parameters, bound, order):
        self.before += 1
        return True

    def after_clipping(self, norm):
        self.after += 1


def test_what_one_thread_clips_is_told_while_another_clips(monkeypatch):
    both = threading.Barrier(2, timeout=120)  # passed only if both are clipping at once
    watcher = Told()
    monkeypatch.setattr(torch_clip_hooks, "_watchers", [weakref.ref(watcher)])
    clip = torch_clip_hooks._watched(lambda parameters, max_norm: (parameters, max_norm, both.wait()))
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda _: clip([], 1.0), range(2)))
    assert (watcher.before, watcher.after) == (2, 2)


@pytest.mark.filterwarnings("ignore::optim.integrations.torch.WiringWarning")  # NaN arrives in the weights
@pytest.mark.parametrize("bound", [0.0, -1.0, float("nan")])
def test_a_bound_that_torch_accepts(logdir, bound):
    """Torch multiplies by nonsense; the gradients are logged as they were before."""
    model = network(torch)
    optimizer = torch.optim.SGD(model.parameters(), LR)
    hook = attach(optimizer, logdir, model)

    def through():
        for _ in range(2):
            optimizer.zero_grad()
            model(torch.ones(1, 8)).sum().backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), bound)
            optimizer.step()
        hook.remove()

    with pytest.warns(UserWarning, match="is no bound") as warned:
        through()
    assert [str(one.message) for one in warned if "is no bound" in str(one.message)] == [
        f"the loop clips by {bound:g}, which is no bound, so gradients/clipped and its like are not logged"
    ]
    scalars = read_run(logdir).scalars
    assert scalars["gradients/global_norm"].step.tolist() == [1, 2]
    assert scalars["gradients/global_norm"].value[0] > 0
    assert "gradients/clip_norm" not in scalars


def test_meta_tensors(logdir):
    """They have no elements; a step of them does nothing, and the hook says that it sees nothing."""
    model = torch.nn.Linear(4, 2, device="meta")
    optimizer = torch.optim.SGD(model.parameters(), LR)
    hook = attach(optimizer, logdir, model)

    def through():
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.ones(1, 4, device="meta")).sum().backward()
            optimizer.step()
        hook.remove()

    with pytest.warns(UserWarning, match=r"^gradients cannot be measured, the training goes on: ") as warned:
        through()
    assert len(warned) == 1


def test_a_clipping_in_another_thread(logdir):
    model = network(torch)
    optimizer = torch.optim.SGD(model.parameters(), LR)
    hook = attach(optimizer, logdir, model)
    model(torch.ones(1, 8)).sum().backward()
    norm = float(torch.nn.utils.get_total_norm([p.grad for p in model.parameters()]))
    with ThreadPoolExecutor(1) as threads:
        threads.submit(torch.nn.utils.clip_grad_norm_, model.parameters(), 0.01).result()
        threads.submit(optimizer.step).result()
    hook.remove()
    scalars = read_run(logdir).scalars
    assert scalars["gradients/global_norm"].value.tolist() == pytest.approx([norm], rel=1e-5)
    assert scalars["gradients/clip_norm"].value.tolist() == pytest.approx([0.01])


def inner_functions():
    """What torch's functions that clip wrap, and FSDP1's method."""
    functions = [
        getattr(torch.nn.utils, name) for name in ("clip_grad_norm_", "clip_grads_with_norm_", "clip_grad_value_")
    ]
    found = [function.__closure__[0].cell_contents for function in functions] + functions
    if torch.distributed.is_available():
        found.append(importlib.import_module("torch.distributed.fsdp").FullyShardedDataParallel.clip_grad_norm_)
    return found


def test_what_is_patched_is_undone_with_the_last_hook(logdir):
    before = inner_functions()
    models = [network(torch) for _ in range(2)]
    hooks = [attach(torch.optim.SGD(model.parameters(), LR), logdir / str(i), model) for i, model in enumerate(models)]
    assert all(now is not was for now, was in zip(inner_functions()[:3], before, strict=False))
    hooks.pop().remove()
    assert inner_functions()[0] is not before[0]
    hooks.pop().remove()
    assert all(now is was for now, was in zip(inner_functions(), before, strict=True))
