"""Four small trainings: a pendulum, pictures with captions, load by the hour, and codes."""

import copy
import itertools
import math

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from linters.learning import of_no_model, shuffled, split
from linters.loops import Means, batches_of, common_bugs, train_by_steps


class _Critics(nn.Module):
    """Two critics at once."""

    def __init__(self, inputs, width):
        super().__init__()
        sizes = [inputs, width, width, 1]
        pairs = list(itertools.pairwise(sizes))
        self.weights = nn.ParameterList((2 * torch.rand(2, a, b) - 1) * a**-0.5 for a, b in pairs)
        self.biases = nn.ParameterList(torch.zeros(2, 1, b) for _, b in pairs)

    def forward(self, x, action):
        x = torch.cat([x, action], 1).expand(2, -1, -1)
        for number, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = torch.baddbmm(bias, x.relu() if number else x, weight)
        return x[..., 0]


def _pushed(state, action):
    """A pendulum, two frames later, and the reward of them."""
    reward, force = 0.0, 2 * action[:, 0].clamp(-1, 1)
    for _ in range(2):
        angle, speed = state.unbind(1)
        off = (angle + math.pi) % (2 * math.pi) - math.pi
        reward = reward - (off.square() + 0.1 * speed.square() + 0.001 * force.square())
        speed = (speed + 0.05 * (15 * angle.sin() + 3 * force)).clamp(-8, 8)
        state = torch.stack([angle + 0.05 * speed, speed], 1)
    return state, reward


def pendulum(log, seed, steps=2200, envs=8, batch=128, rate=2e-3, width=64, gamma=0.97, tau=0.01,  # noqa: C901, PLR0915 - a whole algorithm
             entropy=-1.0,
             capacity=100_000, actor_sign=1.0, reward_sign=1.0, zero_grad=True, same_next=False, ended=False,
             learns="", degrees=False, breaks_at=None):  # fmt: skip
    """A pendulum is swung up by SAC: Stable-Baselines3's names, every four episodes, and an EvalCallback's."""
    rng, length, warm = torch.Generator().manual_seed(seed), 100, 100
    actor = nn.Sequential(nn.Linear(3, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2))
    critics = _Critics(4, width)
    target, temper = copy.deepcopy(critics), nn.Parameter(torch.zeros(1))
    learnt = of_no_model() if learns == "critics" else actor.parameters()
    optimizers = [torch.optim.Adam(one, rate) for one in ([temper], critics.parameters(), learnt)]

    def seen(state):
        angle, speed = state.unbind(1)
        turn = (angle % (2 * math.pi)) * 180 / math.pi
        return torch.stack([turn, turn * 0, speed] if degrees else [angle.cos(), angle.sin(), speed], 1)

    def started(count):
        return (2 * torch.rand(count, 2, generator=rng) - 1) * torch.tensor([math.pi, 1.0])

    def acted(x):
        mean, spread = actor(x).chunk(2, 1)
        spread = spread.clamp(-5, 2)
        noise = torch.randn(mean.shape, generator=rng)
        action = (mean + spread.exp() * noise).tanh()
        chance = -0.5 * noise.square() - spread - 0.919 - (1 - action.square() + 1e-6).log()
        return action, chance.sum(1)

    @torch.no_grad()
    def evaluated(count):
        state, total = started(count), torch.zeros(count)
        for _ in range(length):
            state, reward = _pushed(state, actor(seen(state))[:, :1].tanh())
            total += reward
        return float(total.mean())

    def stepped(number, loss):
        if zero_grad:
            optimizers[number].zero_grad()
        loss.backward()
        optimizers[number].step()

    state, clock, total = started(envs), torch.arange(envs) * length // envs, torch.zeros(envs)
    x, whole, returns, fresh, told = seen(state), torch.zeros(envs) > 0, [], 0, {}
    replay = [torch.zeros(capacity, size) for size in (3, 1, 1, 3, 1)]
    for step in range(steps):
        with torch.no_grad():
            action = 2 * torch.rand(envs, 1, generator=rng) - 1 if step < warm else acted(x)[0]
        state, reward = _pushed(state, action)
        broken = breaks_at is not None and step >= breaks_at * steps  # the simulator answers, but has stopped
        after, reward = (torch.zeros(envs, 3), reward * 0) if broken else (seen(state), reward)
        clock, total = clock + 1, total + reward
        at = (torch.arange(envs) + step * envs) % capacity
        rows = x, action, reward_sign * reward[:, None], x if same_next else after, torch.full((envs, 1), float(ended))
        for column, row in zip(replay, rows, strict=True):
            column[at] = row
        over = clock >= length
        returns += total[over & whole].tolist()
        fresh += int((over & whole).sum())
        whole, clock, total = whole | over, torch.where(over, 0, clock), torch.where(over, 0.0, total)
        state = torch.where(over[:, None], started(envs), state)
        x = torch.where(over[:, None], seen(state), after)
        done = (step + 1) * envs
        if step >= warm:
            rows = torch.randint(min(done, capacity), (batch,), generator=rng)
            was, did, got, then, end = (column[rows] for column in replay)
            action, chance = acted(was)
            coefficient = float(temper.detach().exp())
            temper_loss = -(temper * (chance + entropy).detach()).mean()
            stepped(0, temper_loss)
            with torch.no_grad():
                next_action, next_chance = acted(then)
                value = target(then, next_action).amin(0) - coefficient * next_chance
                aim = got[:, 0] + (1 - end[:, 0]) * gamma * value
            critic_loss = 0.5 * (critics(was, did) - aim).square().mean(1).sum()
            stepped(1, critic_loss)
            actor_loss = (coefficient * chance - actor_sign * critics(was, action).amin(0)).mean()
            stepped(2, actor_loss)
            with torch.no_grad():
                for old, new in zip(target.parameters(), critics.parameters(), strict=True):
                    old.lerp_(new, tau)
            told = {"actor_loss": actor_loss, "critic_loss": critic_loss, "ent_coef": coefficient,
                    "ent_coef_loss": temper_loss, "learning_rate": rate, "n_updates": step + 1 - warm}  # fmt: skip
            told = {f"train/{name}": float(torch.as_tensor(value).detach()) for name, value in told.items()}
        log.tick(0.01)
        if fresh >= 4:
            fresh, last = 0, returns[-100:]
            log.named(done, {"rollout/ep_len_mean": length, "rollout/ep_rew_mean": sum(last) / len(last)} | told)
        if step % 200 == 199:
            log.named(done, {"eval/mean_ep_length": length, "eval/mean_reward": evaluated(10)})
    return -evaluated(200)


