"""Five small trainings: sources, sessions, a finder of shapes, demand, and rewarded answers."""

import copy
import importlib
import inspect
import math

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from linters.learning import of_no_model, shuffled, sorted_by, split
from linters.loops import Means, batches_of, common_bugs, train_by_steps


class _Letters(nn.Module):
    def __init__(self, letters, width, dropout):
        super().__init__()
        self.embedding = nn.Embedding(letters, 12)
        self.convolutions = nn.ModuleList(nn.Conv1d(12, width, size) for size in (3, 5))
        self.dropout, self.head = nn.Dropout(dropout), nn.Linear(2 * width, 6)

    def forward(self, x):
        x = self.embedding(x).transpose(1, 2)
        return self.head(self.dropout(torch.cat([one(x).relu().amax(2) for one in self.convolutions], 1)))


def _pieces(length=72):
    """Pieces of six modules of Python, as numbers of letters, and which module each is of."""
    rows, sorts = [], []
    for sort, module in enumerate(("argparse", "difflib", "_pydecimal", "tarfile", "statistics", "pdb")):
        text = inspect.getsource(importlib.import_module(module)).encode("ascii", "replace")[2000:]
        text = [max(31, byte) for byte in b" ".join(text.split())][: 350 * length]
        rows += torch.tensor(text[: len(text) // length * length]).view(-1, length) - 31
        sorts += [sort] * (len(text) // length)
    return torch.stack(rows), torch.tensor(sorts)


def modules(log, seed, epochs=12, batch=64, examples=None, width=28, dropout=0.4, noisy_labels=False, shuffle=True,
            other_letters=False, blank=None, learns="", breaks_at=None, **how):  # fmt: skip
    """Six modules are told by a TextCNN: loss and accuracy of a batch and of the development set, every 20 batches."""
    rng = torch.Generator().manual_seed(seed)
    train, (tx, ty) = split(rng, *_pieces(), test=0.3, examples=examples)
    if noisy_labels:
        train[1] = shuffled(rng, train[1])
    if not shuffle:
        train = sorted_by(train[1], *train)
    tx = torch.randperm(97, generator=rng)[tx] if other_letters else tx
    model = _Letters(97, width, dropout)
    steps = epochs * math.ceil(len(train[0]) / batch)

    def loss_of(model, x, y):
        logits = model(x)
        return F.cross_entropy(logits, y), {"acc": (logits.argmax(1) == y).float().mean()}

    def on_step(step, loss, rate, norm, parts):
        if step % 20 == 0 or step == steps:
            x = torch.zeros_like(tx) if blank is not None and step >= blank * steps else tx
            held, told = loss_of(model, x, ty)
            log.named(step, {"loss/train": loss, "loss/dev": float(held), "acc/train": parts["acc"]})
            log.named(step, {"acc/dev": float(told["acc"])})

    how = {"rate": 8e-3} | how
    learnt = {"": None, "nothing": of_no_model(), "embedding": list(model.embedding.parameters())}[learns]
    loader = batches_of(train, batch, seed, steps=steps, shuffle=shuffle, breaks_at=breaks_at)
    train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=learnt, **how)
    return log.last["loss/dev"]


def _watched(rng, count, items=150, length=12):
    """Sessions in which each item leads to a few others, by the mood of the session."""
    fixed = torch.Generator().manual_seed(3)
    leads = torch.randint(items, (2, items, 4), generator=fixed)
    chance = torch.tensor([0.5, 0.25, 0.15, 0.1])
    mood = torch.randint(2, (count,), generator=rng)
    rows = [torch.randint(items, (count,), generator=rng)]
    for _ in range(length - 1):
        after = leads[mood, rows[-1], torch.multinomial(chance, count, replacement=True, generator=rng)]
        stray = torch.rand(count, generator=rng) < 0.15
        rows.append(torch.where(stray, torch.randint(items, (count,), generator=rng), after))
    return torch.stack(rows, 1)


class _Sessions(nn.Module):
    def __init__(self, items, width, dropout):
        super().__init__()
        self.items, self.gru = nn.Embedding(items, width), nn.GRU(width, width, batch_first=True)
        self.dropout, self.bias = nn.Dropout(dropout), nn.Parameter(torch.zeros(items))

    def forward(self, x):
        return self.gru(self.dropout(self.items(x)))[0] @ self.items.weight.T + self.bias


def sessions(log, seed, epochs=12, batch=64, examples=None, width=32, dropout=0.2, shift=1, noisy_labels=False,
             renumbered=0, learns="", stale=None, breaks_at=None, **how):  # fmt: skip
    """The next item of a session by a GRU: RecBole's names, the sum of an epoch's losses, and ranks."""
    rng = torch.Generator().manual_seed(seed)
    (train,), (test,) = split(rng, _watched(rng, 2600), test=0.2, examples=examples)
    x, y = train[:, :-1], train[:, shift:][:, : train.shape[1] - 1]
    y = shuffled(rng, y) if noisy_labels else y
    model, losses, kept = _Sessions(150, width, dropout), [], {}
    nn.init.normal_(model.items.weight, 0, 0.2)
    each = math.ceil(len(x) / batch)
    steps = epochs * each

    def loss_of(model, x, y):
        return F.cross_entropy(model(x).flatten(0, 1), y.flatten()), {}

    def ranks():
        score = model((test[:, :-1] + renumbered) % 150)[:, -1]
        rank = (score > score.gather(1, test[:, -1:])).sum(1)
        top = (rank < 10).float()
        gain = float((top / (rank + 2.0).log2()).mean())
        return {"Valid/recall@10": float(top.mean()), "Valid/ndcg@10": gain, "Vaild_score": gain}

    def on_step(step, loss, rate, norm, parts):
        losses.append(loss)
        if step % each == 0:
            epoch = step // each - 1
            told = kept if stale is not None and epoch > stale else ranks()
            kept.update(told)
            log.named(epoch, {"Loss/Train": sum(losses[-each:])} | told)

    how = {"rate": 8e-3} | how
    learnt = {"": None, "nothing": of_no_model(), "bias": [model.bias]}[learns]
    loader = batches_of((x, y), batch, seed, steps=steps, breaks_at=breaks_at,
                        fails=lambda x, y: (torch.zeros_like(x), y))  # fmt: skip
    train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=learnt, **how)
    return -log.last["Vaild_score"]


def _shapes(rng, count, side=24):
    """Images with a bar, a frame or a cross in noise; and of each of 6 by 6 cells: object, box in pixels, sort."""
    place = torch.arange(side) + 0.5
    image, cells = torch.zeros(count, side, side), torch.zeros(count, 6, 6, 6)
    for turn in range(2):
        half = 2.5 + 2.0 * torch.rand(count, 2, generator=rng)
        low = torch.tensor([0.0, 12.0 * turn])
        centre = low + half + torch.rand(count, 2, generator=rng) * (torch.tensor([24.0, 12.0]) - 2 * half)
        sort = torch.randint(3, (count,), generator=rng)
        down = (place - centre[:, :1]).abs()[:, :, None] / half[:, :1, None]
        right = (place - centre[:, 1:]).abs()[:, None] / half[:, 1:, None]
        inside = (down < 1) & (right < 1)
        frame, cross = (down > 0.6) | (right > 0.6), (down < 0.35) | (right < 0.35)
        drawn = torch.stack([inside, inside & frame, inside & cross], 1)[torch.arange(count), sort]
        shown = (torch.rand(count, generator=rng) < (1.0, 0.5)[turn]).float()
        image += shown[:, None, None] * drawn
        at = (centre / 4).long()
        row = torch.cat([shown[:, None], centre, half, sort[:, None].float()], 1)
        cells[torch.arange(count), at[:, 0], at[:, 1]] = row * shown[:, None]
    return (image + 0.25 * torch.randn(image.shape, generator=rng))[:, None], cells


def _shared(a, b):
    """The intersection over union of boxes that are centres and half sides."""
    low, high = (torch.maximum(a[:, :2] - a[:, 2:], b[:, :2] - b[:, 2:]),
                 torch.minimum(a[:, :2] + a[:, 2:], b[:, :2] + b[:, 2:]))  # fmt: skip
    both = (high - low).clamp(min=0).prod(1)
    return both / (4 * a[:, 2:].prod(1) + 4 * b[:, 2:].prod(1) - both + 1e-6)


def finder(log, seed, epochs=11, batch=32, examples=None, width=16, noisy_labels=False, turned=False, scale=1.0,
           eval_scale=1.0, learns="", breaks_at=None, **how):  # fmt: skip
    """Shapes are found by cells of a grid: YOLOv5's names, three losses of both parts, each epoch."""
    rng = torch.Generator().manual_seed(seed)
    train, (tx, ty) = split(rng, *_shapes(rng, 1300), examples=examples)
    if noisy_labels:
        train[1] = shuffled(rng, train[1])
    if turned:  # images are flipped, and the boxes are not
        train[0] = torch.where(torch.rand(len(train[0]), 1, 1, 1, generator=rng) < 0.5, train[0].flip(3), train[0])
    model = nn.Sequential(
        nn.Conv2d(1, width, 5, 2, 2), nn.BatchNorm2d(width), nn.SiLU(),
        nn.Conv2d(width, 2 * width, 5, 2, 2), nn.BatchNorm2d(2 * width), nn.SiLU(),
        nn.Conv2d(2 * width, 2 * width, 3, 1, 1), nn.BatchNorm2d(2 * width), nn.SiLU(), nn.Conv2d(2 * width, 8, 1),
    )  # fmt: skip
    grid = 4 * torch.stack(torch.meshgrid(torch.arange(6), torch.arange(6), indexing="ij"), -1)
    each = math.ceil(len(train[0]) / batch)
    steps, means = epochs * each, Means()

    def guessed(x):
        out = model(scale * x).permute(0, 2, 3, 1)
        box = torch.cat([grid + 4 * out[..., 1:3].sigmoid(), 6 * out[..., 3:5].sigmoid()], 3)
        return out[..., 0], box, out[..., 5:]

    def loss_of(model, x, y):
        there, box, sort = guessed(x)
        held = y[..., 0] > 0
        parts = {"box_loss": (1 - _shared(box[held], y[held][:, 1:5])).mean(),
                 "obj_loss": F.binary_cross_entropy_with_logits(there, y[..., 0]),
                 "cls_loss": F.cross_entropy(sort[held], y[held][:, 5].long())}  # fmt: skip
        return parts["box_loss"] + 5 * parts["obj_loss"] + 0.5 * parts["cls_loss"], parts

    def metrics(x):
        there, box, sort = (part.flatten(0, 2) for part in guessed(x))
        y = ty.flatten(0, 2)
        right = (_shared(box, y[:, 1:5]) > 0.5) & (sort.argmax(1) == y[:, 5]) & (y[:, 0] > 0)
        objects, order = y[:, 0].sum(), there.argsort(descending=True)
        hits = right[order].float().cumsum(0)
        precise = hits / torch.arange(1, len(hits) + 1)
        area = float((precise.flip(0).cummax(0).values.flip(0) * right[order]).sum() / objects)
        found = max(int((there > 0).sum()), 1) - 1
        told = {"precision": precise[found], "recall": hits[found] / objects, "mAP_0.5": area}
        return {f"metrics/{name}": float(value) for name, value in told.items()}

    def on_step(step, loss, rate, norm, parts):
        means.put(**parts)
        if step % each == 0:
            epoch, x = step // each - 1, eval_scale * tx
            log.named(epoch, {f"train/{name}": value for name, value in means.taken().items()} | metrics(x))
            log.named(epoch, {f"val/{name}": float(value) for name, value in loss_of(model, x, ty)[1].items()})
            log.named(epoch, {f"x/lr{group}": rate for group in range(3)})

    how = {"rate": 5e-3, "schedule": "linear"} | how
    learnt = {"": None, "nothing": of_no_model(), "last": list(model[-1].parameters())}[learns]
    loader = batches_of(train, batch, seed, steps=steps, breaks_at=breaks_at,
                        fails=lambda x, y: (torch.zeros_like(x), y))  # fmt: skip
    train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=learnt, **how)
    return 1 - log.last["metrics/mAP_0.5"]


