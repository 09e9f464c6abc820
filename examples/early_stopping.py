"""Stop a training run as soon as the audit finds an error in it, instead of an hour later.

A line is fitted by gradient descent whose rate is too high at first, so the loss diverges. The run is audited while it
is logged; when it fails, training starts again with a tenth of the rate.

    python examples/early_stopping.py [directory]
"""

import sys
import tempfile

import numpy as np

import optim
from summaries import SummaryWriter
from summaries.auditing.live import LiveAudit

STEPS = 400
CHECK_EVERY = 20


def train(directory: str, rate: float) -> bool:
    """Train; returns whether the run came to its end."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal(256)
    y = 3 * x + 1 + 0.1 * rng.standard_normal(256)
    weights = optim.Variable(np.zeros(2), name="weights")
    optimizer = optim.GradientDescentOptimizer(rate)
    live = LiveAudit()
    with live.watching(SummaryWriter(directory)) as writer:
        for step in range(STEPS):
            batch = rng.integers(0, 256, 16)
            error = weights.value[0] * x[batch] + weights.value[1] - y[batch]
            writer.add_scalar("train/loss", float(np.mean(error**2)), step)
            optimizer.apply_gradients([(2 * np.array([np.mean(error * x[batch]), np.mean(error)]), weights)])
            if step % CHECK_EVERY == CHECK_EVERY - 1 and live.failed:
                for finding in live.new():
                    print(f"step {step}: {finding.code} {finding.name}: {finding.message}")
                return False
    print(f"rate {rate:g}: the line is {weights.value[0]:.2f} x + {weights.value[1]:.2f}")
    return True


def main() -> None:
    """Lower the rate until a run comes to its end."""
    directory = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()
    rate = 1.2
    while not train(f"{directory}/lr={rate:g}", rate):
        rate /= 10


if __name__ == "__main__":
    main()
