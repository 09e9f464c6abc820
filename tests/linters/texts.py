"""Trainings on texts and sounds: a language model, a translation, and speech."""

import itertools
import math
from pydoc_data.topics import topics

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from linters.learning import of_no_model, shuffled, sorted_by, split
from linters.loops import Means, batches_of, common_bugs, train_by_steps


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
    how |= {"learnt": of_no_model() if frozen else None}
    train_by_steps(model, loader(), loss_of, log, steps=steps, on_step=on_step, **how)
    with torch.no_grad():
        return estimate(parts["val"], True, 1)


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
        train[1] = shuffled(rng, train[1])
    model, inner, outer, best, kept = _Translator(), Means(), Means(), [1e9], {}
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
    loader = batches_of(train, batch, seed, steps=steps, shuffle=shuffle, breaks_at=breaks_at,
                   fails=lambda x, y: (torch.ones_like(x), y))  # fmt: skip
    train_by_steps(
        model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=of_no_model() if frozen else None, **how
    )
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
    model, means = _Recognizer(), Means()
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
    learnt = {"": None, "nothing": of_no_model(), "first": list(model.first.parameters())}[learns]
    loader = batches_of(train, batch, seed, steps=steps, shuffle=shuffle, breaks_at=breaks_at,
                   fails=lambda x, y, n: (torch.zeros_like(x), y, n))  # fmt: skip
    train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=learnt, **how)
    with torch.no_grad():
        return errors()


PROGRAMS = {
    "gpt": (
        gpt,
        [{}, {"rate": 3e-3, "schedule": "", "steps": 500}, {"rate": 6e-3, "batch": 20, "schedule": "linear"}],
        common_bugs(
            5e-3,
            loader_breaks={"repeats": True},
            few_examples={"characters": 1500, "steps": 700},
            no_mask={"causal": False},
            targets_not_shifted={"shift": 0},
            wrong_parameters={"frozen": True},
            rate_ten_times_too_high=None,
            rate_halved_each_batch=None,
            wrong_sign=None,
        ),
    ),
    "translation": (
        translation,
        [{}, {"rate": 6e-3, "schedule": "cosine"}, {"smoothing": 0.05, "batch": 48, "epochs": 12}],
        common_bugs(
            1e-2,
            few_examples={"examples": 60, "epochs": 120, "batch": 32},
            data_in_order={"shuffle": False},
            labels_shuffled={"noisy_labels": True},
            stale_validation={"stale": 3},
            validation_collapses={"eval_breaks": 9},
            wrong_sign=None,
            rate_ten_times_too_high=None,
            rate_halved_each_batch=None,
        ),
    ),
    "speech": (
        speech,
        [{}, {"rate": 3e-3, "epochs": 16, "schedule": ""}, {"batch": 16, "schedule": "one cycle"}],
        common_bugs(
            5e-3,
            few_examples={"examples": 30, "epochs": 100, "batch": 15},
            frames_miscounted={"frames": 4},
            labels_shuffled={"noisy_labels": True},
            wrong_parameters={"learns": "nothing"},
            validation_not_scaled={"eval_offset": 5.0},
            data_in_order={"shuffle": False},
            rate_halved_each_batch=None,
            rate_ten_times_too_high=None,
        ),
    ),
}
