"""The torch hook where numbers come later, as from CUDA; `make gpu` tries the same on a device."""

import sys

import numpy as np
import pytest
from frameworks.reference_loop import CLIP, LR, batches, network
from helpers import run

from summaries import read_run

torch = pytest.importorskip("torch", reason="torch is not installed: make frameworks")
pytestmark = pytest.mark.filterwarnings("ignore")

from optim.integrations import torch_updates  # noqa: E402 - they need torch
from optim.integrations.torch import GradientHook, attach  # noqa: E402
from optim.telemetry import arriving, devices, measuring  # noqa: E402

STEPS = 12


class Device:
    """Whose numbers come when a test says so."""

    def __init__(self):
        self.step = 0
        self.lag = 1  # steps

    def fetched(self, numbers):
        return Later(self, numbers)


class Later(arriving.Fetched):
    def __init__(self, device, numbers):
        super().__init__(numbers.clone())
        self.device, self.at, self.waited = device, device.step, False

    @property
    def has_arrived(self):
        return self.waited or self.device.step >= self.at + self.device.lag

    def values(self):
        self.waited = True
        return super().values()


@pytest.fixture
def device(monkeypatch):
    """All tensors are on it."""
    made = Device()
    for module in (arriving, devices, torch_updates):
        monkeypatch.setattr(module, "Fetched", made.fetched)

    def sizes(parts, *_):
        return [part.numel() for part in parts], list(range(len(parts)))

    monkeypatch.setattr(measuring, "measure_at_hand", sizes)
    return made


def train(logdir, device=None, optimizer=torch.optim.AdamW, clips=True, **options):
    """Returns what the hook's report was of, after each step."""
    model = network(torch)
    made = optimizer(model.parameters(), LR)
    hook, reported = attach(made, logdir, model, **options), []
    for x, y in batches(torch, STEPS):
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        if clips:
            torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        hook.loss(loss)
        made.step()
        made.zero_grad()
        reported.append(None if hook.report is None else hook.report.step)
        if device is not None:
            device.step += 1
    hook.remove()
    return reported


@pytest.mark.parametrize("clips", [True, False])
@pytest.mark.parametrize("optimizer", [torch.optim.AdamW, torch.optim.SGD])
def test_the_same_is_logged(tmp_path, device, monkeypatch, optimizer, clips):
    assert train(tmp_path / "later", device, optimizer, clips) == [None, *range(1, STEPS)]
    monkeypatch.undo()
    assert train(tmp_path / "now", None, optimizer, clips) == list(range(1, STEPS + 1))
    later, now = read_run(tmp_path / "later").scalars, read_run(tmp_path / "now").scalars
    assert list(later) == list(now)
    for tag in set(now) - {"train/global_step_per_sec"}:
        assert later[tag].step.tolist() == now[tag].step.tolist()
        np.testing.assert_allclose(later[tag].value, now[tag].value, rtol=1e-5, atol=1e-12, err_msg=tag)


def test_a_step_is_logged_when_its_numbers_come_and_not_with_the_next_one(logdir, device):
    assert train(logdir, device, clips=False, every_n_steps=4) == [None] * 4 + [4] * 4 + [8] * 4


def test_steps_are_not_kept_without_end(logdir, device):
    device.lag = 1000
    assert train(logdir, device) == [None] * 8 + list(range(1, STEPS - 7))
    assert read_run(logdir).scalars["gradients/global_norm"].step.tolist() == list(range(1, STEPS + 1))


def test_a_clippings_own_norm_is_taken_where_nothing_else_is_needed(logdir, device, monkeypatch):
    def may_take(hook, parameter):
        return not hook.logging.needs_arrays(hook._coming())

    monkeypatch.setattr(GradientHook, "_may_take_norm", may_take)
    train(logdir, device, every_n_steps=4)
    scalars = read_run(logdir).scalars
    assert scalars["gradients/clipped_fraction"].step.tolist() == [4, 8, 12]
    assert scalars["gradients/clipped_fraction"].value.tolist() == [1, 1, 1]


def test_an_incident_has_the_last_step(logdir, device):
    model = network(torch)
    optimizer = torch.optim.SGD(model.parameters(), LR)
    hook = attach(optimizer, logdir, model, keep_last=5, every_n_steps=100)
    device.lag = 1000
    for x, y in batches(torch, 3):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    hook.dump("looking")
    (incident,) = logdir.glob("incident*")
    assert read_run(incident).scalars["gradients/global_norm"].step.tolist() == [1, 2, 3]
    hook.remove()


def test_the_last_steps_are_logged_at_the_end_of_the_process(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        f"import sys\nsys.path[:0] = {sys.path!r}\n"
        "import torch\n"
        "from optim.integrations.torch import attach\n"
        "from optim.telemetry import arriving\n"
        "arriving.Fetched.has_arrived = False\n"
        "from frameworks.reference_loop import batches, network\n"
        "model = network(torch)\n"
        "optimizer = torch.optim.Adam(model.parameters())\n"
        "hook = attach(optimizer, sys.argv[1], model)\n"
        "for x, y in batches(torch, 3):\n"
        "    model(x).sum().backward()\n"
        "    optimizer.step()\n"
        "assert hook.report is None\n"
    )
    run(program, tmp_path / "run")
    assert read_run(tmp_path / "run").scalars["updates/norm/0.weight"].step.tolist() == [1, 2, 3]


def test_what_cannot_be_made_of_the_numbers_ends_no_training(logdir, device, monkeypatch):
    def fails(*_):
        raise ValueError("no such number")

    monkeypatch.setattr(measuring.Measurement, "_assembled", fails)
    with pytest.warns(UserWarning, match="^gradients cannot be measured, the training goes on: no such number$"):
        train(logdir, device)
