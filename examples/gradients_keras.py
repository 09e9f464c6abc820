"""Gradients of a Keras model, before its optimizer clips them; on JAX or torch.

pip install keras jax
python examples/gradients_keras.py [LOGDIR]
"""

import os
import sys

os.environ.setdefault("KERAS_BACKEND", "jax")

import keras
import numpy as np

from optim.integrations.keras import GradientCallback

logdir = sys.argv[1] if len(sys.argv) > 1 else "runs/gradients_keras"
keras.utils.set_random_seed(0)
x = np.random.default_rng(0).standard_normal((512, 8)).astype("float32")
y = np.sin(x.sum(axis=1, keepdims=True))
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(32, "tanh"), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(1e-2, global_clipnorm=0.5), "mse")
model.fit(x, y, validation_split=0.25, batch_size=24, epochs=4, verbose=0, callbacks=[GradientCallback(logdir)])
