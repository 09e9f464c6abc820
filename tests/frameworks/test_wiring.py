"""What the hook tells of training loops: of labelled mistakes the right thing, of healthy loops nothing."""

import itertools

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make frameworks")
pytestmark = pytest.mark.filterwarnings("ignore")

import loops.healthy_programs  # noqa: E402 - they need torch
import loops.healthy_rates  # noqa: E402
import loops.mistakes_later  # noqa: E402
import loops.strange_healthy_later  # noqa: E402, F401
from loops.healthy import HEALTHY  # noqa: E402
from loops.mistakes import MISTAKES  # noqa: E402
from loops.programs import told_of  # noqa: E402
from loops.strange_healthy import STRANGE_HEALTHY  # noqa: E402
from loops.strange_mistakes import STRANGE_MISTAKES  # noqa: E402

from optim.wiring import checks  # noqa: E402

_LATER = 2  # steps after it can be known


@pytest.fixture(autouse=True)
def _first_loop(monkeypatch):
    monkeypatch.setattr(checks, "_loops", itertools.count())


@pytest.mark.parametrize(("code", "known", "loop"), [case[1:] for case in MISTAKES], ids=[case[0] for case in MISTAKES])
def test_a_mistake_is_named(code, known, loop, logdir):
    told = told_of(loop, logdir)
    assert [found[0] for found in told] == [code], told
    assert told[0][1] <= known + _LATER, told


@pytest.mark.parametrize("loop", [case[1] for case in HEALTHY], ids=[case[0] for case in HEALTHY])
def test_a_healthy_loop_is_left_alone(loop, logdir):
    assert told_of(loop, logdir) == []


@pytest.mark.parametrize(
    ("codes", "known", "loop"), [case[1:] for case in STRANGE_MISTAKES], ids=[case[0] for case in STRANGE_MISTAKES]
)
def test_a_strangers_mistake_is_named(codes, known, loop, logdir):
    torch.manual_seed(0)
    told = told_of(loop, logdir)
    assert [found[0] in codes for found in told] == [True], told
    assert told[0][1] <= known + _LATER, told


@pytest.mark.parametrize("loop", [case[1] for case in STRANGE_HEALTHY], ids=[case[0] for case in STRANGE_HEALTHY])
def test_a_strangers_healthy_loop_is_left_alone(loop, logdir):
    torch.manual_seed(0)
    assert told_of(loop, logdir) == []
