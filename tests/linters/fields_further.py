"""Three small trainings: a way through a maze by DQN, rare frauds, and digits by a vision transformer."""

import copy
import math

import torch
from sklearn.datasets import load_digits, make_classification
from sklearn.metrics import average_precision_score, roc_auc_score
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from linters.learning import of_no_model, shuffled, sorted_by, split, usual_bugs
from linters.loops import Means
from linters.rounds import Batches, looped

_MOVES = torch.tensor([[0, 1], [1, 0], [0, -1], [-1, 0]])


class _Rooms:
    """A walker on seven by seven squares, some of them pits, is to reach a goal within thirty moves."""

    def __init__(self, rng, side=7):
        self.rng, self.side = rng, side
        self.pits = torch.zeros(side, side, dtype=torch.bool)
        for pit in ((1, 1), (1, 4), (2, 5), (3, 2), (4, 4), (5, 1), (5, 5), (3, 6)):
            self.pits[pit] = True
        self.begin()

    def begin(self):
        free = (~self.pits).nonzero()
        self.at, self.goal = free[torch.randperm(len(free), generator=self.rng)[:2]]
        self.moves = 0
        return self.seen()

    def seen(self):
        around = self.at + _MOVES
        inside = ((around >= 0) & (around < self.side)).all(1)
        around = around.clamp(0, self.side - 1)
        pits = self.pits[around[:, 0], around[:, 1]] & inside
        way = (self.goal - self.at).float()
        return torch.cat([way / 3, way.sign(), self.at / 3 - 1, pits.float(), inside.float()])

    def moved(self, action):
        """What is seen then, the reward, whether it has ended, and whether its time was up."""
        self.moves += 1
        self.at = (self.at + _MOVES[action]).clamp(0, self.side - 1)
        fell, there = bool(self.pits[tuple(self.at)]), bool((self.at == self.goal).all())
        return self.seen(), 1.0 * there - 1.0 * fell - 0.03, fell or there, self.moves >= 30


@torch.no_grad()
def _walked(model, rng, scale, episodes=60):
    """The mean reward of a greedy walker."""
    rooms, total = _Rooms(rng), 0.0
    for _ in range(episodes):
        seen, ended, late = rooms.begin(), False, False
        while not (ended or late):
            seen, reward, ended, late = rooms.moved(int(model(scale * seen).argmax()))
            total += reward
    return total / episodes


def maze(log, seed, steps=8000, rate=1.5e-3, batch=64, width=64, gamma=0.95, begins=400, every=3, updates=1,
          syncs=200, capacity=20_000, fraction=0.4, last=0.05, clip=10.0, sign=1.0, reward_sign=1.0, scale=1.0,
          zero_grad=True, off_by_one=False, learns="", schedule="", breaks_at=None):  # fmt: skip
    """A way through rooms by DQN: Stable-Baselines3's names, every ten episodes."""
    rng = torch.Generator().manual_seed(seed)
    model = nn.Sequential(nn.Linear(14, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 4))
    target, world = copy.deepcopy(model), _Rooms(rng)
    learnt = of_no_model() if learns == "nothing" else target.parameters() if learns == "target" else model.parameters()
    optimizer = torch.optim.Adam(list(learnt), rate)
    seens, thens = torch.zeros(capacity, 14), torch.zeros(capacity, 14)
    acts, pays, ends = torch.zeros(capacity, dtype=torch.long), torch.zeros(capacity), torch.zeros(capacity)
    rewards, lengths, losses, seen, paid, before = [], [], [], world.begin(), 0.0, 0
    done = 0
    for step in range(steps):
        wild = max(last, 1 - (1 - last) * step / (fraction * steps))
        broken = breaks_at is not None and step >= breaks_at * steps
        look = scale * seen * (not broken)
        if step < begins or float(torch.rand(1, generator=rng)) < wild:
            action = int(torch.randint(4, (1,), generator=rng))
        else:
            with torch.no_grad():
                action = int(model(look).argmax())
        then, reward, ended, late = world.moved(action)
        reward, place = reward_sign * reward, step % capacity
        seens[place], thens[place], pays[place] = look, scale * then * (not broken), reward
        acts[place], ends[place] = before if off_by_one else action, float(ended)
        before, seen, paid = action, then, paid + reward
        log.tick(0.002)
        if ended or late:
            rewards, lengths = [*rewards, paid][-100:], [*lengths, world.moves][-100:]
            done, seen, paid = done + 1, world.begin(), 0.0
            if done % 10 == 0:
                told = {"rollout/ep_len_mean": sum(lengths) / len(lengths),
                        "rollout/ep_rew_mean": sum(rewards) / len(rewards), "rollout/exploration_rate": wild,
                        "time/fps": int((step + 1) / (log.time - 1_700_000_000.0))}  # fmt: skip
                if losses:
                    told |= {"train/loss": losses[-1], "train/learning_rate": optimizer.param_groups[0]["lr"],
                             "train/n_updates": len(losses)}  # fmt: skip
                log.named(step + 1, told)
        if step >= begins and step % every == 0:
            share = step / steps
            now = rate * {"": 1.0, "linear": 1 - share, "dies at a fifth": 1.0 if share < 0.15 else 1e-5}[schedule]
            optimizer.param_groups[0]["lr"] = now
            for _ in range(updates):
                at = torch.randint(min(step + 1, capacity), (batch,), generator=rng)
                with torch.no_grad():
                    aim = pays[at] + gamma * (1 - ends[at]) * target(thens[at]).amax(1)
                loss = F.smooth_l1_loss(model(seens[at]).gather(1, acts[at, None])[:, 0], aim)
                if zero_grad:
                    optimizer.zero_grad()
                (sign * loss).backward()
                nn.utils.clip_grad_norm_(model.parameters(), clip)
                optimizer.step()
                losses.append(float(loss.detach()))
                log.tick(0.004)
        if syncs and step % syncs == 0:
            target.load_state_dict(model.state_dict())
    return -_walked(model, torch.Generator().manual_seed(1), scale)


