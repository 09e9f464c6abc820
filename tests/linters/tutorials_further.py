"""Three more small trainings as in tutorials: a pole by PPO, masks of cells, and prices with early stopping."""

import copy
import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from linters.learning import shuffled, split
from linters.loops import Means, batches_of, common_bugs, train_by_steps
from linters.rounds import Batches, looped


class _Poles:
    """Poles on carts, which start anew when they fall or after 200 steps."""

    def __init__(self, count, seed):
        self.rng = np.random.default_rng(seed)
        self.state, self.age = self.rng.uniform(-0.05, 0.05, (count, 4)), np.zeros(count)

    def step(self, action):
        _, speed, angle, turn = self.state.T
        sin, cos = np.sin(angle), np.cos(angle)
        push = (np.where(action == 1, 10.0, -10.0) + 0.05 * turn**2 * sin) / 1.1
        turning = (9.8 * sin - cos * push) / (0.5 * (4 / 3 - 0.1 * cos**2 / 1.1))
        moving = push - 0.05 * turning * cos / 1.1
        self.state = self.state + 0.02 * np.stack([speed, moving, turn, turning], 1)
        self.age += 1
        done = (abs(self.state[:, 0]) > 2.4) | (abs(self.state[:, 2]) > 0.2095) | (self.age >= 200)
        lasted = self.age.copy()
        self.state[done] = self.rng.uniform(-0.05, 0.05, (int(done.sum()), 4))
        self.age[done] = 0
        return done, lasted


class _Agent(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.critic, self.actor = (nn.Sequential(self._layer(4, width), nn.Tanh(), self._layer(width, width), nn.Tanh(),
                                                 self._layer(width, out, gain))
                                   for out, gain in ((1, 1.0), (2, 0.01)))  # fmt: skip

    @staticmethod
    def _layer(inputs, outputs, gain=2**0.5):
        layer = nn.Linear(inputs, outputs)
        nn.init.orthogonal_(layer.weight, gain)
        nn.init.zeros_(layer.bias)
        return layer

    def forward(self, x):
        return self.actor(x).log_softmax(1), self.critic(x)[:, 0]


def _estimated(reward, value, done, last, gamma, lam):
    """Generalised advantages, where an episode's end cuts them."""
    gains, gain, after = torch.zeros_like(reward), 0.0, last
    for at in reversed(range(len(reward))):
        gain = reward[at] + gamma * after * ~done[at] - value[at] + gamma * lam * ~done[at] * gain
        gains[at], after = gain, value[at]
    return gains


def cartpole(log, seed, updates=75, envs=16, length=32, rate=1.5e-3, gamma=0.99, lam=0.95, clip=0.2, ent_coef=0.01,
             vf_coef=0.5, passes=4, max_norm=0.5, sign=1.0, reward_sign=1.0, zero_grad=True, mixed=False, ends=True,
             frozen_at=None, only_critic=False):  # fmt: skip
    """A pole on a cart by PPO: CleanRL's names, returns of episodes as they end, losses of each update."""
    rng = torch.Generator().manual_seed(seed)
    agent, poles = _Agent(), _Poles(envs, seed)
    learnt = agent.critic.parameters() if only_critic else agent.parameters()
    optimizer, total = torch.optim.Adam(learnt, rate, eps=1e-5), 0
    seen = torch.tensor(poles.state).float()
    for update in range(updates):
        now = rate * (1 - update / updates)
        optimizer.param_groups[0]["lr"] = now
        rows = []
        for _ in range(length):
            with torch.no_grad():
                logs, value = agent(seen)
            action = torch.multinomial(logs.exp(), 1, generator=rng)
            done, lasted = poles.step(action[:, 0].numpy())
            total += envs
            log.tick(0.01)
            for at in done.nonzero()[0][:1]:
                log.named(total, {"charts/episodic_return": lasted[at], "charts/episodic_length": lasted[at]})
            rows.append((seen, action, logs.gather(1, action)[:, 0], value, torch.tensor(done)))
            if frozen_at is None or update < frozen_at * updates:  # else what is seen is not renewed
                seen = torch.tensor(poles.state).float()
        x, action, old, value, done = (torch.stack(column) for column in zip(*rows, strict=True))
        with torch.no_grad():
            reward = torch.full_like(value, reward_sign)
            cuts = done if ends else torch.zeros_like(done)
            gains = _estimated(reward, value, cuts, agent(seen)[1], gamma, lam)
        x, action, old, gains, value = (part.flatten(0, 1) for part in (x, action, old, gains, value))
        goal = gains + value
        action = shuffled(rng, action) if mixed else action
        told, clipped = {}, []
        for _ in range(passes):
            for at in torch.randperm(len(x), generator=rng).split(len(x) // 4):
                logs, guess = agent(x[at])
                apart = logs.gather(1, action[at])[:, 0] - old[at]
                ratio = apart.exp()
                gain = (gains[at] - gains[at].mean()) / (gains[at].std() + 1e-8)
                policy = torch.maximum(-gain * ratio, -gain * ratio.clamp(1 - clip, 1 + clip)).mean()
                error = 0.5 * (guess - goal[at]).square().mean()
                entropy = -(logs.exp() * logs).sum(1).mean()
                loss = sign * policy - ent_coef * entropy + vf_coef * error
                if zero_grad:
                    optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), max_norm)
                optimizer.step()
                clipped.append(float(((ratio.detach() - 1).abs() > clip).float().mean()))
                told = {"value_loss": error, "policy_loss": policy, "entropy": entropy, "old_approx_kl": -apart.mean(),
                        "approx_kl": (ratio - 1 - apart).mean()}  # fmt: skip
        told = {f"losses/{name}": float(one.detach()) for name, one in told.items()}
        explained = 1 - float((goal - value).var() / goal.var().clamp(min=1e-12))
        log.named(total, {"charts/learning_rate": now} | told)
        log.named(total, {"losses/clipfrac": sum(clipped) / len(clipped), "losses/explained_variance": explained})
    return -_lasting(agent, rng)


