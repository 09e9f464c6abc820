"""The torch hook on CUDA tensors: each case against norms by hand, and what a hooked step waits for."""

import os
import statistics
import warnings

import numpy as np
import pytest
from frameworks.reference_loop import CLIP, LR, batches, network

from summaries import read_run

torch = pytest.importorskip("torch", reason="torch is not installed: make gpu")
pytestmark = pytest.mark.filterwarnings("ignore")

from optim.integrations.torch import attach  # noqa: E402 - it needs torch

STEPS = 4
FIRST = 48  # steps in which the hook looks for mistakes in the loop
OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, LR, momentum=0.9),
    "sgd, fused": lambda p: torch.optim.SGD(p, LR, momentum=0.9, fused=True),
    "sgd, foreach": lambda p: torch.optim.SGD(p, LR, momentum=0.9, nesterov=True, foreach=True),
    "adamw": lambda p: torch.optim.AdamW(p, 1e-2),
    "adamw, fused": lambda p: torch.optim.AdamW(p, 1e-2, fused=True),
    "adamw, foreach": lambda p: torch.optim.AdamW(p, 1e-2, foreach=True),
    "adamw, capturable": lambda p: torch.optim.AdamW(p, 1e-2, capturable=True),
}


class Loop:
    """A training on the device that knows by hand what is to be logged."""

    def __init__(self, logdir, optimizer=OPTIMIZERS["sgd"], dtype=torch.float32, **options):
        self.logdir, self.dtype = logdir, dtype
        self.model = network(torch).to("cuda", dtype)
        self.optimizer = optimizer(self.model.parameters())
        self.hook = attach(self.optimizer, logdir, self.model, **options)
        self.data = [(x.to("cuda", dtype), y.to("cuda", dtype)) for x, y in batches(torch, STEPS)]
        self.norms, self.moved = [], []

    def loss(self, x, y):
        return torch.nn.functional.mse_loss(self.model(x), y)

    def note(self, scale=1.0):
        """Before clipping."""
        gradients = [p.grad.double() / scale for p in self.model.parameters()]
        self.norms.append(float(torch.stack([g.norm() for g in gradients]).norm()))
        self.before = [p.detach().double().clone() for p in self.model.parameters()]

    def stepped(self):
        after = [p.detach().double() for p in self.model.parameters()]
        self.moved.append([float((now - was).norm()) for now, was in zip(after, self.before, strict=True)])

    def clip(self):
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), CLIP)

    def check(self, tolerance=1e-4, *, clipped=True):
        self.hook.remove()
        scalars = read_run(self.logdir).scalars
        np.testing.assert_allclose(scalars["gradients/global_norm"].value, self.norms, rtol=tolerance)
        assert ("gradients/clip_norm" in scalars) == clipped
        for (name, _), norms in zip(self.model.named_parameters(), zip(*self.moved, strict=True), strict=True):
            np.testing.assert_allclose(scalars[f"updates/norm/{name}"].value, norms, rtol=10 * tolerance, err_msg=name)
        return scalars


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_norms_and_updates(logdir, name, dtype):
    loop = Loop(logdir, OPTIMIZERS[name], dtype)
    for x, y in loop.data:
        loop.optimizer.zero_grad()
        loop.loss(x, y).backward()
        loop.note()
        loop.clip()
        loop.optimizer.step()
        loop.stepped()
    loop.check(1e-4 if dtype is torch.float32 else 2e-2)


@pytest.mark.parametrize("fused", [False, True])
def test_grad_scaler_with_autocast(logdir, fused):
    loop = Loop(logdir, lambda p: torch.optim.SGD(p, LR, fused=fused))
    scaler = torch.amp.GradScaler("cuda", init_scale=1024.0)
    for x, y in loop.data:
        loop.optimizer.zero_grad()
        with torch.autocast("cuda", torch.float16):
            loss = loop.loss(x, y)
        scaler.scale(loss).backward()
        loop.note(scaler.get_scale())
        scaler.step(loop.optimizer)
        scaler.update()
        loop.stepped()
    loop.check(clipped=False)


def test_a_compiled_model(logdir):
    loop = Loop(logdir)
    forward = torch.compile(loop.model)
    for x, y in loop.data:
        loop.optimizer.zero_grad()
        torch.nn.functional.mse_loss(forward(x), y).backward()
        loop.note()
        loop.clip()
        loop.optimizer.step()
        loop.stepped()
    loop.check()


def test_a_backward_pass_that_a_graph_replays(logdir):
    """The optimizer's step stays outside of the graph: hooks are not called within one."""
    loop = Loop(logdir)
    x, y = (part.clone() for part in loop.data[0])
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        loop.loss(x, y).backward()
    torch.cuda.current_stream().wait_stream(side)
    loop.optimizer.zero_grad(set_to_none=False)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for parameter in loop.model.parameters():
            parameter.grad.zero_()
        loop.loss(x, y).backward()
    for inputs, targets in loop.data:
        x.copy_(inputs)
        y.copy_(targets)
        graph.replay()
        loop.note()
        loop.clip()
        loop.optimizer.step()
        loop.stepped()
    loop.check()