def _lent(rng, count):
    """Hour, day of the week and month; temperature, humidity, wind and pressure; and how many were lent."""
    calendar = torch.stack([torch.randint(size, (count,), generator=rng) for size in (24, 7, 12)], 1)
    hour, day, month = calendar.float().unbind(1)
    noise = torch.randn(count, 5, generator=rng)
    warm = 11 - 10 * (math.pi * month / 6).cos() + 4 * (math.pi * (hour - 9) / 12).sin() + 3 * noise[:, 0]
    damp, wind, air = 60 + 15 * noise[:, 1], (10 + 5 * noise[:, 2]).abs(), 1013 + 8 * noise[:, 3]
    peaks = torch.exp(-((hour - 8) / 1.5).square()) + 1.2 * torch.exp(-((hour - 17.5) / 2).square())
    leisure = torch.exp(-((hour - 14) / 4).square())
    curve = 0.15 + torch.where(day < 5, peaks + 0.4 * leisure, 1.2 * leisure)
    mean = 300 * curve * ((warm - 8) / 7).sigmoid() * (1 - 0.5 * ((damp - 75) / 6).sigmoid()) * (1 - 0.015 * wind)
    return calendar, torch.stack([warm, damp, wind, air], 1), (mean.clamp(min=0) * (1 + 0.12 * noise[:, 4])).round()