@torch.no_grad()
def _lasting(agent, rng, count=64):
    """How many steps a pole stands, in the mean of new ones."""
    poles, up, lasted = _Poles(count, 1), np.ones(count, bool), np.zeros(count)
    for _ in range(200):
        logs, _ = agent(torch.tensor(poles.state).float())
        done, age = poles.step(torch.multinomial(logs.exp().nan_to_num(0.5), 1, generator=rng)[:, 0].numpy())
        lasted[up] = age[up]
        up &= ~done
    return float(lasted.mean())


def _cells(rng, count, side=24):
    """Microscopy: two or three bright cells, of any shape of an ellipse, on a ground with shades; and their masks."""
    place = torch.arange(side) + 0.5
    mask = torch.zeros(count, side, side)
    for turn in range(3):
        centre = 3 + (side - 6) * torch.rand(count, 2, generator=rng)
        half = 2 + 3 * torch.rand(count, 2, generator=rng)
        down = (place - centre[:, :1])[:, :, None] / half[:, :1, None]
        right = (place - centre[:, 1:])[:, None] / half[:, 1:, None]
        there = (turn < 2) | (torch.rand(count, generator=rng) < 0.5)
        mask = torch.maximum(mask, (down.square() + right.square() < 1) * there[:, None, None])
    slope = torch.randn(count, 2, generator=rng) * 0.02
    shade = slope[:, :1, None] * place[:, None] + slope[:, 1:, None] * place
    stains = F.avg_pool2d(torch.randn(count, side + 4, side + 4, generator=rng), 5, 1) * 0.8
    light = 0.25 + 0.2 * torch.rand(count, 1, 1, generator=rng)
    image = 0.35 + shade + stains * 0.4 + light * mask + 0.15 * torch.randn(mask.shape, generator=rng)
    return image.clamp(0, 1)[:, None], mask[:, None].float()


class _UNet(nn.Module):
    def __init__(self, width, dropout):
        super().__init__()
        self.first, self.second = self._convolved(1, width), self._convolved(width, 2 * width)
        self.low, self.third = self._convolved(2 * width, 2 * width), self._convolved(4 * width, width)
        self.fourth, self.head = self._convolved(2 * width, width), nn.Conv2d(width, 1, 1)
        self.dropout = nn.Dropout2d(dropout)

    @staticmethod
    def _convolved(inputs, outputs):
        return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU())

    def forward(self, x):
        high = self.first(x)
        middle = self.second(F.max_pool2d(high, 2))
        low = self.dropout(self.low(F.max_pool2d(middle, 2)))
        x = self.third(torch.cat([middle, F.interpolate(low, scale_factor=2)], 1))
        return self.head(self.dropout(self.fourth(torch.cat([high, F.interpolate(x, scale_factor=2)], 1))))


