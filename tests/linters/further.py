"""Seven trainings: citations, words, images, triples, an equation, a game, a codebook; each as its kind logs."""

import math

import torch
from sklearn import datasets
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from linters.learning import scheduled

MAKERS = {
    "adam": lambda learnt, rate, decay: torch.optim.Adam(learnt, lr=rate, weight_decay=decay),
    "adamw": lambda learnt, rate, decay: torch.optim.AdamW(learnt, lr=rate, weight_decay=decay),
    "rmsprop": lambda learnt, rate, decay: torch.optim.RMSprop(learnt, lr=rate, weight_decay=decay),
    "momentum": lambda learnt, rate, decay: torch.optim.SGD(learnt, lr=rate, momentum=0.9, weight_decay=decay),
    "sgd": lambda learnt, rate, decay: torch.optim.SGD(learnt, lr=rate, weight_decay=decay),
}


def _rate(kind, share):
    if kind == "exponential":
        return 0.05**share
    if kind == "multi-step":
        return 0.5 ** sum(share >= at for at in (0.5, 0.75, 0.9))
    if kind == "tenth at half":
        return 1.0 if share < 0.5 else 0.1
    return scheduled(kind, share)


def _loop(model, loss_of, log, *, steps, rate, optimizer="adam", schedule="", clip=None, decay=0.0, zero_grad=True,
          sign=1.0, learnt=None, factor=None):  # fmt: skip
    """Train, and yield (steps done, loss, parts, rate, norm) after each step; loss_of(step) → a loss and its parts."""
    updates = MAKERS[optimizer](list(model.parameters() if learnt is None else learnt), rate, decay)
    for step in range(steps):
        model.train()
        now = rate * _rate(schedule, step / steps) * (factor() if factor else 1.0)
        for group in updates.param_groups:
            group["lr"] = now
        loss, parts = loss_of(step)
        if zero_grad:
            model.zero_grad()
        (sign * loss).backward()
        norm = float(nn.utils.clip_grad_norm_(model.parameters(), clip or math.inf))
        updates.step()
        log.tick()
        model.eval()
        yield (
            step + 1,
            float(loss.detach()),
            {k: float(torch.as_tensor(v).detach()) for k, v in parts.items()},
            now,
            norm,
        )


def _nothing():
    """What an optimizer holds that was made for another copy of the model."""
    return [nn.Parameter(torch.zeros(1))]


class _Batches:
    """Indices of batches, an epoch after the other."""

    def __init__(self, count, size, rng, shuffle=True):
        self.count, self.size, self.rng, self.shuffle, self.left = count, size, rng, shuffle, []

    def taken(self):
        if not self.left:
            order = torch.randperm(self.count, generator=self.rng) if self.shuffle else torch.arange(self.count)
            self.left = list(order.split(self.size))
        return self.left.pop(0)


def _mean(rows):
    return {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}


# A graph of papers that cite each other


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
    loop = _loop(model, loss_of, log, steps=epochs, learnt=_nothing() if frozen else None, **how)
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


