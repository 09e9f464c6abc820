"""What each optimizer does to an element: its formula, the names of its slots, and where it comes from.

What is here comes compiled. So a new optimizer is a formula in `formulas`, its rule here, and a class in `optimizers`
that names its hyperparameters.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from optim import formulas

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "ADADELTA",
    "ADAGRAD",
    "ADAGRAD_DA",
    "ADAM",
    "ADAMAX",
    "ADAMW",
    "ADEMAMIX",
    "AMSGRAD",
    "FTRL",
    "FTRL_SQRT",
    "GRADIENT_DESCENT",
    "LION",
    "MOMENTUM",
    "MOVING_AVERAGE",
    "MOVING_AVERAGE_DEBIASED",
    "NADAM",
    "NESTEROV",
    "PRODIGY_AVERAGES",
    "PRODIGY_DIRECTION",
    "PROXIMAL_ADAGRAD",
    "PROXIMAL_GRADIENT_DESCENT",
    "RADAM",
    "RMSPROP",
    "RMSPROP_CENTERED",
    "SCHEDULE_FREE_ADAMW",
    "SCHEDULE_FREE_SGD",
    "Rule",
]


@dataclass(frozen=True)
class Rule:
    """How one optimizer moves one element.

    Attributes:
        formula: (g, v, *slots, *hyperparameters) → (v, *slots), with elementwise arithmetic only.
        slots: the slots' names, in the formula's order.
        reference: the formula's source.
        moves_at_rest: whether an element with gradient 0 moves, so that a sparse gradient moves every row.
        sparse: the rule for sparse gradients, if TF1 computes the same update differently for them, which shows if a
            slot is infinite: b·m + (1-b)·g stays infinite, m + (1-b)·(g-m) becomes NaN.
        is_linear: whether it is v - learning_rate·g: TF1 then applies rows with the same index one after the other; for
            all others it sums them first, and the sum may be infinite although the change of v is not.
        reports: whether its kernel that fills a report comes compiled; no report asks for what is a part of a step.
    """

    formula: Callable[..., tuple[Any, ...]]
    slots: tuple[str, ...]
    reference: str
    moves_at_rest: bool = False
    sparse: Rule | None = None
    is_linear: bool = False
    reports: bool = True

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The formula's arguments, in order: "g", "v", slots, hyperparameters."""
        return tuple(inspect.signature(self.formula).parameters)

    @property
    def hyperparameters(self) -> tuple[str, ...]:
        """The names of the arguments after the slots."""
        return self.parameters[2 + len(self.slots) :]

    @property
    def name(self) -> str:
        """The formula's name."""
        return self.formula.__name__.strip("_")


def _rule(formula: Callable[..., Any], slots: tuple[str, ...], reference: str, **options: Any) -> Rule:
    """The rule, with its rule for sparse gradients if there is one."""
    sparse = options.pop("sparse", None)
    return Rule(formula, slots, reference, **options, sparse=sparse and Rule(sparse, slots, reference, **options))