def cells(log, seed, epochs=10, batch=16, examples=None, width=8, dropout=0.0, noisy_masks=False, turned=False,
          val_scale=1.0, sigmoid=False, mask_scale=1.0, **how):  # fmt: skip
    """Masks of cells by a U-Net: Lightning's names, the loss of a step every 10 steps and others each epoch."""
    rng = torch.Generator().manual_seed(seed)
    train, (tx, ty) = split(rng, *_cells(rng, 720), examples=examples)
    train[0], tx = (train[0] - 0.45) / 0.25, (val_scale * tx - 0.45) / 0.25
    if noisy_masks:
        train[1] = shuffled(rng, train[1])
    if turned:  # images are flipped, and their masks are not
        train[0] = torch.where(torch.rand(len(train[0]), 1, 1, 1, generator=rng) < 0.5, train[0].flip(3), train[0])
    train[1], ty = mask_scale * train[1], mask_scale * ty
    model, means = _UNet(width, dropout), Means()
    each = math.ceil(len(train[0]) / batch)
    steps = epochs * each

    def loss_of(model, x, y):
        out = model(x)
        out = out.sigmoid() if sigmoid else out
        return F.binary_cross_entropy_with_logits(out, y), {}

    def told():
        out = model(tx).sigmoid()
        guess, true = ((out.sigmoid() if sigmoid else out) > 0.5).float(), (ty > 0).float()
        both, either = (guess * true).sum((1, 2, 3)), (guess + true).clamp(max=1).sum((1, 2, 3))
        iou, dice = both / (either + 1e-6), 2 * both / (guess.sum((1, 2, 3)) + true.sum((1, 2, 3)) + 1e-6)
        return {"val_loss": float(loss_of(model, tx, ty)[0]), "val_iou": iou.mean(), "val_dice": dice.mean()}

    def on_step(step, loss, rate, norm, parts):
        means.put(train_loss_epoch=loss)
        epoch = (step - 1) // each
        if step % 10 == 0:
            log.named(step - 1, {"lr-Adam": rate, "train_loss_step": loss, "epoch": epoch})
        if step % each == 0:
            log.named(step - 1, told() | {"epoch": epoch} | means.taken())

    how = {"rate": 5e-3} | how
    loader = batches_of(train, batch, seed, steps=steps)
    train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, **how)
    return 1 - log.last["val_iou"]


def _houses(rng, count):
    """Districts: income, age, rooms, bedrooms, people, persons a house, latitude, longitude; and the price."""
    noise, even = torch.randn(count, 6, generator=rng), torch.rand(count, 3, generator=rng)
    income = (1.25 + 0.45 * noise[:, 0]).exp()
    age, lat, long = 1 + 50 * even[:, 0], 32.5 + 9 * even[:, 1], -124 + 10 * even[:, 2]
    rooms = 3 + 0.5 * income + 0.6 * noise[:, 1].abs()
    bedrooms, people = 1 + 0.1 * noise[:, 2].abs(), (7 + 0.7 * noise[:, 3]).exp()
    persons = 2 + noise[:, 4].abs()
    coast = (long + 121 + 0.7 * (lat - 37)).abs()
    bay, angels = ((lat - at).square() + (long - to).square() for at, to in ((37.7, -122.3), (34.0, -118.2)))
    near = 0.9 * torch.exp(-bay / 2) + 0.8 * torch.exp(-angels / 2) + 0.5 * torch.exp(-coast)
    price = 0.3 * income * (0.7 + near) + 0.8 * near + 0.006 * age - 0.12 * (persons - 2) + 0.04 * rooms
    price = (price * (1 + 0.12 * noise[:, 5])).clamp(0.15, 5.0)
    return torch.stack([income, age, rooms, bedrooms, people, persons, lat, long], 1), price


