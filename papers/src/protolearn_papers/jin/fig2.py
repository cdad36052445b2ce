"""Figure 2: the average margin during training on USPS, twenty prototypes a class."""

from __future__ import annotations

from typing import Any

import numpy as np

from protolearn import PrototypeClassifier
from protolearn.analysis import MarginHistory
from protolearn.solvers import SGD

from ..findings import Figure, Findings, Table
from ..work import Work
from .large import read, searched
from .methods import METHODS
from .protocol import RATE, Protocol

PROTOTYPES = 20
ALPHA = 0.001
EPOCHS = 100
QUICK_EPOCHS = 5
QUICK_TAU = 1.0

RATES = Protocol((PROTOTYPES,), epochs=40, validation=1 / 5, alphas=(ALPHA,))
"""How the rate is chosen, which the paper does not give: as in table 1."""

QUICK_ROWS = 1000

Curve = dict[str, list[float]]


def run(work: Work) -> Findings:
    """Follow the margins of four algorithms."""
    work.need("usps")
    epochs = QUICK_EPOCHS if work.quick else EPOCHS
    rows = QUICK_ROWS if work.quick else 0
    taus = chosen_taus(work)
    tasks = {f"margins/{name}": (name, taus[name], epochs, rows, work.seed) for name in METHODS}
    found = work.map("margins during training", followed, tasks)
    curves = {name: found[f"margins/{name}"] for name in METHODS}
    figure = Figure(
        "margins",
        "Average margins of MCE, SNPC, LOGM and GLVQ during training on USPS",
        lambda canvas: draw(canvas, curves),
        (9.0, 4.0),
    )
    return Findings([margins_table(curves, taus)], [figure], remarks(curves))


def chosen_taus(work: Work) -> dict[str, float]:
    """Return the rate of each method that is best on validation rows."""
    if work.quick:
        return dict.fromkeys(METHODS, QUICK_TAU)
    tasks = {f"tau/{name}": ("usps", name, PROTOTYPES, RATES, work.seed) for name in METHODS}
    tried = work.map("learning rates", searched, tasks)
    return {name: max(tried[f"tau/{name}"], key=lambda one: one[3])[2] for name in METHODS}


def followed(name: str, tau: float, epochs: int, rows: int, seed: int) -> Curve:
    """Fit one algorithm; give margins after every pass, unsquared and as the paper has them."""
    parts = read("usps")
    some = np.random.RandomState(seed).permutation(len(parts.y))[: rows or len(parts.y)]
    X, y = parts.X[some], parts.y[some]
    history, squared = MarginHistory(X, y), []

    def measure(state: Any) -> None:
        history(state)
        squared.append(mean_difference(state, X, y))

    method = METHODS[name]
    PrototypeClassifier(
        margin=method.margin,
        loss=method.loss,
        prototypes_per_class=PROTOTYPES,
        attraction=ALPHA * method.attraction,
        solver=SGD(learning_rate=RATE * tau),
        max_iter=epochs,
        callback=measure,
        random_state=seed,
    ).fit(X, y)
    return {"margin": history.mean_margin, "difference": squared, "error": history.error}


def mean_difference(state: Any, X: Any, y: Any) -> float:
    """Return the mean difference of squared distances to the nearest rival and own prototype."""
    D = state.distance.pairwise(X, state.codebook)
    own = state.codebook.labels == y[:, None]
    rival = np.where(own, np.inf, D).min(axis=1)
    return float(np.mean(rival - np.where(own, D, np.inf).min(axis=1)))


def draw(canvas: Any, curves: dict[str, Curve]) -> None:
    """Draw both margins."""
    from protolearn.report import COLOURS, LINES

    left, right = canvas.subplots(1, 2)
    for i, (name, curve) in enumerate(curves.items()):
        for ax, key in ((left, "difference"), (right, "margin")):
            passes = np.arange(1, len(curve[key]) + 1)
            ax.plot(passes, curve[key], LINES[i % len(LINES)], color=COLOURS[i], label=name)
    left.set_ylabel("mean of D$^-$ - D$^+$ (squared distances)")
    right.set_ylabel("mean hypothesis margin")
    for ax in (left, right):
        ax.set_xlabel("passes over the rows")
        ax.grid(alpha=0.3)
    left.legend()


def margins_table(curves: dict[str, Curve], taus: dict[str, float]) -> Table:
    """Return the margins after the first and after the last pass."""
    records: list[dict[str, Any]] = [
        {
            "method": name,
            "tau": taus[name],
            "first_difference": curve["difference"][0],
            "last_difference": curve["difference"][-1],
            "first_margin": curve["margin"][0],
            "last_margin": curve["margin"][-1],
            "training_error": curve["error"][-1],
        }
        for name, curve in curves.items()
    ]
    rows = [
        [
            str(one["method"]),
            f"{one['tau']:g}",
            *(f"{one[key]:.2f}" for key in list(one)[2:6]),
            f"{100 * one['training_error']:.2f} %",
        ]
        for one in records
    ]
    return Table(
        "margins",
        "Average margins on the training rows of USPS",
        [
            "method",
            "tau",
            "D- - D+, first pass",
            "last pass",
            "hypothesis margin, first pass",
            "last pass",
            "training error",
        ],
        rows,
        records,
    )


def remarks(curves: dict[str, Curve]) -> list[str]:
    """Return sentences that say whether LOGM ends with the largest margin, as in the paper."""
    last = {name: curve["difference"][-1] for name, curve in curves.items()}
    return [
        f"In the paper LOGM ends with a larger average margin than {other}: here "
        f"{last['LOGM']:.2f} against {last[other]:.2f}, so it "
        f"{'does too' if last['LOGM'] > last[other] else 'does not'}."
        for other in ("MCE", "GLVQ")
    ] + [
        f"{PROTOTYPES} prototypes a class and alpha {ALPHA}, as in the paper. It gives no tau; "
        "ours is the one that is best on a fifth of the training rows, as in table 1.",
    ]
