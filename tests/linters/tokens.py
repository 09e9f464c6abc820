"""Trainings on tokens, clicks and clouds of points."""

import math

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from linters.descents import descended, drawn
from linters.learning import mean_of, of_no_model, shuffled, usual_bugs


class _Gated(nn.Module):
    def __init__(self, width, reach):
        super().__init__()
        self.reach, self.norm = reach, nn.LayerNorm(width)
        self.mix, self.out = nn.Linear(3 * width, 2 * width), nn.Linear(width, width)

    def forward(self, x):
        far, size = self.reach, x.shape[1]
        near = F.pad(self.norm(x), (0, 0, far, far))
        near = torch.cat([near[:, :size], near[:, far : far + size], near[:, 2 * far :]], 2)
        return x + self.out(F.glu(self.mix(near), 2))


class _Filler(nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.embedding = nn.Embedding(tokens + 1, width)
        self.blocks = nn.Sequential(*(_Gated(width, reach) for reach in (1, 2, 4)))
        self.head = nn.Linear(width, tokens)

    def forward(self, x):
        return self.head(self.blocks(self.embedding(x)))


def masked(log, seed, steps=600, batch=32, examples=None, width=32, share=0.15, hidden=True, everywhere=False,
           frozen=False, breaks_at=None, eval_shift=0, **how):  # fmt: skip
    """Progressions with holes are filled by gated convolutions: Megatron's names, every 5 iterations."""
    rng = torch.Generator().manual_seed(seed)
    tokens, length = 17, 24
    first, pace = (torch.randint(low, high, (2300, 1), generator=rng) for low, high in ((0, tokens), (1, 6)))
    text = (first + pace * torch.arange(length)) % tokens
    wrong = torch.rand(text.shape, generator=rng) < 0.04
    text[wrong] = torch.randint(tokens, (int(wrong.sum()),), generator=rng)
    valid, train = text[:300], text[300:][:examples]
    holes = torch.rand(valid.shape, generator=rng) < 0.15
    model = _Filler(tokens, width)

    def cross(x, hole, hide, all_of_it=False):
        logits = model(torch.where(hole, tokens, x) if hide else x)
        chosen = torch.ones_like(hole) if all_of_it else hole
        return F.cross_entropy(logits[chosen], x[chosen])

    def loss_of(x):
        return cross(x, torch.rand(x.shape, generator=rng) < share, hidden, everywhere), {}

    def measured(hide, shift=0):
        seen = (valid + shift) % tokens if shift else valid
        logits = model(torch.where(holes, tokens, seen) if hide else seen)
        return float(F.cross_entropy(logits[holes], valid[holes]).detach())

    how = {"rate": 3e-3, "optimizer": "adamw", "schedule": "warm-up and cosine", "clip": 1.0} | how
    batches = drawn((train,), batch, rng, steps=steps, breaks_at=breaks_at, broken=lambda x: (torch.zeros_like(x),))
    loop = descended(model, batches, loss_of, log, steps=steps, learnt=of_no_model() if frozen else None, **how)
    for step, loss, _, rate, norm in loop:
        if step % 5 == 0:
            size = math.sqrt(sum(float(one.square().sum()) for one in model.parameters()))
            log.named(step, {"learning-rate": rate, "batch-size": batch, "lm loss": loss, "loss-scale": 1.0})
            log.named(step, {"grad-norm": norm, "params-norm": size, "iteration-time": 0.02})
        if step % 50 == 0:
            seen = measured(hidden, eval_shift)
            log.named(step, {"lm loss validation": seen, "lm loss validation ppl": math.exp(min(20, seen))})
    return measured(True, eval_shift)


def _shown(rng, count):
    """What was shown to whom, and whether it was clicked: fields of a few sorts each, amounts, and a 0 or 1."""
    sizes = 40, 60, 24, 5, 8
    fields = torch.stack([torch.randint(size, (count,), generator=rng) for size in sizes], 1)
    amounts = (1.2 * torch.randn(count, 4, generator=rng) + torch.tensor([1.0, 3.0, 5.0, 2.0])).exp()
    fixed = torch.Generator().manual_seed(5)
    one, other = (torch.randn(size, 4, generator=fixed) for size in sizes[:2])
    odds = (one[fields[:, 0]] * other[fields[:, 1]]).sum(1) * 0.6 - 1.0
    for column, size in enumerate(sizes):
        odds = odds + 0.5 * torch.randn(size, generator=fixed)[fields[:, column]]
    odds = odds + (amounts.log() @ torch.tensor([0.5, -0.4, 0.3, 0.0])) - 0.3
    return fields, amounts, (torch.rand(count, generator=rng) < odds.sigmoid()).float(), sizes


class _Factors(nn.Module):
    """A factorization machine, and a perceptron on the same embeddings and on the amounts."""

    def __init__(self, sizes, width, hidden, dropout):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(size, width) for size in sizes)
        self.biases = nn.ModuleList(nn.Embedding(size, 1) for size in sizes)
        for table in [*self.tables, *self.biases]:
            nn.init.normal_(table.weight, 0, 0.1)
        self.top = nn.Sequential(
            nn.Linear(width * len(sizes) + 4, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, 1)
        )

    def forward(self, fields, amounts):
        at = list(fields.unbind(1))
        rows = torch.stack([table(column) for table, column in zip(self.tables, at, strict=True)], 1)
        first = sum(table(column)[:, 0] for table, column in zip(self.biases, at, strict=True))
        pairs = 0.5 * (rows.sum(1).square() - rows.square().sum(1)).sum(1)
        return first + pairs + self.top(torch.cat([rows.flatten(1), amounts], 1))[:, 0]