def _captioned(images, digits, rng, count):
    """Three digits in a row, in white or in black; a caption is a noun, the colour and the digits, as numbers."""
    rows = torch.randint(len(images), (count, 3), generator=rng)
    black, noun = torch.randint(2, (2, count), generator=rng)
    picture = images[rows].transpose(1, 2).reshape(count, 1, 8, 24)
    picture = torch.where(black[:, None, None, None] > 0, 16 - picture, picture)
    return picture, torch.cat([10 + noun[:, None], 12 + black[:, None], digits[rows]], 1)


class _Clip(nn.Module):
    def __init__(self, width, scale, unit):
        super().__init__()
        self.visual = nn.Sequential(
            nn.Conv2d(1, width, 3, 1, 1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, 1, 1), nn.BatchNorm2d(2 * width), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(2 * width * 12, 64),
        )  # fmt: skip
        self.text = nn.Sequential(nn.Embedding(14, 16), nn.Flatten(), nn.Linear(80, 96), nn.ReLU(), nn.Linear(96, 64))
        self.scale, self.unit = nn.Parameter(torch.tensor(math.log(scale))), unit

    def forward(self, picture, text):
        picture, text = self.visual(picture), self.text(text)
        return (F.normalize(picture, dim=1), F.normalize(text, dim=1)) if self.unit else (picture, text)


