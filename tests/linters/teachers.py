"""Four small trainings: cluttered digits, heard chirps, a distilled student, and masked words."""

import copy
import math

import torch
from sklearn.datasets import load_digits, make_classification
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from linters.learning import of_no_model, shuffled, split
from linters.loops import Means, batches_of, train_by_steps, usual_bugs


def _cluttered(rng, side=10):
    """Digits somewhere on a larger canvas, with pieces of other digits and noise, in 0 to 255; and which they are."""
    data = load_digits()
    images, sorts = torch.tensor(data.images).float() / 16, torch.tensor(data.target)
    count = len(images)
    canvas, at = torch.zeros(count, side, side), torch.arange(count)[:, None, None]

    def places(size):
        row, column = torch.randint(side - size + 1, (2, count, 1), generator=rng) + torch.arange(size)
        return at, row[:, :, None], column[:, None]

    for _ in range(2):
        canvas[places(3)] = shuffled(rng, images)[:, 1:4, 2:5]
    here = places(8)
    canvas[here] = torch.maximum(canvas[here], images)
    canvas = canvas + 0.05 * torch.randn(canvas.shape, generator=rng)
    return 255 * canvas.clamp(0, 1)[:, None], sorts


def _augmented(x, rng, turn, erasing):
    """Images turned, zoomed and moved a little; of some of them a square is erased."""
    count, side = len(x), x.shape[-1]
    angle, zoom, right, down = (2 * torch.rand(count, 4, generator=rng) - 1).unbind(1)
    angle, zoom = math.radians(turn) * angle, 1 + 0.1 * zoom
    cos, sin = zoom * angle.cos(), zoom * angle.sin()
    rows = torch.stack([torch.stack([cos, -sin, 0.1 * right], 1), torch.stack([sin, cos, 0.1 * down], 1)], 1)
    x = F.grid_sample(x, F.affine_grid(rows, x.shape, align_corners=False), align_corners=False)
    low = torch.randint(side - 3, (2, count, 1), generator=rng)
    inside = (torch.arange(side) >= low) & (torch.arange(side) < low + 3)
    gone = inside[0][:, :, None] & inside[1][:, None] & (torch.rand(count, 1, 1, generator=rng) < erasing)
    return x.masked_fill(gone[:, None], 0.0)


def cluttered(log, seed, epochs=18, batch=64, examples=None, width=16, smoothing=0.1, turn=10.0, erasing=0.2, ema=0.95,
           ema_buffers=True, noisy_labels=False, eval_scale=1.0, eval_shift=0, learns="", breaks_at=None,
           **how):  # fmt: skip
    """Cluttered digits are told by convolutions: timm's summary of each epoch, with EMA weights."""
    rng = torch.Generator().manual_seed(seed)
    train, (tx, ty) = split(rng, *_cluttered(rng), examples=examples)
    mean, std = float(train[0].mean()), float(train[0].std())
    if noisy_labels:
        train[1] = shuffled(rng, train[1])
    ty = (ty + eval_shift) % 10
    model = nn.Sequential(
        nn.Conv2d(1, width, 3, 1, 1), nn.BatchNorm2d(width), nn.ReLU(),
        nn.Conv2d(width, 2 * width, 3, 2, 1), nn.BatchNorm2d(2 * width), nn.ReLU(),
        nn.Conv2d(2 * width, 4 * width, 3, 2, 1), nn.BatchNorm2d(4 * width), nn.ReLU(),
        nn.Flatten(), nn.Dropout(0.2), nn.Linear(36 * width, 10),
    )  # fmt: skip
    averaged = copy.deepcopy(model).eval()
    each = math.ceil(len(train[0]) / batch)
    steps, means = epochs * each, Means()

    def loss_of(model, x, y):
        x = _augmented((x - mean) / std, rng, turn, erasing)
        return F.cross_entropy(model(x), y, label_smoothing=smoothing), {}

    def on_step(step, loss, rate, norm, parts):
        now = model.state_dict() if ema_buffers else dict(model.named_parameters())
        for name, value in averaged.state_dict().items():
            if name in now:
                value.copy_(ema * value + (1 - ema) * now[name] if value.is_floating_point() else now[name])
        means.put(train_loss=loss, lr=rate)
        if step % each == 0:
            logits = averaged((eval_scale * tx - mean) / std)
            top = (logits.topk(5).indices == ty[:, None]).float()
            told = means.taken()
            seen = {"eval_loss": float(F.cross_entropy(logits, ty)), "eval_top1": 100 * float(top[:, 0].mean())}
            seen["eval_top5"] = 100 * float(top.sum(1).mean())
            log.named(step // each - 1, {"train_loss": told["train_loss"]} | seen | {"lr": told["lr"]})

    how = {"rate": 0.05, "optimizer": "sgd", "schedule": "warm-up and cosine"} | how
    learnt = {"": None, "nothing": of_no_model(), "head": list(model[-1].parameters())}[learns]
    loader = batches_of(train, batch, seed, steps=steps, breaks_at=breaks_at,
                        fails=lambda x, y: (torch.zeros_like(x), y))  # fmt: skip
    train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=learnt, **how)
    return 100 - log.last["eval_top1"]