def _payments(seed, count=5000):
    """Payments in columns of many scales, of which some in a hundred are frauds."""
    x, y = make_classification(count, 16, n_informative=8, n_redundant=2, n_clusters_per_class=3, weights=[0.94],
                               flip_y=0.01, class_sep=1.3, random_state=seed)  # fmt: skip
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
    scales = torch.logspace(-2, 4, 16)[torch.randperm(16, generator=torch.Generator().manual_seed(7))]
    return x * scales + 3 * scales, y


def frauds(log, seed, epochs=25, batch=64, examples=None, width=48, dropout=0.2, weight=3.0, noisy_labels=False,
           shuffle=True, scaled=True, val_scaled=True, kept_of_rare=None, leak=False, moved=0, twice=False, learns="",
           breaks_at=None, **how):  # fmt: skip
    """Rare frauds by an MLP: log losses and areas under curves, each epoch, as boosters name them."""
    rng = torch.Generator().manual_seed(seed)
    (x, y), (vx, vy) = split(rng, *_payments(5), test=0.3, examples=examples)
    if kept_of_rare is not None:  # a filter drops most of the rare ones
        rare = (y > 0).nonzero()[:, 0][kept_of_rare:]
        left = torch.ones(len(y), dtype=torch.bool).index_fill(0, rare, value=False)
        x, y = x[left], y[left]
    middle, spread = x.mean(0), x.std(0)
    x, vx = ((x - middle) / spread if scaled else x), ((vx - middle) / spread if scaled and val_scaled else vx)
    if leak:  # a column was filled in after the fraud was known, and is empty elsewhere
        x[:, 15] = x[:, 15] * 0.2 + 4 * y
    y = shuffled(rng, y) if noisy_labels else y
    if not shuffle:
        x, y = sorted_by(y, x, y)
    vx = vx.roll(moved, 1)
    model = nn.Sequential(nn.Linear(16, width), nn.ReLU(), nn.Dropout(dropout), nn.Linear(width, width), nn.ReLU(),
                          nn.Dropout(dropout), nn.Linear(width, 1), nn.Flatten(0))  # fmt: skip
    each, sums = math.ceil(len(x) / batch), []
    taken = Batches(len(x), batch, rng, shuffle)
    steps = epochs * each

    def loss_of(step):
        at = taken.taken()
        rows = torch.randn_like(x[at]) if breaks_at is not None and step >= breaks_at * steps else x[at]
        logits = model(rows)
        plain = F.binary_cross_entropy_with_logits(logits.detach(), y[at])
        logits = logits.sigmoid() if twice else logits
        return F.binary_cross_entropy_with_logits(logits, y[at], pos_weight=torch.tensor(weight)), {"logloss": plain}

    learnt = {"": None, "nothing": of_no_model(), "first": list(model[0].parameters())}[learns]
    how = {"rate": 3e-3, "optimizer": "adamw", "decay": 0.01} | how
    for step, _, parts, _, _ in looped(model, loss_of, log, steps=steps, learnt=learnt, **how):
        sums.append(parts["logloss"])
        if step % each == 0:
            with torch.no_grad():
                logits = model(vx).nan_to_num()
            areas = {"val/auc": roc_auc_score(vy, logits), "val/pr_auc": average_precision_score(vy, logits)}
            held = F.binary_cross_entropy_with_logits(logits, vy)
            log.named(step // each, {"train/logloss": sum(sums[-each:]) / each, "val/logloss": held} | areas)
    return 1 - log.last["val/pr_auc"]


class _Vision(nn.Module):
    """Patches of two by two, tokens of places, and blocks that are normed before."""

    def __init__(self, width, depth, dropout):
        super().__init__()
        self.patches, self.places = nn.Linear(4, width), nn.Parameter(0.02 * torch.randn(16, width))
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 4, 2 * width, dropout, F.gelu, batch_first=True, norm_first=True)
            for _ in range(depth)
        )
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, x):
        x = x.view(-1, 4, 2, 4, 2).transpose(2, 3).reshape(-1, 16, 4)
        x = self.patches(x) + self.places
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(1))


