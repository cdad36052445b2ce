"""Figure 4: the hinge loss of the margins falls while OLVQ1 learns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.neighbors import KNeighborsClassifier

from protolearn._arrays import Floats
from protolearn.classifiers import OLVQ1, MarginLVQ
from protolearn.margins import Hypothesis

from ..claims import Claim, claims_table, times, told
from ..findings import Figure, Findings, Table
from ..work import Work

POINTS, CLASSES, PROTOTYPES = 1000, 3, 10
"""Points, classes, and prototypes of each class, as in the paper."""

SPACING = 4.0
"""Distance of neighbouring Gaussians of unit variance."""

RATE, NEIGHBOURS = 0.3, 5
"""First rate of all prototypes, and neighbours that choose where they begin, as in LVQ_PAK."""

LVQ_PAK, KOHONEN, ANY = "LVQ_PAK", "Kohonen's order", "any points"
"""As in LVQ_PAK: prototypes begin at points that their neighbours classify rightly, and the rate of
a prototype changes after its move. Kohonen's formula changes it before. The third begins at
any points of the class, with the order of LVQ_PAK."""

EVERY = 10
"""Iterations, single samples, after which the loss is measured."""

Curves = dict[str, dict[int, dict[str, Any]]]
"""What was found, by form and draw."""


def run(work: Work) -> Findings:
    """Follow the loss of several draws."""
    draws, rounds = (1, 1) if work.quick else (20, 5)
    seeds = range(work.seed, work.seed + draws)
    forms = (LVQ_PAK, KOHONEN, ANY)
    tasks = {f"{one}, {seed}": (one, seed, rounds) for one in forms for seed in seeds}
    found = work.map("draws", follow, tasks)
    curves = {one: {seed: found[f"{one}, {seed}"] for seed in seeds} for one in forms}
    claims = [claim for one in curves for claim in claims_of(one, list(curves[one].values()))]
    figure = Figure("fig4", "hinge loss against iterations of OLVQ1", panels(curves), (12.0, 4.5))
    return Findings(
        [losses_table(curves), claims_table("statements", "What the paper says", claims)],
        [figure],
        [
            "The paper says no more of its points than their number and that of the classes; here "
            "each class is three Gaussians on a grid of nine.",
            "Iterations are single samples. The paper used LVQ_PAK, whose prototypes begin at "
            f"points that their {NEIGHBOURS} nearest neighbours classify rightly and with the rate "
            f"{RATE:g}. It moves the winner, then changes its rate ({LVQ_PAK}); Kohonen's formula, "
            f"which `OLVQ1` follows, changes the rate first ({KOHONEN}). {ANY.capitalize()} of the "
            "class are another start, with the order of LVQ_PAK.",
            *told(claims),
            *(later(one, list(curves[one].values())) for one in curves),
        ],
    )


def three_classes(seed: int, n: int = POINTS) -> tuple[Floats, NDArray[Any]]:
    """Draw points of three classes in the plane, three Gaussians of unit variance each.

    The Gaussians are on a jittered grid of three by three, a class once in each row and column.
    """
    rng = np.random.RandomState(seed)
    row, column = np.divmod(np.arange(9), 3)
    centres = SPACING * np.column_stack([row, column]) + rng.uniform(-0.5, 0.5, size=(9, 2))
    which = rng.permutation(np.arange(n) % 9)
    return centres[which] + rng.standard_normal((n, 2)), (row + column)[which] % CLASSES


def hinge_loss(prototypes: Floats, labels: NDArray[Any], X: Floats, y: NDArray[Any]) -> float:
    """Return the sum of ``(1 - theta)_+`` over the hypothesis margins of all points."""
    squared = ((X[:, None] - prototypes) ** 2).sum(axis=2)
    theta = Hypothesis()(squared, labels == y[:, None])[0]
    return float(np.maximum(0.0, 1.0 - theta).sum())


def first_prototypes(form: str, X: Floats, y: NDArray[Any], rng: np.random.RandomState) -> Floats:
    """Take random points of each class to begin with."""
    taken = np.ones(len(X), dtype=bool)
    if form != ANY:
        taken = KNeighborsClassifier(NEIGHBOURS).fit(X, y).predict(X) == y
    rows = [np.flatnonzero(taken & (y == c)) for c in range(CLASSES)]
    return X[np.concatenate([rng.permutation(own)[:PROTOTYPES] for own in rows])]


def move_then_rate(
    W: Floats, rates: Floats, labels: NDArray[Any], X: Floats, y: NDArray[Any]
) -> None:
    """Take the steps of LVQ_PAK's OLVQ1 on some rows; prototypes and their rates are changed."""
    for x, own in zip(X, y, strict=True):
        k = int(((x - W) ** 2).sum(axis=1).argmin())
        sign = 1.0 if labels[k] == own else -1.0
        W[k] += sign * rates[k] * (x - W[k])
        rates[k] = min(rates[k] / (1.0 + sign * rates[k]), RATE)


