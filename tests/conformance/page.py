"""docs/compatibility.md, made of what a run of the tests found."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from conformance.clients.run import described, version_of
from conformance.suites import SUITES
from conformance.tables import ROWS
from conformance.tables.signatures import SIGNATURES

__all__ = ["render"]

LIBRARIES = {
    "torch": ("torch.utils.tensorboard.SummaryWriter", "torch"),
    "tensorboardX": ("tensorboardX.SummaryWriter", "tensorboardX"),
    "TF1": ("tf.compat.v1.summary.FileWriter", "tensorflow-cpu"),
}
"""Library → its writer, and the package that brings it."""

HEAD = """\
# Compatibility

`make conformance` runs each use below twice, with the original writer and with `summaries.SummaryWriter`, compares the
events, what TensorBoard's reader makes of them and all other files, and writes this page. A use is

- **same**: both store the same, or both raise an error;
- **different**: both store something, and the page says what differs and why;
- **refused**: ours raises an error, the original does not;
- **accepted**: the original raises an error, ours does not.
"""

PROGRAMS = """
## Programs

Each program trains for a few steps, once with the writer that it knows and once with ours. Tags, steps and values are
the same, but for times.

"""

SUITES_HEAD = """
## Test suites

Tests of other packages that make a writer, and pass with the original. Those of Lightning, tbparse, torch, TensorFlow
and TensorBoard come from their repositories, and run where these can be reached. TensorBoard's read with its loaders
and plugins what the writer has written. TensorFlow's of training, from its years of TF1, make optimizers, averages,
clippings, decays and coordinators: in its graphs and with its variables, ours do the arithmetic.

"""


def render(records: list[tuple[str, Any]]) -> str:
    """The page, of what each test recorded: its kind, and what it found."""
    found: dict[str, list[Any]] = defaultdict(list)
    for kind, record in records:
        found[kind].append(record)
    parts = [
        HEAD,
        _methods(found["row"]),
        _clients(found["client"]),
        _suites(),
        _differences(found["row"]),
    ]
    return "\n".join([*parts, _signatures()])


def _table(*rows: tuple[str, ...]) -> str:
    head, *rest = rows
    lines = [head, tuple("---" for _ in head), *rest]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _methods(rows: list[Any]) -> str:
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for library, method, _, word in rows:
        counts[method, library][word] += 1
    methods = list(dict.fromkeys(row.method for row in ROWS))
    head = ("", *(f"{name} {version_of(package)}" for name, (_, package) in LIBRARIES.items()))
    lines = [(f"`{method}`", *(_counted(counts[method, library]) for library in LIBRARIES)) for method in methods]
    total = (
        "all",
        *(_counted(sum((c for (_, of), c in counts.items() if of == library), Counter())) for library in LIBRARIES),
    )
    names = ", ".join(f"`{name}`" for name, _ in LIBRARIES.values())
    return f"\n## Methods\n\nUses of {names}:\n\n" + _table(head, *lines, total)


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[word]} {word}" for word in ("same", "different", "refused", "accepted") if counts[word])


def _clients(clients: list[Any]) -> str:
    lines = [(*described(name), str(series), str(points)) for name, series, points in sorted(clients)]
    return PROGRAMS + _table(("program", "version", "series", "points"), *lines)


def _suites() -> str:
    lines = [
        (
            f"{suite.package} {version_of(suite.package)} {suite.part}".strip(),
            str(suite.tests),
            str(suite.tests - len(suite.reasons)),
        )
        for suite in SUITES
    ]
    reasons: dict[str, list[str]] = defaultdict(list)
    for suite in SUITES:
        for test, why in suite.reasons.items():
            reasons[f"{suite.name}: {why}"].append(f"`{test}`")
    listed = "".join(f"- {why}.\n  Tests: {', '.join(tests)}.\n" for why, tests in reasons.items())
    return (
        SUITES_HEAD
        + _table(("suite", "tests", "pass with ours"), *lines)
        + f"\nThose that do not, and why:\n\n{listed}"
    )


def _differences(rows: list[Any]) -> str:
    words = {(library, method, what): word for library, method, what, word in rows}
    grouped: dict[str, dict[tuple[str, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in ROWS:
        for library, verdict in row.verdicts.items():
            if words.get((library, row.method, row.what), "same") != "same":
                grouped[row.method][verdict.word, verdict.reason].append(f"{row.what} ({library})")
    parts = ["\n## What is not the same\n"]
    for method, reasons in grouped.items():
        parts.append(f"\n### {method}\n\n")
        parts += [f"- **{word}**: {reason}.\n  Uses: {'; '.join(uses)}.\n" for (word, reason), uses in reasons.items()]
    return "".join(parts)


def _signatures() -> str:
    lines = [f"- `{method}` of {library}: {verdict.reason}.\n" for (library, method), verdict in SIGNATURES.items()]
    return (
        "\n## Arguments\n\nEvery other method has the original's arguments, in its order and with its defaults.\n\n"
        + "".join(lines)
    )
