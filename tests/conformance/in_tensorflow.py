"""TF1's optimizers, averages, clipping and decays as TensorFlow's own tests call them, with ours doing the arithmetic.

Graphs, gradients, variables and their names stay TensorFlow's. One operation takes what a step needs out of the graph;
what ours makes of it is assigned back.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import unittest.mock
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import indexed_slices, ops, test_util
from tensorflow.python.ops import script_ops, state_ops, variables

import optim

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PLACES", "as_in_tf1", "substitute"]

_TRAINING = "tensorflow.python.training"
_OPTIMIZERS = {
    "adadelta": "AdadeltaOptimizer",
    "adagrad": "AdagradOptimizer",
    "adam": "AdamOptimizer",
    "ftrl": "FtrlOptimizer",
    "gradient_descent": "GradientDescentOptimizer",
    "momentum": "MomentumOptimizer",
    "proximal_adagrad": "ProximalAdagradOptimizer",
    "proximal_gradient_descent": "ProximalGradientDescentOptimizer",
    "rmsprop": "RMSPropOptimizer",
}
_CLIPPING = ("clip_by_value", "clip_by_norm", "clip_by_global_norm", "clip_by_average_norm", "global_norm")
_DECAYS = (
    "exponential_decay", "piecewise_constant", "polynomial_decay", "natural_exp_decay", "inverse_time_decay",
    "cosine_decay", "cosine_decay_restarts", "linear_cosine_decay", "noisy_linear_cosine_decay",
)  # fmt: skip
_THREADS = ("Coordinator", "LooperThread")

PLACES = [
    *((f"{_TRAINING}.{module}", name) for module, name in _OPTIMIZERS.items()),
    (f"{_TRAINING}.moving_averages", "ExponentialMovingAverage"),
    *(("tensorflow.python.ops.clip_ops", name) for name in _CLIPPING),
    *((f"{_TRAINING}.learning_rate_decay", name) for name in _DECAYS),
    *((f"{_TRAINING}.coordinator", name) for name in _THREADS),
]
"""Where TensorFlow's tests find what is put in its place: a module, and the name there."""

_NOT_OURS = {"self", "use_locking", "use_own_namescope_for_non_slot_vars", "beta"}  # `beta` is newer than TF1


def as_in_tf1() -> None:
    """Let tests of TF1's time run: graphs by default, and what they call by names that are gone."""
    tf.compat.v1.disable_v2_behavior()
    for name in ("initialize_all_variables", "placeholder", "train"):
        setattr(tf, name, getattr(tf.compat.v1, name))
    ops.IndexedSlices, variables.VariableV1 = tf.IndexedSlices, tf.compat.v1.Variable
    modes = test_util.run_in_graph_and_eager_modes
    test_util.run_in_graph_and_eager_modes = lambda func=None, reset_test=True: modes(func)


def substitute() -> None:
    """Put ours in the place of TensorFlow's."""
    for place, name in PLACES:
        module = importlib.import_module(place)
        original = getattr(module, name)
        if name in _OPTIMIZERS.values():
            _substitute_steps(original)
        elif name == "ExponentialMovingAverage":
            _substitute_averages(original)
        elif name in _THREADS:
            for holder in (module, tf.compat.v1.train):
                setattr(holder, name, getattr(optim, name))
        else:
            setattr(module, name, _function(original))


def _substitute_steps(original: type) -> None:
    """Have the steps of TensorFlow's optimizer computed by ours with the same name."""
    begin = original.__init__

    @functools.wraps(begin)
    def __init__(self, *arguments: object, **options: object) -> None:  # noqa: N807 - of another's class
        begin(self, *arguments, **options)
        given = inspect.signature(begin).bind(self, *arguments, **options).arguments
        if type(self) is original:
            self._by_ours = _Steps(self, {name: of for name, of in given.items() if name not in _NOT_OURS})

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        done = self._by_ours.operation([(gradient, of) for gradient, of in grads_and_vars if gradient is not None])
        if global_step is None:
            return done
        with tf.control_dependencies([done] if done is not None else []):
            return global_step.assign_add(1, read_value=False)

    original.__init__, original.apply_gradients = __init__, apply_gradients


