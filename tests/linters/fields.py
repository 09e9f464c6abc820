"""Three small trainings: other digits by transfer, spoken commands, and a GAN of digits."""

import math

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from linters.learning import of_no_model, shuffled, sorted_by, split
from linters.loops import Means, batches_of, common_bugs, train_by_steps
from linters.rounds import Batches


def _digits(wanted, noise=0.0):
    """The digits that are wanted, as images from 0 to 16 in some noise, and which of them each is."""
    told = load_digits()
    image, sort = torch.tensor(told.images, dtype=torch.float32)[:, None], torch.tensor(told.target)
    kept = sum(sort == one for one in wanted) > 0
    image = image + noise * torch.randn(image.shape, generator=torch.Generator().manual_seed(2))
    return image[kept], sort[kept] - min(wanted)


def _body(width):
    return nn.Sequential(
        nn.Conv2d(1, width, 3, 1, 1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(width, 2 * width, 3, 1, 1), nn.BatchNorm2d(2 * width), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
    )  # fmt: skip


def transfer(log, seed, epochs=18, frozen=5, batch=12, rate=4e-3, width=24, dropout=0.25, examples=360, apart=5.0,
             noisy_labels=False, shuffle=True, twice=False, scaled=True, valid_scaled=True,
             other_order=False, optimizer="adam", schedule="one cycle", zero_grad=True, sign=1.0, learns="",
             breaks_at=None):  # fmt: skip
    """A CNN of the digits 0 to 4 is tuned to 5 to 9, frozen and then not: fastai's names, per batch and epoch."""
    rng = torch.Generator().manual_seed(seed)
    source, body = _digits(range(5), 4.0), _body(width)
    first = nn.Sequential(body, nn.Linear(8 * width, 5))
    maker, taken = torch.optim.Adam(first.parameters(), 3e-3), Batches(len(source[0]), 64, rng)
    for _ in range(80):
        at = taken.taken()
        maker.zero_grad()
        F.cross_entropy(first((source[0][at] - 5) / 6), source[1][at]).backward()
        maker.step()
    train, (vx, vy) = split(rng, *_digits(range(5, 10), 4.0), test=0.4, examples=examples)
    train[1] = shuffled(rng, train[1]) if noisy_labels else train[1]
    train = train if shuffle else sorted_by(train[1], *train)
    train[0] = (train[0] - 5) / 6 if scaled else train[0] * 16
    vx = (vx - 5) / 6 if scaled and valid_scaled else vx * 16
    vy = (vy + 2) % 5 if other_order else vy  # the folders of the classes are listed in another order
    head = nn.Sequential(nn.Dropout(dropout), nn.Linear(8 * width, 48), nn.ReLU(), nn.Dropout(dropout),
                         nn.Linear(48, 5))  # fmt: skip
    model = nn.Sequential(body, head)
    each, smooth, weight = math.ceil(len(train[0]) / batch), 0.0, 0.0
    steps = epochs * each
    loader = batches_of(train, batch, seed, steps=steps, shuffle=shuffle, breaks_at=breaks_at,
                        fails=lambda x, y: (torch.zeros_like(x), y))  # fmt: skip
    groups = [{"params": of_no_model() if learns else list(part.parameters())} for part in (body, head)]
    kinds = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}
    updates = kinds[optimizer](groups, lr=rate, **({"momentum": 0.9} if optimizer == "sgd" else {}))

    def loss_of(x, y):
        logits = model(x)
        return F.cross_entropy(logits.softmax(1) if twice else logits, y), (logits.argmax(1) == y).float().mean()

    for step in range(steps):
        model.train()
        thawed = step >= frozen * each
        body.requires_grad_(requires_grad=thawed)
        share = (step - frozen * each) / (steps - frozen * each) if thawed else step / (frozen * each)
        curve = 0.04 + 0.96 * share / 0.25 if share < 0.25 else math.cos(math.pi / 2 * (share - 0.25) / 0.75) ** 2
        curve = {"one cycle": curve, "": 1.0, "dies at a fifth": 1.0 if step < 0.1 * steps else 1e-5,
                 "dies": 0.5 ** (200 * step / steps)}[schedule]  # fmt: skip
        highest = (rate / 2 if thawed else rate) * curve
        rates = [highest / apart, highest]
        for group, now in zip(updates.param_groups, rates, strict=True):
            group["lr"] = now
        x, y = next(loader)
        loss, _ = loss_of(x, y)
        if zero_grad:
            model.zero_grad()
        (sign * loss).backward()
        updates.step()
        log.tick()
        smooth, weight = 0.98 * smooth + 0.02 * float(loss.detach()), 0.98 * weight + 0.02
        log.named(step + 1, {"train_loss": smooth / weight, "raw_loss": float(loss.detach())}
                  | {f"lr_{number}": now for number, now in enumerate(rates)})  # fmt: skip
        if (step + 1) % each == 0:
            model.eval()
            with torch.no_grad():
                held, right = loss_of(vx, vy)
            log.named(step + 1, {"valid_loss": held, "accuracy": right, "epoch": (step + 1) / each})
    return 1 - log.last["accuracy"]


