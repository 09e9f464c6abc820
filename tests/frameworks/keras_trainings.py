"""Keras on one backend, which a process has only one of, in several trainings: run by test_keras.

    KERAS_BACKEND=jax python keras_trainings.py DIRECTORY

Each case makes runs below the directory; what it finds besides stands in found.json.
"""

import json
import sys

import keras
import numpy as np

from optim.integrations.keras import GradientCallback

DIRECTORY = sys.argv[1]
CLIPPED = {
    "unclipped": {},
    "clipped": {"global_clipnorm": 0.05},
    "clipped, scaled": {"global_clipnorm": 0.05, "loss_scale_factor": 8.0},
}
RNG = np.random.default_rng(0)
X = RNG.standard_normal((24, 8)).astype("float32")
Y = np.sin(X.sum(1, keepdims=True))


def fit(model, *callbacks, **options):
    options = {"batch_size": 4, "epochs": 1, "shuffle": False, "verbose": 0, **options}
    return model.fit(X, Y, callbacks=list(callbacks), **options)


def trained(case, **options):
    """A model that was trained twice from the same start, the second time with the callback; and that start."""
    keras.utils.clear_session()
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(17, "tanh"), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.1, **options), "mse")
    start = [np.array(w) for w in model.get_weights()]
    fit(model)
    model.set_weights(start)
    model.optimizer._iterations.assign(0)
    fit(model, GradientCallback(f"{DIRECTORY}/{case}"))
    assert "apply" not in vars(model.optimizer)
    return model, start


def before_clipping():
    for case, options in CLIPPED.items():
        model, start = trained(case, **options)
        np.savez(f"{DIRECTORY}/{case}.npz", X, Y, *start)
        yield case, [v.path for v in model.trainable_variables]


def reported():
    """What Keras says of a training whose callback logs that too; another one's does not."""
    model, _ = trained("reported")
    histories = []
    for name, options in (("a", {}), ("b", {"log_metrics": False})):
        callback = GradientCallback(f"{DIRECTORY}/reported/{name}", every_n_steps=2, **options)
        histories.append(fit(model, callback, validation_data=(X, Y), epochs=2, shuffle=True).history)
    return histories[0]


class Ends(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch == 2:
            raise RuntimeError("no more data")


def after_an_exception():
    model, _ = trained("exception")
    for name in "ab":
        try:
            fit(model, GradientCallback(f"{DIRECTORY}/exception/{name}"), Ends())
        except RuntimeError:
            assert "apply" in vars(model.optimizer)
    fit(model)
    assert "apply" not in vars(model.optimizer)
    assert "make_train_function" not in vars(model)
    several = (GradientCallback(f"{DIRECTORY}/exception/{name}", every_n_steps=n) for name, n in (("c", 1), ("d", 2)))
    fit(model, *several)
    assert "apply" not in vars(model.optimizer)


def refused():
    try:
        trained("refused", gradient_accumulation_steps=2)
    except ValueError as error:
        return str(error)
    return None


def main():
    found = dict(before_clipping()) | {"reported": reported(), "refused": refused()}
    after_an_exception()
    with open(f"{DIRECTORY}/found.json", "w", encoding="utf-8") as file:
        json.dump(found, file)


main()
