"""Figure 4: distances of neural responses to the separating hyperplanes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from ..claims import Claim, claims_table, small, times, told
from ..findings import Figure, Findings, Table
from ..work import Work
from .fits import FISHER, MEAN, SOFT, SPARSE, Fits, on_neurons
from .geometry import distances

BOOSTED = "boosted prototypes"

APART = 0.01
"""Difference of training errors from which on the overlap counts as different."""

NEAR = 0.25
"""Share of the distance of the class means up to which a place is near the hyperplane."""

LEVEL = 0.05
"""Level of the test of normality."""


def fig4(work: Work) -> Findings:
    """Show what each classifier sees of the responses."""
    n, repeats = (60, 2) if work.quick else (200, 20)
    fits, C = on_neurons(work.seed, n)
    seeds = range(work.seed, work.seed + repeats)
    tasks = {f"draw {seed}": (seed, n) for seed in seeds}
    draws = list(work.map("draws", draw_of_neurons, tasks).values())
    claims = claims_of(draws)
    title = "distances of the responses to the hyperplanes"
    return Findings(
        [
            models_table(facts(fits)),
            claims_table("statements", f"What the paper says, {repeats} draws", claims),
        ],
        [Figure("fig4", title, Draw(fits), (10.0, 9.5))],
        [
            "The responses of the paper are not available; those of make_neurons stand in, six "
            "independent neurons with Gaussian noise whose variance is the mean.",
            f"C = {C:.2g} has the least training error of the SVM.",
            *told(claims),
            "A distance is a weighted sum of the responses. Where these are independent and "
            "Gaussian for each stimulus, so is the distance, whatever the weights: a departure "
            "from it needs responses of another kind.",
        ],
    )


def draw_of_neurons(seed: int, n_per_stimulus: int) -> dict[str, Any]:
    """Return what the statements are about, for one draw."""
    return facts(on_neurons(seed, n_per_stimulus)[0])


def facts(fits: Fits) -> dict[str, Any]:
    """Return the numbers of every classifier."""
    models = {**fits.models, BOOSTED: fits.boosted}
    path = fits.rounds
    ends = [path.prototypes[0] - fits.models[MEAN].prototypes_]
    ends += [path.prototypes[-1] - fits.models[SOFT].prototypes_]
    way = np.linalg.norm(fits.models[MEAN].prototypes_ - fits.models[SOFT].prototypes_)
    return {
        "models": {name: numbers(model, fits) for name, model in models.items()},
        "ends": [float(np.linalg.norm(end) / way) for end in ends],
    }


def numbers(model: Any, fits: Fits) -> dict[str, Any]:
    """Return the numbers of one classifier."""
    found, y = distances(model, fits.X), fits.y
    half = float(np.abs(distances(fits.models[MEAN], fits.models[MEAN].prototypes_)).mean())
    return {
        "error": float(np.mean(y * found <= 0.0)),
        "shift": float(np.ravel(model.shift_)[0]),
        "samples": len(model.support_),
        "prototypes": distances(model, model.prototypes_).tolist(),
        "near": float(np.mean(np.abs(found) < NEAR * half)),
        "half": half,
        "normal": [float(stats.shapiro(found[y == label]).pvalue) for label in (-1, 1)],
    }


def claims_of(draws: list[dict[str, Any]]) -> list[Claim]:
    """Hold the statements of section 8.2 against draws."""
    total = len(draws)

    def closest(name: str, least: bool) -> Any:
        pick = np.min if least else np.mean
        return np.array([pick(np.abs(one["models"][name]["prototypes"])) for one in draws])

    def column(name: str, key: str) -> Any:
        return np.array([one["models"][name][key] for one in draws])

    nearer = closest(SOFT, False) < np.minimum(closest(MEAN, False), closest(FISHER, False))
    far = closest(SPARSE, True) > NEAR * column(SPARSE, "half")
    ends = np.array([one["ends"] for one in draws])
    arrived = ends.max(axis=1) < 0.05
    normal = np.concatenate([np.ravel(column(name, "normal")) for name in (MEAN, FISHER, SOFT)])
    crowded = column(SOFT, "near") > column(MEAN, "near")
    errors = np.stack([column(name, "error") for name in (MEAN, FISHER, SPARSE, SOFT)])
    differ = np.ptp(errors, axis=0) >= APART
    by_chance = stats.binomtest(int(np.sum(normal < LEVEL)), len(normal), LEVEL).pvalue
    return [
        Claim(
            "Prototypes of the SVM are nearer to the hyperplane than class means and Fisher's",
            "nearer",
            f"nearer in {times(int(nearer.sum()), total)}",
            float(nearer.mean()),
        ),
        Claim(
            f"The {SPARSE} is less sparse than in figure 1: no prototype is near the hyperplane",
            "none",
            f"none in {times(int(far.sum()), total)}; {np.median(column(SPARSE, 'samples')):.0f} "
            "samples used in the median",
            float(far.mean()),
        ),
        Claim(
            "Boosting begins at the class means and ends at the SVM",
            "yes",
            f"{' and '.join(small(100.0 * end) for end in ends.max(axis=0))} % of the way off",
            float(arrived.mean()),
        ),
        Claim(
            "The distances of a class are not Gaussian",
            "clearly not",
            f"rejected at {100.0 * LEVEL:g} % in "
            f"{times(int(np.sum(normal < LEVEL)), len(normal), 'tests')}, as many as chance "
            f"{'does not make' if by_chance < LEVEL else 'makes'}",
            float(by_chance < LEVEL and np.mean(normal < LEVEL) > LEVEL),
        ),
        Claim(
            "The overlap differs between classifiers",
            "differs",
            f"training errors apart by {100.0 * np.ptp(errors, axis=0).mean():.1f} % in the mean, "
            f"by {100.0 * APART:g} % or more in {times(int(differ.sum()), total)}",
            float(differ.mean()),
        ),
        Claim(
            "More samples are close to the hyperplane of the SVM than to that of the class means",
            "more",
            f"{100.0 * column(SOFT, 'near').mean():.1f} against "
            f"{100.0 * column(MEAN, 'near').mean():.1f} % in the mean, more in "
            f"{times(int(crowded.sum()), total)}",
            float(crowded.mean()),
        ),
    ]


def models_table(found: dict[str, Any]) -> Table:
    """Return the numbers of the classifiers on one draw."""
    paper = {
        MEAN: "at the class means",
        FISHER: "as in figure 1",
        SPARSE: "none near 0",
        SOFT: "near 0",
        BOOSTED: "as the SVM",
    }
    records = [
        {
            "classifier": name,
            "paper": paper[name],
            "first": one["prototypes"][0],
            "second": one["prototypes"][1],
            "shift": one["shift"],
            "samples": one["samples"],
            "training_error": one["error"],
            "near": one["near"],
            "least_p_of_normality": min(one["normal"]),
        }
        for name, one in found["models"].items()
    ]
    return Table(
        "classifiers",
        "Distances of the prototypes and of the responses to the hyperplanes",
        [
            "classifier",
            "prototypes, the paper",
            "p-",
            "p+",
            "S",
            "samples used",
            "training error",
            "responses near",
            "p of normality",
        ],
        [
            [
                one["classifier"],
                one["paper"],
                *(f"{one[key]:z.2f}" for key in ("first", "second", "shift")),
                str(one["samples"]),
                f"{100.0 * one['training_error']:.2f} %",
                f"{100.0 * one['near']:.1f} %",
                f"{one['least_p_of_normality']:.2f}",
            ]
            for one in records
        ],
        records,
        [
            f"Near is within {NEAR:g} of the distance at which the class means are from their "
            "hyperplane; p is the smaller one of both classes, by Shapiro and Wilk."
        ],
    )


class Draw:
    """Draws the histograms, and below them the images along boosting."""

    def __init__(self, fits: Fits):
        self.fits = fits

    def __call__(self, figure: Any) -> None:
        """Draw on an empty figure."""
        from protolearn.report import DistanceDistributionDisplay

        X, y, models = self.fits[:3]
        upper, lower = figure.subfigures(2, 1, height_ratios=(5.8, 3.7))
        axes = upper.subplots(2, 2, sharex=True, sharey=True)
        for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
            DistanceDistributionDisplay.from_estimator(model, X, y, name=name, legend=False, ax=ax)
            ax.label_outer()
        handles, labels = axes[0, 0].get_legend_handles_labels()
        labels = [label.split(":")[0] for label in labels]  # without the errors of one classifier
        upper.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
        images = lower.subplots(1, 2, sharex=True, sharey=True)
        DistanceDistributionDisplay.from_path(self.fits.rounds, X, y, ax=images)
        images[0].set_ylabel("round of boosting")
        for ax, label in zip(images, (-1, 1), strict=True):
            ax.set_title(f"boosted prototypes, class {label}")