_SAID = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2), (3, 1), (4, 2))


def _spoken(rng, count, bands=12):
    """Loudness in bands, by frames, of two to four commands of two sounds each; how many frames; and the commands."""
    sounds = 1.3 * torch.randn(5, bands, generator=torch.Generator().manual_seed(11))
    rows, lengths, told = torch.zeros(count, 44, bands), [], torch.zeros(count, 4, dtype=torch.long)
    for row in range(count):
        frames = []
        words = torch.randint(8, (int(torch.randint(2, 5, (1,), generator=rng)),), generator=rng)
        for word in words.tolist():
            for sound in _SAID[word]:
                frames += [sounds[sound]] * int(torch.randint(3, 6, (1,), generator=rng))
            frames += [torch.zeros(bands)]
        told[row, : len(words)] = words + 1
        speaker, loud = 0.5 * torch.randn(bands, generator=rng), 0.8 + 0.4 * torch.rand(1, generator=rng)
        said = loud * torch.stack(frames) + speaker
        rows[row, : len(said)] = said + 0.8 * torch.randn(said.shape, generator=rng)
        lengths.append(len(said))
    return 4 * rows - 30, torch.tensor(lengths), told


class _Listener(nn.Module):
    def __init__(self, width, dropout):
        super().__init__()
        self.gru, self.dropout = nn.GRU(12, width, batch_first=True, bidirectional=True), nn.Dropout(dropout)
        self.head = nn.Linear(2 * width, 9)

    def forward(self, x, lengths):
        packed = self.gru(pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False))[0]
        return F.log_softmax(self.head(self.dropout(pad_packed_sequence(packed, batch_first=True)[0])), 2)