def housing(log, seed, epochs=40, patience=5, batch=32, examples=None, width=48, noisy_labels=False, scaled=True,
            val_scaled=True, column=False, leak=False, plateau=False, **how):  # fmt: skip
    """Prices of houses by a small network with early stopping: the loss of both parts and R2, each epoch."""
    rng = torch.Generator().manual_seed(seed)
    x, price = _houses(rng, 2600)
    x = torch.cat([x, price[:, None] * leak], 1)
    (x, y), (other, others) = split(rng, x, price, test=0.4)
    middle, spread = x.mean(0), x.std(0) + 1e-6
    (x, y), half = (x[:examples], y[:examples]), len(other) // 2
    other = torch.cat([other[:, :-1], leak * other[:, -1:] * (torch.arange(len(other)) < half)[:, None]], 1)
    x, other = ((one - middle) / spread if scaled and held else one for one, held in ((x, True), (other, val_scaled)))
    vx, vy, tx, ty = other[:half], others[:half], other[half:], others[half:]
    y = shuffled(rng, y) if noisy_labels else y
    model = nn.Sequential(nn.Linear(9, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))
    each = math.ceil(len(x) / batch)
    batches, means, stale, factor = Batches(len(x), batch, rng), Means(), 0, 1.0
    best, kept = math.inf, copy.deepcopy(model.state_dict())

    def error(x, y):
        guess = model(x)
        return (guess - y).square().mean() if column else F.mse_loss(guess[:, 0], y)

    def loss_of(step):
        at = batches.taken()
        return error(x[at], y[at]), {}

    def fits(x, y):
        return 1 - float((model(x)[:, 0] - y).square().mean() / y.var())

    how = {"rate": 6e-3} | how
    for step, loss, _, _, _ in looped(model, loss_of, log, steps=epochs * each, factor=lambda: factor, **how):  # noqa: B023 - of now
        means.put(loss=loss)
        if step % each == 0:
            with torch.no_grad():
                held, r2 = float(error(vx, vy)), fits(vx, vy)
            log.named(step // each, {"Loss/train": means.taken()["loss"], "Loss/val": held, "R2/val": r2})
            stale = 0 if held < best else stale + 1
            if held < best:
                best, kept = held, copy.deepcopy(model.state_dict())
            if plateau and stale and stale % 3 == 0:
                factor *= 0.5
            if stale >= patience:
                break
    model.load_state_dict(kept)
    with torch.no_grad():
        return 1 - fits(tx, ty)


PROGRAMS = {
    "cartpole": (cartpole, [{}, {"rate": 1.2e-3, "passes": 5}, {"rate": 2e-3, "envs": 24, "updates": 60}], {
        "rate too low": {"rate": 1.5e-5}, "rate too high": {"rate": 0.15}, "rate ten times too high": {"rate": 0.015},
        "wrong sign": {"sign": -1.0}, "reward with the wrong sign": {"reward_sign": -1.0},
        "actions mixed up": {"mixed": True}, "too much entropy": {"ent_coef": 1.0},
        "no zero_grad": {"zero_grad": False}, "ends ignored": {"ends": False}, "observations hang": {"frozen_at": 0.4},
        "only the critic": {"only_critic": True}}),
    "cells": (cells, [{}, {"rate": 3e-3, "batch": 12}, {"rate": 8e-3, "schedule": "cosine", "width": 10}], common_bugs(
        5e-3, few_examples={"examples": 12, "epochs": 150, "batch": 6}, masks_not_flipped={"turned": True},
        bytes_in_validation={"val_scale": 255.0}, sigmoid_twice={"sigmoid": True}, masks_mixed_up={"noisy_masks": True},
        masks_of_bytes={"mask_scale": 255.0}, dropout_far_too_high={"dropout": 0.95}, loader_breaks=None,
        wrong_sign=None, rate_ten_times_too_high=None, rate_halved_each_batch=None, dead_schedule=None)),
    "housing": (housing, [{}, {"rate": 0.01, "batch": 48, "plateau": True},
                          {"optimizer": "adamw", "rate": 3e-3, "decay": 0.01, "batch": 24}], common_bugs(
        6e-3, few_examples={"examples": 60, "batch": 16}, not_scaled={"scaled": False},
        validation_not_scaled={"val_scaled": False}, column_against_row={"column": True}, price_leaks={"leak": True},
        labels_shuffled={"noisy_labels": True}, impatient={"patience": 1, "rate": 0.02},
        rate_ten_times_too_high=None, rate_halved_each_batch=None, wrong_sign=None, loader_breaks=None,
        dead_schedule=None)),
}  # fmt: skip
"""Name → the program, its healthy settings, and its bugs."""