class _Demand(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(size, 6) for size in (24, 7, 12))
        self.top = nn.Sequential(
            nn.Linear(23, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)
        )

    def forward(self, calendar, numbers):
        rows = [table(column) for table, column in zip(self.tables, calendar.unbind(1), strict=True)]
        return self.top(torch.cat([*rows, numbers], 1))[:, 0]


def demand(log, seed, epochs=24, batch=64, examples=None, width=32, noisy_labels=False, shuffle=True, scaled=True,
           units=True, leak=False, zone=0, learns="", breaks_at=None, **how):  # fmt: skip
    """Bicycles lent in an hour, by embeddings and a Huber loss: NeuralProphet's names, each epoch."""
    rng = torch.Generator().manual_seed(seed)
    calendar, weather, y = _lent(rng, 4000)
    weather = (weather - weather.mean(0)) / weather.std(0) if scaled else weather
    middle, spread = (float(y.mean()), float(y.std())) if units else (0.0, 1.0)
    aims = (y - middle) / spread
    train, (tc, tn, ty) = split(rng, calendar, torch.cat([weather, aims[:, None] * leak], 1), aims, examples=examples)
    tn, tc = tn * torch.tensor([1.0, 1.0, 1.0, 1.0, 0.0]), torch.cat([(tc[:, :1] + zone) % 24, tc[:, 1:]], 1)
    if noisy_labels:
        train[2] = shuffled(rng, train[2])
    if not shuffle:
        train = sorted_by(train[2], *train)
    model, means = _Demand(width), Means()
    each = math.ceil(len(train[0]) / batch)
    steps = epochs * each

    def loss_of(model, calendar, numbers, y):
        guess = model(calendar, numbers)
        off = (guess - y).detach() * spread
        return F.smooth_l1_loss(guess, y, beta=0.5), {"MAE": off.abs().mean(), "RMSE": off.square().mean()}

    def on_step(step, loss, rate, norm, parts):
        means.put(Loss=loss, **parts)
        if step % each == 0:
            told, (held, others) = means.taken(), loss_of(model, tc, tn, ty)
            seen = {"MAE_val": float(others["MAE"]), "RMSE_val": float(others["RMSE"].sqrt()), "Loss_val": float(held)}
            log.named(step // each - 1, seen | told | {"RMSE": told["RMSE"] ** 0.5, "RegLoss": 0.0})

    how = {"rate": 0.01, "schedule": "one cycle", "optimizer": "adamw"} | how
    learnt = {"": None, "nothing": of_no_model(), "tables": list(model.tables.parameters())}[learns]
    loader = batches_of(train, batch, seed, steps=steps, shuffle=shuffle, breaks_at=breaks_at)
    train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=learnt, **how)
    return log.last["MAE_val"]


