"""A callback for Keras, on its JAX or torch backend.

    model.fit(..., callbacks=[GradientCallback("runs/x")])

When: Keras' callbacks never see gradients, so the optimizer's `apply` is wrapped while the model trains: each step is
seen before the optimizer clips, with the loss scale divided out. Steps are the optimizer's iterations, from 1. On JAX
the measuring is a part of the compiled training step.

What: the global norm before clipping, the bound `global_clipnorm` and clipping's other tags if it is set (`clipnorm`
bounds each variable, and has no such tags), the learning rate, and the norms of each variable's gradient, weights and
update (on torch from a sample of a large one, without a copy of the model). And what the model reports:
at due steps the averages of the epoch so far, as `batch_loss`; after each epoch its losses and metrics, as
`epoch_loss` and `epoch_val_loss`; the optimizer's configuration as hyperparameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from optim.integrations.ranks import Logging, numbers_in
from optim.telemetry.devices import reports_of_traced, traced_statistics

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping

    from optim.integrations.torch_updates import Samples
    from optim.telemetry.measuring import Observation
    from summaries import EventFileWriter

__all__ = ["GradientCallback"]


class GradientCallback(keras.callbacks.Callback):  # type: ignore[misc]
    """Logs the gradients of a Keras model.

    Args:
        writer: where to log: a directory, or a writer.
        log_metrics: whether to log what the model reports, too; False if it is logged elsewhere.
        options: GradientMonitor's, such as `every_n_steps` or `keep_last`.

    Raises:
        ValueError: Keras has another backend than JAX or torch.
    """

    def __init__(
        self, writer: EventFileWriter | str | os.PathLike[str], *, log_metrics: bool = True, **options: Any
    ) -> None:
        super().__init__()
        if keras.backend.backend() not in {"jax", "torch"}:
            raise ValueError(f"Keras' backend must be jax or torch, got {keras.backend.backend()}")
        self._writer, self._options = writer, options
        self._log_metrics = log_metrics
        self._first = self._step = 0  # the steps before this epoch, and those up to now
        self._logging: Logging | None = None
        self._samples: Samples | None = None  # of the torch backend
        self._bound: float | None = None  # self.model must not be touched within a step: under JAX it moves its state

    def on_train_begin(self, logs: Any = None) -> None:
        """Wrap the optimizer, and have the training step compiled with that.

        Raises:
            ValueError: the optimizer accumulates gradients of several steps, which are not seen here.
        """
        model = self.model
        optimizer = getattr(model, "optimizer", None)
        if optimizer is None or self._logging is not None:
            return
        if optimizer.gradient_accumulation_steps:
            raise ValueError(
                "the optimizer must not accumulate gradients, which it does inside of itself, got "
                f"gradient_accumulation_steps={optimizer.gradient_accumulation_steps}"
            )
        self._logging = Logging(self._writer, per_rank=False, **self._options)
        self._bound = optimizer.global_clipnorm or None
        self._step = int(optimizer.iterations)
        if self._log_metrics:
            self._logging.describe(_plain(optimizer.get_config()) | self.params)
        _Watch.over(model).add(self)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Notice where it begins."""
        self._first = self._step

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Log the epoch's averages up to now."""
        self._step = self._first + batch + 1
        if self._step % self._options.get("every_n_steps", 1) == 0:
            self._report(logs, "batch_")

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Log the epoch's metrics."""
        self._report(logs, "epoch_")

    def _report(self, logs: Any, prefix: str) -> None:
        if self._log_metrics and self._logging is not None:
            self._logging.scalars(numbers_in(logs or {}, prefix), self._step)

    def on_train_end(self, logs: Any = None) -> None:
        """Unwrap the optimizer, and close the file."""
        if self._logging is not None:
            _Watch.over(self.model).remove(self)

    def close(self) -> None:
        """Close the file."""
        if self._logging is None:
            return
        if keras.backend.backend() == "jax":
            import jax  # noqa: PLC0415 - of this backend only

            jax.effects_barrier()  # the last steps' numbers may still be on their way
        self._logging.close()
        self._logging = None

    def observe(self, optimizer: Any, gradients: list[Any], variables: list[Any]) -> Callable[[], None]:
        """Look at what `apply` is about to use; under JAX this is traced. What is returned logs it, after `apply`."""
        pairs = [(g, v) for g, v in zip(gradients, variables, strict=True) if g is not None]
        names, arrays = [v.path for _, v in pairs], [g for g, _ in pairs]
        weights = [v.value for _, v in pairs]
        scale = optimizer.loss_scale_factor or 1.0
        rate, number = optimizer.learning_rate, optimizer.iterations.value
        if keras.backend.backend() == "torch":
            rate, step = float(keras.ops.convert_to_numpy(rate)), int(number) + 1
            by_name = [dict(zip(names, each, strict=True)) for each in (arrays, weights)]
            return self._observe_tensors(step, *by_name, rate=rate, scale=scale)
        import jax  # noqa: PLC0415 - of this backend only

        sizes = [int(np.prod(gradient.shape)) for gradient in arrays]
        rate = keras.ops.convert_to_tensor(rate)

        def take(step: Any, rate: Any, table: Any) -> None:
            self._log(int(step) + 1, reports_of_traced(names, sizes, table, scale), None, float(rate), 1.0)

        def after() -> None:
            updates = [v.value - before for (_, v), before in zip(pairs, weights, strict=True)]
            jax.debug.callback(take, number, rate, traced_statistics(arrays + weights + updates))

        return after

    def _observe_tensors(
        self, step: int, gradients: dict[str, Any], weights: dict[str, Any], *, rate: float, scale: float
    ) -> Callable[[], None]:
        """The same, of torch's tensors, of whose updates a sample is measured."""
        from optim.integrations.torch_updates import Samples, StepWatch  # noqa: PLC0415 - of this backend only

        logging, watch = self._logging, None
        observed = self._measured(step, gradients, weights, rate, scale)
        if logging is None or observed is None:
            return lambda: None
        if observed.detailed:
            self._samples = self._samples or Samples()
            watch = StepWatch(None, _Weights(weights), self._samples, has_closure=True)

        def after() -> None:
            moved = watch and logging.survive(lambda: watch.added_to(observed), "updates cannot be measured")
            logging.log(moved or observed)

        return after

    def _measured(self, step: int, gradients: Any, weights: Any, rate: float, scale: float) -> Observation | None:
        if self._logging is None:
            return None
        return self._logging.measure(
            step, gradients, weights, clip_norm=self._bound, learning_rate=rate, scale=scale
        )  # fmt: skip

    def _log(self, step: int, gradients: Any, weights: Any, rate: float, scale: float) -> None:
        observed = self._measured(step, gradients, weights, rate, scale)
        if observed is not None and self._logging is not None:
            self._logging.log(observed)


