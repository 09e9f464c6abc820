"""Plan: arrays of one dtype that steps update by one rule, in one pass that includes clipping and measuring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from optim.kernels import plain, threads
from optim.kernels.engine import Arrays, engine, is_ready
from optim.kernels.scale_and_bounds import AS_IT_IS, Clip
from optim.kernels.stats import stats_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from optim.kernels.engine import Engine, Run
    from optim.rules import Rule

__all__ = ["Plan"]


class Plan:
    """Arrays of one dtype that one rule updates; created once, and run at every step.

    Args:
        rule: the formula.
        targets: for each variable its array and its slots', in the rule's order; of the same shape, floating dtype.

    Raises:
        ValueError: a variable's arrays do not have the same shape and dtype, or are not as many as the rule takes.
    """

    def __init__(self, rule: Rule, targets: Sequence[Sequence[NDArray[Any]]]) -> None:
        self.rule = rule
        self.targets: list[tuple[NDArray[Any], ...]] = [tuple(arrays) for arrays in targets]
        for first, *others in self.targets:  # a kernel would write past the end of the shorter ones
            if len(others) != len(rule.slots) or {(a.shape, a.dtype) for a in others} - {(first.shape, first.dtype)}:
                got = ", ".join(f"{array.dtype} of shape {array.shape}" for array in (first, *others))
                raise ValueError(
                    f"{rule.name} needs 1 + {len(rule.slots)} arrays of the same shape and dtype, got {got}"
                )
        self._ready = [all(is_ready(array) and array.flags.writeable for array in arrays) for arrays in self.targets]
        self._are_ready = all(self._ready)
        self._runs: dict[tuple[Engine, int, tuple[int, ...]], Run] = {}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_runs": {}}  # runs contain addresses, and a copy's arrays are elsewhere

    def run(
        self,
        gradients: Sequence[NDArray[Any]],
        hyperparameters: Sequence[float],
        clip: Clip = AS_IT_IS,
        *,
        report: bool = False,
    ) -> NDArray[Any] | None:
        """Update the targets in place.

        Args:
            gradients: one for each variable, of its shape and dtype; not modified.
            hyperparameters: the numbers that the formula takes after the slots, in its order.
            clip: applied to the gradients first.
            report: whether to measure.

        Returns:
            float64[variables, width], a rule's columns of `stats`; None without a report.
        """
        numbers = np.array([*clip, *hyperparameters], np.float64)
        gradients = Arrays.of(gradients)
        runs = self._runs_of(gradients)
        if len(runs) == 1:
            return runs[0][1](gradients, numbers, report)
        stats = np.empty((len(self.targets), stats_width(len(self.rule.slots)))) if report else None
        for chosen, run in runs:
            measured = run([gradients[i] for i in chosen], numbers, report)
            if stats is not None:
                stats[list(chosen)] = measured
        return stats

    def _runs_of(self, gradients: Arrays) -> list[tuple[Sequence[int], Run]]:
        """Runs of the rule, each with the targets that it updates: an engine's for ready ones, NumPy's for others."""
        server, every = engine(), tuple(range(len(self.targets)))
        if server is plain.ENGINE or (self._are_ready and gradients.memory is not None):  # the usual case
            return [(every, self._run_by(server, every))]
        ready = tuple([i for i in every if self._ready[i] and is_ready(gradients[i])])
        others = tuple(sorted(set(every).difference(ready)))
        runs: list[tuple[Sequence[int], Run]] = [(others, self._run_by(plain.ENGINE, others))]
        return [(ready, self._run_by(server, ready)), *runs] if ready else runs

    def _run_by(self, server: Engine, chosen: tuple[int, ...]) -> Run:
        """The engine's run of the rule over these of the targets, cached as long as the settings stay the same."""
        key = server, threads.get_num_threads(), chosen
        if key not in self._runs:
            self._runs[key] = server.prepare(self.rule, [self.targets[i] for i in chosen])
        return self._runs[key]
