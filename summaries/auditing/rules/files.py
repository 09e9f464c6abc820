"""GL1xx: what is wrong with the event files themselves."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Hits, Ruleset
from summaries.errors import Fault, FaultKind
from summaries.storage.names import whole_name
from summaries.words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from summaries.auditing.rules.rule import Limits
    from summaries.auditing.signals.signals import Signals

__all__ = ["RULES"]

RULES = Ruleset(of_moments=True)


@RULES.add("GL101", "truncated-tail", Severity.INFO, needs=("faults",), while_written=True)
def truncated_tail(run: Signals, limit: Limits) -> Hits:
    """A file ends inside a record."""
    tails = _faults(run, FaultKind.UNFINISHED_TAIL)
    if tails:
        path, *others = tails
        fault = tails[path][-1]
        also = f"; so do {counted(len(others), 'other file')}: {listed(others)}" if others else ""
        yield Hit(
            f"{path} ends inside a record: {fault.got} of {fault.want}; it was cut short, or is still being written"
            f"{also}",
            evidence={"file": path, "offset": fault.offset, "bytes": fault.length, "files": len(tails)},
            count=len(tails),
        )


@RULES.add("GL102", "damaged-payload", Severity.ERROR, needs=("faults",))
def damaged_payload(run: Signals, limit: Limits) -> Hits:
    """The data of a record does not match its checksum."""
    for path, faults in _faults(run, FaultKind.DAMAGED_PAYLOAD).items():
        yield _damage(path, faults, "the data of", "does not match its checksum")


@RULES.add("GL103", "damaged-length", Severity.ERROR, needs=("faults",))
def damaged_length(run: Signals, limit: Limits) -> Hits:
    """There is no record where one should start."""
    kinds = FaultKind.DAMAGED_LENGTH, FaultKind.ZERO_FILLED, FaultKind.NO_EVENT_FILE
    for path, faults in _faults(run, *kinds).items():
        if path not in run.other_files:  # GL107 tells what these are
            yield _damage(path, faults, "the length of", f"cannot be trusted ({faults[0].reason})")


@RULES.add("GL104", "undecodable-record", Severity.ERROR, needs=("faults",))
def undecodable_record(run: Signals, limit: Limits) -> Hits:
    """A record is whole but not an event, or its tag is not valid text."""
    for path, faults in _faults(run, FaultKind.UNDECODABLE, FaultKind.UNDECODABLE_TEXT).items():
        yield _damage(path, faults, "the message in", f"is whole but cannot be decoded ({faults[0].reason})")


@RULES.add("GL105", "no-file-version", Severity.INFO)
def no_file_version(run: Signals, limit: Limits) -> Hits:
    """A file does not begin with its version."""
    damaged = {fault.path for fault in run.run.faults if not fault.record}  # that record may have been the version
    files = zip(run.run.files, run.run.versions, run.run.records, strict=True)
    missing = [path for path, version, records in files if records and not version and path not in damaged]
    if missing:
        message = f"{missing[0]} does not begin with a file version, as an event file should{_more(missing)}"
        yield Hit(message, evidence={"file": missing[0]}, count=len(missing))


@RULES.add("GL106", "two-writers", Severity.WARNING)
def two_writers(run: Signals, limit: Limits) -> Hits:
    """Two files of a run were written at the same time."""
    files = run.files
    for i, j in run.concurrent_files:
        parts = {
            tag: [signal.series.step[slice(*run.file_ranges(signal)[file])] for file in (i, j)]
            for tag, signal in run.timed.items()
        }
        shared = [tag for tag, steps in parts.items() if all(map(len, steps))]
        ends = [end for tag in shared for steps in parts[tag] for end in (steps.min(), steps.max())]
        what = f"{counted(len(shared), 'tag')} in both" if shared else "no tag in both"
        yield Hit(
            f"{files[i]} and {files[j]} were written at the same time, with {what}",
            shared[:1],
            (min(ends), max(ends)) if shared else None,
            {"first file": files[i], "second file": files[j], "shared tags": len(shared)},
            severity=None if shared else Severity.INFO,  # for example, each process of a job logs its own tags
        )


@RULES.add("GL107", "no-events", Severity.INFO, while_written=True)
def no_events(run: Signals, limit: Limits) -> Hits:
    """Nothing was logged to a file, or it is no event file."""
    for path, what in run.other_files.items():
        yield Hit(f"{path} is no event file: by content, it is {what}", evidence={"file": path, "content": what})
    lossy = {fault.path for fault in run.run.faults if fault.kind.is_data_loss}
    files = zip(run.run.files, run.run.versions, run.run.records, strict=True)
    logged = {whole_name(path) for path, version, records in files if records > bool(version) or path in lossy}
    empty = [path for path in run.files if whole_name(path) not in logged]
    if empty:
        several = f" and {len(empty) - 1} more" if len(empty) > 1 else ""
        yield Hit(f"nothing was logged to {empty[0]}{several}", evidence={"file": empty[0]}, count=len(empty))


def _faults(run: Signals, *kinds: FaultKind) -> dict[str, list[Fault]]:
    """The faults of these kinds in a run, by file."""
    faults = defaultdict(list)
    for fault in run.run.faults:
        if fault.kind in kinds:
            faults[fault.path].append(fault)
    return faults


def _more(alike: Sequence[object]) -> str:
    """The end of a sentence about the first of several."""
    return f"; {len(alike) - 1} more like it" if len(alike) > 1 else ""


def _damage(path: str, faults: list[Fault], what: str, how: str) -> Hit:
    first = faults[0]
    return Hit(
        f"{path}: {what} record {first.record}, at offset {first.offset}, {how}{_more(faults)}",
        evidence={
            "file": path,
            "record": first.record,
            "offset": first.offset,
            "bytes": sum(fault.length for fault in faults),
            "got": first.got,
            "want": first.want,
        },
        count=len(faults),
    )
