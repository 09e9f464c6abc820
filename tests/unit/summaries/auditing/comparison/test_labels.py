"""What marks teach: AUC and cut beside numbers that can be counted."""

import numpy as np
import pytest

from summaries.auditing.comparison.labels import learnt, marked
from summaries.auditing.comparison.outcomes import Outcome


def outcomes(values, tag="loss"):
    return {str(i): {tag: Outcome("loss", value, value, 0, None, b"")} for i, value in enumerate(values)}


def labels(text):
    return {str(i): {"g": "good", "b": "bad"}[one] for i, one in enumerate(text) if one != "."}


def test_a_metric_that_tells_them_apart():
    lesson = learnt(outcomes([1.0, 2.0, 3.0, np.inf]), labels("ggbb"), ["loss"], maximize=False)
    assert (lesson.auc, lesson.cut) == (1.0, 2.5)
    best = learnt(outcomes([1.0, 2.0, 3.0, 4.0]), labels("bbgg"), ["loss"], maximize=True)
    assert (best.auc, best.cut) == (1.0, 2.5)


def test_pairs_are_counted():
    """Of the four pairs of a good and a bad run, the good one is better in three."""
    lesson = learnt(outcomes([1.0, 3.0, 2.0, 4.0]), labels("ggbb"), ["loss"], maximize=False)
    assert lesson.auc == 0.75
    assert learnt(outcomes([1.0, 1.0]), labels("gb"), ["loss"], maximize=False).auc == 0.5


def test_a_metric_that_a_marked_run_lacks_teaches_nothing():
    runs = outcomes([1.0, 2.0])
    runs["0"]["other"] = runs["0"]["loss"]
    assert learnt(runs, labels("gb"), ["other", "loss"], maximize=False).metric == "loss"
    with pytest.raises(ValueError, match=r"^the marked runs have no loss in common: name a tag as the metric$"):
        learnt(runs, labels("gb"), ["other"], maximize=False)


def test_patterns_go_before_labels():
    found = marked(["a", "b", "c"], {"a": "bad", "b": "bad"}, good=["a"], bad=[])
    assert found == {"a": "good", "b": "bad", "c": "bad"}
    assert marked(["a", "b"], {"a": "bad"}, good=[], bad=[]) == {"a": "bad"}
    assert marked(["a", "b"], {}, good=[], bad=["b"]) == {"a": "good", "b": "bad"}
