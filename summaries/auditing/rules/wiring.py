"""GL7xx: what checks of a training loop itself, such as those of `optim.integrations.torch.attach`, have told in a run.

They write a text at the step at which they are sure, with the tag `wiring/<name of the rule>`. Here it is read back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset

if TYPE_CHECKING:
    from collections.abc import Callable

    from summaries.auditing.signals.signals import Signals

__all__ = ["RULES"]

RULES = Ruleset("wiring", of_moments=True)
_E, _W = Severity.ERROR, Severity.WARNING
_TOLD = (
    ("GL701", "not-in-optimizer", _E, "Trainable parameters get gradients, and no optimizer has them."),
    ("GL702", "replaced-parameters", _E, "The optimizer has parameters that the model no longer has."),
    ("GL703", "weights-untied", _E, "Modules that shared a parameter no longer do."),
    ("GL704", "rate-zero", _W, "The learning rate of a group is 0, and nothing raises it."),
    ("GL705", "stepped-twice", _E, "Two optimizers step the same parameters by the same gradients."),
    ("GL711", "gradients-cut", _E, "No gradient reaches a part of the model that runs."),
    ("GL712", "gradients-pile-up", _E, "Gradients are never zeroed: each step repeats all earlier ones."),
    ("GL713", "gradients-zeroed", _E, "Gradients are zeroed between backward and step."),
    ("GL714", "step-without-backward", _E, "Steps are made without gradients of their own."),
    ("GL715", "loss-below-bound", _E, "The loss is negative, and by its formula cannot be."),
    ("GL721", "clipped-late", _W, "Gradients are clipped after the step that uses them."),
    ("GL722", "clipped-while-scaled", _E, "Gradients are clipped before GradScaler has unscaled them."),
    ("GL723", "clipped-nothing", _W, "What the loop clips has no gradients."),
    ("GL724", "schedule-first", _W, "The schedule of the rate steps before the optimizer does."),
    ("GL725", "schedule-ended", _W, "The rate is gone, or soon will be, as the schedule steps too often."),
    ("GL726", "schedule-unused", _W, "The schedule of the rate has never stepped."),
    ("GL727", "evaluation-mode", _W, "The model is trained in evaluation mode."),
    ("GL728", "every-step-skipped", _E, "GradScaler skips every step."),
    ("GL731", "updates-lost", _W, "Updates are too small to change the weights in their precision."),
    ("GL732", "state-lost", _W, "A run goes on without the state of its optimizer."),
    ("GL741", "non-finite-state", _E, "A parameter, a buffer or a slot has become NaN or infinite."),
    ("GL742", "batches-of-one", _W, "Batch norm is given batches of one example."),
    ("GL743", "batches-repeat", _W, "Each worker of the data loader makes the same batches."),
    ("GL751", "replicas-differ", _E, "Replicas that should have the same parameters do not."),
)


def _reading(name: str, meaning: str) -> Callable[[Signals, Limits], Hits]:
    """The function of a rule, which reads what was told under this name."""
    tag = f"wiring/{name}/text_summary"

    def read(run: Signals, limit: Limits) -> Hits:
        if tag not in run.run.tags:
            return
        texts = run.run.texts[tag]
        for step, words in zip(texts.step, texts, strict=True):
            yield Hit(" ".join(map(str, np.atleast_1d(words))), (), (step, step))

    read.__doc__ = meaning
    return read


for _code, _name, _severity, _meaning in _TOLD:
    RULES.add(_code, _name, _severity)(_reading(_name, _meaning))
