"""`PYTHONPATH=tests python -m strangers` prints which labels hold, and every error and warning that has no label."""

import sys

from strangers.labels import VARIABLE, folders, found, labels, unlabelled


def main():
    """Print the table; the exit status is 1 if a label does not hold."""
    places = folders()
    if not places:
        sys.exit(f"no runs of strangers here: set {VARIABLE} to their folders")
    known, findings = list(labels(places)), found(places)
    failed = 0
    for one in known:
        holds = one.holds(findings[one.run])
        failed += not holds
        about = f"{one.code} {one.tag}".strip() or "nothing to warn of"
        print(f"{'holds' if holds else 'FAILS':<6} {one.run:<24} {one.verdict:<8} {about:<32} {one.why[:70]}")
    print(f"\n{len(known) - failed} of {len(known)} labels hold\n\nerrors and warnings without a label:")
    for finding in unlabelled(findings, known):
        print(f"  {finding.run:<24} {finding.severity.name.lower():<8} {finding.code} {finding.message}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
