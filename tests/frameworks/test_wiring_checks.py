"""The checks of a loop change nothing of it, raise nothing into it, and leave nothing behind."""

import copy
import io
import pickle
import warnings

import pytest
from frameworks.reference_loop import network

from summaries import SummaryWriter, audit, read_run

torch = pytest.importorskip("torch", reason="torch is not installed: make frameworks")
pytestmark = pytest.mark.filterwarnings("ignore")

from loops.programs import program  # noqa: E402 - it needs torch
from torch.optim.optimizer import _global_optimizer_post_hooks  # noqa: E402

from optim.integrations.torch import WiringWarning, attach, check  # noqa: E402
from optim.wiring import health, membership  # noqa: E402


def train(logdir, name, steps=12, hook=True, seed=0, **options):
    """The parameters after some steps, the losses, and what torch's random numbers are then."""
    p = program(name, seed=seed)
    optimizer = torch.optim.AdamW(p.parameters(), 1e-3, **options)
    attached = attach(optimizer, logdir, p.model) if hook else None
    for _ in range(steps):
        optimizer.zero_grad()
        p.loss().backward()
        torch.nn.utils.clip_grad_norm_(p.parameters(), 1.0)
        optimizer.step()
    gradients = [q.grad.clone() for q in p.parameters()]
    if attached is not None:
        attached.remove()
    return [*p.model.state_dict().values(), *gradients, *p.losses, torch.get_rng_state()]


@pytest.mark.parametrize("name", ["flat", "conv", "lstm", "transformer"])
@pytest.mark.parametrize("options", [{}, {"fused": True}])
def test_it_changes_nothing(name, options, logdir):
    without, watched = train(logdir, name, hook=False, **options), train(logdir, name, **options)
    assert all(torch.equal(a, b) for a, b in zip(without, watched, strict=True))


def compiled(logdir, attach_first, hook=True, idle=False):
    """The graphs that torch compiles in a few steps, as code; and the parameters after them."""
    torch._dynamo.reset()
    graphs = []

    def keep(graph, inputs):
        graphs.append(graph.code)
        return graph.forward

    p = program("conv")
    p.model.idle = torch.nn.Linear(4, 4) if idle else None
    optimizer = torch.optim.SGD(p.parameters(), 0.1)
    attached = attach(optimizer, logdir, p.model) if hook and attach_first else None
    model = torch.compile(p.model, backend=keep, fullgraph=True)
    if hook and not attach_first:
        attached = attach(optimizer, logdir, model)
    for _ in range(20):  # after 16, fewer parameters are watched
        optimizer.zero_grad()
        p.loss(model).backward()
        optimizer.step()
    if attached is not None:
        attached.remove()
    return graphs, list(p.parameters())


@pytest.mark.parametrize(("attach_first", "idle"), [(True, False), (True, True), (False, False)])
def test_what_torch_compiles_is_the_same(attach_first, idle, logdir):
    graphs, without = compiled(logdir, attach_first, hook=False, idle=idle)
    watched, parameters = compiled(logdir, attach_first, idle=idle)
    assert watched == graphs
    assert all(torch.equal(a, b) for a, b in zip(without, parameters, strict=True))


@pytest.mark.parametrize("event", ["before_step", "after_step", "clipping", "end"])
def test_a_check_that_fails_is_left_out(event, logdir, monkeypatch):
    def fail(*arguments):
        raise RuntimeError("a bug")

    monkeypatch.setattr(health.NonFinite, event, fail)
    monkeypatch.setattr(membership.Outside, event, fail)
    assert len(train(logdir, "flat")) > 0


def test_a_model_that_hides_its_modules_is_trained(logdir):
    class Odd(torch.nn.Linear):
        def named_buffers(self, *arguments, **named):
            raise RuntimeError("not here")

    model = Odd(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    hook = attach(optimizer, logdir, model)
    for _ in range(3):
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    hook.remove()


def test_nothing_is_left_behind(logdir):
    p = program("conv")
    unscale = torch.amp.GradScaler.unscale_
    optimizer = torch.optim.SGD(p.parameters(), 0.1)
    hook = attach(optimizer, logdir, p.model)
    p.loss().backward()
    optimizer.step()
    hook.remove()
    assert torch.amp.GradScaler.unscale_ is unscale
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in p.model.modules())
    assert not any(q._backward_hooks for q in p.parameters())
    assert not optimizer._optimizer_step_pre_hooks
    assert not _global_optimizer_post_hooks