def _edits(one, other):
    """How many words differ, by Levenshtein."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one):
        before, row[0] = row[0], i + 1
        for j, b in enumerate(other):
            before, row[j + 1] = row[j + 1], min(row[j + 1] + 1, row[j] + 1, before + (a != b))
    return row[-1]


def commands(log, seed, epochs=10, batch=32, examples=None, width=32, dropout=0.1, noisy_labels=False, scaled=True,
             valid_scaled=True, other_rate=False, blank=0, other_words=False, learns="", breaks_at=None,
             **how):  # fmt: skip
    """Spoken commands by a GRU and CTC: SpeechBrain-like names, the training's every ten batches, others by epochs."""
    rng = torch.Generator().manual_seed(seed)
    x, lengths, y = _spoken(rng, 1150)
    (x, lengths, y), (vx, vl, vy) = split(rng, x, lengths, y, test=150 / 1150, examples=examples)
    y = shuffled(rng, y) if noisy_labels else y
    x = (x + 30) / 6 if scaled else x * 10
    vx = (vx + 30) / 6 if scaled and valid_scaled else vx * 10 if not scaled else vx
    if other_rate:  # the validation's frames are 20 ms
        vx, vl = vx[:, ::2], (vl + 1) // 2
    vy = torch.where(vy > 0, vy % 8 + 1, vy) if other_words else vy
    model, means = _Listener(width, dropout), Means()
    each = math.ceil(len(x) / batch)
    steps = epochs * each

    def loss_of(model, x, lengths, y):
        logs = model(x, lengths)
        return F.ctc_loss(logs.transpose(0, 1), y, lengths, (y > 0).sum(1), blank=blank, zero_infinity=True), {}

    def on_step(step, loss, rate, norm, parts):
        means.put(loss=loss)
        if step % 10 == 0:
            log.named(step, {"train/loss": means.taken()["loss"], "train/lr": rate})
        if step % each == 0:
            wrong, said, whole = 0, 0, 0
            for row, length, words in zip(model(vx, vl).argmax(2), vl, vy, strict=True):
                heard = [word for word in torch.unique_consecutive(row[:length]).tolist() if word != blank]
                meant = words[words > 0].tolist()
                off = _edits(heard, meant)
                wrong, said, whole = wrong + off, said + len(meant), whole + (off == 0)
            held = float(loss_of(model, vx, vl, vy)[0])
            log.named(step, {"valid/loss": held, "valid/acc": whole / len(vx), "valid/wer": 100 * wrong / said})

    how = {"rate": 0.01, "clip": 5.0} | how
    learnt = {"": None, "nothing": of_no_model(), "head": list(model.head.parameters())}[learns]
    loader = batches_of((x, lengths, y), batch, seed, steps=steps, breaks_at=breaks_at,
                        fails=lambda x, lengths, y: (torch.zeros_like(x), lengths, y))  # fmt: skip
    train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=learnt, **how)
    return log.last["valid/wer"] / 100


class _Maker(nn.Module):
    def __init__(self, latent, width):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(latent, 8 * width), nn.BatchNorm1d(8 * width), nn.ReLU())
        self.then = nn.Sequential(
            nn.ConvTranspose2d(2 * width, width, 4, 2, 1), nn.BatchNorm2d(width), nn.ReLU(),
            nn.ConvTranspose2d(width, 1, 4, 2, 1), nn.Tanh(),
        )  # fmt: skip

    def forward(self, z):
        z = self.first(z)
        return self.then(z.view(len(z), -1, 2, 2))


def _judge(width):
    return nn.Sequential(
        nn.Conv2d(1, width, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(width, 2 * width, 4, 2, 1),
        nn.BatchNorm2d(2 * width), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(8 * width, 1), nn.Flatten(0),
    )  # fmt: skip


def _normal(module):
    if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d, nn.Linear)):
        nn.init.normal_(module.weight, 0, 0.05)


def _apart(one, other):
    """The Fréchet distance of two sets of rows, as normal distributions."""
    (a, s), (b, t) = ((rows.mean(0), np.cov(rows.T)) for rows in (one, other))
    both = np.sqrt(np.maximum(np.linalg.eigvals(s @ t).real, 0)).sum()
    return float(((a - b) ** 2).sum() + np.trace(s) + np.trace(t) - 2 * both)


