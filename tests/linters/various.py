"""Ten trainings: texts, images, sounds, a game, a density; each with the loop and the names of its kind of project."""

import itertools
import math
from pydoc_data.topics import topics

import torch
from sklearn import datasets
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from linters.learning import OPTIMIZERS, scheduled, sorted_by, split, zeroed


def _load(columns, size, seed, *, steps, shuffle=True, breaks_at=None, fails=None,
          drop_last=False):  # fmt: skip
    """Batches without an end, an epoch after the other.

    From the share `breaks_at` of the steps on, a batch is what `fails` makes of it; without it, the loader hangs: it
    gives the same batch again and again.
    """
    rng = torch.Generator().manual_seed(seed)
    count = len(columns[0])
    kept, step = None, 0
    while True:
        order = torch.randperm(count, generator=rng) if shuffle else torch.arange(count)
        for at in order[: count // size * size if drop_last else None].split(size):
            batch = [column[at] for column in columns]
            if breaks_at is not None and step >= breaks_at * steps:
                kept = kept or batch
                batch = fails(*batch) if fails else kept
            yield batch
            step += 1


def _rate(kind, step, steps):
    """A share of the highest rate; the square root is fairseq's."""
    if kind == "inverse root":
        return min((step + 1) / 40, (40 / (step + 1)) ** 0.5)
    if kind == "warm-up and steps":
        return min((step + 1) / 50, 1.0) * 0.1 ** ((step > 0.7 * steps) + (step > 0.9 * steps))
    return scheduled(kind, step / steps)


def _train(model, loader, loss_of, log, *, steps, rate, on_step, optimizer="adam", schedule="", clip=None,
           zero_grad=True, sign=1.0, learnt=None, factor=None):  # fmt: skip
    """Train for some steps; on_step(step, loss, rate, norm, parts) is called after each of them, from 1 on."""
    updates = OPTIMIZERS[optimizer](model.parameters() if learnt is None else learnt, lr=rate)
    model.train()
    for step, batch in enumerate(itertools.islice(loader, steps)):
        now = rate * _rate(schedule, step, steps) * (factor() if factor else 1)
        for group in updates.param_groups:
            group["lr"] = now
        loss, parts = loss_of(model, *batch)
        if zero_grad:
            model.zero_grad()
        (sign * loss).backward()
        norm = float(nn.utils.clip_grad_norm_(model.parameters(), clip or math.inf))
        updates.step()
        log.tick()
        model.eval()
        with torch.no_grad():
            on_step(step + 1, float(loss), now, norm, {name: float(value) for name, value in parts.items()})
        model.train()
    return model.eval()


def _nothing():
    """What an optimizer learns that was given the parameters of another model."""
    return [nn.Parameter(torch.zeros(1))]


def _mixed(rng, column):
    return column[torch.randperm(len(column), generator=rng)]


class _Means:
    """Means since the last call of `taken`."""

    def __init__(self):
        self.rows = []

    def put(self, **values):
        self.rows.append(values)

    def taken(self):
        means = {name: sum(row[name] for row in self.rows) / len(self.rows) for name in self.rows[0]}
        self.rows = []
        return means


class _Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mixed, self.joined = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.perceptron = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, causal):
        rows, length, width = x.shape
        q, k, v = (
            part.view(rows, length, self.heads, -1).transpose(1, 2) for part in self.mixed(self.before(x)).chunk(3, -1)
        )
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        x = x + self.joined(seen.transpose(1, 2).reshape(rows, length, width))
        return x + self.perceptron(self.after(x))


