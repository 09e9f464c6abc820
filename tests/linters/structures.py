"""Trainings on structures: citations, tagged words, images, and triples."""

import math

import torch
from sklearn import datasets
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from linters.learning import mean_of, of_no_model, usual_bugs
from linters.rounds import Batches, looped


class _Gcn(nn.Module):
    def __init__(self, features, hidden, classes, dropout):
        super().__init__()
        self.first, self.second = nn.Linear(features, hidden), nn.Linear(hidden, classes)
        self.dropout = dropout

    def forward(self, x, graph):
        x = F.dropout(x, self.dropout, self.training)
        x = graph @ x
        x = F.dropout(self.first(x).relu(), self.dropout, self.training)
        x = self.second(x)
        return graph @ x


def _normalized(edges, hops=1):
    edges = edges + torch.eye(len(edges))
    root = edges.sum(1).rsqrt()
    return torch.linalg.matrix_power(root[:, None] * edges * root, hops)


def citations(log, seed, epochs=200, labelled=150, hidden=16, dropout=0.5, hops=1, noisy_labels=False, scale=1.0,
              eval_scale=1.0, no_edges_from=None, stale=None, frozen=False, patience=None, **how):  # fmt: skip
    """A graph convolution on a citation graph, all of it at each epoch: losses and accuracies of three parts."""
    rng = torch.Generator().manual_seed(seed)
    count, classes, words = 700, 5, 120
    y = torch.randint(classes, (count,), generator=rng)
    chance = torch.where(y[:, None] == y, 0.018, 0.002)
    edges = (torch.rand(count, count, generator=rng) < chance).float().triu(1)
    graph = _normalized(edges + edges.T, hops)
    topics = 0.03 + 0.09 * (torch.rand(classes, words, generator=rng) < 0.25).float()
    x = (torch.rand(count, words, generator=rng) < topics[y]).float()
    x = scale * x / x.sum(1, keepdim=True).clamp(min=1)
    order = torch.randperm(count, generator=rng)
    train, val, test = order[:labelled], order[200:400], order[400:]
    told = y.clone()
    if noisy_labels:
        told[train] = told[train][torch.randperm(len(train), generator=rng)]
    model = _Gcn(words, hidden, classes, dropout)

    def loss_of(step):
        logits = model(x, graph)[train]
        return F.cross_entropy(logits, told[train]), {"acc": (logits.argmax(1) == told[train]).float().mean()}

    how = {"rate": 0.01, "decay": 5e-4} | how
    loop = looped(model, loss_of, log, steps=epochs, learnt=of_no_model() if frozen else None, **how)
    kept = None
    for epoch, loss, parts, _, _ in loop:
        with torch.no_grad():
            missing = no_edges_from is not None and epoch >= no_edges_from
            logits = model(eval_scale * x, _normalized(torch.zeros_like(edges)) if missing else graph)
        right = (logits.argmax(1) == y).float()
        seen = {"Val/loss": float(F.cross_entropy(logits[val], y[val])), "Val/acc": float(right[val].mean())}
        if stale is not None and epoch >= stale:
            kept = kept or seen
            seen = kept
        log.named(epoch, {"Train/loss": loss, "Train/acc": parts["acc"]} | seen)
        log.named(epoch, {"Test/acc": float(right[test].mean())})
    return log.last["Val/loss"]


def _sentences(rng, count, length=16):
    """Sentences of words from 1 on, and the tags of the names in them: a word before the name tells its sort."""
    words, tags = torch.zeros(count, length, dtype=torch.long), torch.full((count, length), -100)
    for row in range(count):
        lasts = int(torch.randint(9, length + 1, (1,), generator=rng))
        words[row, :lasts] = 1 + torch.randint(90, (lasts,), generator=rng)
        tags[row, :lasts] = 0
        at = int(torch.randint(0, 4, (1,), generator=rng))
        while at < lasts - 3:
            sort, cue, size = (int(torch.randint(n, (1,), generator=rng)) for n in (3, 6, 3))
            if at < lasts - size - 1:
                words[row, at] = 91 + 6 * sort + cue
                words[row, at + 1 : at + 2 + size] = 109 + torch.randint(60, (size + 1,), generator=rng)
                tags[row, at + 1] = 1 + 2 * sort
                tags[row, at + 2 : at + 2 + size] = 2 + 2 * sort
            at += size + 2 + int(torch.randint(1, 5, (1,), generator=rng))
    lone = (torch.rand(count, length, generator=rng) < 0.08) & (tags == 0) & (words <= 90)
    words[lone] = 109 + torch.randint(60, (int(lone.sum()),), generator=rng)
    wrong = (torch.rand(count, length, generator=rng) < 0.03) & (tags >= 0)
    words[wrong] = 1 + torch.randint(168, (int(wrong.sum()),), generator=rng)
    return words, tags