def dcgan(log, seed, steps=810, batch=64, rate=1e-3, rate_of_judge=None, width=16, latent=16, beta=0.5, real=0.9,
          examples=None, scaled=True, one_noise=False, swapped=False, judge_learns=True, zero_grad=True, twice=False,
          schedule="", breaks_at=None):  # fmt: skip
    """Digits by a DCGAN: the names of PyTorch's tutorial every step, and a distance of features now and then."""
    rng = torch.Generator().manual_seed(seed)
    images, sort = _digits(range(10))
    images = images / 8 - 1
    eyes = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10))
    weights = torch.optim.Adam(eyes.parameters(), 0.01)
    for _ in range(100):
        weights.zero_grad()
        F.cross_entropy(eyes(images), sort).backward()
        weights.step()
    eyes, (data, held) = eyes[:3], (images[600:][:examples], images[:600])
    data = data if scaled else 8 * data + 8
    maker, judge = (net.apply(_normal) for net in (_Maker(latent, width), _judge(width)))
    rates = [rate, rate_of_judge or rate]
    learnt = [maker.parameters(), judge.parameters() if judge_learns else of_no_model()]
    updates = [torch.optim.Adam(one, now, betas=(beta, 0.999)) for one, now in zip(learnt, rates, strict=True)]
    taken, kept = Batches(len(data), batch, rng), torch.randn(600, latent, generator=rng)

    def lost(out, aim):
        return F.binary_cross_entropy_with_logits(out.sigmoid() if twice else out, torch.full_like(out, aim))

    for step in range(steps):
        share = step / steps
        factor = {"": 1.0, "linear": 1 - share, "dies at a fifth": 1.0 if share < 0.1 else 1e-5}[schedule]
        for update, one in zip(updates, rates, strict=True):
            update.param_groups[0]["lr"] = one * factor
        x = data[taken.taken()]
        x = torch.zeros_like(x) if breaks_at is not None and share >= breaks_at else x
        z = torch.zeros(len(x), latent) if one_noise else torch.randn(len(x), latent, generator=rng)
        fake = maker(z)
        if zero_grad:
            judge.zero_grad()
        true, false = judge(x), judge(fake.detach())
        loss_d = lost(true, 1 - real if swapped else real) + lost(false, 0.0)
        loss_d.backward()
        updates[1].step()
        if zero_grad:
            maker.zero_grad()
        again = judge(fake)
        loss_g = lost(again, 1.0)
        loss_g.backward()
        updates[0].step()
        log.tick()
        with torch.no_grad():
            log.named(step, {"Loss_D": loss_d, "Loss_G": loss_g, "D(x)": true.sigmoid().mean(),
                             "D(G(z))": again.sigmoid().mean()})  # fmt: skip
            if step % 90 == 89:
                maker.eval()
                made = maker(torch.zeros_like(kept) if one_noise else kept).nan_to_num()
                log.named(step, {"FID": 100 * _apart(eyes(made).double().numpy(), eyes(held).double().numpy())})
                maker.train()
    return log.last["FID"]


PROGRAMS = {
    "transfer": (transfer, [{}, {"rate": 2.5e-3, "batch": 16, "epochs": 20, "apart": 10.0},
                            {"optimizer": "adamw", "rate": 6e-3, "frozen": 3, "batch": 16}], {
        "rate too low": {"rate": 4e-5}, "rate too high": {"rate": 0.4}, "wrong sign": {"sign": -1.0},
        "dead schedule": {"schedule": "dies at a fifth"}, "no zero_grad": {"zero_grad": False},
        "valid not normalised": {"valid_scaled": False}, "classes in another order": {"other_order": True},
        "labels shuffled": {"noisy_labels": True}, "few examples": {"examples": 16, "epochs": 240, "frozen": 60},
        "loader breaks": {"breaks_at": 0.5}}),
    "commands": (commands, [{}, {"rate": 6e-3, "batch": 24, "schedule": "linear"},
                            {"optimizer": "adamw", "rate": 0.015, "batch": 40, "width": 40, "epochs": 11}], common_bugs(
        0.01, few_examples={"examples": 40, "epochs": 160, "batch": 20},
        valid_not_normalised={"valid_scaled": False}, other_frames_in_validation={"other_rate": True},
        dropout_too_high={"dropout": 0.97}, labels_shuffled={"noisy_labels": True},
        rate_ten_times_too_high=None, wrong_sign=None, rate_halved_each_batch=None)),
    "dcgan": (dcgan, [{}, {"rate": 5e-4, "steps": 990, "batch": 48}, {"rate": 2e-3, "schedule": "linear", "real": 1.0,
                                                                       "latent": 24}], {
        "rate too low": {"rate": 1e-5}, "rate too high": {"rate": 0.1}, "no zero_grad": {"zero_grad": False},
        "dead schedule": {"schedule": "dies at a fifth"}, "images from 0 to 16": {"scaled": False},
        "noise of zeros": {"one_noise": True}, "labels swapped": {"swapped": True},
        "judge not learning": {"judge_learns": False}, "judge too fast": {"rate": 1e-5, "rate_of_judge": 4e-3},
        "loader breaks": {"breaks_at": 0.5}}),
}  # fmt: skip
"""Name → the program, its healthy settings, and its bugs."""
