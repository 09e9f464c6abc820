"""Small networks, several of a kind side by side: a digits network, and a transformer that learns to add."""

import numpy as np

import optim
from optim.demo.sequential_digits import DATA

__all__ = ["digits", "transformer"]

DIGITS, UNITS = 100, 16
MODULUS, WIDTH, HIDDEN, SHARE = 7, 16, 32, 0.7
SMOOTHING = 0.1  # of labels: without it, a network that knows all labels is flat, and no rate is too high


def digits(seeds):
    """Three layers of tanh on 100 digits, for each seed others.

    Returns:
        Variables whose first axis is the network's; a callable of their values that returns the loss of each network,
        above its least possible one, and the gradients.
    """
    with np.load(DATA) as data:
        images, labels = data["images"].reshape(-1, 64) / 16.0, data["labels"]
    x, goals, weights = [], [], []
    for seed in seeds:
        random = np.random.default_rng(seed)
        chosen = random.choice(len(images), DIGITS, replace=False)
        x.append(images[chosen] - images[chosen].mean(axis=0))
        goals.append(_smoothed(labels[chosen], 10))
        first, second, third = (_matrix(random, *shape) for shape in ((64, UNITS), (UNITS, UNITS), (UNITS, 10)))
        weights.append([first, np.zeros((1, UNITS)), second, np.zeros((1, UNITS)), third])
    x, goals = np.stack(x), np.stack(goals)

    def gradients(values):
        first, bias, second, other_bias, third = values
        a = np.tanh(x @ first + bias)
        b = np.tanh(a @ second + other_bias)
        loss, error = _cross_entropy(b @ third, goals)
        to_b = error @ _t(third) * (1 - b * b)
        to_a = to_b @ _t(second) * (1 - a * a)
        found = [_t(x) @ to_a, to_a.sum(axis=1, keepdims=True), _t(a) @ to_b, to_b.sum(axis=1, keepdims=True)]
        return loss, [*found, _t(b) @ error]

    return _variables(weights), gradients


def transformer(seeds):
    """One block, attention of one head and a layer of ReLU, that adds two numbers modulo 7, from 70 % of all pairs.

    Returns:
        As `digits`.
    """
    pairs = np.array([(a, b) for a in range(MODULUS) for b in range(MODULUS)])
    ones, twos, goals, weights = [], [], [], []
    for seed in seeds:
        random = np.random.default_rng(seed)
        chosen = pairs[random.permutation(len(pairs))[: int(SHARE * len(pairs))]]
        ones.append(np.eye(MODULUS)[chosen[:, 0]])
        twos.append(np.eye(MODULUS)[chosen[:, 1]])
        goals.append(_smoothed(chosen.sum(axis=1) % MODULUS, MODULUS))
        inner = ((WIDTH, WIDTH),) * 4
        shapes = (*inner, (WIDTH, HIDDEN), (HIDDEN, WIDTH), (WIDTH, MODULUS))
        embedding, places = (0.5 * random.normal(size=(rows, WIDTH)) for rows in (MODULUS, 2))
        weights.append([embedding, places, *(_matrix(random, *shape) for shape in shapes)])
    ones, twos, goals = np.stack(ones), np.stack(twos), np.stack(goals)

    def gradients(values):
        embedding, places, to_query, to_key, to_value, out, up, down, read = values
        a, b = ones @ embedding + places[:, :1], twos @ embedding + places[:, 1:]  # the query comes from b
        query, keys, held = b @ to_query, (a @ to_key, b @ to_key), (a @ to_value, b @ to_value)
        scale = WIDTH**-0.5
        score = scale * (query * (keys[0] - keys[1])).sum(axis=-1, keepdims=True)
        share = 1 / (1 + np.exp(-score))  # of attention to a
        mixed = share * held[0] + (1 - share) * held[1]
        middle = b + mixed @ out
        units = np.maximum(middle @ up, 0)
        top = middle + units @ down
        loss, error = _cross_entropy(top @ read, goals)
        to_top = error @ _t(read)
        to_units = to_top @ _t(down) * (units > 0)
        to_middle = to_top + to_units @ _t(up)
        to_mixed = to_middle @ _t(out)
        to_held = share * to_mixed, (1 - share) * to_mixed
        along = (to_mixed * (held[0] - held[1])).sum(axis=-1, keepdims=True)
        to_score = scale * along * share * (1 - share)
        to_q, to_keys = to_score * (keys[0] - keys[1]), (to_score * query, -to_score * query)
        to_a = to_keys[0] @ _t(to_key) + to_held[0] @ _t(to_value)
        to_b = to_middle + to_q @ _t(to_query) + to_keys[1] @ _t(to_key) + to_held[1] @ _t(to_value)
        return loss, [
            _t(ones) @ to_a + _t(twos) @ to_b,
            np.concatenate([to_a.sum(axis=1, keepdims=True), to_b.sum(axis=1, keepdims=True)], axis=1),
            _t(b) @ to_q,
            _t(a) @ to_keys[0] + _t(b) @ to_keys[1],
            _t(a) @ to_held[0] + _t(b) @ to_held[1],
            _t(mixed) @ to_middle,
            _t(middle) @ to_units,
            _t(units) @ to_top,
            _t(top) @ error,
        ]

    return _variables(weights), gradients


def _t(matrices):
    return matrices.swapaxes(-1, -2)


def _matrix(random, rows, columns):
    return random.normal(size=(rows, columns)) / np.sqrt(rows)


def _smoothed(labels, classes):
    return np.eye(classes)[labels] * (1 - SMOOTHING) + SMOOTHING / classes


def _cross_entropy(scores, goals):
    """The loss of each network, above that of the goals themselves; and its gradient by the scores."""
    scores = scores - scores.max(axis=-1, keepdims=True)
    odds = np.exp(scores)
    total = odds.sum(axis=-1, keepdims=True)
    loss = (goals * (np.log(goals) - scores + np.log(total))).sum(axis=-1).mean(axis=-1)
    return loss, (odds / total - goals) / goals.shape[1]


def _variables(weights):
    return [
        optim.Variable(np.stack(of_each), name=f"w{k}", dtype=np.float64)
        for k, of_each in enumerate(zip(*weights, strict=True))
    ]