def follow(form: str, seed: int, rounds: int) -> dict[str, Any]:
    """Return the loss along OLVQ1, its training error, and what a minimiser of the loss reaches."""
    X, y = three_classes(seed)
    rng = np.random.RandomState(seed)
    first = first_prototypes(form, X, y, rng)
    labels = np.repeat(np.arange(CLASSES), PROTOTYPES)
    given: dict[str, Any] = {"prototypes_per_class": PROTOTYPES, "init": first}
    model = OLVQ1(learning_rate=RATE, shuffle=False, **given)
    W, rates = first.copy(), np.full(len(first), RATE)
    losses = [hinge_loss(first, labels, X, y)]
    for _ in range(rounds):
        for part in rng.permutation(len(X)).reshape(-1, EVERY):
            if form == KOHONEN:
                model.partial_fit(X[part], y[part], classes=np.arange(CLASSES))
                W = model.prototypes_
            else:
                move_then_rate(W, rates, labels, X[part], y[part])
            losses.append(hinge_loss(W, labels, X, y))
    direct = MarginLVQ(loss="hinge", beta=1.0, scale=1.0, random_state=seed, **given).fit(X, y)
    return {
        "losses": losses,
        "error": float(np.mean(labels[cdist(X, W).argmin(axis=1)] != y)),
        "direct": hinge_loss(direct.prototypes_, labels, X, y),
    }


def summary(one: dict[str, Any]) -> dict[str, float]:
    """Return the numbers of a curve."""
    losses = np.array(one["losses"])
    stretches = np.array([part.mean() for part in np.array_split(losses, 10)])
    return {
        "start": float(losses[0]),
        "end": float(losses[-1]),
        "lowest": float(losses.min()),
        "lowest_at": float(EVERY * losses.argmin()),
        "falling_steps": float(np.mean(np.diff(losses) < 0.0)),
        "falling_stretches": float(np.mean(np.diff(stretches) < 0.0)),
        "direct": one["direct"],
        "error": one["error"],
    }


def losses_table(curves: Curves) -> Table:
    """Return the loss at the start and at the end of each draw."""
    records: list[dict[str, Any]] = [
        {"form": form, "draw": seed, **summary(one)}
        for form, draws in curves.items()
        for seed, one in draws.items()
    ]
    return Table(
        "hinge_loss",
        "Hinge loss along OLVQ1 (the paper: it decreases)",
        [
            "form, draw",
            "start",
            "end",
            "lowest",
            "at iteration",
            "steps that lower it",
            "tenths that lower it",
            "loss minimised itself",
            "training error",
        ],
        [
            [
                f"{one['form']}, {one['draw']}",
                *(f"{one[key]:.0f}" for key in ("start", "end", "lowest", "lowest_at")),
                *(f"{100 * one[key]:.0f} %" for key in ("falling_steps", "falling_stretches")),
                f"{one['direct']:.0f}",
                f"{100 * one['error']:.1f} %",
            ]
            for one in records
        ],
        records,
        [
            f"A step is {EVERY} iterations; a tenth is the mean of the loss over a tenth of the "
            "run, against that over the one before. The loss minimised itself is that of "
            "MarginLVQ with the hinge loss, from the same prototypes."
        ],
    )


def claims_of(form: str, curves: list[dict[str, Any]]) -> list[Claim]:
    """Compare the statement of the figure with the draws of one form."""
    found = [summary(one) for one in curves]
    falls = np.array([one["end"] < one["start"] for one in found])
    left = np.array([one["end"] / one["start"] for one in found])
    steps = np.array([one["falling_steps"] for one in found])
    return [
        Claim(
            f"{form}: the loss is lower at the end than at the start",
            "it clearly decreases",
            f"lower in {times(int(falls.sum()), len(falls))}, {100 * left.mean():.0f} % of it "
            "left in the mean",
            float(falls.mean()),
        ),
        Claim(
            f"{form}: more steps lower the loss than raise it",
            "decreases as the algorithm proceeds",
            f"{100 * steps.mean():.0f} % of the steps, more than half in "
            f"{times(int(np.sum(steps > 0.5)), len(steps))}",
            float(np.mean(steps > 0.5)),
        ),
    ]


def later(form: str, curves: list[dict[str, Any]]) -> str:
    """Return a text that says how soon the loss falls, and how far from its least."""
    falls = [
        (one["losses"][0] - one["losses"][len(one["losses"]) // 5])
        / (one["losses"][0] - min(one["losses"]))
        for one in curves
        if min(one["losses"]) < one["losses"][0]
    ]
    above = np.median([one["losses"][-1] / one["direct"] for one in curves])
    made = f"a fifth of the run makes {100 * np.median(falls):.0f} % of the fall; " if falls else ""
    return (
        f"{form}, in the median: {made}OLVQ1 ends at {above:.2f} times what a "
        "minimiser of the loss reaches from the same prototypes."
    )


def panels(curves: Curves) -> Callable[[Any], None]:
    """Return what draws the loss of all draws, the first one strong, a panel for each form."""

    def draw(figure: Any) -> None:
        axes = figure.subplots(1, len(curves), sharex=True, sharey=True)
        for ax, (form, draws) in zip(axes, curves.items(), strict=True):
            draw_losses(ax, draws)
            ax.set(title=form, xlabel="iteration of OLVQ1")
        axes[0].set_ylabel(r"hinge loss $\sum_l (1 - \theta_l)_+$")
        axes[0].set_ylim(bottom=0.0)
        axes[0].legend(frameon=False, loc="lower right")

    return draw


def draw_losses(ax: Any, draws: dict[int, dict[str, Any]]) -> None:
    """Draw the losses of one form."""
    from protolearn.report import COLOURS, colour

    first, *others = draws
    for seed in others:
        losses = draws[seed]["losses"]
        label = "other draws" if seed == others[0] else None
        places = EVERY * np.arange(len(losses))
        ax.plot(places, losses, color=COLOURS[-1], lw=0.8, alpha=0.35, label=label)
    losses = draws[first]["losses"]
    places = EVERY * np.arange(len(losses))
    ax.plot(places, losses, color=colour(0), lw=1.8, label=f"draw {first}")
    ax.set_xlim(0, places[-1])