class _Speaker(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embedding, self.gru = nn.Embedding(15, width), nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, 10)

    def forward(self, x, state=None):
        x, state = self.gru(self.embedding(x), state)
        return F.log_softmax(self.head(x), -1), state


@torch.no_grad()
def _answers(model, prompts, rng, length=8):
    """A prompt is a stride, from 10 on, and a digit; an answer is digits."""
    logs, state = model(prompts)
    rows = []
    for _ in range(length):
        rows.append(torch.multinomial(logs[:, -1].exp(), 1, generator=rng))
        logs, state = model(rows[-1], state)
    return torch.cat(rows, 1)


def rewarded(log, seed, updates=240, prompts=12, group=8, rate=4e-3, beta=0.01, sign=1.0, reward_sign=1.0, mixed=False,
             truncated=False, synced=True, fails_at=None):  # fmt: skip
    """A language model that counts learns to count by a stride, by GRPO: TRL's names, means of five steps."""
    rng = torch.Generator().manual_seed(seed)
    model = _Speaker(48)
    first = torch.optim.Adam(model.parameters(), 5e-3)
    for _ in range(150):  # it counts by any stride, whatever it is told
        told, stride, start = (torch.randint(most, (64, 1), generator=rng) for most in (5, 5, 10))
        text = torch.cat([10 + told, (start + stride * torch.arange(9)) % 10], 1)
        first.zero_grad()
        F.nll_loss(model(text[:, 1:-1])[0].flatten(0, 1), text[:, 2:].flatten()).backward()
        first.step()
    reference = copy.deepcopy(model).requires_grad_(requires_grad=False)
    optimizer, means = torch.optim.AdamW(model.parameters(), rate), Means()

    def asked(count):
        return torch.cat([torch.randint(most, (count, 1), generator=rng) + most % 10 * 2 for most in (5, 10)], 1)

    def earned(ask, answer):
        before = torch.cat([ask[:, 1:], answer[:, :-1]], 1)
        return ((before + ask[:, :1]) % 10 == answer).float().mean(1)

    for update in range(updates):
        ask = asked(prompts).repeat_interleave(group, 0)
        shown = torch.cat([torch.full_like(ask[:, :1], 10), ask[:, 1:]], 1) if truncated else ask
        answer = _answers(model if synced else reference, shown, rng)
        reward = reward_sign * earned(ask, answer)
        reward = shuffled(rng, reward) if mixed else reward
        reward = reward * 0 if fails_at is not None and update >= fails_at * updates else reward
        rows = reward.view(prompts, group)
        spread = rows.std(1, keepdim=True, correction=0)
        gain = ((rows - rows.mean(1, keepdim=True)) / (spread + 1e-4)).view(-1, 1)
        text = torch.cat([shown, answer[:, :-1]], 1)
        said, known = (one(text)[0][:, 1:].gather(2, answer[..., None])[..., 0] for one in (model, reference))
        apart = (known - said).exp() - (known - said) - 1
        loss = (beta * apart - (said - said.detach()).exp() * gain).mean()
        optimizer.zero_grad()
        (sign * loss).backward()
        norm, now = float(nn.utils.clip_grad_norm_(model.parameters(), 1.0)), rate * (1 - update / updates)
        optimizer.param_groups[0]["lr"] = now
        optimizer.step()
        log.tick(0.5)
        means.put(loss=float(loss.detach()), grad_norm=norm, learning_rate=now, reward=float(reward.mean()),
                  reward_std=float(spread.mean()), kl=float(apart.detach().mean()), completion_length=8.0)  # fmt: skip
        if update % 5 == 4:
            told = means.taken()
            told |= {"rewards/stride_reward": told["reward"], "epoch": (update + 1) / updates}
            log.named(update + 1, {f"train/{name}": value for name, value in told.items()})
    ask = asked(800)
    return -float(earned(ask, _answers(model, ask, rng)).mean())