GRADIENT_DESCENT = Rule(
    formulas.gradient_descent, (), "Robbins and Monro 1951, https://doi.org/10.1214/aoms/1177729586", is_linear=True
)
MOMENTUM = Rule(formulas.momentum, ("momentum",), "Polyak 1964, https://doi.org/10.1016/0041-5553(64)90137-5")
NESTEROV = Rule(
    formulas.nesterov, ("momentum",), "Sutskever et al. 2013, http://proceedings.mlr.press/v28/sutskever13.html"
)  # fmt: skip
ADAGRAD = Rule(formulas.adagrad, ("accumulator",), "Duchi et al. 2011, http://jmlr.org/papers/v12/duchi11a.html")
ADADELTA = Rule(formulas.adadelta, ("accum", "accum_update"), "Zeiler 2012, https://arxiv.org/abs/1212.5701")
ADAM = _rule(
    formulas.adam,
    ("m", "v"),
    "Kingma and Ba 2015, https://arxiv.org/abs/1412.6980",
    moves_at_rest=True,
    sparse=formulas.adam_sparse,
)
NADAM = Rule(
    formulas.nadam, ("m", "v"), "Dozat 2016, https://openreview.net/forum?id=OM0jvwB8jIp57ZJjtNEZ", moves_at_rest=True
)
ADAMW = Rule(
    formulas.adamw, ("m", "v"), "Loshchilov and Hutter 2019, https://arxiv.org/abs/1711.05101", moves_at_rest=True
)
LION = Rule(formulas.lion, ("m",), "Chen et al. 2023, https://arxiv.org/abs/2302.06675", moves_at_rest=True)
FTRL = _rule(
    formulas.ftrl,
    ("accum", "linear"),
    "McMahan et al. 2013, https://research.google/pubs/pub41159",
    sparse=formulas.ftrl_sparse,
)
FTRL_SQRT = _rule(
    formulas.ftrl_sqrt,
    ("accum", "linear"),
    "as FTRL, where the power is 1/2: a root is quicker than a power",
    sparse=formulas.ftrl_sqrt_sparse,
)
RMSPROP = _rule(
    formulas.rmsprop,
    ("rms", "momentum"),
    "Tieleman and Hinton 2012, Coursera, Lecture 6.5",
    sparse=formulas.rmsprop_sparse,
)
RMSPROP_CENTERED = _rule(
    formulas.rmsprop_centered,
    ("rms", "mg", "momentum"),
    "Graves 2013, https://arxiv.org/abs/1308.0850",
    sparse=formulas.rmsprop_centered_sparse,
)
AMSGRAD = Rule(
    formulas.amsgrad,
    ("m", "v", "vhat"),
    "Reddi et al. 2018, https://openreview.net/forum?id=ryQu7f-RZ",
    moves_at_rest=True,
)
ADAMAX = Rule(formulas.adamax, ("m", "v"), "Kingma and Ba 2015, section 7.1, https://arxiv.org/abs/1412.6980")
RADAM = Rule(formulas.radam, ("m", "v"), "Liu et al. 2020, https://arxiv.org/abs/1908.03265", moves_at_rest=True)
ADEMAMIX = Rule(
    formulas.ademamix,
    ("m", "m_slow", "v"),
    "Pagliardini et al. 2025, https://arxiv.org/abs/2409.03137",
    moves_at_rest=True,
)
_SCHEDULE_FREE = "Defazio et al. 2024, https://arxiv.org/abs/2405.15682"
SCHEDULE_FREE_SGD = Rule(formulas.schedule_free, ("z",), _SCHEDULE_FREE, moves_at_rest=True)
SCHEDULE_FREE_ADAMW = Rule(formulas.schedule_free_adamw, ("z", "v"), _SCHEDULE_FREE, moves_at_rest=True)
_FOBOS = "Duchi and Singer 2009, http://jmlr.org/papers/v10/duchi09a.html"
PROXIMAL_GRADIENT_DESCENT = Rule(formulas.proximal_gradient_descent, (), _FOBOS)
PROXIMAL_ADAGRAD = Rule(formulas.proximal_adagrad, ("accumulator",), _FOBOS)
ADAGRAD_DA = Rule(
    formulas.adagrad_da,
    ("gradient_accumulator", "gradient_squared_accumulator"),
    "Duchi et al. 2011, http://jmlr.org/papers/v12/duchi11a.html",
)
_PRODIGY = "Mishchenko and Defazio 2024, https://arxiv.org/abs/2306.06101"
PRODIGY_AVERAGES = Rule(formulas.prodigy_averages, ("v", "s"), _PRODIGY, reports=False)
PRODIGY_DIRECTION = Rule(formulas.prodigy_direction, ("v",), _PRODIGY, reports=False)
MOVING_AVERAGE = Rule(
    formulas.moving_average,
    (),
    "Polyak and Juditsky 1992, https://doi.org/10.1137/0330046",
    moves_at_rest=True,
    reports=False,
)
MOVING_AVERAGE_DEBIASED = Rule(
    formulas.debiased_average,
    ("biased",),
    "Kingma and Ba 2015, section 3, https://arxiv.org/abs/1412.6980",
    moves_at_rest=True,
    reports=False,
)