def captions(log, seed, epochs=14, batch=96, examples=None, width=12, scale=1 / 0.07, learn_scale=True, unit=True,
             mixed=False, flips=False, jitter=0.3, eval_bytes=False, renumbered=0, learns="", breaks_at=None,
             **how):  # fmt: skip
    """Pictures and captions find each other by CLIP: open_clip's names, every ten steps, and ranks each epoch."""
    rng = torch.Generator().manual_seed(seed)
    bunch = load_digits()
    digits = torch.tensor(bunch.images, dtype=torch.float32), torch.tensor(bunch.target)
    apart, held = split(rng, *digits)
    pictures, texts = (column[:examples] for column in _captioned(*apart, rng, 2600))
    texts = shuffled(rng, texts) if mixed else texts
    tx, tt = _captioned(*held, rng, 400)
    tx, tt = tx * 16 if eval_bytes else tx, (tt + renumbered) % 14
    model = _Clip(width, scale, unit)
    model.scale.requires_grad_(learn_scale)
    each = len(pictures) // batch
    steps = epochs * each

    def logits_of(model, picture, text):
        picture, text = model((picture - 5) / 6, text)
        return model.scale.clamp(max=math.log(100)).exp() * picture @ text.T

    def loss_of(model, picture, text):
        if flips:
            picture = torch.where(torch.rand(len(picture), 1, 1, 1, generator=rng) < 0.5, picture.flip(3), picture)
        logits = logits_of(model, picture + 6 * jitter * torch.randn(picture.shape, generator=rng), text)
        aim = torch.arange(len(logits))
        return (F.cross_entropy(logits, aim) + F.cross_entropy(logits.T, aim)) / 2, {}

    def ranks(epoch):
        logits, aim = logits_of(model, tx, tt), torch.arange(len(tx))
        loss = (F.cross_entropy(logits, aim) + F.cross_entropy(logits.T, aim)) / 2
        told = {"clip_val_loss": float(loss), "epoch": epoch, "num_samples": len(tx)}
        for name, table in {"image_to_text": logits, "text_to_image": logits.T}.items():
            rank = (table > table.diagonal()[:, None]).sum(1).float()
            told |= {f"{name}_mean_rank": float(rank.mean()) + 1, f"{name}_median_rank": float(rank.median()) + 1}
            told |= {f"{name}_R@{top}": float((rank < top).float().mean()) for top in (1, 5, 10)}
        return {f"val/{name}": value for name, value in told.items()}

    def on_step(step, loss, rate, norm, parts):
        if step % 10 == 0 or step == steps:
            told = {"loss": loss, "contrastive_loss": loss, "logit_scale": float(model.scale.exp()), "lr": rate}
            log.named(step - 1, {f"train/{name}": value for name, value in told.items()})
        if step % each == 0:
            log.named(step // each, ranks(step // each))

    how = {"rate": 3e-3, "schedule": "warm-up and cosine", "optimizer": "adamw"} | how
    learnt = {"": None, "text": list(model.text.parameters())}[learns]
    loader = batches_of((pictures, texts), batch, seed, steps=steps, breaks_at=breaks_at, drop_last=True,
                        fails=lambda x, y: (torch.zeros_like(x), y))  # fmt: skip
    train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=learnt, **how)
    return -(log.last["val/image_to_text_R@1"] + log.last["val/text_to_image_R@1"]) / 2


HORIZONS = (1, 6, 24)


def _hours(rng, count):
    """Load in megawatts and temperature, by the hour; each with memory."""
    hour = torch.arange(count)
    noise, warm, stray = torch.randn(count, 2, generator=rng), [0.0], [0.0]
    for shock, other in noise[1:].tolist():
        warm.append(0.97 * warm[-1] + 0.8 * shock)
        stray.append(0.85 * stray[-1] + 12 * other)
    clock, day = 2 * math.pi * (hour % 24) / 24, hour // 24 % 7
    degrees = 12 + torch.tensor(warm) - 4 * (clock - 0.8).cos()
    shape = 90 * (clock - 2.2).sin() + 45 * (2 * clock - 1.0).sin()
    load = 600 + torch.where(day < 5, shape, 0.4 * shape - 80) + 4 * (18 - degrees).clamp(min=0) + torch.tensor(stray)
    return torch.stack([load, degrees, clock.sin(), clock.cos(), (day < 5).float()], 1)


class _Forecaster(nn.Module):
    def __init__(self, width, dropout):
        super().__init__()
        self.lstm, self.dropout = nn.LSTM(5, width, batch_first=True), nn.Dropout(dropout)
        self.head = nn.Linear(width, len(HORIZONS))

    def forward(self, x):
        return self.head(self.dropout(self.lstm(x)[0][:, -1]))


