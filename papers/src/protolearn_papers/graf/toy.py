"""Figure 1: prototypes and separating lines on points in the plane that can be separated."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..claims import Claim, claims_table, times, told
from ..findings import Figure, Findings, Table
from ..work import Work
from .fits import FISHER, HARD, MEAN, SPARSE, Fits, on_toy
from .geometry import angle, canonical_gap, distances, from_middle, margin

MIDDLE = 1e-6
"""Share of the way between the prototypes up to which a line halves it."""

NEAR = 0.1
"""Share of the distance between the class means up to which a point is near another."""


def fig1(work: Work) -> Findings:
    """Draw six classifiers, and hold what the paper says of them against many draws."""
    fits = on_toy(work.seed)
    seeds = range(work.seed, work.seed + (2 if work.quick else 50))
    draws = list(work.map("draws", facts, {f"draw {seed}": (seed,) for seed in seeds}).values())
    claims = claims_of(draws)
    return Findings(
        [models_table(fits), claims_table("statements", "What the paper says", claims)],
        [Figure("fig1", "prototypes and separating lines of six classifiers", Draw(fits), (11, 7))],
        [
            "The paper prints neither the Gaussians nor the number of points; the points are "
            "those of make_graf_toy, three Gaussians a class.",
            f"The figure and the first table are of draw {work.seed}, the second of {len(draws)} "
            "draws.",
            *told(claims),
        ],
    )


def facts(seed: int) -> dict[str, Any]:
    """Return what the statements are about, for one draw."""
    fits = on_toy(seed)
    models, gamma = fits.models, np.sort(np.abs(np.ravel(fits.models[SPARSE].dual_coef_)))
    means = models[MEAN].prototypes_
    centre = fits.X.mean(axis=0)
    to_centre = np.linalg.norm(models[SPARSE].prototypes_ - centre, axis=1)
    return {
        "middle": max(abs(from_middle(models[name])) for name in (MEAN, HARD)),
        "shift": {name: abs(float(np.ravel(one.shift_)[0])) for name, one in models.items()},
        "second": float(gamma[-2] / gamma[-1]),
        "centre": float(to_centre.min() / np.linalg.norm(means[1] - means[0])),
        "nearest": {
            name: float(np.abs(distances(one, one.prototypes_)).mean())
            for name, one in models.items()
            if name != SPARSE  # one of whose prototypes is near the mean of all points
        },
        "canonical": max(canonical_gap(one, fits.X) for one in (*models.values(), fits.boosted)),
    }


def claims_of(draws: list[dict[str, Any]]) -> list[Claim]:
    """Hold the statements of section 8.1 against draws."""
    total = len(draws)

    def column(name: str) -> Any:
        return np.array([draw[name] for draw in draws])

    def winners(name: str, best: Any) -> list[str]:
        return [best(draw[name], key=draw[name].get) for draw in draws]

    middle, second, centre = column("middle"), column("second"), column("centre")
    shifted, closest = winners("shift", max), winners("nearest", min)
    canonical = column("canonical")
    return [
        Claim(
            "Every classifier is the difference of two averages of samples: w = p+ - p-",
            "exactly",
            f"up to {canonical.max():.0e} of its length",
            float(np.mean(canonical < MIDDLE)),
        ),
        Claim(
            "The line of the class means and of the hard margin halves the way: S = 0",
            "S = 0",
            f"off by at most {middle.max():.0e} of the way",
            float(np.mean(middle < MIDDLE)),
        ),
        Claim(
            "The classifier with the largest |S|",
            SPARSE,
            f"{SPARSE} in {times(shifted.count(SPARSE), total)}",
            shifted.count(SPARSE) / total,
        ),
        Claim(
            f"A single coefficient dominates the {SPARSE}",
            "yes",
            f"the second below a tenth of the first in {times(int(sum(second < NEAR)), total)}",
            float(np.mean(second < NEAR)),
        ),
        Claim(
            f"One prototype of the {SPARSE} is near the mean of all points",
            "yes",
            f"within a tenth of the means' distance in {times(int(sum(centre < NEAR)), total)}",
            float(np.mean(centre < NEAR)),
        ),
        Claim(
            f"The prototypes of the {HARD} are nearer to their line than class means and Fisher's",
            "close to it",
            f"nearer in {times(closest.count(HARD), total)}",
            closest.count(HARD) / total,
        ),
    ]


def models_table(fits: Fits) -> Table:
    """Return the numbers of each classifier."""
    paper = {MEAN: "S = 0", FISHER: "S not 0", SPARSE: "|S| largest", HARD: "S = 0"}
    models = {**fits.models, "boosted prototypes": fits.boosted}
    records: list[dict[str, Any]] = [
        {
            "classifier": name,
            "paper": paper.get(name, "as the SVM"),
            "shift": float(np.ravel(model.shift_)[0]),
            "samples": len(model.support_),
            "margin": margin(model, fits.X, fits.y),
            "angle": angle(model, fits.models[HARD]),
            "apart": float(np.linalg.norm(np.diff(model.prototypes_, axis=0))),
            "first": float(distances(model, model.prototypes_)[0]),
            "second": float(distances(model, model.prototypes_)[1]),
        }
        for name, model in models.items()
    ]
    return Table(
        "classifiers",
        "Classifiers on separable points",
        [
            "classifier",
            "the paper",
            "S",
            "samples used",
            "margin",
            "angle to SVM",
            "p+ to p-",
            "p- to line",
            "p+ to line",
        ],
        [
            [
                one["classifier"],
                one["paper"],
                f"{one['shift']:z.2f}",
                str(one["samples"]),
                f"{one['margin']:z.3f}",
                f"{one['angle']:.1f}°",
                *(f"{one[key]:z.2f}" for key in ("apart", "first", "second")),
            ]
            for one in records
        ],
        records,
    )


class Draw:
    """Draws the six panels of the figure."""

    def __init__(self, fits: Fits):
        self.fits = fits

    def __call__(self, figure: Any) -> None:
        """Draw on an empty figure."""
        from protolearn.report import PrototypePathDisplay, path_step_name

        X, y, models, _, soft = self.fits
        figure.set_layout_engine("compressed")  # axes of equal units beside each other
        axes = figure.subplots(2, 3, sharex=True, sharey=True)
        common: dict[str, Any] = {"legend": False}
        for ax, (name, model) in zip(axes.flat, models.items(), strict=False):
            PrototypePathDisplay.from_estimator(model, X, y, name=name, ax=ax, **common)
        paths = {"boosting": self.fits.rounds, "soft-margin SVM, C grows": soft}
        for ax, (name, path) in zip(axes.flat[4:], paths.items(), strict=True):
            PrototypePathDisplay.from_path(path, X, y, name=name, ax=ax, **common)
        for ax in axes.flat:
            ax.label_outer()
        handles, labels = axes[1, 2].get_legend_handles_labels()
        for number, name in ((0, "first step"), (-1, "last step")):
            labels = [label.replace(path_step_name(soft, number), name) for label in labels]
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