class _Tagger(nn.Module):
    def __init__(self, width, dropout):
        super().__init__()
        self.embedder = nn.Embedding(169, width, padding_idx=0)
        self.encoder = nn.LSTM(width, width, batch_first=True, bidirectional=True)
        self.dropout, self.projection = nn.Dropout(dropout), nn.Linear(2 * width, 7)

    def forward(self, x):
        return self.projection(self.dropout(self.encoder(self.dropout(self.embedder(x)))[0]))


def _f1(logits, aim):
    known = aim >= 0
    guess, aim = logits.argmax(-1)[known], aim[known]
    hits = float(((guess == aim) & (aim > 0)).sum())
    return 2 * hits / max(float((guess > 0).sum() + (aim > 0).sum()), 1.0)


def tagging(log, seed, epochs=10, batch=24, examples=None, width=24, dropout=0.3, noisy_labels=False, shuffle=True,
            eval_breaks=None, stale=None, frozen=False, breaks_at=None, **how):  # fmt: skip
    """Names in sentences, by an LSTM in both directions: AllenNLP's names, inside of an epoch and at its end."""
    rng = torch.Generator().manual_seed(seed)
    x, y = _sentences(rng, 1300)
    tx, ty, x, y = x[:300], y[:300], x[300:][:examples], y[300:][:examples]
    if noisy_labels:
        y = y[torch.randperm(len(y), generator=rng)]
    if not shuffle:
        order = torch.argsort((y >= 0).sum(1) * 100 + y.clamp(min=0).sum(1), stable=True)
        x, y = x[order], y[order]
    model, batches = _Tagger(width, dropout), Batches(len(x), batch, rng, shuffle)
    each = math.ceil(len(x) / batch)
    steps = epochs * each

    def cross(logits, aim):
        return F.cross_entropy(logits.flatten(0, 1), aim.flatten(), ignore_index=-100)

    def loss_of(step):
        at = batches.taken()
        words = torch.zeros_like(x[at]) if breaks_at is not None and step >= breaks_at * steps else x[at]
        logits = model(words)
        return cross(logits, y[at]), {"f1": _f1(logits, y[at])}

    how = {"rate": 5e-3, "clip": 5.0} | how
    rows, kept, best = [], None, 0.0
    for step, loss, parts, rate, norm in looped(
        model, loss_of, log, steps=steps, learnt=of_no_model() if frozen else None, **how
    ):
        rows.append({"loss": loss} | parts)
        if step % 5 == 0:
            log.named(step, {"training/batch_loss": loss, "gradient_norm": norm, "learning_rate/group0": rate})
        if step % each == 0:
            epoch = step // each - 1
            with torch.no_grad():
                broken = eval_breaks is not None and epoch >= eval_breaks
                logits = model(tx.roll(1, 0) if broken else tx)
            seen = {"loss": float(cross(logits, ty)), "f1": _f1(logits, ty)}
            if stale is not None and epoch >= stale:
                kept = kept or seen
                seen = kept
            means, rows, best = mean_of(rows), [], max(best, seen["f1"])
            told = {"training_loss": means["loss"], "training_f1-measure-overall": means["f1"]}
            told |= {"validation_loss": seen["loss"], "validation_f1-measure-overall": seen["f1"]}
            told |= {"best_validation_f1-measure-overall": best}
            log.named(epoch, {f"epoch_metrics/{name}": value for name, value in told.items()})
    return log.last["epoch_metrics/validation_loss"]


def _photographs(rng, side, count):
    """Patches of the left parts and of the right parts of scikit-learn's two photographs, at half their size."""
    parts = [], []
    for image in datasets.load_sample_images().images:
        grey = F.avg_pool2d(torch.tensor(image).float().mean(2)[None, None] / 255, 2)[0, 0]
        cut = int(0.75 * grey.shape[1])
        for part, (low, high), many in zip(parts, ((0, cut), (cut, grey.shape[1])), (count, 60), strict=True):
            for _ in range(many):
                top = int(torch.randint(grey.shape[0] - side, (1,), generator=rng))
                left = int(torch.randint(low, high - side, (1,), generator=rng))
                part.append(grey[top : top + side, left : left + side])
    return [torch.stack(part)[:, None] for part in parts]