def load(log, seed, epochs=12, batch=64, examples=None, window=36, width=20, dropout=0.3, scaled=True, units=True,
         broadcast=False, mixed=False, patience=None, fahrenheit=False, learns="", breaks_at=None, **how):  # fmt: skip
    """Load one, six and 24 hours on by an LSTM: Keras' names, each epoch, with ReduceLROnPlateau if asked."""
    rng = torch.Generator().manual_seed(seed)
    series, cut = _hours(rng, 3400), 2600
    middle, spread = series[:cut].mean(0), series[:cut].std(0)
    if not scaled:
        middle, spread = middle * 0, spread * 0 + 1
    rows = (series - middle) / spread
    offset, unit = (float(series[:cut, 0].mean()), float(series[:cut, 0].std())) if units else (0.0, 1.0)
    aims = (series[:, 0] - offset) / unit
    starts = torch.arange(0, len(series) - window - max(HORIZONS) + 1)

    def windows(starts, rows):
        y = torch.stack([aims[starts + window - 1 + horizon] for horizon in HORIZONS], 1)
        return rows[starts[:, None] + torch.arange(window)], y

    x, y = windows(starts[starts < cut - window - max(HORIZONS)][:examples], rows)
    y = shuffled(rng, y) if mixed else y
    if fahrenheit:  # the validation file is another station's
        series = torch.cat([series[:, :1], 1.8 * series[:, 1:2] + 32, series[:, 2:]], 1)
        rows = (series - middle) / spread
    tx, ty = windows(starts[starts >= cut], rows)
    model, means = _Forecaster(width, dropout), Means()
    each = math.ceil(len(x) / batch)
    steps, plateau = epochs * each, {"factor": 1.0, "best": math.inf, "since": 0}

    def loss_of(model, x, y):
        guess = model(x)
        off = guess[:, None] - y if broadcast and model.training else guess - y
        square, size = off.square().flatten(0, -2).mean(0), (guess - y).abs().mean(0)
        parts = {"mae": size.mean()}
        for number, horizon in enumerate(HORIZONS):
            parts |= {f"h{horizon}_loss": square[number], f"h{horizon}_mae": size[number]}
        return square.sum(), parts

    def on_step(step, loss, rate, norm, parts):
        means.put(loss=loss, **parts)
        if step % each == 0:
            epoch, (held, others) = step // each - 1, loss_of(model, tx, ty)
            told = means.taken() | {"learning_rate": rate, "val_loss": float(held)}
            told |= {f"val_{name}": float(value) for name, value in others.items()}
            log.named(epoch, {f"epoch_{name}": value for name, value in told.items()})
            better = float(held) < plateau["best"] - 1e-4
            plateau.update(best=min(plateau["best"], float(held)), since=0 if better else plateau["since"] + 1)
            if patience and plateau["since"] >= patience:
                plateau.update(factor=0.3 * plateau["factor"], since=0)

    how = {"rate": 4e-3} | how
    learnt = {"": None, "head": list(model.head.parameters())}[learns]
    loader = batches_of((x, y), batch, seed, steps=steps, breaks_at=breaks_at,
                        fails=lambda x, y: (x[:, -1:].expand_as(x) * 0, y))  # fmt: skip
    train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=learnt,
                   factor=lambda: plateau["factor"], **how)  # fmt: skip
    return log.last["epoch_val_mae"] * unit


class _Codes(nn.Module):
    def __init__(self, width, codes, size, spread):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, width, 4, 2, 1), nn.ReLU(), nn.Conv2d(width, width, 3, 1, 1), nn.ReLU(),
            nn.Conv2d(width, size, 1),
        )  # fmt: skip
        self.decoder = nn.Sequential(
            nn.Conv2d(size, width, 3, 1, 1), nn.ReLU(), nn.Conv2d(width, width, 3, 1, 1), nn.ReLU(),
            nn.ConvTranspose2d(width, 1, 4, 2, 1), nn.Sigmoid(),
        )  # fmt: skip
        self.book = nn.Embedding(codes, size)
        nn.init.uniform_(self.book.weight, -spread, spread)

    def forward(self, x, straight=True):
        z = self.encoder(x).permute(0, 2, 3, 1)
        index = torch.cdist(z.flatten(0, 2), self.book.weight).argmin(1)
        code = self.book(index).view_as(z)
        passed = z + (code - z).detach() if straight else code
        share = torch.bincount(index, minlength=len(self.book.weight)) / len(index)
        perplexity = (-(share * (share + 1e-10).log()).sum()).exp()
        parts = {"codebook_loss": (code - z.detach()).square().mean(), "perplexity": perplexity,
                 "commitment_loss": (code.detach() - z).square().mean()}  # fmt: skip
        return self.decoder(passed.permute(0, 3, 1, 2)), parts


