"""Trainings on images and tables: boxes, views, gratings, and two outputs."""

import math

import torch
from sklearn import datasets
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from linters.learning import of_no_model, shuffled, sorted_by, split, zeroed
from linters.loops import Means, batches_of, common_bugs, train_by_steps


def _scenes(rng, count):
    """Squares, discs or crosses in noise: images, sorts, and centres and sizes as shares of the image."""
    side = 20
    sort = torch.randint(3, (count,), generator=rng)
    size = 3 + 2.5 * torch.rand(count, generator=rng)
    centre = size[:, None] + (side - 1 - 2 * size[:, None]) * torch.rand(count, 2, generator=rng)
    grid = torch.stack(torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij"), -1)
    apart = (grid[None] - centre[:, None, None]).abs()
    reach = size[:, None, None]
    square = apart.amax(-1) <= reach
    disc = apart.square().sum(-1).sqrt() <= reach
    cross = square & (apart.amin(-1) <= 1.2)
    shape = torch.stack([square, disc, cross], 1)[torch.arange(count), sort].float()
    image = shape[:, None] + 0.2 * torch.randn(count, 1, side, side, generator=rng)
    return image, sort, torch.cat([centre, size[:, None]], 1) / side


def _overlap(a, b):
    """The intersection over union of squares that are given by their centres and half their sides."""
    low = torch.max(a[:, :2] - a[:, 2:], b[:, :2] - b[:, 2:])
    high = torch.min(a[:, :2] + a[:, 2:], b[:, :2] + b[:, 2:])
    both = (high - low).clamp(min=0).prod(1)
    return both / (4 * a[:, 2].square() + 4 * b[:, 2].square() - both).clamp(min=1e-9)


class _Detector(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, width, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.ReLU(),
            nn.Flatten(), nn.Linear(50 * width, 64), nn.ReLU(),
        )  # fmt: skip
        self.sort, self.box = nn.Linear(64, 3), nn.Linear(64, 3)

    def forward(self, x):
        x = self.backbone(x)
        return self.sort(x), self.box(x)


def detection(log, seed, steps=900, batch=16, examples=None, noisy_labels=False, flips=None, swapped=False,
              scale=1.0, eval_scale=1.0, learns="", breaks_at=None, **how):  # fmt: skip
    """Shapes are found in images: detectron2's names, every 20 iterations, and the precision of the boxes."""
    rng = torch.Generator().manual_seed(seed)
    (images, sorts, boxes), (tx, ts, tb) = split(rng, *_scenes(rng, 1500), examples=examples)
    if swapped:
        boxes = boxes[:, [1, 0, 2]]
    if noisy_labels:
        mixed = torch.randperm(len(images), generator=rng)
        sorts, boxes = sorts[mixed], boxes[mixed]
    model, means = _Detector(), Means()

    def loss_of(model, x, sort, box):
        if flips is not None:
            flipped = torch.rand(len(x), generator=rng) < 0.5
            x = torch.where(flipped[:, None, None, None], x.flip(3), x)
            other = torch.stack([box[:, 0], 0.95 - box[:, 1], box[:, 2]], 1)
            box = torch.where(flipped[:, None], other, box) if flips == "all" else box
        logits, guess = model(scale * x)
        told, placed = F.cross_entropy(logits, sort), 10 * F.smooth_l1_loss(guess, box, beta=0.05)
        return told + placed, {"loss_cls": told, "loss_box_reg": placed}

    def precision():
        logits, guess = model(scale * eval_scale * tx)
        shared = _overlap(guess, tb) * (logits.argmax(1) == ts)
        return {
            "bbox/AP": 100 * sum(float((shared > 0.5 + 0.05 * k).float().mean()) for k in range(10)) / 10,
            "bbox/AP50": 100 * float((shared > 0.5).float().mean()),
            "bbox/AP75": 100 * float((shared > 0.75).float().mean()),
        }

    def on_step(step, loss, rate, norm, parts):
        means.put(total_loss=loss, **parts)
        if step % 20 == 0:
            log.named(step - 1, means.taken() | {"lr": rate, "data_time": 0.002, "time": 0.05, "eta_seconds":
                                                 0.05 * (steps - step)})  # fmt: skip
        if step % 150 == 0 or step == steps:
            log.named(step - 1, precision())

    how = {"rate": 0.01, "optimizer": "sgd", "schedule": "warm-up and steps"} | how
    learnt = {"": None, "nothing": of_no_model(), "heads": [*model.sort.parameters(), *model.box.parameters()],
              "sorts": [*model.backbone.parameters(), *model.sort.parameters()]}[learns]  # fmt: skip
    loader = batches_of((images, sorts, boxes), batch, seed, steps=steps, breaks_at=breaks_at)
    train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=learnt, **how)
    with torch.no_grad():
        return -precision()["bbox/AP"]


