"""The labels of strangers' runs against what the audit says of them now.

The runs are not ours to publish: they are looked for in `GRADLEDGER_STRANGERS`, else in `shared/real` beside one of the
directories above this one. A label is one finding that somebody looked at: true, false, or missed by the audit then.
"""

import json
import os
from pathlib import Path
from typing import NamedTuple

from summaries import Severity, audit
from summaries.auditing.config import Config

VARIABLE = "GRADLEDGER_STRANGERS"


def folder():
    """Where the runs are; None if they are not on this machine."""
    if given := os.environ.get(VARIABLE):
        return Path(given)
    above = Path(__file__).resolve().parents
    found = (parent / "shared" / "real" for parent in above)
    return next((place for place in found if (place / "LABELS.json").is_file()), None)


class Label(NamedTuple):
    """What somebody said about a finding.

    `code` is "" if a run was looked at, and there is nothing to warn of.
    """

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
        return any(finding.severity >= Severity.WARNING for finding in alike)

    @property
    def _most(self):
        """The highest severity that a false finding may still have."""
        return Severity.WARNING if "a warning at most" in self.why else Severity.INFO

    def _same_tag(self, finding):
        """Whether a finding is about this tag; those about times and steps are about the run."""
        return self.code.startswith("GL2") or self.tag in (finding.tag, *finding.others)


def labels(place):
    """Every label, in the order of the file."""
    table = json.loads((place / "LABELS.json").read_text(encoding="utf-8"))
    for run, entry in table.items():
        for one in entry["findings"]:
            yield Label(run, one["code"], one["tag"], one["verdict"], one["why"])
        if not entry["findings"]:
            yield Label(run, "", "", "nothing", entry.get("note", ""))


def found(place):
    """The findings of every run, by its name."""
    return {run.name: run.findings for run in audit(place, Config()).runs}


def unlabelled(findings, labels):
    """Errors and warnings that no label is about."""
    known = list(labels)
    for run, own in findings.items():
        for finding in own:
            about = [one for one in known if one.run == run and one.code == finding.code and one._same_tag(finding)]
            if finding.severity >= Severity.WARNING and not about:
                yield finding
