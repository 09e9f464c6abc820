"""Search by symptom: which rules look for what somebody sees.

Words are compared by their first five letters, so that "exploding" finds "explodes"; the documentation's page of
symptoms, `docs/_static/symptoms.js`, does the same.
"""

from __future__ import annotations

import re

from summaries.auditing.rules.index import index

__all__ = ["SYMPTOMS", "about"]

# Where it is seen → what is seen → the rules that look for it, the likeliest first.
SYMPTOMS = {
    "Losses and metrics": {
        "the loss is NaN, or infinite": "GL301, GL401",
        "the loss is NaN on one rank first": "GL614",
        "the loss explodes, rises, increases, goes up, does not come back, the run diverged": "GL304, GL402, GL301",
        "the loss has a spike, jumps and comes back": "GL302, GL505",
        "the loss is flat or stuck, does not go down, nothing is learnt": "GL303, GL504, GL406, GL501, GL403",
        "the loss fell early, and has not improved since; a plateau": "GL308, GL504",
        "the loss is exactly zero all of a sudden, or repeats itself": "GL306, GL307",
        "the validation loss rises while the training loss falls, overfitting": "GL305",
        "the accuracy never changes, is the same at every point": "GL307, GL303",
        "the reward collapses, the entropy is zero, the policy is stuck": "GL506",
        "the loss is worse than before, a regression": "GL601",
        "the loss is exactly the same as before, a change had no effect": "GL604",
    },
    "Gradients, clipping, updates": {
        "gradients explode, the gradient norm grows": "GL402, GL404, GL501",
        "gradients vanish, early layers do not learn": "GL403, GL406",
        "gradients are NaN or infinite, fp16 or half precision overflows, the loss scale drops": "GL401, GL301",
        "a gradient is zero, a layer is dead, dead ReLU, a frozen or unused parameter": "GL406, GL408",
        "activations are saturated or all zero": "GL408",
        "every step is clipped": "GL404",
        "clipping does nothing": "GL405",
        "one layer dominates the norm": "GL407",
        "updates are too large or too small for the weights": "GL501",
        "Adam's state is NaN, a second moment is negative or stays zero": "GL502, GL503",
        "the learning rate is zero, negative, jumps, or restarts wrongly after a resume": "GL504",
        "a flight recorder wrote a run called `incident=…`": "GL208",
    },
    "Curves in TensorBoard": {
        "the run restarted or resumed, and curves double or go back": "GL201, GL206, GL202",
        "curves jump back and forth, zigzag between two values": "GL106, GL202",
        "everything is at step 0": "GL202",
        "TensorBoard shows no data, the run is empty": "GL107, GL103, GL104",
        "TensorBoard stops in the middle of a run, half of the curve is missing": "GL102, GL103, GL101",
        "the end of the run is missing, after a crash, a full disk or a power loss": "GL101, GL103",
        "steps are missing, there is a gap": "GL205",
        "the relative time or the speed is nonsense, clocks went back": "GL203",
        "a tag is gone that was there before": "GL603",
    },
    "Files": {
        "a checksum does not match, DataLossError, corrupted record": "GL102, GL103",
        "truncated record": "GL101",
        "a file cannot be decoded, is no event file, is a Git LFS pointer": "GL104, GL107, GL103",
        "a file does not begin with the version of the format": "GL105",
    },
    "Speed, and many machines": {
        "training, or the job, hangs, waits, or pauses between steps": "GL204, GL613",
        "training got slower, gets slower and slower": "GL207",
        "training is slower than it used to be": "GL602",
        "one rank or machine is slower than the others, a straggler": "GL613",
        "ranks disagree, replicas drift apart, DDP is out of sync": "GL611, GL612",
        "the gradients of one rank are not averaged": "GL612",
        "one rank's loss or data is different": "GL615",
    },
}
_SMALL = frozenset(["a", "an", "and", "are", "do", "does", "i", "in", "is", "it", "my", "of", "our", "the"])
_LETTERS = 5


def about(words: str) -> list[str]:
    """The codes of the rules whose name, or one of whose symptoms, has all of these words; the likeliest first.

    >>> about("loss spike")
    ['GL302', 'GL505']
    >>> about("exploding gradients")
    ['GL402', 'GL404', 'GL501']
    """
    wanted = [word[:_LETTERS] for word in re.findall(r"\w+", words.lower()) if word not in _SMALL]
    if not wanted:
        return []
    entries = [(seen, codes) for symptoms in SYMPTOMS.values() for seen, codes in symptoms.items()]
    entries += [(rule.name, code) for code, rule in index().items()]
    matching = [codes.split(", ") for text, codes in entries if all(word in text.lower() for word in wanted)]
    return list(dict.fromkeys(code for codes in matching for code in codes))