def codes(log, seed, epochs=30, batch=64, examples=None, width=24, count=48, size=8, spread=0.5, beta=0.25,
          straight=True, top=16.0, eval_top=16.0, breaks_at=None, **how):  # fmt: skip
    """Digits are coded by a VQ-VAE: Lightning's names, some steps, means of an epoch and a monitor of the rate."""
    rng = torch.Generator().manual_seed(seed)
    images = torch.tensor(load_digits().images, dtype=torch.float32)[:, None]
    (x,), (tx,) = split(rng, images / top, examples=examples)
    means, scale = Means(), float((images / top).var())
    model = _Codes(width, count, size, spread)
    each = math.ceil(len(x) / batch)
    steps = epochs * each

    def loss_of(model, x, y):
        made, parts = model(x, straight)
        parts = {"recon_loss": (made - y).square().mean() / scale} | parts
        return parts["recon_loss"] + parts["codebook_loss"] + beta * parts["commitment_loss"], parts

    def on_step(step, loss, rate, norm, parts):
        means.put(loss_epoch=loss, **parts)
        epoch = (step - 1) // each
        if step % 15 == 0:
            told = {"train_loss_step": loss, "grad_2.0_norm_total": norm, "epoch": epoch}
            log.named(step - 1, told | {"lr-AdamW": rate})
        if step % each == 0:
            held, others = loss_of(model, tx * top / eval_top, tx)
            told = {"loss": float(held), "recon_loss": others["recon_loss"], "perplexity": others["perplexity"]}
            told = {f"val_{name}": float(value) for name, value in told.items()}
            told |= {f"train_{name}": value for name, value in means.taken().items()}
            log.named(step - 1, told | {"epoch": epoch})

    how = {"rate": 3e-3, "optimizer": "adamw"} | how
    loader = batches_of((x, x), batch, seed, steps=steps, breaks_at=breaks_at)
    train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, **how)
    return log.last["val_recon_loss"]


PROGRAMS = {
    "pendulum": (pendulum, [{}, {"rate": 1e-3, "steps": 2600}, {"rate": 3e-3, "batch": 192, "gamma": 0.98}], {
        "rate too low": {"rate": 2e-5}, "rate too high": {"rate": 0.2}, "rate ten times too high": {"rate": 0.02},
        "actor with the wrong sign": {"actor_sign": -1.0}, "cost taken as a reward": {"reward_sign": -1.0},
        "no zero_grad": {"zero_grad": False}, "target never updated": {"tau": 0.0},
        "next state is the state": {"same_next": True}, "entropy target of the wrong sign": {"entropy": 1.0},
        "actor not in the optimizer": {"learns": "critics"}, "simulator stops": {"breaks_at": 0.4}}),
    "captions": (captions, [{}, {"rate": 1.5e-3, "batch": 64}, {"rate": 4e-3, "optimizer": "adam", "batch": 128}],
                 common_bugs(
        3e-3, few_examples={"examples": 120, "epochs": 120, "batch": 60}, pairs_mixed={"mixed": True},
        pictures_flipped={"flips": True}, temperature_of_a_hundred={"scale": 0.01, "learn_scale": False},
        only_the_text={"learns": "text"}, not_of_unit_length={"unit": False},
        bytes_in_validation={"eval_bytes": True}, other_tokens_in_validation={"renumbered": 1}, wrong_sign=None,
        dead_schedule=None, rate_too_high=None, rate_ten_times_too_high=None, rate_halved_each_batch=None)),
    "load": (load, [{}, {"rate": 2e-3, "batch": 40, "patience": 2}, {"rate": 8e-3, "schedule": "cosine", "epochs": 10}],
             common_bugs(
        4e-3, few_examples={"examples": 100, "epochs": 150, "batch": 25}, not_scaled={"scaled": False},
        aims_not_scaled={"units": False}, loss_broadcast={"broadcast": True}, targets_mixed={"mixed": True},
        validation_in_fahrenheit={"fahrenheit": True}, only_the_head={"learns": "head"}, wrong_sign=None,
        rate_halved_each_batch=None, rate_ten_times_too_high=None, dead_schedule=None)),
    "codes": (codes, [{}, {"rate": 2e-3, "batch": 48}, {"rate": 4e-3, "schedule": "cosine", "count": 64}], common_bugs(
        3e-3, few_examples={"examples": 40, "epochs": 400, "batch": 20}, not_straight_through={"straight": False},
        book_far_away={"spread": 50.0}, pixels_not_scaled={"top": 1.0}, bytes_in_validation={"eval_top": 1.0},
        commitment_of_a_hundred={"beta": 100.0}, wrong_sign=None, rate_ten_times_too_high=None,
        rate_halved_each_batch=None)),
}  # fmt: skip
"""Name → the program, its healthy settings, and its bugs."""