class _Steps:
    """The steps of one optimizer of TensorFlow's, by ours."""

    def __init__(self, theirs: object, given: dict[str, object]) -> None:
        self._theirs = theirs
        self._fed = {name: of for name, of in given.items() if callable(of) or _is_of_graph(of)}
        whole = {"global_step": np.int64}
        self._feeds = {name: optim.Variable(0, dtype=whole.get(name, np.float64), name=name) for name in self._fed}
        self._ours = getattr(optim, type(theirs).__name__)(**given | self._feeds)
        self._variables: dict[object, optim.Variable] = {}

    def operation(self, pairs: list[tuple[object, tf.Variable]]) -> object:
        """One step, as an operation of the graph."""
        if not pairs:
            self._ours.apply_gradients([])  # raises, in its words
        theirs, trained = self._theirs, [variable for _, variable in pairs]
        with ops.init_scope():
            theirs._create_slots(trained)
        slots = [(variable, name) for variable in trained for name in theirs.get_slot_names()]
        others = {key[0]: variable for key, variable in theirs._non_slot_dict.items()}
        targets = [*trained, *(theirs.get_slot(*each) for each in slots), *others.values()]
        fed = [tf.convert_to_tensor(of() if callable(of) else of) for of in self._fed.values()]
        tensors = [[tf.convert_to_tensor(variable), *_parts(gradient)] for gradient, variable in pairs]
        keys = [_key(variable) for variable in trained]

        def step(*values: np.ndarray) -> list[np.ndarray]:
            left = iter(values)
            for feed in self._feeds.values():
                feed.assign(next(left))
            gradients = []
            for key, variable, each in zip(keys, trained, tensors, strict=True):
                value, *parts = [next(left) for _ in each]
                mine = self._variables.setdefault(key, optim.Variable(value, name=variable.name))
                mine.assign(value)
                gradient = optim.IndexedSlices(*parts[:2], value.shape) if len(parts) > 1 else parts[0]
                gradients.append((gradient, mine))
            self._ours.apply_gradients(gradients)
            powers = {variable.name: variable for variable in self._ours.variables()}
            made = [self._variables[key] for key in keys]
            made += [self._ours.get_slot(self._variables[_key(variable)], name) for variable, name in slots]
            made += [powers[name] for name in others]
            dtypes = [of.dtype.base_dtype.as_numpy_dtype for of in targets]
            return [np.array(each.value, dtype) for each, dtype in zip(made, dtypes, strict=True)]

        return _assigned(step, [*fed, *(each for of_one in tensors for each in of_one)], targets)


def _key(variable: tf.Variable) -> object:
    return variable.ref() if tf.executing_eagerly() else (variable.graph, variable.op.name)


def _substitute_averages(original: type) -> None:
    """Have the shadows of TensorFlow's ExponentialMovingAverage follow as ours do."""
    apply_theirs, module = original.apply, sys.modules[original.__module__]

    def apply(self, var_list=None):
        following = _nothing if tf.executing_eagerly() else module.assign_moving_average
        with unittest.mock.patch.object(module, "assign_moving_average", following):
            apply_theirs(self, var_list)  # makes the shadows
        followed = tf.compat.v1.trainable_variables() if var_list is None else list(var_list)
        shadows = [self.average(each) for each in followed]
        count = self._num_updates
        updates = optim.Variable(0, dtype=np.float64, name="num_updates")
        ours = optim.ExponentialMovingAverage(self._decay, None if count is None else updates, self._zero_debias)
        mine: list[object] = []

        def step(*given: np.ndarray) -> list[np.ndarray]:
            left = iter(np.array(each) for each in given)
            values, before = [[next(left) for _ in followed] for _ in range(2)]
            updates.assign(next(left, 0))
            if not mine:
                pairs = zip(followed, values, before, strict=True)
                mine.extend(optim.Variable(start) if isinstance(of, tf.Variable) else now for of, now, start in pairs)
            averaged = [each for each in mine if isinstance(each, optim.Variable)]
            if averaged and ours.average(averaged[0]) is None:
                ours.apply(averaged)  # begins their shadows, at what TensorFlow's begin with
            for each, value in zip(mine, values, strict=True):
                (each.value if isinstance(each, optim.Variable) else each)[...] = value
            ours.apply(mine)
            return [np.array(ours.average(each).value) for each in mine]

        inputs = [tf.identity(each) for each in [*followed, *shadows, *([] if count is None else [count])]]
        return _assigned(step, inputs, shadows)

    original.apply = apply