def upscaling(log, seed, steps=900, batch=16, examples=None, width=16, shift=0, scale=1.0, eval_scale=1.0,
              learns="", breaks_at=None, loss="l1", **how):  # fmt: skip
    """Photographs at twice their size, by sub-pixel convolutions: BasicSR's names, and the PSNR of others."""
    rng = torch.Generator().manual_seed(seed)
    train, test = _photographs(rng, 24, 400)
    train = train[torch.randperm(len(train), generator=rng)][:examples]
    small, tests = F.avg_pool2d(train, 2), F.avg_pool2d(test, 2)
    model = nn.Sequential(
        nn.Conv2d(1, width, 5, padding=2), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
        nn.Conv2d(width, 4, 3, padding=1), nn.PixelShuffle(2),
    )  # fmt: skip
    batches = Batches(len(train), batch, rng)
    apart = {"l1": F.l1_loss, "l2": F.mse_loss}[loss]

    def loss_of(step):
        at = batches.taken()
        x, y = small[at], train[at].roll((shift, shift), (2, 3))
        if breaks_at is not None and step >= breaks_at * steps:
            x = torch.zeros_like(x)
        return apart(model(scale * x), y), {}

    def psnr():
        with torch.no_grad():
            error = (model(scale * eval_scale * tests).clamp(0, 1) - test)[:, :, 2:-2, 2:-2].square().mean((1, 2, 3))
        return float((-10 * error.clamp(min=1e-9).log10()).mean())

    how = {"rate": 2e-3, "schedule": "multi-step"} | how
    learnt = {"": None, "nothing": of_no_model(), "last": list(model[4].parameters())}[learns]
    for step, value, _, _, _ in looped(model, loss_of, log, steps=steps, learnt=learnt, **how):
        if step % 10 == 0:
            log.named(step, {"losses/l_pix": value})
        if step % 90 == 0:
            log.named(step, {"metrics/val/psnr": psnr()})
    return -log.last["metrics/val/psnr"]


class _Rotations(nn.Module):
    def __init__(self, entities, relations, width, margin):
        super().__init__()
        span = (margin + 2) / width
        self.entity = nn.Parameter(span * (2 * torch.rand(entities, 2 * width) - 1))
        self.relation = nn.Parameter(span * (2 * torch.rand(relations, width) - 1))
        self.margin, self.span = margin, span

    def forward(self, head, relation, tail):
        """How true it is; the heads, relations and tails are indices that broadcast."""
        (a, b), (c, d) = self.entity[head].chunk(2, -1), self.entity[tail].chunk(2, -1)
        angle = self.relation[relation] / self.span * math.pi
        real, imaginary = a * angle.cos() - b * angle.sin() - c, a * angle.sin() + b * angle.cos() - d
        return self.margin - (real.square() + imaginary.square() + 1e-9).sqrt().sum(-1)