class _Gpt(nn.Module):
    def __init__(self, tokens, length, width=48, layers=2):
        super().__init__()
        self.token, self.place = nn.Embedding(tokens, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(_Block(width, 4) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, tokens)
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1 and "norm" not in name:
                nn.init.normal_(parameter, 0, 0.02)

    def forward(self, x, causal=True):
        x = self.token(x) + self.place.weight[: x.shape[1]]
        for block in self.blocks:
            x = block(x, causal)
        return self.head(self.norm(x))


def gpt(log, seed, steps=450, batch=16, characters=None, causal=True, shift=1, frozen=False, repeats=False,
        **how):  # fmt: skip
    """A transformer writes Python's manual: an estimate of both losses now and then, as nanoGPT logs it."""
    text = "\n".join(topics[name] for name in sorted(topics))[:150_000]
    letters = sorted(set(text))
    place = {letter: number for number, letter in enumerate(letters)}
    data = torch.tensor([place[letter] for letter in text])
    cut = int(0.9 * len(data))
    parts = {"train": data[:cut][:characters], "val": data[cut:]}
    rng = torch.Generator().manual_seed(seed)
    model = _Gpt(len(letters), 32)

    def sample(part, size, rng, shift):
        at = torch.randint(len(part) - 33, (size,), generator=rng)[:, None] + torch.arange(32)
        return part[at], part[at + shift]

    def loader():
        while True:
            yield sample(parts["train"], batch, torch.Generator().manual_seed(seed) if repeats else rng, shift)

    def loss_of(model, x, y, causal=causal):
        return F.cross_entropy(model(x, causal).flatten(0, 1), y.flatten()), {}

    def estimate(part, causal, shift):
        chosen = torch.Generator().manual_seed(1)
        return sum(float(loss_of(model, *sample(part, 32, chosen, shift), causal)[0]) for _ in range(2)) / 2

    def on_step(step, loss, rate, norm, _):
        if step % 25 == 0 or step == 1:
            losses = {f"{name}/loss": estimate(part, causal, shift) for name, part in parts.items()}
            log.named(step - 1, {"iter": step - 1} | losses | {"lr": rate, "mfu": 3.1 + 0.1 * math.sin(step)})

    how = {"rate": 5e-3, "optimizer": "adamw", "schedule": "warm-up and cosine", "clip": 1.0} | how
    how |= {"learnt": _nothing() if frozen else None}
    _train(model, loader(), loss_of, log, steps=steps, on_step=on_step, **how)
    with torch.no_grad():
        return estimate(parts["val"], True, 1)


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
    model, means = _Detector(), _Means()

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
    learnt = {"": None, "nothing": _nothing(), "heads": [*model.sort.parameters(), *model.box.parameters()],
              "sorts": [*model.backbone.parameters(), *model.sort.parameters()]}[learns]  # fmt: skip
    loader = _load((images, sorts, boxes), batch, seed, steps=steps, breaks_at=breaks_at)
    _train(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=learnt, **how)
    with torch.no_grad():
        return -precision()["bbox/AP"]


_LETTERS = "M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"


def _roman(number):
    written = ""
    for value, letters in zip((1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1), _LETTERS, strict=True):
        written += letters * (number // value)
        number %= value
    return written


class _Translator(nn.Module):
    """An encoder and a decoder that attends to it; 0 pads, 1 begins, 2 ends."""

    def __init__(self, width=32):
        super().__init__()
        self.source, self.target = nn.Embedding(11, width), nn.Embedding(10, width)
        self.encoder = nn.GRU(width, width, batch_first=True)
        self.decoder = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(2 * width, 10)

    def forward(self, x, before):
        memory, state = self.encoder(self.source(x))
        steps, _ = self.decoder(self.target(before), state)
        seen = F.softmax(steps @ memory.transpose(1, 2) / memory.shape[2] ** 0.5, -1) @ memory
        return self.head(torch.cat([steps, seen], 2))


def translation(log, seed, epochs=15, batch=64, examples=None, noisy_labels=False, shuffle=True, smoothing=0.1,
                frozen=False, breaks_at=None, stale=None, eval_breaks=None, **how):  # fmt: skip
    """Numbers become Roman ones: fairseq's names, in bits, both inside of an epoch and at its end."""
    rng = torch.Generator().manual_seed(seed)
    chosen = 1 + torch.randperm(3999, generator=rng)[:2200]
    chosen = chosen if shuffle else chosen.sort().values
    x = torch.tensor([[int(digit) + 1 for digit in f"{number:04d}"] for number in chosen.tolist()])
    y = torch.zeros(len(x), 17, dtype=torch.long)
    for row, number in enumerate(chosen.tolist()):
        letters = [1, *("MDCLXVI".index(letter) + 3 for letter in _roman(number)), 2]
        y[row, : len(letters)] = torch.tensor(letters)
    train, (tx, ty) = split(rng, x, y, test=0.12, examples=examples)
    if not shuffle:
        train = sorted_by((train[0] * torch.tensor([1000, 100, 10, 1])).sum(1), *train)
    if noisy_labels:
        train[1] = _mixed(rng, train[1])
    model, inner, outer, best, kept = _Translator(), _Means(), _Means(), [1e9], {}
    each = math.ceil(len(train[0]) / batch)
    steps = epochs * each

    def loss_of(model, x, y):
        logits, aim = model(x, y[:, :-1]).flatten(0, 1), y[:, 1:].flatten()
        plain = F.cross_entropy(logits, aim, ignore_index=0) / math.log(2)
        smooth = F.cross_entropy(logits, aim, ignore_index=0, label_smoothing=smoothing) / math.log(2)
        return smooth, {"nll_loss": plain}

    def on_step(step, loss, rate, norm, parts):
        for means in inner, outer:
            means.put(loss=loss, gnorm=norm, **parts)
        if step % 10 == 0:
            told = inner.taken()
            told |= {"ppl": 2 ** min(told["nll_loss"], 99), "wps": 9000 + 300 * math.sin(step), "lr": rate}
            log.named(step, {f"train_inner/{name}": value for name, value in told.items()})
        if step % each == 0:
            told, epoch = outer.taken(), step // each - 1
            log.named(step, {f"train/{name}": value for name, value in (told | {"lr": rate}).items()})
            shown = torch.randint_like(tx, 1, 11) if eval_breaks is not None and epoch >= eval_breaks else tx
            loss, others = loss_of(model, shown, ty)
            loss, plain = float(loss), float(others["nll_loss"])
            if stale is not None and epoch >= stale:
                loss, plain = kept.setdefault("value", (loss, plain))
            best[0] = min(best[0], loss)
            told = {"loss": loss, "nll_loss": plain, "ppl": 2 ** min(plain, 99), "best_loss": best[0]}
            log.named(step, {f"valid/{name}": value for name, value in told.items()})

    how = {"rate": 1e-2, "schedule": "inverse root", "clip": 1.0} | how
    loader = _load(train, batch, seed, steps=steps, shuffle=shuffle, breaks_at=breaks_at,
                   fails=lambda x, y: (torch.ones_like(x), y))  # fmt: skip
    _train(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=_nothing() if frozen else None, **how)
    return log.last["valid/nll_loss"]


def _utterances(rng, count):
    """Two to four tones of six, with silence between them: 32 frames of 12 bands, tokens from 1, and their number."""
    frames = torch.zeros(count, 32, 12)
    tokens, lengths = torch.zeros(count, 4, dtype=torch.long), torch.randint(2, 5, (count,), generator=rng)
    band = torch.arange(12)
    for row in range(count):
        at = 0
        for k in range(int(lengths[row])):
            tone = int(torch.randint(6, (1,), generator=rng))
            gap, lasts = (int(value) for value in torch.randint(1, 4, (2,), generator=rng) + torch.tensor([0, 2]))
            at += gap
            frames[row, at : at + lasts] += torch.exp(-(band - 2 * tone - 0.5).square() / 3)
            at += lasts
            tokens[row, k] = tone + 1
    return 1.5 * frames + 0.5 * torch.randn(frames.shape, generator=rng), tokens, lengths


class _Recognizer(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.first, self.second = nn.Conv1d(12, width, 5, padding=2), nn.Conv1d(width, width, 5, padding=2)
        self.head = nn.Linear(width, 7)

    def forward(self, x):
        x = self.second(self.first(x.transpose(1, 2)).relu()).relu()
        return F.log_softmax(self.head(x.transpose(1, 2)), -1)


def _edits(a, b):
    row = list(range(len(b) + 1))
    for i, one in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (one != other))
    return row[-1]


def speech(log, seed, epochs=15, batch=24, examples=None, noisy_labels=False, shuffle=True, frames=32, offset=0.0,
           eval_offset=0.0, learns="", breaks_at=None, **how):  # fmt: skip
    """Tones become tokens by CTC: ESPnet's names, means of epochs, and the error rate of characters."""
    rng = torch.Generator().manual_seed(seed)
    train, (tx, ty, tn) = split(rng, *_utterances(rng, 900), examples=examples)
    if noisy_labels:
        mixed = torch.randperm(len(train[0]), generator=rng)
        train[1:] = train[1][mixed], train[2][mixed]
    if not shuffle:
        train = sorted_by(train[1][:, 0] * 10 + train[1][:, 1], *train)
    model, means = _Recognizer(), _Means()
    each = math.ceil(len(train[0]) / batch)
    steps = epochs * each

    def loss_of(model, x, y, lengths):
        told = model(x + offset).transpose(0, 1)
        return F.ctc_loss(told, y, torch.full((len(x),), frames), lengths, reduction="sum") / len(x), {}

    def errors():
        wrong = 0
        for row, (aim, length) in zip(model(tx + offset + eval_offset).argmax(-1).tolist(),
                                      zip(ty.tolist(), tn.tolist(), strict=True), strict=True):  # fmt: skip
            wrong += _edits([token for token, _ in itertools.groupby(row) if token], aim[:length])
        return wrong / int(tn.sum())

    def on_step(step, loss, rate, norm, parts):
        means.put(loss=loss, grad_norm=norm)
        if step % each == 0:
            told, epoch = means.taken(), step // each
            shown = told | {"loss_ctc": told["loss"], "optim0_lr0": rate, "iter_time": 0.001}
            log.named(epoch, {f"train/{name}": value for name, value in shown.items()})
            x = tx + eval_offset
            loss = float(F.ctc_loss(model(x + offset).transpose(0, 1), ty, torch.full((len(x),), 32), tn,
                                    reduction="sum") / len(x))  # fmt: skip
            log.named(epoch, {"valid/loss": loss, "valid/loss_ctc": loss, "valid/cer_ctc": errors()})

    how = {"rate": 5e-3, "clip": 5.0, "schedule": "warm-up and cosine"} | how
    learnt = {"": None, "nothing": _nothing(), "first": list(model.first.parameters())}[learns]
    loader = _load(train, batch, seed, steps=steps, shuffle=shuffle, breaks_at=breaks_at,
                   fails=lambda x, y, n: (torch.zeros_like(x), y, n))  # fmt: skip
    _train(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=learnt, **how)
    with torch.no_grad():
        return errors()


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
        likeness = compared(one, other if paired else _mixed(rng, other)) / temperature
        aim = torch.arange(len(x))
        both = (F.cross_entropy(likeness, aim) + F.cross_entropy(likeness.T, aim)) / 2
        near = likeness.topk(min(5, len(x)), 1).indices == aim[:, None]
        parts = {"top1": 100 * near[:, 0].float().mean(), "top5": 100 * near.any(1).float().mean()}
        return (both if negatives else 1 - likeness.diagonal().mean() * temperature), parts

    def on_step(step, loss, rate, norm, parts):
        if step % 5 == 0:
            log.named(step, {"loss": loss, "acc/top1": parts["top1"], "acc/top5": parts["top5"], "learning_rate": rate})

    how = {"rate": 2e-3, "schedule": "cosine"} | how
    loader = _load((train,), batch, seed, steps=steps, breaks_at=breaks_at, drop_last=True,
                   fails=lambda x: (torch.zeros_like(x),))  # fmt: skip
    _train(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=_nothing() if frozen else None, **how)
    fixed = torch.Generator().manual_seed(0)
    with torch.no_grad():
        found = compared(_views(test, fixed), _views(test, fixed)).argmax(1)
    return -float((found == torch.arange(len(test))).float().mean())


def _gap(real, fake):
    """The distance of Fréchet between images, of the means and of the covariances along the real ones' axes."""
    centre = real.mean(0)
    axes = torch.linalg.svd(real - centre, full_matrices=False)[2][:16]
    a, b = (real - centre) @ axes.T, (fake - centre) @ axes.T
    root = torch.linalg.eigvals(torch.cov(a.T) @ torch.cov(b.T)).real.clamp(min=0).sqrt().sum()
    return float(b.mean(0).square().sum() + torch.cov(a.T).trace() + torch.cov(b.T).trace() - 2 * root)


def wasserstein(log, seed, steps=450, batch=64, generator_rate=1e-3, critic_rate=1e-3, rounds=3, penalty=10.0,
                generator_sign=1.0, critic_sign=1.0, zero_grad=True, frozen="", scale=1.0, examples=None,
                breaks_at=None):  # fmt: skip
    """A Wasserstein GAN of digits with a penalty of the gradient: four scalars every ten generator steps."""
    rng = torch.Generator().manual_seed(seed)
    images = torch.tensor(datasets.load_digits().data, dtype=torch.float32) / 8 - 1
    (train,), (test,) = split(rng, images, examples=examples)
    generate = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.Tanh())
    judge = nn.Sequential(nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
    for_g = torch.optim.Adam(generate.parameters(), generator_rate, betas=(0.5, 0.9))
    for_d = torch.optim.Adam(judge.parameters(), critic_rate, betas=(0.5, 0.9))
    loader = _load((scale * train,), batch, seed, steps=steps * rounds, breaks_at=breaks_at,
                   fails=lambda x: (torch.zeros_like(x),))  # fmt: skip
    for step in range(steps):
        for _ in range(rounds):
            (real,) = next(loader)
            fake = generate(torch.randn(len(real), 16, generator=rng)).detach()
            share = torch.rand(len(real), 1, generator=rng)
            between = (share * real + (1 - share) * fake).requires_grad_()
            (slope,) = torch.autograd.grad(judge(between).sum(), between, create_graph=True)
            steep = (slope.norm(dim=1) - 1).square().mean()
            apart = judge(real).mean() - judge(fake).mean()
            loss_d = -critic_sign * apart + penalty * steep
            if zero_grad:
                judge.zero_grad()
            loss_d.backward()
            if frozen != "critic":
                for_d.step()
        loss_g = -judge(generate(torch.randn(batch, 16, generator=rng))).mean()
        generate.zero_grad()
        if zero_grad:
            judge.zero_grad()
        (generator_sign * loss_g).backward()
        if frozen != "generator":
            for_g.step()
        log.tick()
        if step % 10 == 0:
            told = {"d_loss": loss_d, "g_loss": loss_g, "wasserstein_distance": apart, "gradient_penalty": steep}
            log.named(step, {name: float(value.detach()) for name, value in told.items()})
    with torch.no_grad():
        return _gap(test, generate(torch.randn(1000, 16, generator=rng)))


def _layers(before, after, width=32):
    return nn.Sequential(
        nn.Linear(before, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, after)
    )


def soft_actor(log, seed, steps=960, rate=2e-3, alpha=0.02, gamma=0.95, tau=0.02, sign=1.0, reward_sign=1.0,  # noqa: C901, PLR0915 - a whole algorithm
               lie=False, starts=50, memory=20_000, frozen=False, batch=64, rewards=1.0):  # fmt: skip
    """A soft actor and two critics stop a sledge at the origin: CleanRL's names, and a return of each episode."""
    rng = torch.Generator().manual_seed(seed)
    count, lasts = 4, 40
    actor, critics, targets = _layers(2, 2), [_layers(3, 1) for _ in "12"], [_layers(3, 1) for _ in "12"]
    for critic, target in zip(critics, targets, strict=True):
        target.load_state_dict(critic.state_dict())
    for_actor = torch.optim.Adam(_nothing() if frozen else actor.parameters(), rate)
    for_critics = torch.optim.Adam([*critics[0].parameters(), *critics[1].parameters()], rate)
    kept, gained, sums, state = [], [], torch.zeros(count), torch.zeros(count, 2)

    def begun():
        return torch.stack([4 * torch.rand(count, generator=rng) - 2, torch.randn(count, generator=rng)], 1)

    def acted(state):
        mean, spread = actor(state).chunk(2, 1)
        spread = spread.clamp(-5, 1)
        raw = mean + spread.exp() * torch.randn(mean.shape, generator=rng)
        density = -0.5 * ((raw - mean) / spread.exp()).square() - spread - 0.92
        return raw.tanh(), (density - (1 - raw.tanh().square() + 1e-6).log())[:, 0]

    def judged(nets, state, action):
        return [net(torch.cat([state, action], 1))[:, 0] for net in nets]

    for step in range(steps):
        if step % lasts == 0:
            state, sums = begun(), torch.zeros(count)
        with torch.no_grad():
            action = acted(state)[0] if step >= starts else 2 * torch.rand(count, 1, generator=rng) - 1
        place, speed = state.unbind(1)
        after = torch.stack([place + 0.2 * speed, (speed + 0.4 * action[:, 0]).clamp(-3, 3)], 1)
        reward = -(after[:, 0].square() + 0.1 * after[:, 1].square() + 0.01 * action[:, 0].square()).clamp(max=10)
        sums += reward
        told = torch.randn(count, generator=rng) if lie else rewards * reward_sign * reward
        kept.append((state, action, told, after))
        kept = kept[-memory:]
        state = after
        log.tick(0.01)
        if step % lasts == lasts - 1:
            gained += sums.tolist()
            for total in sums.tolist():
                log.named(count * (step + 1), {"charts/episodic_return": total, "charts/episodic_length": lasts})
        if step < starts:
            continue
        at = torch.randint(len(kept), (batch // count,), generator=rng).tolist()
        s, a, r, n = (torch.cat([kept[i][part] for i in at]) for part in range(4))
        with torch.no_grad():
            b, log_p = acted(n)
            aim = r + gamma * (torch.min(*judged(targets, n, b)) - alpha * log_p)
        values = judged(critics, s, a)
        losses = [F.mse_loss(value, aim) for value in values]
        for_critics.zero_grad()
        sum(losses).backward()
        for_critics.step()
        b, log_p = acted(s)
        actor_loss = (alpha * log_p - torch.min(*judged(critics, s, b))).mean()
        for_actor.zero_grad()
        (sign * actor_loss).backward()
        for_actor.step()
        with torch.no_grad():
            for critic, target in zip(critics, targets, strict=True):
                for new, old in zip(critic.parameters(), target.parameters(), strict=True):
                    old.lerp_(new, tau)
        if step % 25 == 0:
            shown = {"qf1_values": values[0].mean(), "qf2_values": values[1].mean(), "qf1_loss": losses[0],
                     "qf2_loss": losses[1], "qf_loss": sum(losses) / 2, "actor_loss": actor_loss}  # fmt: skip
            log.named(count * step, {f"losses/{name}": float(value.detach()) for name, value in shown.items()})
            log.named(count * step, {"losses/alpha": alpha, "charts/SPS": 400 + 5 * math.sin(step)})
    return -sum(gained[-32:]) / 32


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
        train[1] = _mixed(rng, train[1])
    train = train if shuffle else sorted_by(train[1], *train)
    model = nn.Sequential(
        nn.Conv2d(1, 8, 5, padding=2), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(8, 16, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 6),
    )  # fmt: skip
    model = zeroed(model) if zeros else model
    each, means = math.ceil(len(train[0]) / batch), _Means()
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
    learnt = {"": None, "nothing": _nothing(), "last": list(model[-1].parameters())}[learns]
    loader = _load(train, batch, seed, steps=steps, shuffle=shuffle, breaks_at=breaks_at)
    _train(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=learnt, **how)
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
    model, means, kept = _TwoHeads(width, dropout), _Means(), {}
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
    loader = _load(train, batch, seed, steps=steps, shuffle=shuffle, breaks_at=breaks_at,
                   fails=lambda x, *others: (torch.randn_like(x), *others))  # fmt: skip
    how |= {"factor": lambda: wait["rate"], "learnt": _nothing() if frozen else None}
    _train(model, loader, loss_of, log, steps=steps, on_step=on_step, **how)
    return log.last["val_price_loss"] / aim_scale**2 + log.last["val_sold_loss"]


class _Couplings(nn.Module):
    """A flow: one coordinate is scaled and moved by the other, in turn."""

    def __init__(self, count, width, alternates):
        super().__init__()
        self.alternates = alternates
        self.nets = nn.ModuleList(
            nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2))
            for _ in range(count)
        )

    def forward(self, x):
        volume = torch.zeros(len(x))
        for number, net in enumerate(self.nets):
            fixed, moved = x.chunk(2, 1) if self.alternates and number % 2 else x.flip(1).chunk(2, 1)
            size, shift = net(fixed).chunk(2, 1)
            size = 2 * (size / 2).tanh()
            moved = moved * size.exp() + shift
            volume = volume + size[:, 0]
            x = torch.cat([fixed, moved], 1) if self.alternates and number % 2 else torch.cat([moved, fixed], 1)
        return x, volume


def flow(log, seed, epochs=28, batch=64, examples=None, width=24, couplings=4, volume=1.0, alternates=True, offset=0.0,
         eval_scale=1.0, learns="", breaks_at=None, **how):  # fmt: skip
    """A flow of points on two moons: Lightning's names, every ten steps and at epochs, with the norm and the rate."""
    rng = torch.Generator().manual_seed(seed)
    points, _ = datasets.make_moons(1600, noise=0.1, random_state=seed)
    x = torch.tensor(points, dtype=torch.float32)
    (train,), (test,) = split(rng, (x - x.mean(0)) / x.std(0) + offset, examples=examples)
    model, means = _Couplings(couplings, width, alternates), _Means()
    each = math.ceil(len(train) / batch)
    steps = epochs * each

    def nll(x, volume):
        z, size = model(x)
        return (0.5 * z.square().sum(1) + math.log(2 * math.pi) - volume * size).mean()

    def loss_of(model, x):
        return nll(x, volume), {}

    def on_step(step, loss, rate, norm, parts):
        means.put(loss=loss)
        if step % 10 == 0:
            log.named(step - 1, {"train/nll_step": loss, "epoch": (step - 1) // each, "grad_2.0_norm_total": norm})
            log.named(step - 1, {"lr-AdamW/pg1": rate})
        if step % each == 0:
            log.named(step - 1, {"train/nll_epoch": means.taken()["loss"]})
            log.named(step - 1, {"val/nll_loss": float(nll(eval_scale * test, volume))})

    how = {"rate": 5e-3, "optimizer": "adamw", "schedule": "cosine", "clip": 5.0} | how
    learnt = {"": None, "nothing": _nothing(), "last": list(model.nets[-1].parameters())}[learns]
    loader = _load((train,), batch, seed, steps=steps, breaks_at=breaks_at, fails=lambda x: (torch.zeros_like(x),))
    _train(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=learnt, **how)
    with torch.no_grad():
        return float(nll(eval_scale * test, 1.0))


def _common(rate, **changed):
    """The bugs that most loops have, at the strength that they usually have."""
    named = {
        "rate too low": {"rate": rate / 100},
        "rate too high": {"rate": rate * 100},
        "rate ten times too high": {"rate": rate * 10},
        "dead schedule": {"schedule": "dies at a fifth"},
        "rate halved each batch": {"schedule": "dies"},
        "no zero_grad": {"zero_grad": False},
        "wrong sign": {"sign": -1.0},
        "loader breaks": {"breaks_at": 0.5},
    }
    named |= {name.replace("_", " "): how for name, how in changed.items()}
    return {name: how for name, how in named.items() if how is not None}


PROGRAMS = {
    "gpt": (
        gpt,
        [{}, {"rate": 3e-3, "schedule": "", "steps": 500}, {"rate": 6e-3, "batch": 20, "schedule": "linear"}],
        _common(
            5e-3, loader_breaks={"repeats": True}, few_examples={"characters": 1500, "steps": 700},
            no_mask={"causal": False}, targets_not_shifted={"shift": 0}, wrong_parameters={"frozen": True},
            rate_ten_times_too_high=None, rate_halved_each_batch=None, wrong_sign=None, no_zero_grad=None,
        ),
    ),
    "detection": (
        detection,
        [{}, {"rate": 0.008, "batch": 24, "steps": 750}, {"optimizer": "adam", "rate": 2e-3, "flips": "all"}],
        _common(
            0.01, few_examples={"examples": 16}, boxes_not_flipped={"flips": "images"}, axes_swapped={"swapped": True},
            labels_shuffled={"noisy_labels": True}, backbone_frozen={"learns": "heads"},
            validation_not_scaled={"eval_scale": 255.0}, wrong_sign=None, rate_halved_each_batch=None,
        ),
    ),
    "translation": (
        translation,
        [{}, {"rate": 6e-3, "schedule": "cosine"}, {"smoothing": 0.05, "batch": 48, "epochs": 12}],
        _common(
            1e-2, few_examples={"examples": 60, "epochs": 120, "batch": 32}, data_in_order={"shuffle": False},
            labels_shuffled={"noisy_labels": True}, stale_validation={"stale": 3},
            validation_collapses={"eval_breaks": 9}, wrong_sign=None, rate_ten_times_too_high=None,
            rate_halved_each_batch=None,
        ),
    ),
    "speech": (
        speech,
        [{}, {"rate": 3e-3, "epochs": 16, "schedule": ""}, {"batch": 16, "schedule": "one cycle"}],
        _common(
            5e-3, few_examples={"examples": 30, "epochs": 100, "batch": 15}, frames_miscounted={"frames": 4},
            labels_shuffled={"noisy_labels": True}, wrong_parameters={"learns": "nothing"},
            validation_not_scaled={"eval_offset": 5.0}, data_in_order={"shuffle": False}, rate_halved_each_batch=None,
            rate_ten_times_too_high=None,
        ),
    ),
    "contrastive": (
        contrastive,
        [{}, {"rate": 1e-3, "batch": 128, "temperature": 0.2}, {"rate": 4e-3, "schedule": "warm-up and cosine"}],
        _common(
            2e-3, few_examples={"examples": 96}, no_augmentation={"strength": 0.0}, pairs_mixed={"paired": False},
            no_negatives={"negatives": False}, temperature_too_high={"temperature": 10.0},
            wrong_parameters={"frozen": True}, rate_halved_each_batch=None,
            rate_ten_times_too_high=None,
        ),
    ),
    "wasserstein": (
        wasserstein,
        [{}, {"batch": 128, "steps": 400}, {"rounds": 4, "steps": 400}],
        {
            "rates too low": {"generator_rate": 1e-5, "critic_rate": 1e-5},
            "rates too high": {"generator_rate": 0.1, "critic_rate": 0.1},
            "critic frozen": {"frozen": "critic"},
            "generator frozen": {"frozen": "generator"},
            "generator with the wrong sign": {"generator_sign": -1.0},
            "critic with the wrong sign": {"critic_sign": -1.0},
            "no zero_grad": {"zero_grad": False},
            "no scaling": {"scale": 8.0},
            "penalty too strong": {"penalty": 1000.0},
            "few examples": {"examples": 16},
            "loader breaks": {"breaks_at": 0.5},
        },
    ),
    "soft actor": (
        soft_actor,
        [{}, {"rate": 1.5e-3, "steps": 1200}, {"alpha": 0.05, "gamma": 0.97}],
        {
            "rate too low": {"rate": 2e-5},
            "rate too high": {"rate": 0.2},
            "wrong sign": {"sign": -1.0},
            "reward with the wrong sign": {"reward_sign": -1.0},
            "rewards of noise": {"lie": True},
            "entropy alone": {"alpha": 20.0},
            "target never moves": {"tau": 0.0},
            "actor not in the optimizer": {"frozen": True},
            "memory too small": {"memory": 2},
            "rewards too large": {"rewards": 1000.0},
        },
    ),
    "gratings": (
        gratings,
        [{}, {"optimizer": "sgd", "rate": 0.02}, {"optimizer": "adam", "rate": 2e-3, "epochs": 8}],
        _common(
            0.05, few_examples={"examples": 40, "epochs": 200, "batch": 20}, data_in_order={"shuffle": False},
            labels_shuffled={"noisy_labels": True}, no_scaling={"scale": 255.0},
            only_the_last_layer={"learns": "last"},
            validation_not_scaled={"eval_noise": 10.0}, rate_halved_each_batch=None, wrong_sign=None,
        ),
    ),
    "two outputs": (
        two_outputs,
        [
            {},
            {"optimizer": "adam", "rate": 2e-3, "epochs": 20},
            {"batch": 128, "rate": 0.04, "width": 24, "patience": 2},
        ],
        _common(
            0.02, few_examples={"examples": 40, "epochs": 200, "dropout": 0.0, "batch": 20},
            dead_schedule={"patience": 0, "factor": 0.1}, labels_shuffled={"noisy_labels": True},
            loss_weights_wrong={"weights": (1.0, 1e-4)}, aim_not_scaled={"aim_scale": 500.0},
            validation_not_scaled={"eval_scale": 50.0}, wrong_parameters={"frozen": True},
            rate_halved_each_batch=None, wrong_sign=None,
        ),
    ),
    "flow": (
        flow,
        [{}, {"rate": 3e-3, "schedule": "", "epochs": 30}, {"batch": 50, "rate": 8e-3, "schedule": "one cycle"}],
        _common(
            5e-3, few_examples={"examples": 24, "epochs": 500, "width": 48}, no_volume={"volume": 0.0},
            halves_never_swapped={"alternates": False}, only_the_last_layer={"learns": "last"},
            validation_not_scaled={"eval_scale": 4.0}, wrong_sign=None,
        ),
    ),
}  # fmt: skip
"""Name → the program, its healthy settings, and its bugs."""
