"""The trainings: programs, each with settings that are sensible and bugs that people have.

`PYTHONPATH=tests python -m linters.corpus DIRECTORY [PROGRAM …]` trains them, writes each as an event file below the
directory, what it reached into `outcomes.json`, and `labels.json` here. A bug that did no harm is left out: a training
is only labelled faulty if it ended worse than every healthy training of its program, which is told by what it was made
for and not by any linter.
"""

import json
import re
import sys
from pathlib import Path

import torch

from linters import (
    critics,
    densities,
    fields,
    fields_further,
    generative,
    horizons,
    kept,
    others,
    reinforcement,
    scenes,
    sessions,
    structures,
    supervised,
    teachers,
    texts,
    tokens,
    tutorials,
    tutorials_further,
    worlds,
)
from linters.learning import Log
from summaries.writing.summary_writer import SummaryWriter

LABELS = Path(__file__).with_name("labels.json")
SEEDS = 2
MOST_RISE = 1.1  # of a validation loss above its best, in a healthy training
HELD_OUT = tuple(kept.PROGRAMS)
"""Programs whose trainings were not looked at while rules were made."""

_SUPERVISED = {
    "rate too low": {"rate": 1e-5},
    "rate too high": {"rate": 1.0},
    "dead schedule": {"schedule": "dies at a fifth"},
    "rate halved each batch": {"schedule": "dies"},
    "no zero_grad": {"zero_grad": False},
    "wrong sign": {"sign": -1.0},
    "few examples": {"examples": 60, "epochs": 80},
    "data in order": {"shuffle": False},
    "wrong parameters": {"frozen": True},
    "loader breaks": {"breaks_at": 0.6},
}
"""Bugs of `fit`'s arguments: name → what differs from the program's own settings."""


def _bugs(without=(), **changed):
    named = {name: changed.get(name.replace(" ", "_"), how) for name, how in _SUPERVISED.items()}
    return {name: how for name, how in named.items() if name not in without}