def knowledge(log, seed, steps=1000, batch=96, examples=None, width=12, margin=4.0, negatives=24, corrupted=True,
              swapped=False, noisy_tails=False, learns="", breaks_at=None, temperature=1.0, **how):  # fmt: skip
    """Entities and relations by rotations, against corrupted triples: RotatE's names, and the ranks of what is true."""
    rng = torch.Generator().manual_seed(seed)
    wide, high = 12, 9
    moves = torch.tensor([[1, 0], [0, 1], [3, 0], [0, 3], [-2, 1], [5, 5], [-1, 0], [2, -2]])
    row, column = torch.arange(wide * high) // high, torch.arange(wide * high) % high
    tails = [(row + a) % wide * high + (column + b) % high for a, b in moves.tolist()]
    triples = torch.cat(
        [torch.stack([torch.arange(wide * high), torch.full_like(row, r), tail], 1) for r, tail in enumerate(tails)]
    )
    triples = triples[torch.randperm(len(triples), generator=rng)]
    valid, train = triples[:150], triples[150:550][:examples].clone()
    noisy = torch.rand(len(train), generator=rng) < 0.1
    train[noisy, 2] = torch.randint(wide * high, (int(noisy.sum()),), generator=rng)
    if noisy_tails:
        train[:, 2] = train[torch.randperm(len(train), generator=rng), 2]
    model, batches = _Rotations(wide * high, len(moves), width, margin), Batches(len(train), batch, rng)

    def loss_of(step):
        at = batches.taken()
        if breaks_at is not None and step >= breaks_at * steps:
            at = torch.zeros_like(at)
        head, relation, tail = (part[:, None] for part in train[at].unbind(1))
        other = torch.randint(wide * high, (len(at), negatives), generator=rng) if corrupted else tail
        wrong = model(head, relation, other) if step % 2 else model(other, relation, tail)
        wrong = model(head, relation, tail.expand(-1, 2)) if not corrupted else wrong
        weight = (temperature * wrong).softmax(1).detach()
        positive = -F.logsigmoid(model(head, relation, tail)).mean()
        negative = -(weight * F.logsigmoid(-wrong)).sum(1).mean()
        return (positive + negative) / 2, {"positive": positive, "negative": negative}

    def ranks():
        head, relation, tail = (part[:, None] for part in valid.unbind(1))
        if swapped:
            head, tail = tail, head
        with torch.no_grad():
            true, every = model(head, relation, tail), model(head, relation, torch.arange(wide * high)[None])
        rank = 1 + (every > true).sum(1).float()
        hits = {f"HITS@{k}": float((rank <= k).float().mean()) for k in (1, 3, 10)}
        return {"MRR": float((1 / rank).mean()), "MR": float(rank.mean())} | hits

    how = {"rate": 0.02, "schedule": "tenth at half"} | how
    learnt = {"": None, "nothing": of_no_model(), "relations": [model.relation]}[learns]
    rows = []
    for step, loss, parts, _, _ in looped(model, loss_of, log, steps=steps, learnt=learnt, **how):
        rows.append({"positive_sample_loss": parts["positive"], "negative_sample_loss": parts["negative"],
                     "loss": loss})  # fmt: skip
        if step % 20 == 0:
            log.named(step, {f"Training average/{name}": value for name, value in mean_of(rows).items()})
            rows = []
        if step % 100 == 0:
            log.named(step, {f"Valid/{name}": value for name, value in ranks().items()})
    return -log.last["Valid/MRR"]


PROGRAMS = {
    "citations": (
        citations,
        [{}, {"hidden": 32, "rate": 5e-3, "epochs": 250}, {"dropout": 0.6, "decay": 1e-3, "rate": 0.02, "epochs": 150}],
        usual_bugs(
            0.01,
            few_examples={"labelled": 10, "decay": 0.0, "dropout": 0.0, "epochs": 400},
            labels_shuffled={"noisy_labels": True},
            too_many_hops={"hops": 20},
            wrong_parameters={"frozen": True},
            validation_without_edges={"no_edges_from": 100},
            stale_validation={"stale": 40},
            loader_breaks=None,
            rate_ten_times_too_high=None,
        ),
    ),
    "tagging": (
        tagging,
        [
            {},
            {"optimizer": "momentum", "rate": 0.3, "epochs": 16},
            {"rate": 3e-3, "schedule": "linear", "batch": 16, "epochs": 16},
        ],
        usual_bugs(
            5e-3,
            few_examples={"examples": 40, "epochs": 80, "dropout": 0.0, "batch": 8},
            data_in_order={"shuffle": False},
            labels_shuffled={"noisy_labels": True},
            wrong_parameters={"frozen": True},
            validation_misaligned={"eval_breaks": 6},
            stale_validation={"stale": 1},
            rate_ten_times_too_high=None,
            dead_schedule=None,
        ),
    ),
    "upscaling": (
        upscaling,
        [{}, {"rate": 1e-3, "batch": 24, "schedule": "cosine"}, {"loss": "l2", "rate": 3e-3, "schedule": ""}],
        usual_bugs(
            2e-3,
            few_examples={"examples": 1, "batch": 1},
            target_shifted={"shift": 1},
            no_scaling={"scale": 255.0},
            validation_not_scaled={"eval_scale": 1 / 255},
            only_the_last_layer={"learns": "last"},
            wrong_sign=None,
        ),
    ),
    "knowledge": (
        knowledge,
        [{}, {"rate": 0.015, "schedule": "", "batch": 64}, {"width": 16, "negatives": 48, "steps": 800}],
        usual_bugs(
            0.02,
            few_examples={"examples": 100},
            negatives_not_corrupted={"corrupted": False},
            validation_swapped={"swapped": True},
            tails_shuffled={"noisy_tails": True},
            entities_not_in_the_optimizer={"learns": "relations"},
            wrong_sign=None,
        ),
    ),
}
