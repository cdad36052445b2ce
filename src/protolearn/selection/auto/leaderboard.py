"""The candidates that were tried, from the best to the worst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, overload

import numpy as np

from ...analysis import import_pandas
from .ledger import Ledger

MOST_SHOWN = 20

HEAD = "kind             score           fits  prototypes  numbers  seconds"


@dataclass(frozen=True)
class Standing:
    """What is known of a candidate.

    Attributes
    ----------
    family : str
        The family it belongs to; the name of the model if it is in none.
    model : str
        The model, with the settings that are not its defaults.
    score : float
        Mean over the folds; NaN if a fit failed.
    standard_error : float
        Its standard error, as if the folds were independent.
    n_fits : int
        Fits that it was given: the better ones have more.
    n_prototypes : float
        Prototypes, mean over the fits.
    n_numbers : float
        Numbers that it takes to write the model down; the fewer the simpler.
    fit_time : float
        Seconds for a fit and its scores, mean over the fits.
    chosen : bool
        Whether it is the one.
    failure : str
        Why there is no score.
    kind : str
        What a person sees of it: ``"prototypes"`` (a few, with exact margins), ``"linear"``,
        ``"local metric"``, ``"soft prototypes"``, ``"kernel"`` or ``"ensemble"``.
    """

    family: str
    model: str
    score: float
    standard_error: float
    n_fits: int
    n_prototypes: float
    n_numbers: float
    fit_time: float
    chosen: bool
    failure: str
    kind: str = ""


class Leaderboard(Sequence[Standing]):
    """The candidates that were tried, the best score first.

    Parameters
    ----------
    standings : sequence of Standing
        The candidates in this order.
    """

    def __init__(self, standings: Sequence[Standing]):
        self._standings = tuple(standings)

    @overload
    def __getitem__(self, place: int) -> Standing: ...
    @overload
    def __getitem__(self, place: slice) -> Leaderboard: ...
    def __getitem__(self, place: int | slice) -> Standing | Leaderboard:
        """Return a candidate by its place, or several as a shorter leaderboard."""
        if isinstance(place, slice):
            return Leaderboard(self._standings[place])
        return self._standings[place]

    def __len__(self) -> int:
        return len(self._standings)

    def __repr__(self) -> str:
        """Write a table of the first candidates, and of the chosen one."""
        shown = [line(place, s) for place, s in enumerate(self) if place < MOST_SHOWN or s.chosen]
        width = max((len(cells[1]) for cells in shown), default=5)
        head = f"     {'model':{width}}  {HEAD}"
        rows = [f"{cells[0]}{cells[1]:{width}}  {cells[2]}" for cells in shown]
        hidden = len(self) - len(shown)
        return "\n".join([head, *rows, *([f"     and {hidden} more"] if hidden else [])])

    def price_of_choice(self) -> tuple[Standing, float] | None:
        """Return the most accurate candidate, and how much better it is; None: it was chosen.

        Returns
        -------
        found : pair of Standing and float, or None
            Among the candidates with as many fits as the chosen one.
        """
        chosen = next((one for one in self if one.chosen), None)
        if chosen is None or chosen.failure:
            return None
        rivals = [one for one in self if one.n_fits == chosen.n_fits and not one.failure]
        best = max(rivals, key=lambda one: one.score)
        return (best, best.score - chosen.score) if best.score > chosen.score else None

    def to_frame(self) -> Any:
        """Return the table as a pandas frame.

        Returns
        -------
        frame : DataFrame
            A row for each candidate, with the names of :class:`Standing`.
        """
        return import_pandas().DataFrame([asdict(standing) for standing in self])


def line(place: int, standing: Standing) -> tuple[str, str, str]:
    """Write a candidate: its place, its name, its numbers."""
    s, mark = standing, "*" if standing.chosen else " "
    if s.failure:
        return f"{place + 1:3d} {mark}", s.model, f"failed: {s.failure.splitlines()[0][:60]}"
    numbers = (
        f"{s.kind:15}  {s.score:.3f} +- {s.standard_error:.3f}  {s.n_fits:4d}  "
        f"{s.n_prototypes:10.0f}  {s.n_numbers:7.0f}  {s.fit_time:7.2f}"
    )
    return f"{place + 1:3d} {mark}", s.model, numbers


def leaderboard(ledger: Ledger, chosen: int) -> Leaderboard:
    """Make the leaderboard of a search."""
    tried = sorted({number for number, _ in ledger.trials})
    standings = [standing(ledger, number, number == chosen) for number in tried]
    return Leaderboard(sorted(standings, key=lambda s: (bool(s.failure), -s.score, -s.n_fits)))


def standing(ledger: Ledger, number: int, chosen: bool) -> Standing:
    """Sum up what the ledger has of a candidate."""
    n_fits = len(ledger.of(number, "seconds"))
    failure = ledger.failures().get(number, "")
    scores = np.array([np.nan])
    if not failure:
        whole = n_fits == len(ledger.parts)
        first = min(n_fits, ledger.n_looks)
        scores = (ledger.on_folds([number]) if whole else ledger.first_scores([number], first))[0]
    spread = scores.std(ddof=1) if len(scores) > 1 else np.nan
    candidate = ledger.candidates[number]
    return Standing(
        family=candidate.family,
        model=str(candidate),
        score=float(scores.mean()),
        standard_error=float(spread / np.sqrt(len(scores))),
        n_fits=n_fits,
        n_prototypes=float(ledger.of(number, "n_prototypes").mean()),
        n_numbers=float(ledger.of(number, "n_numbers").mean()),
        fit_time=float(ledger.of(number, "seconds").mean()),
        chosen=chosen,
        failure=failure,
        kind=candidate.kind,
    )