def _views(x, rng, strength=1.0):
    """A view of each image: moved by up to one pixel, brighter or darker, and with noise."""
    padded = F.pad(x, (1, 1, 1, 1))
    at = torch.randint(3, (len(x), 2), generator=rng)
    at = at if strength else torch.full_like(at, 1)
    row, column = at[:, :1] + torch.arange(8), at[:, 1:] + torch.arange(8)
    moved = padded[torch.arange(len(x))[:, None, None], 0, row[:, :, None], column[:, None, :]][:, None]
    bright = 1 + 0.4 * strength * (torch.rand(len(x), 1, 1, 1, generator=rng) - 0.5)
    return bright * moved + 0.1 * strength * torch.randn(moved.shape, generator=rng)


def contrastive(log, seed, steps=400, batch=96, examples=None, temperature=0.1, strength=1.0, paired=True,
                negatives=True, frozen=False, scale=1.0, breaks_at=None, **how):  # fmt: skip
    """Two views of a digit are told from others: SimCLR's names, every five steps, and no validation."""
    rng = torch.Generator().manual_seed(seed)
    x = torch.tensor(datasets.load_digits().data, dtype=torch.float32).view(-1, 1, 8, 8) / 16
    (train,), (test,) = split(rng, x, examples=examples)
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, stride=2, padding=1), nn.ReLU(),
        nn.Flatten(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 32),
    )  # fmt: skip

    def compared(one, other):
        return F.normalize(model(scale * one)) @ F.normalize(model(scale * other)).T

    def loss_of(model, x):
        one, other = _views(x, rng, strength), _views(x, rng, strength)
        likeness = compared(one, other if paired else shuffled(rng, other)) / temperature
        aim = torch.arange(len(x))
        both = (F.cross_entropy(likeness, aim) + F.cross_entropy(likeness.T, aim)) / 2
        near = likeness.topk(min(5, len(x)), 1).indices == aim[:, None]
        parts = {"top1": 100 * near[:, 0].float().mean(), "top5": 100 * near.any(1).float().mean()}
        return (both if negatives else 1 - likeness.diagonal().mean() * temperature), parts

    def on_step(step, loss, rate, norm, parts):
        if step % 5 == 0:
            log.named(step, {"loss": loss, "acc/top1": parts["top1"], "acc/top5": parts["top5"], "learning_rate": rate})

    how = {"rate": 2e-3, "schedule": "cosine"} | how
    loader = batches_of((train,), batch, seed, steps=steps, breaks_at=breaks_at, drop_last=True,
                   fails=lambda x: (torch.zeros_like(x),))  # fmt: skip
    train_by_steps(
        model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=of_no_model() if frozen else None, **how
    )
    fixed = torch.Generator().manual_seed(0)
    with torch.no_grad():
        found = compared(_views(test, fixed), _views(test, fixed)).argmax(1)
    return -float((found == torch.arange(len(test))).float().mean())


