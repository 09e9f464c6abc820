"""Four small trainings: pairs of sentences, depth of views, gestures told apart, and turbines that fail."""

import math

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from linters.learning import of_no_model, shuffled, sorted_by, split
from linters.loops import Means, batches_of, common_bugs, train_by_steps


def _pairs(rng, count):
    """A premise and a hypothesis as 16 tokens, and whether it follows (0), may be so (1), or is denied (2).

    Words are: 0 to 2 padding, start and end; 24 nouns of 2 kinds of 4, 12 verbs of 2 states, 30 others, and names of
    kinds and of states.
    """
    noun, verb = (torch.randint(most, (count,), generator=rng) for most in (24, 12))
    other = torch.randint(39, 69, (count, 8), generator=rng)
    label = torch.randint(3, (count,), generator=rng)
    said_kind = noun // 12 + 2 * (label == 1)
    said_state = torch.where(label == 2, 1 - verb // 6, verb // 6)
    rows = torch.zeros(count, 16, dtype=torch.long)
    swapped, extra = (torch.randint(most, (count,), generator=rng) for most in (2, 4))
    for row in range(count):
        subject, act = [other[row, 0], 3 + noun[row]], [27 + verb[row], other[row, 1]]
        kinds, states = 69 + 2 * said_kind[row] + extra[row] % 2, 77 + 2 * said_state[row] + extra[row] // 2
        first = act + subject if swapped[row] else subject + act
        words = [1, *first, *other[row, 2 : 2 + extra[row]], 2, other[row, 6], kinds, states, other[row, 7], 2]
        rows[row, : len(words)] = torch.tensor(words)
    wrong = torch.rand(count, generator=rng) < 0.03
    return rows, torch.where(wrong, (label + 1) % 3, label)


def _pretrained(width):
    """Vectors of words, which are near those of the words' kind or state."""
    kinds = torch.cat([torch.arange(24) // 12, 4 + torch.arange(12) // 6])
    of = torch.cat([torch.arange(6, 9), kinds, torch.arange(9, 39), torch.arange(12) // 2])
    return torch.randn(39, width)[of] + 0.4 * torch.randn(81, width)


class _Pair(nn.Module):
    def __init__(self, width, dropout, layers=2):
        super().__init__()
        self.words = nn.Embedding.from_pretrained(_pretrained(width), freeze=False)
        self.places = nn.Parameter(0.1 * torch.randn(16, width))
        self.segments = nn.Embedding(2, width)
        one = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(one, layers, enable_nested_tensor=False)
        self.classifier = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Dropout(dropout), nn.Linear(width, 3))

    def forward(self, x, mask):
        second = ((x == 2).cumsum(1) - (x == 2).long()).clamp(max=1)
        x = self.words(x) + self.places[: x.shape[1]] + self.segments(second)
        return self.classifier(self.encoder(x, src_key_padding_mask=mask)[:, 0])


def entailment(log, seed, epochs=7, batch=32, examples=None, width=32, dropout=0.1, noisy_labels=False, shuffle=True,
               longest=16, other_words=False, other_order=False, inverted_mask=False, learns="", breaks_at=None,
               **how):  # fmt: skip
    """Does a sentence follow from another? By a transformer: Trainer's names, every 10 steps and every epoch."""
    rng = torch.Generator().manual_seed(seed)
    train, (tx, ty) = split(rng, *_pairs(rng, 3800), test=0.18, examples=examples)
    if noisy_labels:
        train[1] = shuffled(rng, train[1])
    if not shuffle:
        train = sorted_by(train[1], *train)
    if other_words:  # another tokenizer's numbers
        tx = torch.cat([torch.arange(3), 3 + torch.randperm(78, generator=rng)])[tx]
    ty = torch.tensor([2, 0, 1])[ty] if other_order else ty
    model, means = _Pair(width, dropout), Means()
    each = math.ceil(len(train[0]) / batch)
    steps = epochs * each

    def logits_of(x):
        x = x[:, :longest]
        mask = (x != 0) if inverted_mask else (x == 0)
        return model(x, mask)

    def loss_of(model, x, y):
        return F.cross_entropy(logits_of(x), y), {}

    def on_step(step, loss, rate, norm, parts):
        means.put(loss=loss, grad_norm=norm, learning_rate=rate)
        if step % 10 == 0:
            told = means.taken() | {"grad_norm": norm, "learning_rate": rate, "epoch": step / each}
            log.named(step, {f"train/{name}": value for name, value in told.items()})
        if step % each == 0:
            logits = logits_of(tx)
            guess, f1 = logits.argmax(1), 0.0
            for sort in range(3):
                hits = ((guess == sort) & (ty == sort)).sum()
                f1 += float(2 * hits / ((guess == sort).sum() + (ty == sort).sum()).clamp(min=1)) / 3
            log.tick(0.8)
            log.named(step, {"eval/loss": float(F.cross_entropy(logits, ty)), "eval/f1": f1, "eval/runtime": 0.8,
                             "eval/accuracy": float((guess == ty).float().mean()),
                             "eval/samples_per_second": len(ty) / 0.8})  # fmt: skip

    how = {"rate": 3e-3, "schedule": "linear", "optimizer": "adamw", "clip": 1.0} | how
    learnt = {"": None, "nothing": of_no_model(), "classifier": list(model.classifier.parameters())}[learns]
    loader = batches_of(train, batch, seed, steps=steps, shuffle=shuffle, breaks_at=breaks_at)
    train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=learnt, **how)
    return 1 - log.last["eval/f1"]


def _views(rng, count, side=24):
    """Views of a floor, a wall and balls of three colours and sizes, in fog; and depth in metres, 0 where unknown."""
    rows = torch.arange(side).float()
    horizon, high = 5 + 4 * torch.rand(count, 1, 1, generator=rng), 1.5 * torch.ones(1)
    depth = (high * 10 / (rows[:, None] - horizon).clamp(min=1e-3)).clamp(1, 9).expand(count, side, side).clone()
    floor, wall = torch.tensor([0.5, 0.45, 0.4]), torch.tensor([0.6, 0.65, 0.8])
    image = torch.where(depth[:, None] < 9, floor[:, None, None], wall[:, None, None])
    away = (1.5 + 6 * torch.rand(count, 3, generator=rng)).sort(1, descending=True).values
    colours = torch.tensor([[0.9, 0.3, 0.2], [0.2, 0.8, 0.3], [0.2, 0.3, 0.9]])
    for turn in range(3):
        sort = torch.randint(3, (count,), generator=rng)
        radius = 12 * torch.tensor([0.6, 0.9, 1.3])[sort] / away[:, turn]
        at = side * torch.rand(count, 2, generator=rng)
        off = (rows[:, None] - at[:, :1, None]).square() + (rows - at[:, 1:, None]).square()
        inside = off < radius[:, None, None].square()
        depth = torch.where(inside, away[:, turn, None, None], depth)
        image = torch.where(inside[:, None], colours[sort][..., None, None], image)
    fog = torch.exp(-depth / 15)[:, None] * (0.8 + 0.4 * torch.rand(count, 1, 1, 1, generator=rng))
    image = image * fog + 0.04 * torch.randn(image.shape, generator=rng)
    known = torch.rand(count, side // 2, side // 2, generator=rng) > 0.12
    return (image - 0.4) / 0.25, depth[:, ::2, ::2] * known


def _block(into, out, stride):
    return nn.Sequential(nn.Conv2d(into, out, 3, stride, 1), nn.BatchNorm2d(out), nn.ReLU())


class _Depth(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.stem, self.down = _block(3, width, 2), _block(width, 2 * width, 2)
        self.deep = nn.Sequential(_block(2 * width, 2 * width, 2), _block(2 * width, 2 * width, 1))
        self.middle, self.fuse = _block(4 * width, width, 1), _block(2 * width, width, 1)
        self.head = nn.Conv2d(width, 1, 3, 1, 1)

    def forward(self, x):
        stem = self.stem(x)
        down = self.down(stem)
        up = self.middle(torch.cat([F.interpolate(self.deep(down), scale_factor=2.0), down], 1))
        return self.head(self.fuse(torch.cat([F.interpolate(up, scale_factor=2.0), stem], 1)))[:, 0]


def depth(log, seed, epochs=8, batch=16, examples=None, width=12, noisy_labels=False, flipped=False, masked=True,
          swapped=False, eval_bytes=False, eval_units=1.0, learns="", breaks_at=None, **how):  # fmt: skip
    """Depth from a view by a small U-Net and the scale-invariant loss of logarithms: MMEngine's names."""
    rng = torch.Generator().manual_seed(seed)
    train, (tx, ty) = split(rng, *_views(rng, 960), test=0.2, examples=examples)
    if noisy_labels:
        train[1] = shuffled(rng, train[1])
    if flipped:  # images are, and depth is not
        train[0] = torch.where(torch.rand(len(train[0]), 1, 1, 1, generator=rng) < 0.5, train[0].flip(3), train[0])
    tx = tx.flip(1) if swapped else tx  # blue, green and red
    tx = 255 * (0.25 * tx + 0.4) if eval_bytes else tx
    model, means = _Depth(width), Means()
    each = math.ceil(len(train[0]) / batch)
    steps = epochs * each

    def loss_of(model, x, y):
        held = y > 0 if masked else y >= 0
        off = model(x)[held] - y[held].clamp(min=1e-2).log()
        return (off.square().mean() - 0.5 * off.mean().square() + 1e-6).sqrt(), {}

    def on_step(step, loss, rate, norm, parts):
        means.put(loss=loss, grad_norm=norm)
        if step % 10 == 0:
            told = means.taken()
            log.named(step, {"lr": rate, "data_time": 0.004, "time": 0.05, "memory": 412.0, "iter": step} | told)
            log.named(step, {"decode.loss_depth": told["loss"], "epoch": (step - 1) // each + 1})
        if step % each == 0:
            y = eval_units * ty[ty > 0]
            guess = model(tx).clamp(-3, 3).exp()[ty > 0]
            share = torch.maximum(guess / y, y / guess)
            log.tick(0.5)
            log.named(step, {"val/rmse": float((guess - y).square().mean().sqrt()),
                             "val/abs_rel": float(((guess - y).abs() / y).mean()),
                             "val/delta1": float((share < 1.25).float().mean()),
                             "val/delta2": float((share < 1.25**2).float().mean())})  # fmt: skip

    how = {"rate": 8e-3, "schedule": "one cycle", "optimizer": "adamw"} | how
    learnt = {"": None, "nothing": of_no_model(), "head": list(model.head.parameters())}[learns]
    loader = batches_of(train, batch, seed, steps=steps, breaks_at=breaks_at,
                        fails=lambda x, y: (torch.zeros_like(x), y))  # fmt: skip
    train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=learnt, **how)
    return log.last["val/rmse"]


def _gestures(rng, sorts, each, length=32):
    """Curves of a hand, of some people's: turned, larger or smaller, of another pace, and shaky; and their sorts."""
    waves = torch.randn(sorts, 2, 4, 2, generator=rng) / torch.arange(1, 5)[:, None] ** 0.8
    sort = torch.arange(sorts).repeat_interleave(each)
    waves = waves[sort] + 0.12 * torch.randn(sorts * each, 2, 4, 2, generator=rng)
    pace, late, angle, size = torch.randn(4, sorts * each, 1, generator=rng)
    time = torch.linspace(0, 1, length) ** torch.exp(0.15 * pace) + 0.04 * late
    phase = 2 * math.pi * time[:, None] * torch.arange(1, 5)[:, None] * 0.75
    x, y = (waves[..., :1] * phase[:, None].sin() + waves[..., 1:] * phase[:, None].cos()).sum(2).unbind(1)
    c, s = (0.8 * angle).cos(), (0.8 * angle).sin()
    rows = torch.stack([c * x - s * y, s * x + c * y], 1) * torch.exp(0.25 * size)[:, None]
    return rows + 0.12 * torch.randn(rows.shape, generator=rng), sort


class _Gesture(nn.Module):
    def __init__(self, width, unit=True):
        super().__init__()
        layers, self.unit = [], unit
        for into, out in ((2, width), (width, 2 * width), (2 * width, 2 * width)):
            layers += [nn.Conv1d(into, out, 5, 2 if into > 2 else 1, 2), nn.BatchNorm1d(out), nn.ReLU()]
        self.body, self.head = nn.Sequential(*layers, nn.Flatten()), nn.Linear(16 * width, 32)

    def forward(self, x):
        x = self.head(self.body(x))
        return F.normalize(x, dim=1) if self.unit else x


def _apart(a):
    return (a.square().sum(1)[:, None] + a.square().sum(1) - 2 * a @ a.T).clamp(min=1e-6).sqrt()


def gestures(log, seed, epochs=20, each=36, people=80, known=24, sorts=10, views=4, width=16, margin=0.3,
             mined="all", unit=True, noisy_labels=False, reshaped=False, shifted=0, blank=None, learns="",
             breaks_at=None, **how):  # fmt: skip
    """Gestures of unseen sorts are found by embeddings of hard triplets; recall and precision of ranks, each epoch."""
    rng = torch.Generator().manual_seed(seed)
    (x, y), (tx, ty) = _gestures(rng, people, known), _gestures(rng, 30, 12)
    y = shuffled(rng, y) if noisy_labels else y
    tx = tx.transpose(1, 2).reshape(tx.shape) if reshaped else tx
    ty = (ty + shifted * (torch.arange(len(ty)) % 2)) % 30
    model, means, steps = _Gesture(width, unit), Means(), epochs * each

    def loader():
        kept = None
        for step in range(steps):
            if breaks_at is None or step < breaks_at * steps:
                at = [torch.where(y == sort)[0] for sort in torch.randperm(people, generator=rng)[:sorts]]
                kept = torch.cat([rows[torch.randperm(len(rows), generator=rng)[:views]] for rows in at])
            yield x[kept], y[kept]

    def loss_of(model, x, y):
        far, same = _apart(model(x)), y[:, None] == y
        itself = torch.eye(len(y), dtype=torch.bool)
        dists = {"pos_dist": far[same & ~itself].mean(), "neg_dist": far[~same].mean()}
        if mined == "all":
            lost = (far[:, :, None] - far[:, None] + margin)[(same & ~itself)[:, :, None] & ~same[:, None]].relu()
        elif mined == "hard":
            lost = ((far - 9e9 * ~same).amax(1) - (far + 9e9 * same).amin(1) + margin).relu()
        else:  # the nearest of its sort, and the furthest of others
            lost = ((far + 9e9 * (~same | itself)).amin(1) - (far - 9e9 * same).amax(1) + margin).relu()
        active = (lost > 0).float()
        count = active.sum().clamp(min=1) if mined == "all" else len(y)
        return lost.sum() / count, dists | {"active_triplets": active.mean()}

    def ranks(seen):
        far = _apart(model(seen)).fill_diagonal_(math.inf)
        right = (ty[:, None] == ty)[torch.arange(len(ty))[:, None], far.argsort(1)[:, :-1]].float()
        precise = right.cumsum(1) / torch.arange(1, right.shape[1] + 1)
        return {"Val/recall@1": float(right[:, 0].mean()), "Val/recall@5": float(right[:, :5].amax(1).mean()),
                "Val/map": float(((precise * right).sum(1) / right.sum(1)).mean())}  # fmt: skip

    def on_step(step, loss, rate, norm, parts):
        means.put(triplet_loss=loss, **parts)
        if step % each == 0:
            epoch, seen = step // each, tx if blank is None or step < blank * steps else torch.zeros_like(tx)
            told = {f"Train/{name}": value for name, value in means.taken().items()}
            log.named(epoch, told | {"Train/lr": rate} | ranks(seen))

    how = {"rate": 2e-3} | how
    learnt = {"": None, "nothing": of_no_model(), "head": list(model.head.parameters())}[learns]
    train_by_steps(model, loader(), loss_of, log, steps=steps, on_step=on_step, learnt=learnt, **how)
    return -log.last["Val/map"]


def _turbines(rng, count, length=24):
    """Windows of speed, power, heat and trembling of a turbine, in their units; the last two follow the first."""
    phase, pace, force = (torch.rand(count, 1, generator=rng) for _ in range(3))
    time = torch.arange(length)
    turn = 2 * math.pi * (phase + time * (0.03 + 0.05 * pace))
    speed = (0.4 + force) * turn.sin()
    power, heat = speed.clamp(min=-0.3) ** 2 * speed.sign(), 0.8 * (0.4 + force) * (turn - 1.2).sin() + 0.3 * force
    tremble = (speed * heat).tanh() + 0.3 * (2 * turn).cos()
    rows = torch.stack([speed, power, heat, tremble], 1)
    rows += 0.06 * torch.randn(rows.shape, generator=rng)
    return rows * torch.tensor([300.0, 80.0, 12.0, 0.4])[:, None] + torch.tensor([1500.0, 210.0, 65.0, 2.0])[:, None]


def _failing(rng, rows):
    """Windows in which one sensor shows in part what it did in another window."""
    rows, one = rows.clone(), torch.randint(4, (len(rows),), generator=rng)
    at = torch.arange(len(rows))
    rows[at, one] = 0.65 * rows[at, one] + 0.35 * rows.roll(7, 0)[at, one]
    return rows


def turbines(log, seed, epochs=28, batch=48, examples=None, hidden=64, code=6, noisy_labels=False, scaled=True,
             eval_scaled=True, squashed=False, patience=None, mode="min", learns="", breaks_at=None,
             **how):  # fmt: skip
    """Windows of turbines go through a narrow autoencoder, whose error tells which fail: Keras' names, each epoch."""
    rng = torch.Generator().manual_seed(seed)
    (x,), (tx,) = split(rng, _turbines(rng, 4800), test=0.25, examples=examples)
    middle, spread = (x.mean((0, 2), keepdim=True), x.std((0, 2), keepdim=True)) if scaled else (0.0, 1.0)
    bad = _failing(rng, tx)
    if eval_scaled:
        tx, bad = (tx - middle) / spread, (bad - middle) / spread
    else:  # by the least and the most of each sensor
        low, high = tx.amin((0, 2), keepdim=True), tx.amax((0, 2), keepdim=True)
        tx, bad = (tx - low) / (high - low), (bad - low) / (high - low)
    x = ((x - middle) / spread).flatten(1)
    tx, bad, aims = tx.flatten(1), bad.flatten(1), shuffled(rng, x) if noisy_labels else x
    model = nn.Sequential(nn.Linear(96, hidden), nn.ReLU(), nn.Linear(hidden, code), nn.Linear(code, hidden), nn.ReLU(),
                          nn.Linear(hidden, 96), nn.Sigmoid() if squashed else nn.Identity())  # fmt: skip
    means, each = Means(), math.ceil(len(x) / batch)
    steps, plateau = epochs * each, {"share": 1.0, "best": math.inf, "waited": 0}

    def loss_of(model, x, y):
        off = model(x) - y
        return off.square().mean(), {"mae": off.detach().abs().mean()}

    def reduced(value):
        value = -value if mode == "max" else value
        better = value < plateau["best"] - 1e-4
        plateau.update(best=value if better else plateau["best"], waited=0 if better else plateau["waited"] + 1)
        if patience is not None and plateau["waited"] >= patience:
            plateau.update(share=max(0.2 * plateau["share"], 1e-4), waited=0)

    def on_step(step, loss, rate, norm, parts):
        means.put(loss=loss, **parts)
        if step % each == 0:
            held, others = loss_of(model, tx, tx)
            told = means.taken() | {"val_loss": float(held), "val_mae": float(others["mae"]), "learning_rate": rate}
            log.named(step // each - 1, {f"epoch_{name}": value for name, value in told.items()})
            reduced(float(held))

    how = {"rate": 2e-3} | how
    learnt = {"": None, "nothing": of_no_model(), "decoder": list(model[-2].parameters())}[learns]
    loader = batches_of((x, aims), batch, seed, steps=steps, breaks_at=breaks_at,
                        fails=lambda x, y: (torch.zeros_like(x), y))  # fmt: skip
    train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=learnt,
                   factor=lambda: plateau["share"], **how)  # fmt: skip
    with torch.no_grad():
        good, bad = ((model(rows) - rows).abs().mean(1).nan_to_num(9e9) for rows in (tx, bad))
    return 1 - float((bad[:, None] > good).float().mean())


PROGRAMS = {
    "entailment": (entailment, [{}, {"rate": 2e-3, "width": 40, "schedule": "warm-up and cosine", "epochs": 8},
                                {"rate": 2e-3, "width": 40, "schedule": ""}], common_bugs(
        3e-3, few_examples={"examples": 120, "epochs": 90, "batch": 24}, labels_shuffled={"noisy_labels": True},
        hypothesis_truncated={"longest": 7}, another_tokenizer_in_evaluation={"other_words": True},
        labels_in_another_order={"other_order": True}, encoder_frozen={"learns": "classifier"},
        no_zero_grad=None, wrong_sign=None, rate_halved_each_batch=None, loader_breaks=None)),
    "depth": (depth, [{}, {"rate": 5e-3, "schedule": "linear", "optimizer": "adam", "batch": 12},
                      {"optimizer": "sgd", "rate": 0.05, "schedule": "cosine"}], common_bugs(
        8e-3, few_examples={"examples": 24, "epochs": 150, "batch": 8}, images_flipped_alone={"flipped": True},
        holes_not_masked={"masked": False}, blue_for_red_in_validation={"swapped": True},
        bytes_in_validation={"eval_bytes": True}, depth_of_another_view={"noisy_labels": True},
        only_the_head={"learns": "head"}, dead_schedule=None, wrong_sign=None, rate_ten_times_too_high=None,
        rate_halved_each_batch=None, no_zero_grad=None)),
    "gestures": (gestures, [{}, {"rate": 1e-3, "schedule": "cosine", "views": 6, "sorts": 8},
                            {"rate": 3e-3, "optimizer": "adamw", "margin": 0.2, "mined": "hard"}], common_bugs(
        2e-3, few_sorts={"people": 4, "known": 6, "sorts": 4}, sorts_mixed_up={"noisy_labels": True},
        nearest_for_furthest={"mined": "easy"}, reshaped_in_validation={"reshaped": True},
        gallery_one_sort_off={"shifted": 1}, wrong_parameters={"learns": "nothing"},
        rate_ten_times_too_high=None, dead_schedule=None, loader_breaks=None, wrong_sign=None)),
    "turbines": (turbines, [{}, {"rate": 6e-3, "patience": 2, "epochs": 34}, {"optimizer": "adamw", "rate": 3e-3,
                            "batch": 64, "schedule": "cosine"}], common_bugs(
        2e-3, few_windows={"examples": 40, "epochs": 400, "batch": 20}, not_scaled={"scaled": False},
        another_scaling_in_validation={"eval_scaled": False}, aims_shuffled={"noisy_labels": True},
        squashed_by_a_sigmoid={"squashed": True}, plateau_of_the_most={"patience": 2, "mode": "max"},
        rate_halved_each_batch=None, no_zero_grad=None, rate_ten_times_too_high=None, wrong_sign=None)),
}  # fmt: skip
"""Name → the program, its healthy settings, and its bugs."""
