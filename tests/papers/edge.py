"""The edge of stability: Cohen et al. 2021 and 2022."""

import numpy as np

import optim
from optim.demo.sequential_digits import DATA
from papers.section import Curve, Figure, Section

TEXT = """\
Cohen et al. 2021, [arXiv 2103.00065](https://arxiv.org/abs/2103.00065), and 2022, [arXiv
2207.14484](https://arxiv.org/abs/2207.14484): on a quadratic of curvature λ an optimizer diverges where λ is above
a threshold, and full-batch training of networks raises the largest curvature, the sharpness, to the threshold,
where it hovers. For gradient descent the threshold is 2/η; for momentum (2 + 2β)/η; for Nesterov's (2 + 2β)/((1 +
2β)η); for Adam, whose curvature is divided by its frozen root mean square, (2 + 2β₁)/((1 - β₁)η), which is 38/η for
β₁ = 0.9.

The threshold on ½λθ² is found by bisection of whether 4,000 steps grow. Adam's preconditioner is frozen by setting
its slot v to 1 and β₂ to 1 - 10⁻¹². The network is ours, not theirs: three layers of tanh with 40 units, squared
loss, the first 300 of the digits of the demo, all in one batch.

Checked against the papers' abstracts: 2/η, 38/η and its formula. The thresholds of momentum and Nesterov follow
from their recurrences.
"""
RATE, STEPS, EVERY, DIGITS, UNITS = 0.5, 3000, 50, 300, 40


def sections():
    thresholds = {
        "gradient descent": (2.0, lambda: optim.GradientDescentOptimizer(RATE)),
        "momentum, β = 0.9": (3.8, lambda: optim.MomentumOptimizer(RATE, 0.9)),
        "Nesterov, β = 0.9": (3.8 / 2.8, lambda: optim.MomentumOptimizer(RATE, 0.9, use_nesterov=True)),
        "Adam, frozen, β₁ = 0.9": (38.0, lambda: optim.AdamOptimizer(RATE, beta2=1 - 1e-12, epsilon=0.0)),
    }
    rows = []
    for name, (want, make) in thresholds.items():
        got = threshold(make) * RATE
        rows.append((f"largest stable ηλ, {name}", f"{want:.4f}", f"{got:.4f}", abs(got / want - 1) < 1e-3))
    curves = []
    for name, want, make in (
        ("gradient descent", 2.0, lambda: optim.GradientDescentOptimizer(RATE)),
        ("momentum", 3.8, lambda: optim.MomentumOptimizer(RATE, 0.9)),
    ):
        sharpness = trained(make)
        level = float(sharpness[len(sharpness) // 2 :].mean()) * RATE
        right = abs(level / want - 1) < 0.05
        rows.append(
            (f"η times sharpness on digits, second half of training, {name}", f"{want:.2f}", f"{level:.3f}", right)
        )
        curves.append(Curve(name, np.arange(len(sharpness)) * EVERY, sharpness * RATE))
    figure = Figure("edge", "step", "η λ", curves)
    yield Section("The edge of stability", TEXT, rows, [figure])


def threshold(make):
    """The largest curvature of a quadratic at which the optimizer does not diverge."""
    low, high = 0.0, 100.0 / RATE
    while high - low > 1e-5 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if is_stable(make(), middle) else (low, middle)
    return low


def is_stable(optimizer, curvature, steps=4000):
    w = optim.Variable(np.array([1e-100]), name="w", dtype=np.float64)
    optimizer.apply_gradients([(np.array([1e-100]), w)])
    if slot := optimizer.get_slot(w, "v"):
        slot.assign([1.0])
        optimizer.get_slot(w, "m").assign([0.0])
        for power in optimizer.update.other_variables():
            power.assign(0.0)  # no correction of a bias
        w.assign([1e-100])
    norms = []
    for _ in range(steps):
        optimizer.apply_gradients([(curvature * w.value, w)])
        norms.append(abs(float(w.value[0])))
        if norms[-1] > 1.0:  # before it can thaw what is frozen
            return False
    return max(norms[-100:]) <= max(norms[:100])


def trained(make):
    """The sharpness of the network, at every 50th step."""
    random = np.random.default_rng(0)
    shapes = [(64, UNITS), (UNITS, UNITS), (UNITS, 10)]
    weights = [
        optim.Variable(random.normal(size=s) / np.sqrt(s[0]), name=f"w{i}", dtype=np.float64)
        for i, s in enumerate(shapes)
    ]
    gradients = network()
    direction = [random.normal(size=shape) for shape in shapes]
    optimizer, found = make(), []
    for step in range(STEPS):
        if step % EVERY == 0:
            top, direction = sharpness_at(gradients, [w.value for w in weights], direction, 12 if step else 60)
            found.append(top)
        optimizer.apply_gradients(list(zip(gradients([w.value for w in weights]), weights, strict=True)))
    return np.array(found)


def network():
    with np.load(DATA) as digits:
        x = digits["images"][:DIGITS].reshape(DIGITS, 64) / 16.0
        goal = np.eye(10)[digits["labels"][:DIGITS]] - 0.1
    x = x - x.mean(axis=0)

    def gradients(weights):
        first, second, third = weights
        a = np.tanh(x @ first)
        b = np.tanh(a @ second)
        error = (b @ third - goal) / DIGITS
        to_b = error @ third.T * (1 - b * b)
        to_a = to_b @ second.T * (1 - a * a)
        return [x.T @ to_a, a.T @ to_b, b.T @ error]

    return gradients


def sharpness_at(gradients, weights, direction, iterations, reach=1e-4):
    """The Hessian's largest eigenvalue and its vector, by the power iteration on differences of gradients."""
    top = 0.0
    for _ in range(iterations):
        size = np.sqrt(sum((d * d).sum() for d in direction))
        direction = [d / size for d in direction]
        ahead, behind = (
            gradients([w + sign * reach * d for w, d in zip(weights, direction, strict=True)]) for sign in (1, -1)
        )
        direction = [(a - b) / (2 * reach) for a, b in zip(ahead, behind, strict=True)]
        top = np.sqrt(sum((d * d).sum() for d in direction))
    return top, direction