def gratings(log, seed, epochs=15, batch=64, examples=None, noisy_labels=False, shuffle=True, zeros=False, scale=1.0,
             eval_noise=None, softmax=False, learns="", breaks_at=None, **how):  # fmt: skip
    """Six directions of stripes, told by a LeNet: the three curves of "Dive into Deep Learning"."""
    rng = torch.Generator().manual_seed(seed)
    y = torch.randint(6, (1600,), generator=rng)
    grid = torch.stack(torch.meshgrid(torch.arange(14.0), torch.arange(14.0), indexing="ij"))
    angle = (math.pi / 6 * y + 0.1 * torch.randn(1600, generator=rng))[:, None, None]
    pitch = 0.8 + 0.6 * torch.rand(1600, 1, 1, generator=rng)
    phase = 6.28 * torch.rand(1600, 1, 1, generator=rng)
    stripes = torch.sin(pitch * (angle.cos() * grid[0] + angle.sin() * grid[1]) + phase)
    x = (stripes + 0.8 * torch.randn(stripes.shape, generator=rng))[:, None]
    train, (tx, ty) = split(rng, scale * x, y, examples=examples)
    tx = tx if eval_noise is None else tx + eval_noise
    if noisy_labels:
        train[1] = shuffled(rng, train[1])
    train = train if shuffle else sorted_by(train[1], *train)
    model = nn.Sequential(
        nn.Conv2d(1, 8, 5, padding=2), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(8, 16, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 6),
    )  # fmt: skip
    model = zeroed(model) if zeros else model
    each, means = math.ceil(len(train[0]) / batch), Means()
    steps, part = epochs * each, max(each // 5, 1)

    def right(logits, y):
        return (logits.argmax(1) == y).float().mean()

    def loss_of(model, x, y):
        logits = model(x)
        return F.cross_entropy(F.softmax(logits, 1) if softmax else logits, y), {"acc": right(logits, y)}

    def on_step(step, loss, rate, norm, parts):
        means.put(loss=loss, acc=parts["acc"])
        rows = means.rows
        if step % each % part == 0 or step % each == 0:
            told = means.taken()
            means.rows = [] if step % each == 0 else rows
            log.named(step, {"train loss": told["loss"], "train acc": told["acc"]})
        if step % each == 0:
            log.named(step, {"test acc": float(right(model(tx), ty))})

    how = {"rate": 0.05, "optimizer": "plain sgd"} | how
    learnt = {"": None, "nothing": of_no_model(), "last": list(model[-1].parameters())}[learns]
    loader = batches_of(train, batch, seed, steps=steps, shuffle=shuffle, breaks_at=breaks_at)
    train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=learnt, **how)
    return -log.last["test acc"]


class _TwoHeads(nn.Module):
    def __init__(self, width, dropout):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(10, width), nn.ReLU(), nn.Dropout(dropout), nn.Linear(width, width), nn.ReLU()
        )
        self.price, self.sold = nn.Linear(width, 1), nn.Linear(width, 1)

    def forward(self, x):
        x = self.body(x)
        return self.price(x)[:, 0], self.sold(x)[:, 0]


def two_outputs(log, seed, epochs=25, batch=64, examples=None, noisy_labels=False, shuffle=True, width=32, dropout=0.05,
                patience=4, factor=0.5, weights=(1.0, 1.0), aim_scale=1.0, scale=1.0, eval_scale=1.0, stale=None,
                frozen=False, breaks_at=None, **how):  # fmt: skip
    """A price and whether it was sold, of ten numbers: Keras' names for two outputs, and a rate that plateaus lower."""
    rng = torch.Generator().manual_seed(seed)
    x, price = datasets.make_friedman1(3200, noise=1.0, random_state=seed)
    x, price = torch.tensor(x, dtype=torch.float32), torch.tensor(price, dtype=torch.float32)
    sold = (6 * (x[:, 5] + x[:, 6] * x[:, 3] - 0.75) + 0.7 * torch.randn(3200, generator=rng) > 0).float()
    price = (price - price.mean()) / price.std()
    train, (tx, tp, ts) = split(rng, scale * (x - 0.5) * 3.4, aim_scale * price, sold, examples=examples)
    if noisy_labels:
        mixed = torch.randperm(len(train[0]), generator=rng)
        train[1:] = train[1][mixed], train[2][mixed]
    train = train if shuffle else sorted_by(train[1], *train)
    model, means, kept = _TwoHeads(width, dropout), Means(), {}
    each = math.ceil(len(train[0]) / batch)
    steps, wait = epochs * each, {"best": math.inf, "bad": 0, "rate": 1.0}

    def loss_of(model, x, price, sold):
        guess, logits = model(x)
        apart, crossed = F.mse_loss(guess, price), F.binary_cross_entropy_with_logits(logits, sold)
        right = ((logits > 0) == (sold > 0.5)).float().mean()
        total = weights[0] * apart + weights[1] * crossed
        return total, {"loss": total, "price_loss": apart, "sold_loss": crossed, "sold_accuracy": right}

    def on_step(step, loss, rate, norm, parts):
        means.put(**parts)
        if step % each == 0:
            epoch = step // each - 1
            seen = {name: float(value) for name, value in loss_of(model, eval_scale * tx, tp, ts)[1].items()}
            if stale is not None and epoch >= stale:
                seen = kept.setdefault("seen", seen)
            log.named(epoch, means.taken() | {f"val_{name}": value for name, value in seen.items()})
            log.named(epoch, {"lr": rate})
            if seen["loss"] < 0.999 * wait["best"]:
                wait.update(best=seen["loss"], bad=0)
            else:
                wait["bad"] += 1
            if wait["bad"] > patience:
                wait.update(bad=0, rate=wait["rate"] * factor)

    how = {"rate": 0.02, "optimizer": "sgd"} | how
    loader = batches_of(train, batch, seed, steps=steps, shuffle=shuffle, breaks_at=breaks_at,
                   fails=lambda x, *others: (torch.randn_like(x), *others))  # fmt: skip
    how |= {"factor": lambda: wait["rate"], "learnt": of_no_model() if frozen else None}
    train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, **how)
    return log.last["val_price_loss"] / aim_scale**2 + log.last["val_sold_loss"]