def _recordings(rng, count, length=2048, hop=64):
    """Two seconds of noise, hum and falling chirps, in some of which there are rising ones; and where, by frames."""
    time = torch.arange(length) / 1024
    tone = 50 + 10 * torch.rand(count, 1, generator=rng)
    heard = torch.randn(count, length, generator=rng) + 0.6 * (2 * math.pi * tone * time).sin()
    frames = torch.zeros(count, length // hop + 1)
    middles = torch.arange(length // hop + 1) * hop / 1024
    for rising, chance in ((False, 0.6), (False, 0.4), (True, 0.55), (True, 0.25)):
        start, lasts, low, loud = (
            least + (most - least) * torch.rand(count, 1, generator=rng)
            for least, most in ((0.05, 1.5), (0.25, 0.45), (120, 200), (0.7, 1.5))
        )
        share = (time - start) / lasts
        there = (torch.rand(count, 1, generator=rng) < chance) & (share > 0) & (share < 1)
        sweep = (share if rising else 1 - share).clamp(0, 1)
        phase = 2 * math.pi * (low * time + (1 if rising else -1) * 90 * lasts * sweep.square())
        heard += loud * there * (math.pi * share).sin().abs() * (phase.sin() + 0.5 * (2 * phase).sin())
        if rising:
            shown = there.any(1, keepdim=True) & (middles > start) & (middles < start + lasts)
            frames = torch.maximum(frames, shown.float())
    return heard, frames


def _logs(heard):
    """The logs of a spectrogram: [recordings, frames, bands]."""
    power = torch.stft(heard, 128, 64, window=torch.hann_window(128), return_complex=True).abs().square()
    return (power + 1e-6).log().transpose(1, 2)


class _Hearing(nn.Module):
    def __init__(self, width, dropout):
        super().__init__()
        layers = []
        for ins, size, apart in ((65, 3, 1), (width, 5, 1), (width, 5, 2)):
            layers += [nn.Conv1d(ins, width, size, 1, (size - 1) * apart // 2, apart), nn.BatchNorm1d(width), nn.ReLU()]
            layers += [nn.Dropout(dropout)]
        self.front, self.head = nn.Sequential(*layers), nn.Conv1d(width, 1, 1)

    def forward(self, x):
        return self.head(self.front(x.transpose(1, 2)))[:, 0]


def chirps(log, seed, epochs=9, batch=32, examples=None, width=32, dropout=0.3, weight=4.0, focal=None, twice=False,
           late=0, noisy_labels=False, gain=1.0, by_clip=False, learns="", breaks_at=None, **how):  # fmt: skip
    """Rare rising chirps are heard by a TCN, frame by frame: Lightning's names, of every tenth step and each epoch."""
    rng = torch.Generator().manual_seed(seed)
    heard, frames = _recordings(rng, 2000)
    (tx, ty), (vx, vy) = split(rng, heard, frames, test=0.27, examples=examples)
    train, held = _logs(tx), _logs(vx * gain)
    mean, std = train.mean((0, 1)), train.std((0, 1))
    train = (train - mean) / std
    held = (held - (held.mean((1, 2), keepdim=True) if by_clip else mean)) / (1.0 if by_clip else std)
    ty = shuffled(rng, ty) if noisy_labels else ty.roll(late, 1)
    model, means = _Hearing(width, dropout), Means()
    each = math.ceil(len(train) / batch)
    steps = epochs * each

    def loss_of(model, x, y):
        logits = model(x)
        logits = logits.sigmoid() if twice else logits
        if focal is None:
            return F.binary_cross_entropy_with_logits(logits, y, pos_weight=torch.tensor(weight)), {}
        plain = F.binary_cross_entropy_with_logits(logits, y, reduction="none")
        sure, side = (-plain).exp(), torch.where(y > 0, focal, 1 - focal)
        return (side * (1 - sure).square() * plain).mean(), {}

    def metrics():
        score, y = model(held).flatten(), vy.flatten()
        guess = (score.sigmoid().sigmoid() if twice else score.sigmoid()) > 0.5
        hits = float((guess & (y > 0)).sum())
        precision, recall = hits / max(int(guess.sum()), 1), hits / float(y.sum())
        order = y[score.argsort(descending=True)]
        area = float((order.cumsum(0) / torch.arange(1, len(order) + 1) * order).sum() / y.sum())
        f1 = 2 * precision * recall / max(precision + recall, 1e-9)
        return {"val_precision": precision, "val_recall": recall, "val_f1": f1, "val_ap": area}

    def on_step(step, loss, rate, norm, parts):
        means.put(train_loss_epoch=loss)
        if step % 10 == 0:
            log.named(step - 1, {"train_loss_step": loss, "epoch": (step - 1) // each, "lr-AdamW": rate})
        if step % each == 0:
            log.named(step - 1, {"val_loss": float(loss_of(model, held, vy)[0])} | metrics() | means.taken())
            log.named(step - 1, {"epoch": step // each - 1})

    how = {"rate": 3e-3, "optimizer": "adamw", "schedule": "one cycle", "clip": 5.0} | how
    learnt = {"": None, "nothing": of_no_model(), "head": list(model.head.parameters())}[learns]
    loader = batches_of((train, ty), batch, seed, steps=steps, breaks_at=breaks_at,
                        fails=lambda x, y: (torch.full_like(x, -8.0), y))  # fmt: skip
    train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=learnt, **how)
    return 1 - log.last["val_f1"]


def _clusters():
    x, y = make_classification(4400, 20, n_informative=10, n_redundant=4, n_classes=8, n_clusters_per_class=2,
                               class_sep=1.6, flip_y=0.0, random_state=7)  # fmt: skip
    return torch.tensor(x).float(), torch.tensor(y)


def _taught(x, y, width, steps):
    """A teacher, trained on clean labels beforehand."""
    teacher = nn.Sequential(
        nn.Linear(20, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(0.3), nn.Linear(width, width),
        nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(0.3), nn.Linear(width, 8),
    )  # fmt: skip
    updates = torch.optim.Adam(teacher.parameters(), 3e-3)
    for (a, b), _ in zip(batches_of((x, y), 128, 1, steps=steps), range(steps), strict=False):
        updates.zero_grad()
        F.cross_entropy(teacher(a), b).backward()
        updates.step()
    return teacher.eval().requires_grad_(requires_grad=False)


def student(log, seed, epochs=24, batch=32, examples=900, width=32, alpha=0.8, heat=3.0, teacher_heat=None,
            taught=400, order=0, cached_apart=False, bare=False, scaled=True, learns="", **how):  # fmt: skip
    """A small network learns from a teacher and from labels a quarter of which are wrong: plain names."""
    rng = torch.Generator().manual_seed(seed)
    (x, y), (tx, ty) = split(rng, *_clusters(), test=0.3)
    mean, std = x.mean(0), x.std(0)
    teacher = _taught((x - mean) / std, y, 128, taught)
    x, y = x[:examples], y[:examples]
    wrong = torch.rand(len(y), generator=rng) < 0.25
    y = torch.where(wrong, torch.randint(8, y.shape, generator=rng), y)
    logits = teacher((x - mean) / std).roll(order, 1)
    logits = shuffled(rng, logits) if cached_apart else logits
    tx, x = ((rows - mean) / std if scaled else 40 * rows + 300 for rows in (tx, x))
    model = nn.Sequential(nn.Linear(20, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 8))
    each = math.ceil(len(x) / batch)
    steps, means = epochs * each, Means()

    def loss_of(model, x, y, told):
        guess = model(x)
        said = F.softmax(guess / heat, 1) if bare else F.log_softmax(guess / heat, 1)
        soft = F.kl_div(said, F.softmax(told / (teacher_heat or heat), 1), reduction="batchmean") * heat**2
        hard = F.cross_entropy(guess, y)
        right = (guess.argmax(1) == y).float().mean()
        return (1 - alpha) * hard + alpha * soft, {"hard": hard, "soft": soft, "right": right}

    def on_step(step, loss, rate, norm, parts):
        means.put(right=parts["right"])
        if step % 5 == 0:
            log.named(step, {"Loss/train": loss, "Loss/hard": parts["hard"], "Loss/soft": parts["soft"]})
        if step % each == 0:
            guess, told = model(tx), {"Accuracy/train": means.taken()["right"]}
            told["Accuracy/val"] = float((guess.argmax(1) == ty).float().mean())
            log.named(step, {"Loss/val": float(F.cross_entropy(guess, ty))} | told)

    how = {"rate": 5e-3} | how
    learnt = {"": None, "teacher": list(teacher.requires_grad_().parameters())}[learns]
    loader = batches_of((x, y, logits), batch, seed, steps=steps)
    train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=learnt, **how)
    return log.last["Loss/val"]


WORDS, TOPICS = 160, 6


def _documents(rng, count, length=24):
    """Documents of words: some by their topic, some after the word before, others anywhere; and their topics."""
    fixed = torch.Generator().manual_seed(5)
    themes = torch.randperm(120, generator=fixed).view(TOPICS, 20)
    after = torch.randperm(WORDS, generator=fixed)
    common = 1 / (1 + torch.arange(40).float())
    topic = torch.randint(TOPICS, (count,), generator=rng)
    rows = []
    for _ in range(length):
        told = themes[topic, torch.randint(20, (count,), generator=rng)]
        plain = 120 + torch.multinomial(common, count, replacement=True, generator=rng)
        word = torch.where(torch.rand(count, generator=rng) < 0.45, told, plain)
        if rows:
            word = torch.where(torch.rand(count, generator=rng) < 0.3, after[rows[-1]], word)
        rows.append(word)
    return torch.stack(rows, 1) + 1, topic


class _Encoder(nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS + 1, width), nn.Embedding(24, width)
        nn.init.normal_(self.words.weight, 0, 0.1)
        nn.init.normal_(self.places.weight, 0, 0.1)
        block = nn.TransformerEncoderLayer(width, 4, 2 * width, 0.0, "gelu", batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(block, layers, nn.LayerNorm(width), enable_nested_tensor=False)
        self.bias, self.head = nn.Parameter(torch.zeros(WORDS + 1)), nn.Linear(width, TOPICS)

    def forward(self, x, *, pooled):
        x = self.blocks(self.words(x) + self.places.weight)
        return self.head(x.mean(1)) if pooled else x @ self.words.weight.T + self.bias


def words(log, seed, epochs=7, batch=64, examples=None, width=40, layers=1, ratio=0.2, masked=True, everywhere=False,
          loaded=True, renumbered=False, labelled=32, rounds=30, tune_rate=2e-3, noisy_labels=False, learns="",
          breaks_at=None, **how):  # fmt: skip
    """Masked words are told, then topics with few labels: the HF Trainer's names, below a name for either training."""
    rng = torch.Generator().manual_seed(seed)
    (train, _), (held, _) = split(rng, *_documents(rng, 2800), test=0.1, examples=examples)
    model = _Encoder(width, layers)

    def masking(model, x):
        chosen = torch.rand(x.shape, generator=rng) < ratio
        shown = x.masked_fill(chosen & (torch.rand(x.shape, generator=rng) < 0.9), 0) if masked else x
        logits = model(shown, pooled=False)
        chosen = torch.ones_like(chosen) if everywhere else chosen
        return F.cross_entropy(logits[chosen], x[chosen]), {}

    def telling(model, x, y):
        logits = model(x, pooled=True)
        return F.cross_entropy(logits, y), {"accuracy": (logits.argmax(1) == y).float().mean()}

    def trained(name, columns, held, loss_of, epochs, batch, breaks_at, fails, **how):
        each, means = math.ceil(len(columns[0]) / batch), Means()
        steps, losses = epochs * each, []

        def on_step(step, loss, rate, norm, parts):
            means.put(loss=loss, grad_norm=norm)
            losses.append(loss)
            if step % 10 == 0:
                told = means.taken() | {"grad_norm": norm, "learning_rate": rate, "epoch": step / each}
                log.named(step, {f"{name}/train/{key}": value for key, value in told.items()})
            if step % each == 0 and (name == "mlm" or step // each % 2 == 0):
                loss, parts = loss_of(model, *held)
                told = {"loss": float(loss)} | {key: float(value) for key, value in parts.items()}
                told["runtime"] = 0.05 + 0.01 * float(torch.rand(()))
                told["samples_per_second"] = len(held[0]) / told["runtime"]
                log.named(step, {f"{name}/eval/{key}": value for key, value in told.items()})

        loader = batches_of(columns, batch, seed, steps=steps, breaks_at=breaks_at, fails=fails)
        train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, clip=1.0, **how)
        log.named(steps, {f"{name}/train/train_loss": sum(losses) / steps, f"{name}/train/train_runtime": steps / 20})

    how = {"rate": 5e-3, "schedule": "linear", "optimizer": "adamw"} | how
    learnt = of_no_model() if learns == "nothing" else None
    trained("mlm", [train], [held], masking, epochs, batch, breaks_at, lambda x: (torch.ones_like(x),), learnt=learnt,
            **how)  # fmt: skip
    if not loaded:  # a checkpoint whose keys did not match
        model = _Encoder(width, layers)
    x, y = _documents(rng, labelled + 500)
    x = 1 + torch.randperm(WORDS, generator=rng)[x - 1] if renumbered else x
    told = shuffled(rng, y[:labelled]) if noisy_labels else y[:labelled]
    learnt = {"": None, "nothing": of_no_model(), "head": list(model.head.parameters())}[learns]
    trained("cls", [x[:labelled], told], [x[labelled:], y[labelled:]], telling, rounds, 16, None, None, learnt=learnt,
            rate=tune_rate, schedule="linear", optimizer="adamw")  # fmt: skip
    return log.last["cls/eval/loss"]


PROGRAMS = {
    "cluttered": (cluttered, [{}, {"optimizer": "adamw", "rate": 4e-3, "batch": 48},
                        {"rate": 0.03, "schedule": "cosine", "smoothing": 0.05, "ema": 0.9}], usual_bugs(
        0.05, few_examples={"examples": 80, "epochs": 80, "batch": 20}, labels_shuffled={"noisy_labels": True},
        ema_too_slow={"ema": 0.9999}, ema_without_buffers={"ema_buffers": False}, wrong_sign=None,
        validation_in_zero_to_one={"eval_scale": 1 / 255}, validation_classes_from_one={"eval_shift": 1},
        rate_ten_times_too_high=None)),
    "chirps": (chirps, [{}, {"rate": 2e-3, "schedule": "", "weight": 2.5},
                        {"focal": 0.7, "rate": 4e-3, "schedule": "cosine", "batch": 24}], usual_bugs(
        3e-3, few_examples={"examples": 40, "epochs": 80, "batch": 10}, labels_shuffled={"noisy_labels": True},
        positive_weight_inverted={"weight": 1 / 4}, sigmoid_twice={"twice": True}, labels_late={"late": 6},
        only_the_head={"learns": "head"},
        validation_in_integers={"gain": 32768.0}, validation_scaled_by_clip={"by_clip": True}, rate_too_high=None,
        rate_ten_times_too_high=None, no_zero_grad=None, wrong_sign=None)),
    "student": (student, [{}, {"optimizer": "adamw", "rate": 8e-3, "schedule": "cosine", "heat": 2.0},
                          {"optimizer": "sgd", "rate": 0.03, "alpha": 0.7, "batch": 48}], usual_bugs(
        5e-3, few_examples={"examples": 60, "epochs": 200, "batch": 15}, teacher_untrained={"taught": 0},
        soft_targets_cached_apart={"cached_apart": True}, teacher_has_other_classes={"order": 1},
        divergence_of_probabilities={"bare": True}, teacher_too_hot={"teacher_heat": 20.0},
        parameters_of_the_teacher={"learns": "teacher"}, not_scaled={"scaled": False}, dead_schedule=None,
        rate_ten_times_too_high=None, wrong_sign=None, loader_breaks=None)),
    "words": (words, [{}, {"rate": 8e-3, "ratio": 0.25, "schedule": "warm-up and cosine"},
                      {"rate": 4e-3, "batch": 48, "labelled": 40}], usual_bugs(
        5e-3, loader_breaks={"breaks_at": 0.25}, few_documents={"examples": 50, "epochs": 90, "batch": 16},
        nothing_masked={"masked": False}, loss_of_all_words={"everywhere": True},
        checkpoint_not_loaded={"loaded": False},
        another_tokenizer={"renumbered": True}, tuning_rate_too_high={"tune_rate": 0.2},
        labels_shuffled={"noisy_labels": True}, wrong_parameters={"learns": "nothing"}, no_zero_grad=None,
        dead_schedule=None, rate_ten_times_too_high=None, wrong_sign=None)),
}  # fmt: skip
"""Name → the program, its healthy settings, and its bugs."""
