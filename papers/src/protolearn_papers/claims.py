"""What a paper states in words, beside what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .findings import Table


@dataclass(frozen=True)
class Claim:
    """A statement that numbers can confirm or not.

    Attributes
    ----------
    what : str
        What it is about.
    theirs, ours : str
        What the paper says of it, and what was measured.
    share : float
        Share of the repetitions in which the statement holds.
    """

    what: str
    theirs: str
    ours: str
    share: float

    @property
    def verdict(self) -> str:
        """Whether it holds, in a word or two."""
        if 0.0 < self.share < 1.0:
            percent = f"{100.0 * self.share:.0f}"
            return f"in {f'{100.0 * self.share:.2f}' if percent in ('0', '100') else percent} %"
        return "yes" if self.share else "no"


def claims_table(name: str, title: str, claims: Sequence[Claim]) -> Table:
    """Return statements as a table."""
    return Table(
        name,
        title,
        ["statement", "the paper", "ours", "holds"],
        [[claim.what, claim.theirs, claim.ours, claim.verdict] for claim in claims],
        [
            {
                "statement": claim.what,
                "paper": claim.theirs,
                "ours": claim.ours,
                "share": claim.share,
            }
            for claim in claims
        ],
    )


def told(claims: Sequence[Claim]) -> list[str]:
    """Return sentences that say how many statements hold, and what is otherwise."""
    holding = [claim for claim in claims if claim.share == 1.0]
    said = [f"{len(holding)} of {len(claims)} statements hold in every repetition."]
    said += [
        f"{f'Holds {claim.verdict}' if claim.share else 'Does not hold'}: {claim.what}. The paper: "
        f"{claim.theirs}; ours: {claim.ours}."
        for claim in claims
        if claim.share < 1.0
    ]
    return said


def times(count: int, total: int, what: str = "draws") -> str:
    """Write how often."""
    return f"{count} of {total} {what}"


def small(value: float) -> str:
    """Write a number of which no more matters than that it is small."""
    return "0" if abs(value) < 1e-9 else f"{value:.2g}"