class _Weights(dict[str, Any]):
    """As a torch module tells them."""

    def named_parameters(self) -> Iterable[tuple[str, Any]]:
        return self.items()


class _Watch:
    """Shows the callbacks what an optimizer's `apply` is given, while its model trains.

    A training that an exception ends calls no callback. So the model's next one, which asks for the training step
    again, ends the watch.
    """

    def __init__(self, model: Any) -> None:
        self._callbacks: list[GradientCallback] = []
        self._model, self._optimizer = model, model.optimizer
        self._apply, self._make = model.optimizer.apply, model.make_train_function
        model.optimizer.apply = self._shown
        model.make_train_function = self._begin_another

    @classmethod
    def over(cls, model: Any) -> _Watch:
        """The watch over this model; a new one if there is none."""
        watch = getattr(vars(model.optimizer).get("apply"), "__self__", None)
        return watch if isinstance(watch, cls) else cls(model)

    def add(self, callback: GradientCallback) -> None:
        self._callbacks.append(callback)
        self._make(force=True)  # it may have been compiled without this

    def remove(self, callback: GradientCallback) -> None:
        """Close the callback; after the last one the optimizer is as it was."""
        self._callbacks = [other for other in self._callbacks if other is not callback]
        callback.close()
        if not self._callbacks:
            del self._optimizer.apply
            del self._model.make_train_function
            self._model.train_function = None

    def _shown(self, grads: Any, trainable_variables: Any = None) -> Any:
        variables = self._optimizer._trainable_variables if trainable_variables is None else trainable_variables  # noqa: SLF001 - as its apply does
        logs = [callback.observe(self._optimizer, list(grads), list(variables)) for callback in self._callbacks]
        applied = self._apply(grads, trainable_variables)
        for log in logs:
            log()
        return applied

    def _begin_another(self, *arguments: Any, **named: Any) -> Any:
        for callback in list(self._callbacks):
            self.remove(callback)
        return self._make(*arguments, **named)


def _plain(config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration in which an object, such as a schedule, is its class's name, and has its own beside it.

    >>> _plain({"learning_rate": {"class_name": "CosineDecay", "config": {"decay_steps": 200}}})
    {'learning_rate': 'CosineDecay', 'learning_rate.decay_steps': 200}
    """
    plain: dict[str, Any] = {}
    for name, value in config.items():
        if isinstance(value, dict) and "class_name" in value:
            plain[name] = value["class_name"]
            plain |= {f"{name}.{key}": part for key, part in _plain(value.get("config") or {}).items()}
        else:
            plain[name] = float(str(np.float32(value))) if _is_float32(value) else value
    return plain


def _is_float32(value: Any) -> bool:
    """Whether Keras keeps this number as a float32: 0.001 would be told as 0.0010000000474974513."""
    return isinstance(value, float) and float(np.float32(value)) == value
