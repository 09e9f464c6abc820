"""The labels of strangers' runs against what the audit says of them now.

The runs are not ours to publish: they are looked for in the folders that `GRADLEDGER_STRANGERS` names, else in
`shared/real` and `shared/real2` beside one of the directories above this one. A label is one finding that somebody
looked at: true, false, missed by the audit then, or true in words that were not.
"""

import json
import os
from pathlib import Path
from typing import NamedTuple

from labelled.proofs import unproved

from summaries import Severity, audit, read_run
from summaries.auditing.config import Config
from summaries.auditing.engine import signals_of

VARIABLE = "GRADLEDGER_STRANGERS"
FOLDERS = "real", "real2"


def folders():
    """Where the runs are; none if they are not on this machine."""
    if given := os.environ.get(VARIABLE):
        return [Path(place) for place in given.split(os.pathsep)]
    above = Path(__file__).resolve().parents
    found = [parent / "shared" / name for parent in above for name in FOLDERS]
    return [place for place in found if (place / "LABELS.json").is_file()]


class Label(NamedTuple):
    """What somebody said about a finding.

    `code` is "" if a run was looked at, and there is nothing to warn of.
    """

    place: Path
    run: str
    code: str
    tag: str
    verdict: str
    why: str

    def holds(self, findings):
        """Whether the findings of the run are as this label says."""
        if not self.code:
            return not any(finding.severity >= Severity.WARNING for finding in findings)
        alike = [finding for finding in findings if finding.code == self.code and self._same_tag(finding)]
        if self.verdict == "false":
            return all(finding.severity <= self._most for finding in alike)
        if self.verdict == "words":
            signals = signals_of(self.run, read_run(self.place / self.run), Config())
            return all(finding.claims and not unproved(finding, signals) for finding in alike)
        return any(finding.severity >= Severity.WARNING for finding in alike)

    @property
    def _most(self):
        """The highest severity that a false finding may still have."""
        return Severity.WARNING if "a warning at most" in self.why else Severity.INFO

    def _same_tag(self, finding):
        """Whether a finding is about this tag; those about times and steps are about the run."""
        return self.code.startswith("GL2") or self.tag in (finding.tag, *finding.others)


def labels(places):
    """Every label, in the order of the files."""
    for place in places:
        table = json.loads((place / "LABELS.json").read_text(encoding="utf-8"))
        for run, entry in table.items():
            for one in entry["findings"]:
                yield Label(place, run, one["code"], one["tag"], one["verdict"], one["why"])
            if not entry["findings"]:
                yield Label(place, run, "", "", "nothing", entry.get("note", ""))


def found(places):
    """The findings of every run, by its name."""
    return {run.name: run.findings for place in places for run in audit(place, Config()).runs}


def unlabelled(findings, labels):
    """Errors and warnings that no label is about."""
    known = list(labels)
    for run, own in findings.items():
        for finding in own:
            about = [one for one in known if one.run == run and one.code == finding.code and one._same_tag(finding)]
            if finding.severity >= Severity.WARNING and not about:
                yield finding