def _ranked(score, y):
    """The area below the curve of the receiver's operation."""
    place = torch.empty(len(score))
    place[score.argsort()] = torch.arange(1, len(score) + 1, dtype=torch.float)
    hits = float(y.sum())
    return (float(place[y > 0.5].sum()) - hits * (hits + 1) / 2) / max(hits * (len(y) - hits), 1)


def clicks(log, seed, epochs=4, batch=128, examples=None, width=4, hidden=32, dropout=0.1, noisy_labels=False,
           shuffle=True, logs=True, twice=False, skew=False, learns="", breaks_at=None, **how):  # fmt: skip
    """Whether an advertisement is clicked: log loss of a window of steps, and AUC and calibration of an evaluation."""
    rng = torch.Generator().manual_seed(seed)
    fields, amounts, y, sizes = _shown(rng, 18_000)
    amounts = (amounts.log() - 2.75) / 2 if logs else amounts
    (tf, f), (ta, a), (ty, y) = ((column[:3000], column[3000:][:examples].clone()) for column in (fields, amounts, y))
    if noisy_labels:
        y = shuffled(rng, y)
    if not shuffle:
        order = y.argsort(stable=True)
        f, a, y = f[order], a[order], y[order]
    tf = tf.roll(1, 0) if skew else tf
    model = _Factors(sizes, width, hidden, dropout)
    each = math.ceil(len(y) / batch)
    steps = epochs * each

    def told(f, a, y):
        logits = model(f, a)
        logits = logits.sigmoid() if twice else logits
        return F.binary_cross_entropy_with_logits(logits, y), logits

    def loss_of(f, a, y):
        loss, logits = told(f, a, y)
        return loss, {"auc": _ranked(logits.detach(), y)}

    def evaluated():
        loss, logits = told(tf, ta, ty)
        share = float(logits.sigmoid().mean() / ty.mean())
        return {"eval/logloss": float(loss), "eval/auc": _ranked(logits, ty), "eval/calibration": share}

    how = {"rate": 0.01} | how
    learnt = {"": None, "top": list(model.top.parameters())}[learns]
    batches = drawn((f, a, y), batch, rng, steps=steps, shuffle=shuffle, breaks_at=breaks_at,
                     broken=lambda f, a, y: (torch.zeros_like(f), torch.zeros_like(a), y))  # fmt: skip
    window = []
    for step, loss, parts, rate, _ in descended(model, batches, loss_of, log, steps=steps, learnt=learnt, **how):
        window.append({"train/logloss": loss, "train/auc": parts["auc"]})
        if step % 20 == 0:
            log.named(step * batch, mean_of(window) | {"optim/lr_dense": rate, "optim/lr_sparse": rate})
            window = []
        if step % max(each // 2, 1) == 0:
            log.named(step * batch, evaluated())
    return log.last["eval/logloss"]


def _solids(rng, count, points=48):
    """Points on balls, cubes, cylinders, cones and rings, turned about the vertical axis, and the sort of each."""
    sort = torch.randint(5, (count,), generator=rng)
    u, v, w = torch.rand(3, count, points, generator=rng)
    turn = 2 * math.pi * u
    height = 2 * v - 1
    round_ = (1 - height**2).sqrt()
    ball = torch.stack([round_ * turn.cos(), round_ * turn.sin(), height], -1)
    free = 2 * torch.rand(count, points, 3, generator=rng) - 1
    cube = free / free.abs().amax(-1, keepdim=True)
    cylinder = torch.stack([0.8 * turn.cos(), 0.8 * turn.sin(), height], -1)
    slope = v.sqrt()
    cone = torch.stack([slope * turn.cos(), slope * turn.sin(), 1 - 2 * slope], -1)
    tube = 0.75 + 0.3 * (2 * math.pi * w).cos()
    ring = torch.stack([tube * turn.cos(), tube * turn.sin(), 0.3 * (2 * math.pi * w).sin()], -1)
    cloud = torch.stack([ball, cube, cylinder, cone, ring], 1)[torch.arange(count), sort]
    angle = 2 * math.pi * torch.rand(count, generator=rng)
    zero, one = torch.zeros(count), torch.ones(count)
    turned = torch.stack([angle.cos(), -angle.sin(), zero, angle.sin(), angle.cos(), zero, zero, zero, one], 1)
    cloud = cloud @ turned.view(-1, 3, 3)
    size = 0.7 + 0.6 * torch.rand(count, 1, 3, generator=rng)
    return cloud * size + 0.06 * torch.randn(cloud.shape, generator=rng), sort


class _Pointwise(nn.Module):
    """The same layers on each point, the greatest of all points, and a perceptron."""

    def __init__(self, width, momentum, over):
        super().__init__()
        self.over = over
        self.points = nn.Sequential(
            nn.Conv1d(3, width, 1), nn.BatchNorm1d(width, momentum=momentum), nn.ReLU(),
            nn.Conv1d(width, 2 * width, 1), nn.BatchNorm1d(2 * width, momentum=momentum), nn.ReLU(),
        )  # fmt: skip
        self.head = nn.Sequential(
            nn.Linear(2 * width, width), nn.BatchNorm1d(width, momentum=momentum), nn.ReLU(), nn.Linear(width, 5)
        )

    def forward(self, x):
        features = self.points(x.transpose(1, 2))
        return self.head(features.amax(2) if self.over == "points" else features[:, :, 0])


def clouds(log, seed, epochs=12, batch=32, examples=None, width=24, momentum=0.1, over="points", noisy_labels=False,
           shuffle=True, scale=1.0, eval_scale=1.0, learns="", breaks_at=None, **how):  # fmt: skip
    """Solids are told by a PointNet: fastai's names, where the loss of training is a moving average."""
    rng = torch.Generator().manual_seed(seed)
    cloud, sort = _solids(rng, 1400)
    tx, ty, x, y = cloud[:400], sort[:400], scale * cloud[400:][:examples], sort[400:][:examples]
    if noisy_labels:
        y = shuffled(rng, y)
    if not shuffle:
        x, y = x[y.argsort(stable=True)], y.sort(stable=True).values
    model = _Pointwise(width, momentum, over)
    each = math.ceil(len(x) / batch)
    steps = epochs * each

    def loss_of(x, y):
        return F.cross_entropy(model(x), y), {}

    how = {"rate": 5e-3, "schedule": "one cycle"} | how
    learnt = {"": None, "nothing": of_no_model()}[learns]
    batches = drawn((x, y), batch, rng, steps=steps, shuffle=shuffle, breaks_at=breaks_at,
                     broken=lambda x, y: (torch.randn_like(x), y))  # fmt: skip
    smooth = 0.0
    for step, loss, _, rate, _ in descended(model, batches, loss_of, log, steps=steps, learnt=learnt, **how):
        smooth = 0.98 * smooth + 0.02 * loss
        log.named(step, {"train_loss": smooth / (1 - 0.98**step), "raw_loss": loss, "lr_0": rate, "mom_0": 0.9})
        if step % each == 0:
            logits = model(scale * eval_scale * tx)
            right = float((logits.argmax(1) == ty).float().mean())
            log.named(step, {"valid_loss": float(F.cross_entropy(logits, ty)), "accuracy": right})
    return log.last["valid_loss"]


PROGRAMS = {
    "masked": (
        masked,
        [{}, {"rate": 2e-3, "batch": 48, "steps": 550}, {"optimizer": "adam", "schedule": "linear", "share": 0.2}],
        usual_bugs(
            3e-3,
            few_examples={"examples": 30, "steps": 800, "batch": 15},
            nothing_masked={"hidden": False},
            most_masked={"share": 0.85},
            wrong_parameters={"frozen": True},
            validation_misaligned={"eval_shift": 1},
            wrong_sign=None,
            rate_ten_times_too_high=None,
        ),
    ),
    "clicks": (
        clicks,
        [{}, {"rate": 5e-3, "batch": 96, "width": 6}, {"rate": 0.02, "schedule": "linear", "batch": 200, "epochs": 5}],
        usual_bugs(
            0.01,
            few_examples={"examples": 600, "epochs": 80},
            labels_shuffled={"noisy_labels": True},
            data_in_order={"shuffle": False},
            no_scaling={"logs": False},
            sigmoid_twice={"twice": True},
            evaluation_rows_moved={"skew": True},
            wrong_parameters={"learns": "top"},
            wrong_sign=None,
            no_zero_grad=None,
            rate_ten_times_too_high=None,
        ),
    ),
    "clouds": (
        clouds,
        [{}, {"rate": 2e-3, "schedule": "", "epochs": 14}, {"optimizer": "sgd", "rate": 0.05, "batch": 40}],
        usual_bugs(
            5e-3,
            few_examples={"examples": 40, "epochs": 100, "batch": 20},
            labels_shuffled={"noisy_labels": True},
            data_in_order={"shuffle": False},
            validation_in_other_units={"eval_scale": 1000.0},
            running_statistics_never_learnt={"momentum": 0.0},
            wrong_parameters={"learns": "nothing"},
            one_point_alone={"over": "one"},
            dead_schedule=None,
            wrong_sign=None,
            rate_ten_times_too_high=None,
        ),
    ),
}
