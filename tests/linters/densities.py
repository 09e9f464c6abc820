"""Trainings of densities and in a house: numbers with deviations, pixels, and rooms."""

import math

import torch
from sklearn import datasets
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from linters.descents import descended, drawn
from linters.learning import mean_of, of_no_model, shuffled, usual_bugs


def uncertain(log, seed, epochs=28, batch=96, examples=None, width=32, noisy_labels=False, shuffle=True, units=1.0,
              missing_from=None, columns_moved=None, learns="", **how):  # fmt: skip
    """A mean and a deviation by one perceptron: a likelihood below zero, and how often an interval holds."""
    rng = torch.Generator().manual_seed(seed)
    inputs, aims = datasets.make_friedman1(3600, n_features=8, random_state=seed)
    x, y = (torch.tensor(part, dtype=torch.float32) for part in (inputs, aims))
    y = (y - y.mean()) / y.std()
    y = units * (y + (0.02 + 0.2 * x[:, 5] ** 2) * torch.randn(len(y), generator=rng))
    x = 2 * x - 1
    tx, ty, x, y = x[:600], y[:600], x[600:][:examples], y[600:][:examples]
    if noisy_labels:
        y = shuffled(rng, y)
    if not shuffle:
        order = y.argsort()
        x, y = x[order], y[order]
    if missing_from is not None:
        x = x.clone()
        x[int(missing_from * len(x)), 2] = math.nan
    body = nn.Sequential(nn.Linear(8, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
    model = nn.ModuleDict({"body": body, "mean": nn.Linear(width, 1), "deviation": nn.Linear(width, 1)})
    each = math.ceil(len(x) / batch)
    steps = epochs * each

    def guessed(x):
        seen = model["body"](x)
        raw = model["deviation"](seen)[:, 0]
        return model["mean"](seen)[:, 0], F.softplus(raw) + 1e-3

    def likelihood(x, y):
        mean, deviation = guessed(x)
        return (0.5 * ((y - mean) / deviation).square() + deviation.log()).mean(), mean, deviation

    def loss_of(x, y):
        loss, mean, deviation = likelihood(x, y)
        return loss, {"mse": (mean - y).square().mean().detach(), "sigma": deviation.mean().detach()}

    how = {"rate": 6e-3, "schedule": "cosine", "clip": 5.0} | how
    learnt = {"": None, "deviation": list(model["deviation"].parameters())}[learns]
    batches, rows = drawn((x, y), batch, rng, steps=steps, shuffle=shuffle), []
    for step, loss, parts, _, _ in descended(model, batches, loss_of, log, steps=steps, learnt=learnt, **how):
        rows.append({"nll": loss} | parts)
        if step % each == 0:
            epoch, seen = step // each, mean_of(rows)
            rows = []
            moved = columns_moved is not None and epoch >= columns_moved
            held, mean, deviation = likelihood(tx.roll(1, 1) if moved else tx, ty)
            inside = float(((ty - mean).abs() < 1.645 * deviation).float().mean())
            log.named(epoch, {"NLL/fit": seen["nll"], "RMSE/fit": math.sqrt(seen["mse"]), "sigma/fit": seen["sigma"]})
            log.named(epoch, {"NLL/holdout": float(held), "RMSE/holdout": float((mean - ty).square().mean().sqrt())})
            log.named(epoch, {"coverage90/holdout": inside})
    return log.last["NLL/holdout"]


class _Causal(nn.Conv2d):
    """A convolution of what is above and to the left; the first one does not see the pixel itself."""

    def __init__(self, before, after, size, sees):
        super().__init__(before, after, size, padding=size // 2)
        mask = torch.ones(size, size)
        mask[size // 2, size // 2 + sees :] = 0
        mask[size // 2 + 1 :] = 0
        self.register_buffer("mask", mask)

    def forward(self, x):
        return F.conv2d(x, self.weight * self.mask, self.bias, padding=self.padding)


def pixels(log, seed, epochs=12, batch=64, examples=None, width=16, sees=0, scale=1.0, inverted=False, learns="",
           breaks_at=None, **how):  # fmt: skip
    """Digits in black and white by a PixelCNN: bits of each pixel, every ten steps and of an evaluation."""
    rng = torch.Generator().manual_seed(seed)
    images = torch.tensor(datasets.load_digits().images, dtype=torch.float32)[:, None]
    images = shuffled(rng, (images > 7).float())
    test, train = images[:400], images[400:][:examples]
    model = nn.Sequential(
        _Causal(1, width, 5, sees), nn.ReLU(), _Causal(width, width, 3, 1), nn.ReLU(),
        _Causal(width, width, 3, 1), nn.ReLU(), nn.Conv2d(width, 1, 1),
    )  # fmt: skip
    each = math.ceil(len(train) / batch)
    steps = epochs * each

    def bits(x, aim, **kept):
        return F.binary_cross_entropy_with_logits(model(scale * x), aim, **kept) / math.log(2)

    def loss_of(x):
        return bits(x, x), {}

    def honest():
        """The bits when no pixel is there yet that is to be written."""
        total, shown = 0.0, 1 - test if inverted else test
        for place in range(64):
            before = (torch.arange(64) < place).float().view(1, 1, 8, 8)
            total += float(bits(shown * before, shown, reduction="none").flatten(1)[:, place].mean())
        return total / 64

    how = {"rate": 0.01, "schedule": "exponential"} | how
    learnt = {"": None, "nothing": of_no_model(), "last": list(model[-1].parameters())}[learns]
    batches = drawn((train,), batch, rng, steps=steps, breaks_at=breaks_at, broken=lambda x: (torch.zeros_like(x),))
    for step, loss, _, rate, norm in descended(model, batches, loss_of, log, steps=steps, learnt=learnt, **how):
        if step % 10 == 0:
            log.named(step, {"bpd/train": loss, "optimizer/learning_rate": rate, "optimizer/gradient_norm": norm})
        if step % (2 * each) == 0:
            shown = 1 - test if inverted else test
            log.named(step, {"bpd/test": float(bits(shown, shown))})
    with torch.no_grad():
        return honest()


class _Rooms:
    """Many rooms of five by five fields with a goal and a pit; one step costs a little, and 30 steps end it."""

    side = 5

    def __init__(self, count, rng):
        self.rng, self.count = rng, count
        self.places = torch.zeros(count, 3, dtype=torch.long)
        self.age, self.total = torch.zeros(count), torch.zeros(count)
        self.returns, self.lengths = [], []
        self._again(torch.ones(count, dtype=torch.bool))

    def _again(self, which):
        rows = torch.rand(int(which.sum()), self.side**2, generator=self.rng).argsort(1)[:, :3]
        self.places[which], self.age[which], self.total[which] = rows, 0.0, 0.0

    def seen(self):
        """How far below and to the right the goal and the pit are."""
        rows, columns = self.places // self.side, self.places % self.side
        apart = torch.cat([rows[:, 1:] - rows[:, :1], columns[:, 1:] - columns[:, :1]], 1)
        return F.one_hot(apart + self.side - 1, 2 * self.side - 1).float().flatten(1)

    def step(self, action):
        moves = torch.tensor([[-1, 0], [1, 0], [0, -1], [0, 1]])
        here = self.places[:, 0]
        after = (torch.stack([here // self.side, here % self.side], 1) + moves[action]).clamp(0, self.side - 1)
        self.places[:, 0] = after[:, 0] * self.side + after[:, 1]
        won, fell = self.places[:, 0] == self.places[:, 1], self.places[:, 0] == self.places[:, 2]
        reward = won.float() - fell.float() - 0.02
        self.age += 1
        self.total += reward
        done = won | fell | (self.age >= 30)
        self.returns += self.total[done].tolist()
        self.lengths += self.age[done].tolist()
        self._again(done)
        return reward, done.float()


def rooms(log, seed, updates=300, rate=3e-3, bonus=0.01, gamma=0.95, trace=0.9, horizon=8, count=32, width=64,
          told_sign=1.0, sign=1.0, reward_scale=1.0, lie=False, ends=True, blind_from=None, frozen=False):  # fmt: skip
    """An actor and critic that finds a goal: RLlib's names, a row of them every five updates."""
    rng = torch.Generator().manual_seed(seed)
    env = _Rooms(count, rng)
    model = nn.ModuleDict({
        "body": nn.Sequential(nn.Linear(36, width), nn.ReLU()), "actor": nn.Linear(width, 4),
        "critic": nn.Linear(width, 1),
    })  # fmt: skip
    optimizer = torch.optim.Adam(of_no_model() if frozen else model.parameters(), rate)

    def thought(seen):
        seen = model["body"](seen)
        return F.log_softmax(model["actor"](seen), -1), model["critic"](seen)[..., 0]

    for update in range(updates):
        rows, blind = [], blind_from is not None and update >= blind_from * updates
        for _ in range(horizon):
            seen = env.seen() * (0.0 if blind else 1.0)
            with torch.no_grad():
                chance, value = thought(seen)
            action = torch.multinomial(chance.exp(), 1, generator=rng)[:, 0]
            reward, done = env.step(action)
            reward = torch.randn(count, generator=rng) if lie else told_sign * reward_scale * reward
            rows.append((seen, action, reward, done if ends else torch.zeros_like(done), value))
        seen, action, reward, done, value = (torch.stack(column) for column in zip(*rows, strict=True))
        with torch.no_grad():
            after = thought(env.seen() * (0.0 if blind else 1.0))[1]
        gained, advantage = torch.zeros(count), torch.zeros_like(reward)
        for t in reversed(range(horizon)):
            surprise = reward[t] + gamma * (1 - done[t]) * after - value[t]
            gained = surprise + gamma * trace * (1 - done[t]) * gained
            advantage[t], after = gained, value[t]
        aims = advantage + value
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        log_p, guess = thought(seen)
        policy_loss = -(log_p.gather(2, action[..., None])[..., 0] * advantage).mean()
        value_loss = F.mse_loss(guess, aims)
        entropy = -(log_p.exp() * log_p).sum(2).mean()
        optimizer.zero_grad()
        (sign * (policy_loss + 0.5 * value_loss - bonus * entropy)).backward()
        norm = float(nn.utils.clip_grad_norm_(model.parameters(), 0.5))
        optimizer.step()
        log.tick(0.1)
        if update % 5 == 4:
            step, last, lasted = (update + 1) * horizon * count, env.returns[-100:], env.lengths[-100:]
            told = {"episode_reward_mean": sum(last) / len(last), "episode_reward_max": max(last)}
            told |= {"episode_reward_min": min(last), "episode_len_mean": sum(lasted) / len(lasted)}
            log.named(step, {f"ray/tune/{name}": value for name, value in told.items()})
            explained = 1 - (aims - value).var() / aims.var().clamp(min=1e-8)
            told = {"cur_lr": rate, "policy_loss": policy_loss, "vf_loss": value_loss, "entropy": entropy}
            told |= {"grad_gnorm": norm, "vf_explained_var": explained}
            start = "ray/tune/info/learner/default_policy/learner_stats"
            log.named(step, {f"{start}/{name}": float(torch.as_tensor(value).detach()) for name, value in told.items()})
    return -sum(env.returns[-300:]) / len(env.returns[-300:])


PROGRAMS = {
    "uncertain": (
        uncertain,
        [
            {},
            {"rate": 3e-3, "batch": 64, "schedule": "", "epochs": 26},
            {"rate": 0.01, "schedule": "one cycle", "width": 24},
        ],
        usual_bugs(
            6e-3,
            few_examples={"examples": 60, "epochs": 350, "batch": 20},
            labels_shuffled={"noisy_labels": True},
            aims_not_scaled={"units": 1000.0},
            missing_value={"missing_from": 0.6},
            holdout_columns_moved={"columns_moved": 12},
            data_in_order={"shuffle": False},
            only_the_deviation={"learns": "deviation"},
            wrong_parameters=None,
            rate_ten_times_too_high=None,
            no_zero_grad=None,
            loader_breaks=None,
        ),
    ),
    "pixels": (
        pixels,
        [{}, {"rate": 5e-3, "batch": 48, "schedule": ""}, {"rate": 8e-3, "schedule": "cosine", "epochs": 14}],
        usual_bugs(
            0.01,
            few_examples={"examples": 30, "epochs": 300, "batch": 30},
            sees_itself={"sees": 1},
            no_scaling={"scale": 255.0},
            test_images_inverted={"inverted": True},
            only_the_last_layer={"learns": "last"},
            wrong_parameters={"learns": "nothing"},
            wrong_sign=None,
            dead_schedule=None,
        ),
    ),
    "rooms": (
        rooms,
        [{}, {"rate": 2e-3, "gamma": 0.97, "count": 40}, {"rate": 4e-3, "trace": 1.0, "horizon": 10}],
        {
            "rate too low": {"rate": 3e-5},
            "rate too high": {"rate": 0.3},
            "wrong sign": {"sign": -1.0},
            "rewards with the wrong sign": {"told_sign": -1.0},
            "rewards of noise": {"lie": True},
            "rewards too large": {"reward_scale": 1000.0},
            "entropy alone": {"bonus": 5.0},
            "no discount left": {"gamma": 0.0},
            "ends forgotten": {"ends": False},
            "observations break": {"blind_from": 0.5},
            "wrong parameters": {"frozen": True},
        },
    ),
}
