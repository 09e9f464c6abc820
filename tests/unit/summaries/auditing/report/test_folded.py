"""What one rule found in many tags of a run is told once."""

import pytest
from audits.reports import finding

from summaries.auditing.report.folded import folded


def vanished(name, run="a", severity="WARNING", steps=(0, 99)):
    """A finding of GL403 about this variable."""
    tag = f"gradients/norm/{name}"
    return finding("GL403", "vanishing-gradient", severity, run, tag, steps, f"the gradient of {name} vanishes")


@pytest.mark.parametrize("count", range(4))
def test_a_few_are_told_one_by_one(count):
    findings = [vanished(f"layer{i}") for i in range(count)]
    assert folded(findings) == findings


def test_many_are_one():
    (one,) = folded([vanished(f"layer{i}", steps=(10 - i, 90 + i)) for i in range(9)])
    assert one.message == (
        "the gradient of layer0 vanishes; and 8 more like it, in gradients/norm/layer1, gradients/norm/layer2,"
        " gradients/norm/layer3 and others"
    )
    assert (one.tag, one.steps, one.count) == ("gradients/norm/layer0", (2, 98), 9)


def test_the_words():
    (one,) = folded([vanished(f"layer{i}") for i in range(4)])
    assert one.message.endswith(
        "; and 3 more like it, in gradients/norm/layer1, gradients/norm/layer2 and gradients/norm/layer3"
    )
    files = [
        finding("GL102", "damaged-payload", "ERROR", "a", "", None, "damaged", file=f"a/{i}") for i in (0, 1, 1, 1)
    ]
    assert folded(files)[0].message == "damaged; and 3 more like it, in a/1"
    assert folded(files)[0].steps is None
    placeless = [finding("GL107", "no-events", "INFO", "a", "", None, "nothing") for _ in range(4)]
    assert folded(placeless)[0].message == "nothing; and 3 more like it"


def test_only_what_is_alike():
    """Of one rule, one run, one severity; each where the first of them stood."""
    others = [
        vanished("x", run="b"),
        vanished("y", severity="INFO"),
        finding("GL301", "n", "ERROR", "a", "l", None, "m"),
    ]
    found = folded([others[2], *(vanished(f"layer{i}") for i in range(5)), *others[:2]])
    assert [(one.code, one.run, one.severity.name) for one in found] == [
        ("GL301", "a", "ERROR"), ("GL403", "a", "WARNING"), ("GL403", "b", "WARNING"), ("GL403", "a", "INFO"),
    ]  # fmt: skip