def test_a_model_is_copied_and_saved_without_the_hooks(logdir):
    p = program("conv")
    hook = attach(torch.optim.SGD(p.parameters(), 0.1), logdir, p.model)
    other, saved = copy.deepcopy(p.model), io.BytesIO()
    torch.save(p.model, saved)
    assert b"wiring" not in saved.getvalue()
    saved.seek(0)
    loaded = torch.load(saved, weights_only=False)
    x, _ = next(p.data)
    torch.manual_seed(1)
    want = p.model(x)
    assert torch.equal(other(x), want)
    assert torch.equal(loaded(x), want)
    assert len(pickle.dumps(next(p.parameters()))) > 0
    hook.remove()


def test_a_mistake_is_told_once_and_read_back(tmp_path):
    model = network(torch)
    optimizer = torch.optim.SGD(model[0].parameters(), 0.1)
    with SummaryWriter(tmp_path) as writer, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        hook = attach(optimizer, writer, model, step=iter(range(11, 99)).__next__)
        for _ in range(5):
            optimizer.zero_grad()
            model(torch.ones(2, 8)).sum().backward()
            optimizer.step()
        hook.remove()
    (told,) = [str(w.message) for w in caught if issubclass(w.category, WiringWarning)]
    (finding,) = [finding for finding in audit(tmp_path).findings if finding.code.startswith("GL7")]
    text = (
        "2.weight and 2.bias are trainable, and in no group of the optimizer, though gradients are computed at each "
        "step"
    )
    step = finding.steps[0]
    assert told == f"step {step}: {text} [gradledger rule GL701]"
    assert (finding.code, finding.name, finding.message) == ("GL701", "not-in-optimizer", text)
    assert list(read_run(tmp_path).texts["wiring/not-in-optimizer/text_summary"]) == [text]


def test_mistakes_that_begin_late(logdir):
    """After the first 16 steps, few parameters are watched, and modules are looked at in each 16th step."""
    p = program("flat")
    optimizer = torch.optim.SGD(p.parameters(), 0.01)
    hook = attach(optimizer, logdir, p.model, every_n_steps=100)
    told = {}
    for step in range(1, 61):
        if step == 21:
            p.model.body.append(torch.nn.Linear(32, 32))
        if step < 41:
            p.model.zero_grad()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            p.loss().backward()
            optimizer.step()
        told |= {str(warning.message)[-6:-1]: step for warning in caught}
    hook.remove()
    assert told == {"GL701": 33, "GL712": 42}


def test_before_the_first_step():
    model = network(torch)
    whole = torch.optim.SGD(model.parameters(), 0.1)
    assert check(model, whole) == []
    head, body = torch.optim.SGD(model[2].parameters(), 0.1), torch.optim.Adam(model[0].parameters())
    assert check(model, head, body) == []
    (missing,) = check(model, head)
    assert (missing.code, missing.name, missing.parameters) == ("GL701", "not-in-optimizer", ("0.weight", "0.bias"))
    assert [found.code for found in check(model, whole, head)] == ["GL705"]
    assert [found.code for found in check(network(torch), whole)] == ["GL702"]
    assert [found.code for found in check(model, torch.optim.SGD(model.parameters(), 0.0))] == ["GL704"]
    p = program("flat")
    p.model.eval()
    assert [found.code for found in check(p.model, torch.optim.SGD(p.parameters(), 0.1))] == ["GL727"]


def test_what_cannot_be_checked():
    with pytest.raises(TypeError) as raised:
        check(torch.optim.SGD([torch.zeros(1)], 0.1), network(torch))
    assert str(raised.value) == (
        "check(model, optimizer, …) needs a torch module and torch optimizers, got SGD, Sequential"
    )
    with pytest.raises(TypeError, match="got Linear"):
        check(torch.nn.Linear(1, 1))