def test_two_streams(logdir):
    """The backward pass on one, the step on another that waits for it."""
    loop, side = Loop(logdir), torch.cuda.Stream()
    for x, y in loop.data:
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            loop.optimizer.zero_grad()
            loop.loss(x, y).backward()
        torch.cuda.current_stream().wait_stream(side)
        loop.note()
        loop.clip()
        loop.optimizer.step()
        loop.stepped()
    loop.check()


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no torch.distributed")
def test_fsdp2_on_one_device(logdir, tmp_path):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    os.environ |= {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
    torch.distributed.init_process_group("nccl", init_method=f"file://{tmp_path}/meeting", rank=0, world_size=1)
    try:
        model = network(torch).to("cuda")
        fully_shard(model, mesh=init_device_mesh("cuda", (1,)))
        optimizer = torch.optim.SGD(model.parameters(), LR)
        hook, norms = attach(optimizer, logdir, model), []
        for x, y in batches(torch, STEPS):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x.to("cuda")), y.to("cuda")).backward()
            norms.append(float(torch.stack([p.grad.full_tensor().norm() for p in model.parameters()]).norm()))
            torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
            optimizer.step()
        hook.remove()
        np.testing.assert_allclose(read_run(logdir).scalars["gradients/global_norm"].value, norms, rtol=1e-4)
    finally:
        torch.distributed.destroy_process_group()


def transformer():
    layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True)
    return torch.nn.TransformerEncoder(layer, 6).to("cuda")


def steps_of(model, optimizer, hook, count):
    """Milliseconds of each step, by the device's clock."""
    x, spent = torch.randn(32, 128, 512, device="cuda"), []
    for _ in range(count):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if hook is not None:
            hook.loss(loss)
        optimizer.step()
        end.record()
        spent.append((begin, end))
    torch.cuda.synchronize()
    return [begin.elapsed_time(end) for begin, end in spent]


@pytest.mark.parametrize("clips", [True, False])
@pytest.mark.parametrize("every", [1, 1000])
def test_a_hooked_step_waits_for_nothing(logdir, every, clips):
    """Neither if it is due nor if clipping needs its norm; in the first steps, mistakes in the loop are looked for."""
    model = transformer()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    hook = attach(optimizer, logdir, model, every_n_steps=every)
    x, losses = torch.randn(4, 16, 512, device="cuda"), []
    for number in range(1, 64):
        torch.cuda.set_sync_debug_mode("warn" if number > FIRST else "default")
        try:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                optimizer.zero_grad()
                loss = model(x).square().mean()
                loss.backward()
                if clips:
                    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                losses.append(hook.loss(loss).detach())
                optimizer.step()
        finally:
            torch.cuda.set_sync_debug_mode("default")
        waits = [str(each.message) for each in told if "synchroniz" in str(each.message)]
        assert not waits, (number, waits)
    hook.remove()
    if every == 1:
        logged = read_run(logdir).scalars["train/loss"]
        assert logged.step.tolist() == list(range(1, 64))
        np.testing.assert_array_equal(logged.value, torch.stack(losses).tolist())


def test_gradients_that_are_not_finite_are_counted(logdir):
    """By each variable in a step that is due; in others, of which only clipping's norm is known, as one."""
    model = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.Linear(4, 1)).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), 0.0)
    hook = attach(optimizer, logdir, model, every_n_steps=4)
    for bad in (0, 3, 0, 2, 0, 0, 0, 0):
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
        model[0].weight.grad.view(-1)[:bad] = float("nan")
        model[0].weight.grad.view(-1)[bad : bad + 5] = 0.0
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    hook.remove()
    scalars = read_run(logdir).scalars
    assert scalars["gradients/nonfinite"].value.tolist() == [1 + 2, 0]
    assert scalars["gradients/zero_fraction/0.weight"].value.tolist() == [5 / 32, 5 / 32]


def test_the_cost(logdir):
    """Printed, for the documentation: a later step of a small transformer with and without the hook, in turns."""
    models = [transformer(), transformer()]
    optimizers = [torch.optim.AdamW(model.parameters(), 1e-4, fused=True) for model in models]
    for every in (1, 10, 100):
        hook = attach(optimizers[0], logdir / str(every), models[0], every_n_steps=every)
        steps_of(models[0], optimizers[0], hook, FIRST)
        spent = [[], []]
        for _ in range(6):
            for which in (0, 1):
                spent[which] += steps_of(models[which], optimizers[which], hook if which == 0 else None, 20)
        hook.remove()
        hooked, plain = (statistics.fmean(sorted(times)[: len(times) * 9 // 10]) for times in spent)
        beside = f"{hooked:.3f} ms beside {plain:.3f} ms: {hooked / plain - 1:+.2%}"
        print(f"{torch.cuda.get_device_name()}: every {every} steps, {beside}")
