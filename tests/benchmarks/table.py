"""All of a run's figures in one table of ratios, and the exponents of what grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.growth import MOST

if TYPE_CHECKING:
    from collections.abc import Iterator

_WIDTH = 62


def lines(results: dict[str, Any]) -> Iterator[str]:
    """The table as text.

    Args:
        results: as `python -m benchmarks --json` writes them.
    """
    yield f"\n{'':{_WIDTH}}{'ours':>12} {'unit':<8}{'was':>10}   times better than"
    for figure in results["figures"]:
        was = "" if figure["was"] is None else f"{figure['was']:,.4g}"
        ratios = [f"{name} {ratio:,.3g}" for name, ratio in figure["ratios"].items()]
        ratios += [f"({name}: {reason})" for name, reason in figure["left_out"].items()]
        row = f"{figure['what']:{_WIDTH}.{_WIDTH}}{figure['ours']:>12,.4g} {figure['unit']:<8}{was:>10}"
        yield f"{row}   {', '.join(ratios)}".rstrip()
    if results["growths"]:
        yield f"\n{'':{_WIDTH}}{'exponent':>12} of"
    for growth in results["growths"]:
        low, high = growth.get("interval", [growth["exponent"]] * 2)
        above = f"   above {MOST}: {growth['note'] or 'unexplained'}" if low > MOST else ""
        fitted = f"{growth['exponent']:>12.2f} {growth['of']}, {low:.2f} to {high:.2f}"
        yield f"{growth['cost']:{_WIDTH}.{_WIDTH}}{fitted}{above}"
    yield from (f"left out: {reason}" for reason in results["left_out"])