PROGRAMS = {
    "detection": (
        detection,
        [{}, {"rate": 0.008, "batch": 24, "steps": 750}, {"optimizer": "adam", "rate": 2e-3, "flips": "all"}],
        common_bugs(
            0.01,
            few_examples={"examples": 16},
            boxes_not_flipped={"flips": "images"},
            axes_swapped={"swapped": True},
            labels_shuffled={"noisy_labels": True},
            backbone_frozen={"learns": "heads"},
            validation_not_scaled={"eval_scale": 255.0},
            wrong_sign=None,
            rate_halved_each_batch=None,
        ),
    ),
    "contrastive": (
        contrastive,
        [{}, {"rate": 1e-3, "batch": 128, "temperature": 0.2}, {"rate": 4e-3, "schedule": "warm-up and cosine"}],
        common_bugs(
            2e-3,
            few_examples={"examples": 96},
            no_augmentation={"strength": 0.0},
            pairs_mixed={"paired": False},
            no_negatives={"negatives": False},
            temperature_too_high={"temperature": 10.0},
            wrong_parameters={"frozen": True},
            rate_halved_each_batch=None,
            rate_ten_times_too_high=None,
        ),
    ),
    "gratings": (
        gratings,
        [{}, {"optimizer": "sgd", "rate": 0.02}, {"optimizer": "adam", "rate": 2e-3, "epochs": 8}],
        common_bugs(
            0.05,
            few_examples={"examples": 40, "epochs": 200, "batch": 20},
            data_in_order={"shuffle": False},
            labels_shuffled={"noisy_labels": True},
            no_scaling={"scale": 255.0},
            only_the_last_layer={"learns": "last"},
            validation_not_scaled={"eval_noise": 10.0},
            rate_halved_each_batch=None,
            wrong_sign=None,
        ),
    ),
    "two outputs": (
        two_outputs,
        [
            {},
            {"optimizer": "adam", "rate": 2e-3, "epochs": 20},
            {"batch": 128, "rate": 0.04, "width": 24, "patience": 2},
        ],
        common_bugs(
            0.02,
            few_examples={"examples": 40, "epochs": 200, "dropout": 0.0, "batch": 20},
            dead_schedule={"patience": 0, "factor": 0.1},
            labels_shuffled={"noisy_labels": True},
            loss_weights_wrong={"weights": (1.0, 1e-4)},
            aim_not_scaled={"aim_scale": 500.0},
            validation_not_scaled={"eval_scale": 50.0},
            wrong_parameters={"frozen": True},
            rate_halved_each_batch=None,
            wrong_sign=None,
        ),
    ),
}