def vision(log, seed, epochs=25, batch=64, examples=None, width=32, depth=2, dropout=0.05, smoothing=0.0, warm=4,
           period=1.0, noisy_labels=False, shuffle=True, test_scale=1.0, test_turned=False, train_scale=1.0,
           twice=False, learns="", breaks_at=None, **how):  # fmt: skip
    """Digits by a small vision transformer, with warm-up and a cosine: names as in timm and DeiT, by epochs."""
    rng = torch.Generator().manual_seed(seed)
    told = load_digits()
    images, sort = torch.tensor(told.images, dtype=torch.float32) / 8 - 1, torch.tensor(told.target)
    (x, y), (tx, ty) = split(rng, images, sort, examples=examples)
    y = shuffled(rng, y) if noisy_labels else y
    x, y = (x, y) if shuffle else sorted_by(y, x, y)
    x, tx = train_scale * x, train_scale * test_scale * (tx.transpose(1, 2) if test_turned else tx)
    model, taken, means = _Vision(width, depth, dropout), Batches(len(x), batch, rng, shuffle), Means()
    each, epoch = math.ceil(len(x) / batch), [0]
    steps = epochs * each

    def scores(x, y, smoothing=0.0):
        logits = model(x)
        top = logits.topk(5, 1).indices == y[:, None]
        loss = F.cross_entropy(logits.softmax(1) if twice else logits, y, label_smoothing=smoothing)
        return loss, {"acc1": 100 * top[:, 0].float().mean(), "acc5": 100 * top.any(1).float().mean()}

    def loss_of(step):
        at = taken.taken()
        broken = breaks_at is not None and step >= breaks_at * steps
        return scores(torch.ones_like(x[at]) if broken else x[at], y[at], smoothing)

    def factor():
        if epoch[0] < warm:
            return max(epoch[0], 0.1) / warm
        share = min((epoch[0] - warm) / (period * epochs - warm), 1.0)
        return max(0.5 * (1 + math.cos(math.pi * share)), 1e-3)

    learnt = {"": None, "nothing": of_no_model(), "head": list(model.head.parameters())}[learns]
    how = {"rate": 4e-3, "optimizer": "adamw", "decay": 0.05, "factor": factor} | how
    for step, loss, parts, rate, _ in looped(model, loss_of, log, steps=steps, learnt=learnt, **how):
        means.put(loss=loss, acc1=parts["acc1"])
        if step % each == 0:
            with torch.no_grad():
                held, right = scores(tx, ty)
            log.named(epoch[0], {f"train/{name}": value for name, value in means.taken().items()} | {"lr": rate})
            log.named(epoch[0], {"test/loss": held} | {f"test/{name}": value for name, value in right.items()})
            epoch[0] += 1
    return log.last["test/loss"]


PROGRAMS = {
    "maze": (maze, [{}, {"rate": 1e-3, "updates": 2, "gamma": 0.97, "every": 4},
                      {"rate": 2.5e-3, "batch": 96, "syncs": 150}], {
        "rate too low": {"rate": 1.5e-5}, "rate ten times too high": {"rate": 0.015},
        "dead schedule": {"schedule": "dies at a fifth"}, "reward with the wrong sign": {"reward_sign": -1.0},
        "target never updated": {"syncs": 0}, "actions one step late": {"off_by_one": True},
        "tiny replay buffer": {"capacity": 48}, "discount of one less gamma": {"gamma": 0.05},
        "observations of another scale": {"scale": 100.0}, "sensors break": {"breaks_at": 0.4}}),
    "frauds": (frauds, [{}, {"rate": 1.5e-3, "optimizer": "adam", "weight": 1.0, "batch": 48},
                        {"optimizer": "momentum", "rate": 0.05, "batch": 96, "schedule": "cosine"}], usual_bugs(
        3e-3, few_examples={"examples": 250, "epochs": 250}, not_scaled={"scaled": False},
        rare_ones_filtered={"kept_of_rare": 6}, leak={"leak": True}, columns_moved={"moved": 1},
        labels_shuffled={"noisy_labels": True}, rate_ten_times_too_high=None, no_zero_grad=None, wrong_sign=None)),
    "vision": (vision, [{}, {"rate": 2e-3, "smoothing": 0.05, "batch": 48, "epochs": 22},
                        {"rate": 6e-3, "warm": 6, "dropout": 0.0, "epochs": 30, "width": 24}], usual_bugs(
        4e-3, few_examples={"examples": 60, "epochs": 200, "batch": 20}, softmax_twice={"twice": True},
        warm_up_never_ends={"warm": 2000}, images_of_bytes_in_test={"test_scale": 128.0},
        dropout_too_high={"dropout": 0.9}, only_the_head={"learns": "head"},
        data_in_order={"shuffle": False}, dead_schedule=None, rate_ten_times_too_high=None, no_zero_grad=None)),
}  # fmt: skip
"""Name → the program, its healthy settings, and its bugs."""