PROGRAMS = {
    "digits": (
        supervised.digits,
        [{}, {"rate": 3e-3, "schedule": "cosine"}, {"optimizer": "sgd", "rate": 0.03}],
        _bugs(few_examples={"examples": 40, "epochs": 80})
        | {
            "labels shuffled": {"noisy_labels": True},
            "validation collapses": {"eval_breaks": 7},
            "stale validation": {"stale": 5},
        },
    ),
    "tabular": (
        supervised.tabular,
        [{}, {"optimizer": "adam", "rate": 1e-3}, {"schedule": "steps", "rate": 0.02}],
        _bugs(rate_too_high={"rate": 3.0}, few_examples={"examples": 40, "epochs": 200, "width": 128})
        | {"labels shuffled": {"noisy_labels": True}, "no scaling": {"scale": 0}, "zeros": {"zeros": True}},
    ),
    "diabetes": (
        supervised.diabetes,
        [{}, {"optimizer": "adam", "rate": 3e-3, "epochs": 25}, {"batch": 16, "epochs": 40}],
        _bugs(
            few_examples={"examples": 40, "epochs": 200, "optimizer": "adam", "width": 256},
            rate_too_low={"rate": 3e-6},
            rate_too_high={"rate": 0.6},
        )
        | {
            "labels shuffled": {"noisy_labels": True, "optimizer": "adam", "epochs": 150, "width": 128},
            "inputs too large": {"scale": 30.0, "rate": 3e-2},
        },
    ),
    "language": (
        supervised.language,
        [{}, {"optimizer": "adamw", "rate": 3e-3, "schedule": "linear"}, {"rate": 1e-2, "schedule": "one cycle"}],
        _bugs(few_examples={"examples": 30, "epochs": 80}, without=("data in order",), rate_too_high={"rate": 0.5})
        | {"labels shuffled": {"noisy_labels": True}},
    ),
    "variational": (
        generative.variational,
        [{}, {"rate": 5e-3, "batch": 128}, {"beta": 0.5, "epochs": 25}],
        _bugs(few_examples={"examples": 40, "epochs": 300}) | {"posterior collapses": {"beta": 30.0}},
    ),
    "autoencoder": (
        generative.autoencoder,
        [{}, {"optimizer": "sgd", "rate": 0.3}, {"rate": 5e-3, "schedule": "one cycle"}],
        _bugs(few_examples={"examples": 40, "epochs": 200}, without=("data in order",))
        | {"inputs too large": {"scale": 100.0, "optimizer": "sgd", "rate": 1e-2}},
    ),
    "adversarial": (
        generative.adversarial,
        [{}, {"generator_rate": 2e-3}, {"steps": 2000}],
        {
            "discriminator wins": {"discriminator_rate": 2e-2, "generator_rate": 1e-5},
            "generator frozen": {"frozen": "g"},
            "discriminator frozen": {"frozen": "d"},
            "rates too high": {"generator_rate": 0.1, "discriminator_rate": 0.1},
            "rates too low": {"generator_rate": 1e-6, "discriminator_rate": 1e-6},
            "many rounds": {"rounds": 8, "discriminator_rate": 1e-2, "generator_rate": 1e-4},
        },
    ),
    "actor and critic": (
        reinforcement.actor_critic,
        [{}, {"rate": 6e-3}, {"bonus": 0.02}],
        {
            "rate too low": {"rate": 1e-6},
            "rate too high": {"rate": 0.5},
            "wrong sign": {"sign": -1.0},
            "entropy alone": {"bonus": 5.0},
            "rewards of noise": {"lie": True},
        },
    ),
    "q learning": (
        reinforcement.q_learning,
        [{}, {"rate": 4e-3}, {"decay": 0.98}],
        {
            "rate too low": {"rate": 1e-7},
            "no exploration": {"decay": 0.1, "least": 0.0},
            "rewards of noise": {"lie": True},
            "always random": {"least": 1.0},
        },
    ),
    "forecast": (
        supervised.forecast,
        [{}, {"rate": 1e-2, "schedule": "cosine"}, {"batch": 64, "epochs": 50}],
        _bugs(few_examples={"examples": 30, "epochs": 200}) | {"validation not scaled": {"eval_scale": 0.01}},
    ),
    "finetune": (
        supervised.finetune,
        [{}, {"rate": 1e-3, "batch": 32}, {"schedule": "cosine", "epochs": 6}],
        _bugs(few_examples={"examples": 40, "epochs": 120}, rate_too_low={"rate": 2e-6})
        | {"labels shuffled": {"noisy_labels": True}},
    ),
    "recommender": (
        supervised.recommender,
        [{}, {"decay": 0.02}, {"rate": 2e-2, "epochs": 15}],
        _bugs(few_examples={"examples": 800, "epochs": 60}, rate_too_low={"rate": 1e-4}, without=("data in order",)),
    ),
    "sentiment": (
        supervised.sentiment,
        [{}, {"rate": 4e-3, "epochs": 7}, {"schedule": "steps", "rate": 4e-3}],
        _bugs(few_examples={"examples": 100, "epochs": 100})
        | {
            "labels shuffled": {"noisy_labels": True},
            "zeros": {"zeros": True},
            "validation collapses": {"eval_breaks": 8},
        },
    ),
    "segmentation": (
        supervised.segmentation,
        [{}, {"rate": 1e-2}, {"optimizer": "sgd", "rate": 0.1, "epochs": 30}],
        _bugs(few_examples={"examples": 4, "epochs": 300, "batch": 4, "width": 24}, without=("data in order",))
        | {"validation collapses": {"eval_breaks": 12}},
    ),
    "siamese": (
        generative.siamese,
        [{}, {"rate": 5e-3, "epochs": 25}, {"optimizer": "sgd", "rate": 0.02}],
        _bugs(few_examples={"examples": 40, "epochs": 300})
        | {"all attract": {"attract_only": True}, "labels shuffled": {"noisy_labels": True}},
    ),
    "diffusion": (
        generative.diffusion,
        [{}, {"schedule": "cosine", "rate": 4e-3}, {"batch": 128}],
        _bugs(few_examples={"examples": 10, "epochs": 1000, "width": 128, "batch": 10}, without=("data in order",)),
    ),
    "ppo": (
        reinforcement.ppo,
        [{}, {"rate": 1e-3, "updates": 60}, {"bonus": 0.01}],
        {
            "rate too low": {"rate": 1e-7},
            "rate too high": {"rate": 0.3},
            "wrong sign": {"sign": -1.0},
            "entropy alone": {"bonus": 10.0},
            "rewards of noise": {"lie": True},
            "no clipping": {"clip": 100.0, "rate": 0.05, "epochs": 20, "reach": 1e9},
        },
    ),
    "spirals": (
        others.spirals,
        [{}, {"rate": 1e-2, "epochs": 25}, {"optimizer": "sgd", "rate": 0.05}],
        _bugs(few_examples={"examples": 30, "epochs": 200}, without=("data in order",))
        | {"labels shuffled": {"noisy_labels": True}},
    ),
    "wine": (
        others.wine,
        [{}, {"optimizer": "adam", "rate": 5e-3}, {"batch": 32, "rate": 0.05}],
        _bugs(rate_too_high={"rate": 100.0}, without=("few examples",))
        | {"labels shuffled": {"noisy_labels": True}, "no scaling": {"scaled": False}},
    ),
    "denoising": (
        others.denoising,
        [{}, {"rate": 1e-2, "schedule": "cosine"}, {"batch": 40, "epochs": 30}],
        _bugs(few_examples={"examples": 4, "epochs": 400}, without=("data in order",))
        | {"validation not scaled": {"eval_scale": 0.01}},
    ),
    "reversing": (
        others.reversing,
        [{}, {"rate": 3e-3, "schedule": "linear"}, {"batch": 60, "epochs": 20}],
        _bugs(few_examples={"examples": 40, "epochs": 120}, rate_too_high={"rate": 0.3}, without=("data in order",))
        | {"labels shuffled": {"noisy_labels": True}},
    ),
    "counting": (
        others.counting,
        [{}, {"rate": 2e-2, "schedule": "cosine"}, {"batch": 80, "epochs": 45}],
        _bugs(few_examples={"examples": 20, "epochs": 200}, without=("data in order",)),
    ),
    "parity": (
        others.parity,
        [{}, {"rate": 5e-3, "epochs": 12}, {"optimizer": "sgd", "rate": 0.05}],
        _bugs(few_examples={"examples": 50, "epochs": 150})
        | {"labels shuffled": {"noisy_labels": True}, "validation collapses": {"eval_breaks": 9}},
    ),
    "inpainting": (
        others.inpainting,
        [{}, {"rate": 4e-3, "schedule": "linear"}, {"batch": 64, "epochs": 20}],
        _bugs(few_examples={"examples": 40, "epochs": 250}, rate_too_high={"rate": 3.0}),
    ),
    "bandit": (
        others.bandit,
        [{}, {"rate": 5e-3, "updates": 300}, {"bonus": 0.01}],
        {
            "rate too low": {"rate": 1e-6},
            "rate too high": {"rate": 1.0},
            "wrong sign": {"sign": -1.0},
            "entropy alone": {"bonus": 10.0},
            "rewards of noise": {"lie": True},
        },
    ),
}
"""Name → the program, its healthy settings, and its bugs."""