# Names in sentences


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
    model, batches = _Tagger(width, dropout), _Batches(len(x), batch, rng, shuffle)
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
    for step, loss, parts, rate, norm in _loop(
        model, loss_of, log, steps=steps, learnt=_nothing() if frozen else None, **how
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
            means, rows, best = _mean(rows), [], max(best, seen["f1"])
            told = {"training_loss": means["loss"], "training_f1-measure-overall": means["f1"]}
            told |= {"validation_loss": seen["loss"], "validation_f1-measure-overall": seen["f1"]}
            told |= {"best_validation_f1-measure-overall": best}
            log.named(epoch, {f"epoch_metrics/{name}": value for name, value in told.items()})
    return log.last["epoch_metrics/validation_loss"]


# Photographs made larger


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
    batches = _Batches(len(train), batch, rng)
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
    learnt = {"": None, "nothing": _nothing(), "last": list(model[4].parameters())}[learns]
    for step, value, _, _, _ in _loop(model, loss_of, log, steps=steps, learnt=learnt, **how):
        if step % 10 == 0:
            log.named(step, {"losses/l_pix": value})
        if step % 90 == 0:
            log.named(step, {"metrics/val/psnr": psnr()})
    return -log.last["metrics/val/psnr"]


# A graph of knowledge


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
    model, batches = _Rotations(wide * high, len(moves), width, margin), _Batches(len(train), batch, rng)

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
    learnt = {"": None, "nothing": _nothing(), "relations": [model.relation]}[learns]
    rows = []
    for step, loss, parts, _, _ in _loop(model, loss_of, log, steps=steps, learnt=learnt, **how):
        rows.append({"positive_sample_loss": parts["positive"], "negative_sample_loss": parts["negative"],
                     "loss": loss})  # fmt: skip
        if step % 20 == 0:
            log.named(step, {f"Training average/{name}": value for name, value in _mean(rows).items()})
            rows = []
        if step % 100 == 0:
            log.named(step, {f"Valid/{name}": value for name, value in ranks().items()})
    return -log.last["Valid/MRR"]


# An equation


def heat(log, seed, steps=800, points=96, width=24, weight=10.0, fixed=None, activation="tanh", equation=1.0,
         stretch=1.0, frozen=False, breaks_at=None, **how):  # fmt: skip
    """A network that solves the equation of heat: the residual, the border and the start, and the error."""
    rng = torch.Generator().manual_seed(seed)
    kind = {"tanh": nn.Tanh, "relu": nn.ReLU, "silu": nn.SiLU}[activation]
    model = nn.Sequential(nn.Linear(2, width), kind(), nn.Linear(width, width), kind(), nn.Linear(width, 1))
    diffusivity = 0.08

    def exact(x, t):
        return sum(
            size * (-diffusivity * (k * math.pi) ** 2 * t).exp() * (k * math.pi * x).sin()
            for k, size in ((1, 1.0), (2, 0.5))
        )

    def u(x, t):
        return model(torch.cat([stretch * (2 * x - 1), stretch * (2 * t - 1)], 1))

    def uniform(count):
        return torch.rand(count, 1, generator=rng)

    held = (uniform(fixed), uniform(fixed)) if fixed else None
    grid = torch.linspace(0, 1, 21)
    gx, gt = (part.reshape(-1, 1) for part in torch.meshgrid(grid, grid, indexing="ij"))

    def loss_of(step):
        x, t = held or (uniform(points), uniform(points))
        if breaks_at is not None and step >= breaks_at * steps:
            x, t = torch.zeros_like(x), torch.ones_like(t)
        x, t = x.clone().requires_grad_(), t.clone().requires_grad_()
        out = u(x, t)
        by_x, by_t = torch.autograd.grad(out.sum(), (x, t), create_graph=True)
        twice = torch.autograd.grad(by_x.sum(), x, create_graph=True)[0] if by_x.requires_grad else 0 * by_x
        residual = (by_t - equation * diffusivity * twice).square().mean()
        sides, begun = uniform(32), (held[0] if held else uniform(32))
        border = (u(torch.zeros_like(sides), sides).square() + u(torch.ones_like(sides), sides).square()).mean()
        start = (u(begun, torch.zeros_like(begun)) - exact(begun, torch.zeros_like(begun))).square().mean()
        return residual + weight * (border + start), {"pde": residual, "bc": border, "ic": start}

    how = {"rate": 8e-3, "schedule": "exponential"} | how
    error = 0.0
    for step, loss, parts, rate, _ in _loop(
        model, loss_of, log, steps=steps, learnt=_nothing() if frozen else None, **how
    ):
        if step % 10 == 0:
            log.named(step, {"Loss/total": loss, "Loss/residual": parts["pde"], "Loss/boundary": parts["bc"]})
            log.named(step, {"Loss/initial": parts["ic"], "Learning rate": rate})
        if step % 50 == 0:
            with torch.no_grad():
                error = float((u(gx, gt) - exact(gx, gt)).norm() / exact(gx, gt).norm())
            log.named(step, {"Error/relative L2": error})
    return error


# A ball to be caught


class _Catch:
    """Many boards of 6 rows and 5 columns: a ball falls and drifts, and a paddle has to be below it in the end."""

    def __init__(self, count, rng):
        self.count, self.rng = count, rng
        self.ball, self.drift, self.paddle = (torch.zeros(count, dtype=torch.long) for _ in range(3))
        self.row = torch.arange(count) % 5
        self._begin(torch.ones(count, dtype=torch.bool))

    def _begin(self, which):
        many = int(which.sum())
        self.ball[which] = torch.randint(5, (many,), generator=self.rng)
        self.drift[which] = torch.randint(-1, 2, (many,), generator=self.rng)
        self.paddle[which] = torch.randint(5, (many,), generator=self.rng)

    def seen(self):
        parts = (self.row, 5), (self.ball, 5), (self.drift + 1, 3), (self.paddle, 5)
        return torch.cat([F.one_hot(part, size).float() for part, size in parts], 1)

    def step(self, action):
        self.paddle = (self.paddle + action - 1).clamp(0, 4)
        self.ball = (self.ball + self.drift) % 5
        self.row = self.row + 1
        done = self.row >= 5
        reward = torch.where(done, torch.where(self.ball == self.paddle, 1.0, -1.0), 0.0)
        self.row[done] = 0
        self._begin(done)
        return reward, done.float()


def catch(log, seed, steps=1800, rate=2e-3, gamma=0.95, batch=64, decay=0.4, least=0.05, sync=50, memory=2000,
          sign=1.0, lie=False, reward_scale=1.0, ends=True, frozen=False, breaks_at=None, explore=True,
          double=True):  # fmt: skip
    """A double Q-network that catches balls: Tianshou's names, with returns of training and of test episodes."""
    rng = torch.Generator().manual_seed(seed)
    env, other = _Catch(8, rng), _Catch(64, torch.Generator().manual_seed(seed + 100))

    def net():
        return nn.Sequential(nn.Linear(18, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))

    q, target = net(), net()
    target.load_state_dict(q.state_dict())
    optimizer = torch.optim.Adam(_nothing() if frozen else q.parameters(), rate)
    kept, ended, losses, scores = [], [], [], []
    for step in range(1, steps + 1):
        epsilon = max(1 - (1 - least) * step / (decay * steps), least) if explore else 0.0
        broken = breaks_at is not None and step >= breaks_at * steps
        state = (0 if broken else 1) * env.seen()
        with torch.no_grad():
            action = q(state).argmax(1)
        random = torch.rand(8, generator=rng) < epsilon
        action = torch.where(random, torch.randint(3, (8,), generator=rng), action)
        reward, done = env.step(action)
        ended += reward[done > 0].tolist()
        told = torch.randn(8, generator=rng) if lie else reward_scale * sign * reward
        after = (0 if broken else 1) * env.seen()
        kept.append((state, action, told, after, done if ends else torch.zeros_like(done)))
        kept = kept[-memory:]
        log.tick(0.01)
        if step > 40:
            at = torch.randint(len(kept), (batch // 8,), generator=rng).tolist()
            s, a, r, n, d = (torch.cat([kept[i][part] for i in at]) for part in range(5))
            with torch.no_grad():
                chosen = (q if double else target)(n).argmax(1, keepdim=True)
                aim = r + gamma * (1 - d) * target(n).gather(1, chosen)[:, 0]
            loss = (q(s).gather(1, a[:, None])[:, 0] - aim).square().mean()
            q.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(float(loss.detach()))
            if sync and step % sync == 0:
                target.load_state_dict(q.state_dict())
        if step % 20 == 0 and ended:
            log.named(8 * step, {"train/reward": sum(ended[-40:]) / len(ended[-40:]), "train/length": 5.0})
            if losses:
                log.named(8 * step, {"update/loss": losses[-1], "train/eps": epsilon})
        if step % 100 == 0:
            total, played = 0.0, 0.0
            for _ in range(10):
                with torch.no_grad():
                    gained, done = other.step(q((0 if broken else 1) * other.seen()).argmax(1))
                total, played = total + float(gained.sum()), played + float(done.sum())
            scores.append(total / played)
            log.named(8 * step, {"test/reward": scores[-1], "test/length": 5.0})
    return -sum(scores[-3:]) / 3


# Strokes in a codebook


def _strokes(rng, count, side=12):
    grid = torch.stack(torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij"), -1).float()
    image = torch.zeros(count, side, side)
    for _ in range(2):
        a, b = (1 + (side - 3) * torch.rand(count, 1, 1, 2, generator=rng) for _ in "ab")
        share = (((grid - a) * (b - a)).sum(-1) / (b - a).square().sum(-1).clamp(min=1e-3)).clamp(0, 1)
        apart = (grid - a - share[..., None] * (b - a)).square().sum(-1)
        image = torch.maximum(image, torch.exp(-apart / 0.8))
    return image[:, None]


class _Quantized(nn.Module):
    def __init__(self, codes, width, beta, straight, spread):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, width, 4, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(2 * width, 8, 1),
        )  # fmt: skip
        self.decoder = nn.Sequential(
            nn.Conv2d(8, 2 * width, 3, padding=1), nn.ReLU(), nn.ConvTranspose2d(2 * width, width, 4, 2, 1), nn.ReLU(),
            nn.ConvTranspose2d(width, 1, 4, 2, 1),
        )  # fmt: skip
        self.codebook = nn.Parameter(spread * (2 * torch.rand(codes, 8) - 1))
        self.beta, self.straight = beta, straight

    def forward(self, x):
        z = self.encoder(x).permute(0, 2, 3, 1)
        flat = z.reshape(-1, 8)
        at = torch.cdist(flat, self.codebook).argmin(1)
        code = self.codebook[at].view(z.shape)
        loss = F.mse_loss(code, z.detach()) + self.beta * F.mse_loss(z, code.detach())
        used = torch.bincount(at, minlength=len(self.codebook)).float() / len(at)
        perplexity = (-(used * (used + 1e-10).log()).sum()).exp()
        passed = z + (code - z).detach() if self.straight else code.detach()
        return self.decoder(passed.permute(0, 3, 1, 2)), loss, perplexity


def codebook(log, seed, steps=900, batch=32, examples=None, codes=48, width=12, beta=0.25, straight=True, spread=0.3,
             scale=1.0, eval_scale=1.0, learns="", breaks_at=None, **how):  # fmt: skip
    """A VQ-VAE of strokes: the parts of the loss and the perplexity of the codes, every 15 steps."""
    rng = torch.Generator().manual_seed(seed)
    images = scale * _strokes(rng, 1800)
    test, train = images[:300], images[300:][:examples]
    model, batches = _Quantized(codes, width, beta, straight, spread), _Batches(len(train), batch, rng)
    variance = float(test.var()) / scale**2 if scale == 1 else 0.08

    def loss_of(step):
        x = train[batches.taken()]
        if breaks_at is not None and step >= breaks_at * steps:
            x = torch.zeros_like(x)
        made, quantized, perplexity = model(x)
        error = F.mse_loss(made, x) / variance
        return error + quantized, {"recon_error": error, "vq_loss": quantized, "perplexity": perplexity}

    how = {"rate": 2e-3} | how
    everything = dict(model.named_parameters())
    learnt = {"": None, "nothing": _nothing(), "not codes": [p for n, p in everything.items() if n != "codebook"],
              "decoder": list(model.decoder.parameters())}[learns]  # fmt: skip
    for step, loss, parts, _, _ in _loop(model, loss_of, log, steps=steps, learnt=learnt, **how):
        if step % 15 == 0:
            log.named(step, {"total_loss": loss} | parts)
        if step % 90 == 0:
            with torch.no_grad():
                made, _, perplexity = model(eval_scale * test)
            error = float(F.mse_loss(made, test)) / variance
            log.named(step, {"test_recon_error": error, "test_perplexity": float(perplexity)})
    with torch.no_grad():
        return float(F.mse_loss(model(eval_scale * test)[0], test)) / float(test.var())


def _common(rate, **changed):
    """The bugs that most loops have, at the strength that they usually have."""
    named = {
        "rate too low": {"rate": rate / 100},
        "rate too high": {"rate": rate * 100},
        "rate ten times too high": {"rate": rate * 10},
        "dead schedule": {"schedule": "dies at a fifth"},
        "no zero_grad": {"zero_grad": False},
        "wrong sign": {"sign": -1.0},
        "loader breaks": {"breaks_at": 0.5},
    }
    named |= {name.replace("_", " "): how for name, how in changed.items()}
    return {name: how for name, how in named.items() if how is not None}


PROGRAMS = {
    "citations": (
        citations,
        [{}, {"hidden": 32, "rate": 5e-3, "epochs": 250}, {"dropout": 0.6, "decay": 1e-3, "rate": 0.02, "epochs": 150}],
        _common(
            0.01, few_examples={"labelled": 10, "decay": 0.0, "dropout": 0.0, "epochs": 400},
            labels_shuffled={"noisy_labels": True}, too_many_hops={"hops": 20}, wrong_parameters={"frozen": True},
            validation_without_edges={"no_edges_from": 100}, stale_validation={"stale": 40},
            loader_breaks=None, rate_ten_times_too_high=None,
        ),
    ),
    "tagging": (
        tagging,
        [
            {},
            {"optimizer": "momentum", "rate": 0.3, "epochs": 16},
            {"rate": 3e-3, "schedule": "linear", "batch": 16, "epochs": 16},
        ],
        _common(
            5e-3, few_examples={"examples": 40, "epochs": 80, "dropout": 0.0, "batch": 8},
            data_in_order={"shuffle": False}, labels_shuffled={"noisy_labels": True}, wrong_parameters={"frozen": True},
            validation_misaligned={"eval_breaks": 6}, stale_validation={"stale": 1}, rate_ten_times_too_high=None,
            dead_schedule=None,
        ),
    ),
    "upscaling": (
        upscaling,
        [{}, {"rate": 1e-3, "batch": 24, "schedule": "cosine"}, {"loss": "l2", "rate": 3e-3, "schedule": ""}],
        _common(
            2e-3, few_examples={"examples": 1, "batch": 1}, target_shifted={"shift": 1}, no_scaling={"scale": 255.0},
            validation_not_scaled={"eval_scale": 1 / 255}, only_the_last_layer={"learns": "last"},
            wrong_sign=None,
        ),
    ),
    "knowledge": (
        knowledge,
        [{}, {"rate": 0.015, "schedule": "", "batch": 64}, {"width": 16, "negatives": 48, "steps": 800}],
        _common(
            0.02, few_examples={"examples": 100}, negatives_not_corrupted={"corrupted": False},
            validation_swapped={"swapped": True}, tails_shuffled={"noisy_tails": True},
            entities_not_in_the_optimizer={"learns": "relations"}, wrong_sign=None,
        ),
    ),
    "heat": (
        heat,
        [{}, {"rate": 5e-3, "width": 32, "schedule": "cosine"}, {"points": 128, "weight": 20.0, "rate": 0.01}],
        _common(
            8e-3, few_points={"fixed": 4}, no_second_derivative={"activation": "relu"},
            wrong_equation={"equation": -1.0}, border_forgotten={"weight": 0.0}, no_scaling={"stretch": 100.0},
            wrong_parameters={"frozen": True},
            wrong_sign=None, rate_ten_times_too_high=None,
        ),
    ),
    "catch": (
        catch,
        [{}, {"rate": 1.5e-3, "gamma": 0.98, "double": False}, {"batch": 128, "sync": 100, "decay": 0.3}],
        {
            "rate too low": {"rate": 2e-5},
            "rate too high": {"rate": 0.2},
            "reward with the wrong sign": {"sign": -1.0},
            "rewards of noise": {"lie": True},
            "rewards too large": {"reward_scale": 1000.0},
            "never explores": {"explore": False},
            "target never moves": {"sync": 0},
            "ends forgotten": {"ends": False},
            "wrong parameters": {"frozen": True},
            "observations break": {"breaks_at": 0.5},
            "memory too small": {"memory": 8},
        },
    ),
    "codebook": (
        codebook,
        [{}, {"rate": 1e-3, "codes": 64, "steps": 1100}, {"optimizer": "adamw", "rate": 3e-3, "schedule": "cosine"}],
        _common(
            2e-3, few_examples={"examples": 12, "batch": 12, "steps": 1500}, no_straight_through={"straight": False},
            codes_not_in_the_optimizer={"learns": "not codes", "spread": 3.0}, no_scaling={"scale": 255.0},
            commitment_too_strong={"beta": 100.0}, validation_not_scaled={"eval_scale": 255.0},
            wrong_sign=None, rate_ten_times_too_high=None,
        ),
    ),
}  # fmt: skip
"""Name → the program, its healthy settings, and its bugs."""
