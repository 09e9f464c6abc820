"""Proofs: what a finding says of points, read back from the run."""

from summaries.auditing.signals.objectives import sum_of


def unproved(finding, signals, others=None):
    """The claims of a finding that the points of the run do not show, in words.

    Args:
        finding: the finding.
        signals: the run, as rules see it.
        others: those that claims may name, by name.
    """
    return [
        str(claim) for claim in finding.claims if not _shows((others or {}).get(claim.run, signals), claim, finding)
    ]


def _shows(signals, claim, finding):
    parts = [signals.all[tag] for tag in claim.tags or (finding.tag,)]
    return claim.holds(parts[0].finite if len(parts) == 1 else _finite(sum_of(parts)))


def _finite(series):
    return type(series)(
        series.tag,
        *(column[abs(series.value) < float("inf")] for column in (series.step, series.wall_time, series.value)),
    )