def _function(original: Callable[..., object]) -> Callable[..., object]:
    """TensorFlow's clipping or decay of this name, computed by ours."""
    ours = getattr(optim, original.__name__)
    is_decay = original.__module__.endswith("learning_rate_decay")

    @functools.wraps(original)
    def by_ours(*arguments: object, **options: object) -> object:
        given = arguments, {name: value for name, value in options.items() if name != "name"}
        if is_decay and tf.executing_eagerly():
            return lambda: _computed(ours, given, [])[0]
        if is_decay:
            return _computed(ours, given, [])[0]
        clipped = tf.nest.flatten(arguments[0])
        *values, last = made = _computed(ours, given, [each for each in clipped if each is not None])
        if original.__name__ == "global_norm":
            return last
        left = iter(values if original.__name__ == "clip_by_global_norm" else made)
        of_all = [None if each is None else _like(each, next(left)) for each in clipped]
        if original.__name__ == "clip_by_global_norm":
            return of_all, last
        return of_all[0]

    return by_ours


def _computed(ours: Callable[..., object], given: object, clipped: list[object]) -> list[tf.Tensor]:
    """What ours returns, as tensors: at once if all that it is given is known, else when the graph runs."""
    leaves = tf.nest.flatten(given)
    parts = [_parts(leaf) if _is_of_graph(leaf) else [] for leaf in leaves]
    inputs = [each for of_leaf in parts for each in of_leaf]

    def compute(*values: np.ndarray) -> list[np.ndarray]:
        left = iter(values)
        put = []
        for leaf, tensors in zip(leaves, parts, strict=True):
            mine = [next(left) for _ in tensors]
            if len(mine) > 1:
                put.append(optim.IndexedSlices(*mine[:2], None if leaf.dense_shape is None else tuple(mine[2])))
            else:
                put.append(mine[0] if mine else leaf)
        arguments, options = tf.nest.pack_sequence_as(given, put)
        made = tf.nest.flatten(ours(*arguments, **options))
        arrays = [each.values if isinstance(each, optim.IndexedSlices) else each for each in made if each is not None]
        return [np.array(each, dtype.as_numpy_dtype) for each, dtype in zip(arrays, dtypes, strict=True)]

    of_graph = [leaf.dtype.base_dtype for leaf in clipped or leaves if _is_of_graph(leaf)]
    dtype = next((dtype for dtype in of_graph if clipped or dtype.is_floating), tf.float32)
    count = 1 if not clipped else len(clipped) + (ours is optim.clip_by_global_norm)
    dtypes = [dtype] * (1 if ours is optim.global_norm else count)
    known = [tf.get_static_value(each) for each in inputs]
    if all(value is not None for value in known):
        return [tf.constant(each) for each in compute(*known)]
    if all(each.shape.is_fully_defined() for each in inputs):  # what does not fit is told while the graph is built
        compute(*(np.ones(each.shape, each.dtype.base_dtype.as_numpy_dtype) for each in inputs))
    return script_ops.numpy_function(compute, inputs, dtypes)


def _is_of_graph(leaf: object) -> bool:
    return tf.is_tensor(leaf) or isinstance(leaf, tf.Variable | indexed_slices.IndexedSlices)


def _like(given: object, value: tf.Tensor) -> object:
    if isinstance(given, indexed_slices.IndexedSlices):
        return indexed_slices.IndexedSlices(value, given.indices, given.dense_shape)
    value.set_shape(tf.convert_to_tensor(given).shape)
    return value


def _nothing(*_: object, **_options: object) -> object:
    return tf.no_op()


def _parts(gradient: object) -> list[tf.Tensor]:
    if isinstance(gradient, indexed_slices.IndexedSlices):
        shape = [] if gradient.dense_shape is None else [gradient.dense_shape]
        return [tf.convert_to_tensor(part) for part in (gradient.values, gradient.indices, *shape)]
    return [tf.convert_to_tensor(gradient)]


def _assigned(step: object, inputs: list[tf.Tensor], targets: list[tf.Variable]) -> object:
    """The operation that assigns what `step` makes of the inputs."""
    made = script_ops.numpy_function(step, inputs, [of.dtype.base_dtype for of in targets])
    assigned = []
    for value, of in zip(made, targets, strict=True):
        value.set_shape(of.shape)
        assigned.append(of.assign(value) if hasattr(of, "handle") else state_ops.assign(of, value))
    return tf.group(*assigned)
