"""Ask TensorFlow for what tf1/ has not: every decay, and averages of plain tensors. Needs tensorflow-cpu.

python tests/golden/tf1_more/make.py
"""

import json
import random
from pathlib import Path

import numpy as np

STEPS = 5000


def decay_cases(train):
    chance = random.Random(1)
    periodic = {"decay_rate": [0.5, 0.96, 0.1], "staircase": [False, True]}
    linear = {"num_periods": [0.5, 1.0, 2.0], "alpha": [0.0, 0.1], "beta": [0.001, 0.1]}
    choices = {
        "exponential_decay": periodic,
        "natural_exp_decay": periodic,
        "inverse_time_decay": periodic,
        "polynomial_decay": {"end_learning_rate": [0.0, 0.01, 2.0], "power": [0.5, 1.0, 2.0], "cycle": [False, True]},
        "cosine_decay": {"alpha": [0.0, 0.1]},
        "cosine_decay_restarts": {"t_mul": [1.0, 1.5, 2.0, 3.0], "m_mul": [1.0, 0.9, 0.5], "alpha": [0.0, 0.1]},
        "linear_cosine_decay": linear,
        "noisy_linear_cosine_decay": {**linear, "initial_variance": [0.0]},
    }
    for function, options in choices.items():
        for _ in range(5):
            period = chance.choice([7, 10, 100, 1000])
            name = "first_decay_steps" if "restarts" in function else "decay_steps"
            kwargs = {"learning_rate": chance.choice([1.0, 0.1, 0.003]), name: period}
            kwargs |= {key: chance.choice(values) for key, values in options.items()}
            steps = [0, 1, period - 1, period, period + 1, *(chance.randrange(STEPS) for _ in range(10))]
            rates = [float(getattr(train, function)(global_step=step, **kwargs)()) for step in steps]
            yield {"function": function, "kwargs": kwargs, "steps": steps, "rates": rates}


def average_cases(tf):
    values = np.random.default_rng(0).standard_normal((6, 3)).astype(np.float32)
    for zero_debias in (False, True):
        for num_updates in (None, 5):
            with tf.Graph().as_default(), tf.compat.v1.Session() as session:
                placeholder = tf.compat.v1.placeholder(tf.float32, [3])
                tensor = placeholder * 1.0
                kwargs = {"decay": 0.9, "num_updates": num_updates, "zero_debias": zero_debias}
                average = tf.compat.v1.train.ExponentialMovingAverage(**kwargs)
                update = average.apply([tensor])
                session.run(tf.compat.v1.global_variables_initializer())
                found = []
                for value in values:
                    session.run(update, {placeholder: value})
                    found.append(session.run(average.average(tensor)).tolist())
                yield {"kwargs": kwargs, "values": values.tolist(), "averages": found}


def main():
    import tensorflow as tf  # nobody needs it to collect the tests

    decays, averages = list(decay_cases(tf.compat.v1.train)), list(average_cases(tf))
    cases = {"made_with": f"tensorflow {tf.__version__}", "decays": decays, "averages": averages}
    Path(__file__).with_name("cases.json").write_text(json.dumps(cases), encoding="utf-8")


if __name__ == "__main__":
    main()
