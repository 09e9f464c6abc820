"""Runs that are killed by signal 9: while they save, and at a random step. Real processes, one after another."""

import json
import sys

import numpy as np
import pytest
from helpers import run_script

pytest.importorskip("safetensors", reason="the extra `checkpoint` is not installed")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and signal 9")

# One process that has imported everything forks those that are killed: to start each anew would take ten times as long.
SAVING = """
import json, os, random, signal, sys, time
import numpy as np
from optim import AdamOptimizer, Saver, Variable, latest_checkpoint
from summaries.storage.durable import is_scratch

directory, kills = sys.argv[1], int(sys.argv[2])

def begin():
    variables = [Variable(np.zeros(30_000), name=name) for name in "abc"]
    step = Variable(0, trainable=False, name="global_step")
    optimizer = AdamOptimizer(1.0)
    return variables, step, Saver([*variables, step, optimizer], max_to_keep=2)

def save_for_ever(said):
    variables, step, saver = begin()
    latest = latest_checkpoint(directory)
    if latest:
        saver.restore(latest)
    while True:
        step.value += 1
        for variable in variables:
            variable.value[:] = int(step)
        saver.save(directory + "/model", step)
        os.write(said, b"%d\\n" % int(step))

moments, found = random.Random(0), []
for _ in range(kills):
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        save_for_ever(writes)
    os.close(writes)
    os.read(reads, 1)  # it has begun
    time.sleep(moments.uniform(0, 0.02))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    said = b"0\\n"
    while data := os.read(reads, 1 << 16):
        said += data
    os.close(reads)
    variables, step, saver = begin()
    saver.restore(latest_checkpoint(directory))
    whole = all((variable.value == int(step)).all() for variable in variables)
    halves = sum(is_scratch(name) for name in os.listdir(directory))
    found.append((int(step), int(said.split()[-1]), whole, halves))
saver.save(directory + "/model", int(step) + 1)
print(json.dumps(found))
"""

KILLS = 30


def test_thirty_kills_while_it_saves_lose_no_checkpoint(tmp_path):
    found = json.loads(run_script(tmp_path, SAVING, tmp_path / "run", KILLS))
    assert len(found) == KILLS
    for restored, said, whole, _ in found:
        assert whole
        assert restored >= said, "what save() returned for is there"
    steps = [restored for restored, *_ in found]
    assert steps == sorted(steps)
    assert found[-1][-1] > KILLS / 4, "kills that hit a save at work, each of which left its half"
    assert len([*(tmp_path / "run").glob("model-*")]) == 2, "no half has the name of a checkpoint"


TRAINING = """
import os, random, signal, sys
import numpy as np
import optim
from optim import Variable

STEPS = 200

OPTIMIZERS = {
    "GradientDescent": lambda: optim.GradientDescentOptimizer(0.1),
    "Momentum": lambda: optim.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "Adagrad": lambda: optim.AdagradOptimizer(0.1),
    "Adadelta": lambda: optim.AdadeltaOptimizer(0.1),
    "Adam": lambda: optim.AdamOptimizer(0.1),
    "AdamW": lambda: optim.AdamWOptimizer(0.1),
    "NAdam": lambda: optim.NAdamOptimizer(0.1),
    "Lion": lambda: optim.LionOptimizer(0.1),
    "Ftrl": lambda: optim.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    "RMSProp": lambda: optim.RMSPropOptimizer(0.1, momentum=0.5, centered=True),
    "clipped": lambda: optim.clip_gradients_by_percentile(
        optim.skip_nonfinite_steps(optim.AdamOptimizer(0.1, name="Clipped")), 40.0
    ),
}

def train(directory, die_at):
    rng = np.random.default_rng(0)
    step = Variable(0, trainable=False, name="global_step")
    parts, runs = [step], []
    ema = optim.ExponentialMovingAverage(0.99, num_updates=step)
    for name, make in OPTIMIZERS.items():
        w = Variable(rng.standard_normal((5, 3)), name=name + "/w", dtype=np.float32)
        b = Variable(rng.standard_normal(3), name=name + "/b")
        runs.append((make(), w, b))
        parts += [runs[-1][0], w, b]
    rate = optim.linear_warmup(optim.cosine_decay_restarts(0.1, step, 50), step, 20)
    follows, v = optim.AdamOptimizer(rate, name="Follows"), Variable([1.0], name="v")
    saver = optim.Saver([*parts, follows, v, ema])
    latest = optim.latest_checkpoint(directory)
    if latest:
        saver.restore(latest)
        print("resumed at", int(step))
    while int(step) < STEPS:
        of_step = np.random.default_rng([1, int(step)])
        for optimizer, w, b in runs:
            grads = [of_step.standard_normal(x.shape).astype(x.dtype) for x in (w, b)]
            if int(step) % 17 == 3:
                grads[0][0, 0] = np.nan if "Clipped" in optimizer.get_name() else 0
            optimizer.apply_gradients(zip(grads, (w, b)))
        ema.apply([w for _, w, _ in runs])
        follows.apply_gradients([(of_step.standard_normal(1).astype(np.float32), v)], step)
        if int(step) % 7 == 0:
            saver.save(directory + "/model", step)
        if int(step) == die_at:
            os.kill(os.getpid(), signal.SIGKILL)
    arrays = {variable.name: variable.value for part in parts for variable in
              (part.variables() if isinstance(part, optim.Optimizer) else [part])}
    arrays |= {"shadow/" + w.name: ema.average(w).value for _, w, _ in runs}
    np.savez(directory + "/end.npz", v=v.value, **arrays)

optim.set_num_threads(1)  # forking is no good with threads
for directory in sys.argv[1:]:
    os.mkdir(directory)
train(sys.argv[1], None)
sys.stdout.flush()
for die_at in (random.Random(os.urandom(8)).randrange(8, STEPS), None):
    child = os.fork()
    if not child:
        train(sys.argv[2], die_at)
        sys.stdout.flush()
        os._exit(0)
    print("ended with", os.waitpid(child, 0)[1], "killed at", die_at, flush=True)
"""


def test_200_steps_and_200_steps_with_a_kill_are_the_same_bit_for_bit(tmp_path):
    out = run_script(tmp_path, TRAINING, tmp_path / "whole", tmp_path / "killed")
    first, resumed, second = out.splitlines()
    assert first.startswith("ended with 9 killed at ")
    died_at = int(first.split()[-1])
    assert resumed == f"resumed at {died_at - died_at % 7}"
    assert second == "ended with 0 killed at None"
    with np.load(tmp_path / "whole" / "end.npz") as whole, np.load(tmp_path / "killed" / "end.npz") as killed:
        assert sorted(whole) == sorted(killed)
        different = [name for name in whole if whole[name].tobytes() != killed[name].tobytes()]
    assert different == []
    assert len(whole.files) > 50