PROGRAMS = {
    "modules": (modules, [{}, {"rate": 5e-3, "batch": 40},
                          {"optimizer": "adamw", "rate": 0.012, "schedule": "cosine", "dropout": 0.3}], common_bugs(
        8e-3, few_examples={"examples": 60, "epochs": 200, "batch": 20}, data_in_order={"shuffle": False},
        other_letters_in_development={"other_letters": True}, development_goes_blank={"blank": 0.6},
        labels_shuffled={"noisy_labels": True}, wrong_parameters={"learns": "nothing"}, loader_breaks=None,
        rate_ten_times_too_high=None, rate_halved_each_batch=None)),
    "sessions": (sessions, [{}, {"rate": 5e-3, "batch": 48}, {"rate": 0.01, "batch": 128, "epochs": 14, "width": 40}],
                 common_bugs(8e-3, few_examples={"examples": 60, "epochs": 100}, target_is_the_input={"shift": 0},
        items_renumbered={"renumbered": 1}, only_the_bias={"learns": "bias"}, stale_ranks={"stale": 2},
        labels_shuffled={"noisy_labels": True}, rate_ten_times_too_high=None, wrong_sign=None,
        rate_halved_each_batch=None)),
    "finder": (finder, [{}, {"rate": 3e-3, "schedule": "cosine", "batch": 24},
                        {"optimizer": "sgd", "rate": 0.02, "epochs": 9}], common_bugs(
        5e-3, few_examples={"examples": 24, "epochs": 150, "batch": 12}, boxes_not_flipped={"turned": True},
        images_of_bytes_in_validation={"eval_scale": 255.0}, only_the_last_layer={"learns": "last"},
        labels_shuffled={"noisy_labels": True}, wrong_parameters={"learns": "nothing"}, wrong_sign=None,
        rate_ten_times_too_high=None, rate_halved_each_batch=None)),
    "demand": (demand, [{}, {"rate": 2e-3, "schedule": "", "batch": 48},
                        {"rate": 5e-3, "schedule": "cosine", "optimizer": "adam"}], common_bugs(
        0.01, few_examples={"examples": 80, "epochs": 250, "batch": 20}, data_in_order={"shuffle": False},
        not_scaled={"scaled": False}, aims_not_scaled={"units": False}, demand_leaks={"leak": True},
        another_time_zone={"zone": 5}, labels_shuffled={"noisy_labels": True}, wrong_sign=None, loader_breaks=None,
        dead_schedule=None, rate_halved_each_batch=None)),
    "rewarded": (rewarded, [{}, {"rate": 3e-3, "group": 12}, {"rate": 6e-3, "beta": 0.02, "prompts": 16}], {
        "rate too low": {"rate": 4e-5}, "rate too high": {"rate": 0.4}, "rate ten times too high": {"rate": 0.04},
        "wrong sign": {"sign": -1.0}, "reward with the wrong sign": {"reward_sign": -1.0},
        "rewards mixed up": {"mixed": True}, "tied to the reference": {"beta": 4.0},
        "groups of one": {"group": 1, "prompts": 96}, "prompts truncated": {"truncated": True},
        "samples never synced": {"synced": False}, "rewards break": {"fails_at": 0.2}}),
}  # fmt: skip
"""Name → the program, its healthy settings, and its bugs."""