for _module in (
    texts, scenes, critics, structures, worlds, tokens, densities, sessions, teachers, horizons,
    tutorials, tutorials_further, fields, fields_further, kept,
):  # fmt: skip
    PROGRAMS |= _module.PROGRAMS


def trainings(names=()):
    """Every training of these programs, or of all: (name, program, arguments, seed, the bug or "")."""
    for name, (program, healthy, bugs) in PROGRAMS.items():
        if names and name not in names:
            continue
        for seed in range(SEEDS):
            for number, how in enumerate(healthy):
                yield f"{name}/healthy {number} {seed}", program, how, seed, ""
        for bug, how in bugs.items():
            yield f"{name}/{bug}", program, how, 7, bug


def main(directory, names):
    """Train, write, and keep what was reached."""
    torch.set_num_threads(1)
    kept = directory / "outcomes.json"
    outcomes = json.loads(kept.read_text()) if kept.exists() else {}
    for run, program, how, seed, bug in trainings(names):
        if run in outcomes:
            continue
        torch.manual_seed(seed)
        log = Log()
        reached = program(log, seed, **how)
        with SummaryWriter(directory / "runs" / run) as writer:
            for time, step, tag, value in log.points:
                writer.add_scalar(tag, value, step, walltime=time)
        outcomes[run] = {"bug": bug, "reached": float(reached), "rises": rises(log)}
        kept.write_text(json.dumps(outcomes, indent=1))
    return outcomes


def rises(log):
    """How many times its least value, at most, a validation loss is in the end: over its last three points."""
    curves = {}
    for _, _, tag, value in log.points:
        if re.search("(?<![a-z])(val|validation|eval|test)(?![a-z])", tag.lower()) and re.search(
            "loss|mse", tag.lower()
        ):
            curves.setdefault(tag, []).append(value)
    return max((sum(one[-3:]) / 3 / min(one) for one in curves.values() if min(one) > 0), default=1.0)


def frozen(outcomes):
    """Label what was reached: {run: the bug, or "" of a healthy one}.

    Left out are bugs that did no harm, and trainings without a bug that went on for too long: whose validation loss
    ends a tenth above its best.
    """
    outcomes = {run: one for run, one in outcomes.items() if one["bug"] or one["rises"] <= MOST_RISE}
    worst = {}
    for run, one in outcomes.items():
        program = run.split("/")[0]
        if not one["bug"]:
            worst[program] = max(worst.get(program, -1e300), one["reached"])
    harmed = {run: not one["reached"] <= worst[run.split("/")[0]] for run, one in outcomes.items()}
    return {run: one["bug"] for run, one in outcomes.items() if harmed[run] or not one["bug"]}


def labels():
    """{run: the bug, or "" of a healthy one}, as they were frozen."""
    return json.loads(LABELS.read_text())


if __name__ == "__main__":
    outcomes = main(Path(sys.argv[1]), sys.argv[2:])
    LABELS.write_text(json.dumps(frozen(outcomes), indent=1) + "\n")
