"""A figure that a benchmark measured, beside its peers' or its old value: what every benchmark yields."""

from __future__ import annotations

from dataclasses import dataclass, field

OURS = "gradledger"


@dataclass(frozen=True)
class Figure:
    """One measured figure.

    Attributes:
        what: what was measured, with its size: "a histogram of 1,000,000 float32, with flush".
        unit: the unit of all its values; less is better, but for units that end in "/s".
        ours: our value.
        peers: what peers took for the same, in the same run, by name.
        was: our value before issue 25 on a quiet machine of two cores, if one was written down.
        wanted: what the issue wants, in words: "10 x torch".
        notes: what else was seen, each in a few words: "68 % of a copy's bandwidth".
        left_out: peers that were not measured, by name, and why.
        job: the row of README's table that this figure is for: "log a scalar"; most are for none.
    """

    what: str
    unit: str
    ours: float
    peers: dict[str, float] = field(default_factory=dict)
    was: float | None = None
    wanted: str = ""
    notes: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    job: str = ""

    def ratios(self) -> dict[str, float]:
        """How many times better ours is than each peer."""
        more_is_better = self.unit.endswith("/s")
        return {name: self.ours / value if more_is_better else value / self.ours for name, value in self.peers.items()}

    def lines(self) -> list[str]:
        """The figure as text: a line for ours, then one a peer."""
        notes = [f"was {self.was:,.3g}"] if self.was is not None else []
        notes += [f"wanted {self.wanted}"] if self.wanted else []
        notes += self.notes
        lines = [self.what + f", {self.unit}", f"  {OURS:28}{self.ours:12,.3f}   {', '.join(notes)}".rstrip()]
        ratios = self.ratios()
        lines += [f"  {name:28}{value:12,.3f}   {ratios[name]:8.2f} x ours" for name, value in self.peers.items()]
        return lines + [f"  {name} is left out: {reason}" for name, reason in self.left_out.items()]
