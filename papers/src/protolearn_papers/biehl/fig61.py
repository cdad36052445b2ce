"""Figure 6.1: bias and variance of polynomials; and of prototypes, as their number grows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn._arrays import Floats
from protolearn.classifiers import GLVQ
from protolearn.datasets import load
from protolearn.selection import bias_variance, squared_parts

from ..claims import Claim, claims_table, told
from ..findings import Figure, Findings, Table
from ..work import Work

POINTS, NOISE = 11, 0.1
"""Points of a data set, and standard deviation of their noise."""

SHOWN, DEGREES = (1, 3, 7), tuple(range(10))
"""Degrees of the figure, and of the curve."""

GRID = np.linspace(-1.0, 1.0, 201)
"""Where the deviation from the target is measured."""

OUTSIDE = 1.1
"""Where the text looks at extrapolation."""

PROTOTYPES, TRAINING = (1, 2, 3, 5, 8, 12), 200
"""Prototypes of each class, and rows that they are trained on."""

SETS = "digits", "wdbc"

Parts = dict[int, dict[str, float]]
"""The parts of an error by degree, or by number of prototypes."""


def run(work: Work) -> Findings:
    """Split the error of polynomials and of prototypes."""
    sets = 200 if work.quick else 5000
    polynomials = {K: polynomial(K, work.seed, sets) for K in DEGREES}
    numbers, refits = (PROTOTYPES[::2], 3) if work.quick else (PROTOTYPES, 50)
    tasks = {f"{name}, {k}": (name, k, work.seed, refits) for name in SETS for k in numbers}
    found = work.map("prototypes", prototypes, tasks)
    classifiers = {name: {k: found[f"{name}, {k}"] for k in numbers} for name in SETS}
    claims = polynomial_claims(polynomials)
    for name in SETS:
        claims += prototype_claims(name, classifiers[name])
    return Findings(
        [
            claims_table("statements", "What the text says", claims),
            polynomial_table(polynomials),
            prototype_table(classifiers),
        ],
        [
            Figure(
                "fig6_1",
                "polynomials of three degrees for three data sets",
                Fits(work.seed),
                (9.0, 7.5),
            ),
            Figure(
                "fig6_2",
                "bias, variance and error against complexity",
                Curves(polynomials, classifiers),
                (12.0, 4.2),
            ),
        ],
        [
            f"The caption of the figure has 10 points and its text 11; here are {POINTS}, with "
            f"noise of standard deviation {NOISE:g}, which the text leaves open, and {sets} data "
            "sets.",
            f"The prototypes are those of GLVQ on {' and '.join(SETS)}, {refits} refits on "
            f"{TRAINING} rows each, those of wdbc scaled. Their bias is the share of rows whose "
            "most frequent label over the refits is wrong, their variance the share of labels that "
            "differ from it.",
            *told(claims),
        ],
    )


def labels(seed: int, sets: int) -> tuple[Floats, Floats]:
    """Draw the targets of many data sets at the same equidistant arguments."""
    x = np.linspace(-1.0, 1.0, POINTS)
    noise = np.random.RandomState(seed).standard_normal((sets, POINTS))
    return x, x**3 + NOISE * noise


def fitted(degree: int, x: Floats, targets: Floats, at: Floats) -> Floats:
    """Return the values of the least squares fits of many data sets, a row each."""
    powers, wanted = (np.polynomial.legendre.legvander(z, degree) for z in (x, at))
    return np.asarray((wanted @ np.linalg.lstsq(powers, targets.T, rcond=None)[0]).T)


def polynomial(degree: int, seed: int, sets: int) -> dict[str, float]:
    """Split the error of one degree."""
    x, targets = labels(seed, sets)
    inside = fitted(degree, x, targets, GRID)
    parts = squared_parts(inside[..., None], (GRID**3)[:, None])
    at_points = fitted(degree, x, targets, x)
    beyond = fitted(degree, x, targets, np.array([-OUTSIDE, OUTSIDE]))
    return {
        "bias": parts.bias,
        "variance": parts.variance,
        "error": parts.error,
        "training": float(np.square(at_points - targets).mean()),
        "outside": float(beyond.std(axis=0).mean()),
        "inside": float(inside.std(axis=0).mean()),
        "above_first": float(np.mean(at_points[:, 0] > targets[:, 0])),
    }


def prototypes(name: str, k: int, seed: int, refits: int) -> dict[str, float]:
    """Split the error of GLVQ with k prototypes a class on a data set."""
    X, y = load(name)
    model: Any = GLVQ(prototypes_per_class=k, random_state=seed)
    if name != "digits":  # pixels have a common unit
        model = make_pipeline(StandardScaler(), model)
    parts = bias_variance(
        model, X, y, n_resamples=refits, train_size=TRAINING, random_state=seed, test_size=0.4
    )
    return {"bias": parts.bias, "variance": parts.variance, "error": parts.error}


def polynomial_claims(found: Parts) -> list[Claim]:
    """Hold the statements of section 6.1 against the polynomials."""
    one, three, seven = (found[K] for K in SHOWN)
    best = min(found, key=lambda K: found[K]["error"])
    beyond = [f"{found[K]['outside']:.2f}" for K in SHOWN]
    odd = [K for K in DEGREES if K % 2]  # even powers are of no use for an odd target
    u_shaped = all((found[b]["error"] < found[a]["error"]) == (best >= b) for a, b in pairwise(odd))
    falls = np.diff([found[K]["training"] for K in DEGREES])
    return [
        Claim(
            "K = 1: low variance and high bias",
            "underfitting",
            f"bias {one['bias'] / one['variance']:.0f} times the variance",
            float(one["bias"] > one["variance"] and one["variance"] < three["variance"]),
        ),
        Claim(
            "K = 7: low bias and high variance",
            "overfitting",
            f"variance {seven['variance'] / three['variance']:.1f} times that of K = 3, bias "
            f"{100 * seven['bias'] / seven['error']:.2g} % of the error",
            float(seven["variance"] > three["variance"] > seven["bias"]),
        ),
        Claim(
            "The best compromise is the degree of the target",
            "K = 3",
            f"K = {best}",
            float(best == 3),
        ),
        Claim(
            "K = 1: the fit is above the first point in each data set",
            "always",
            f"in {100 * one['above_first']:.2f} % of the data sets",
            one["above_first"],
        ),
        Claim(
            f"Fits of K = 7 vary most outside, at x = -{OUTSIDE:g} and {OUTSIDE:g}",
            "pronounced",
            f"standard deviation {', '.join(beyond)} for K = 1, 3, 7",
            float(seven["outside"] > 2.0 * max(three["outside"], seven["inside"])),
        ),
        Claim(
            "The training error falls with the complexity",
            "falls",
            f"falls at {int(np.sum(falls < 0))} of {len(falls)} degrees",
            float((falls < 0.0).all()),
        ),
        Claim(
            "The test error is U-shaped over odd K",
            "U-shaped",
            f"least at K = {best}, {found[DEGREES[-1]]['error'] / found[best]['error']:.1f} times "
            f"as large at K = {DEGREES[-1]}",
            float(u_shaped),
        ),
    ]


def prototype_claims(name: str, found: Parts) -> list[Claim]:
    """Hold the statement that numbers of prototypes are a complexity against a data set."""
    first, last = found[min(found)], found[max(found)]
    errors = {k: one["error"] for k, one in found.items()}
    best = min(errors, key=lambda k: errors[k])
    return [
        Claim(
            f"{name}: with more prototypes the bias falls",
            "falls",
            f"{100 * first['bias']:.1f} to {100 * last['bias']:.1f} % from {min(found)} to "
            f"{max(found)} prototypes a class",
            float(last["bias"] < first["bias"]),
        ),
        Claim(
            f"{name}: with more prototypes the variance rises",
            "rises",
            f"{100 * first['variance']:.1f} to {100 * last['variance']:.1f} %",
            float(last["variance"] > first["variance"]),
        ),
        Claim(
            f"{name}: the error is least between the ends",
            "in many problems",
            f"{100 * errors[best]:.1f} % with {best} a class",
            float(min(found) < best < max(found)),
        ),
    ]


def polynomial_table(found: Parts) -> Table:
    """Return the parts of the error of the polynomials."""
    paper = {1: "high bias, low variance", 3: "matched", 7: "low bias, high variance"}
    keys = "bias", "variance", "error", "training", "outside"
    return Table(
        "polynomials",
        "Polynomials of degree K for x^3",
        [
            "K",
            "the text",
            "squared bias",
            "variance",
            "error",
            "training error",
            f"spread at {OUTSIDE:g}",
        ],
        [
            [str(K), paper.get(K, ""), *(f"{one[key]:.5f}" for key in keys)]
            for K, one in found.items()
        ],
        [{"degree": K, **one} for K, one in found.items()],
    )


def prototype_table(found: dict[str, Parts]) -> Table:
    """Return the parts of the error of the prototypes."""
    records: list[dict[str, Any]] = [
        {"set": name, "prototypes": k, **one}
        for name, parts in found.items()
        for k, one in parts.items()
    ]
    return Table(
        "prototypes",
        "Prototypes of GLVQ",
        ["set", "prototypes a class", "bias", "variance", "error"],
        [
            [
                str(one["set"]),
                str(one["prototypes"]),
                *(f"{100 * one[key]:.2f} %" for key in ("bias", "variance", "error")),
            ]
            for one in records
        ],
        records,
    )


class Fits:
    """Draws three data sets, each with fits of three degrees."""

    def __init__(self, seed: int):
        self.seed = seed

    def __call__(self, figure: Any) -> None:
        """Draw on an empty figure."""
        from protolearn.report import COLOURS, colour

        axes = figure.subplots(3, len(SHOWN), sharex=True, sharey=True)
        x, targets = labels(self.seed, 3)
        wide = np.linspace(-OUTSIDE, OUTSIDE, 300)
        for row, name, y in zip(axes, "ABC", targets, strict=True):
            for ax, K in zip(row, SHOWN, strict=True):
                ax.plot(wide, wide**3, color=COLOURS[-1], ls="--", lw=1.0, label="target")
                ax.plot(wide, fitted(K, x, y[None], wide)[0], color=colour(0), label="fit")
                ax.plot(x, y, "o", color=colour(1), mec="k", mew=0.5, ms=5, label="data")
                ax.set_ylim(-1.8, 1.8)
            row[0].set_ylabel(f"data set {name}")
        for ax, K in zip(axes[0], SHOWN, strict=True):
            ax.set_title(f"K = {K}")
        for ax in axes[-1]:
            ax.set_xlabel("x")
        handles = axes[0, 0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=3, frameon=False)


class Curves:
    """Draws bias, variance and error against the complexity."""

    def __init__(self, polynomials: Parts, classifiers: dict[str, Parts]):
        self.polynomials, self.classifiers = polynomials, classifiers

    def __call__(self, figure: Any) -> None:
        """Draw on an empty figure."""
        from protolearn.report import percent

        left, *others = figure.subplots(1, 1 + len(self.classifiers))
        self._draw(left, self.polynomials, ("bias", "variance", "error", "training"))
        left.set(title="polynomials for $x^3$", xlabel="degree K", ylabel="squared deviation")
        left.set_yscale("log")
        left.set_ylim(1e-7, 0.5)
        for ax, (name, found) in zip(others, self.classifiers.items(), strict=True):
            self._draw(ax, found, ("bias", "variance", "error"))
            ax.set(title=f"prototypes of GLVQ, {name}", xlabel="prototypes a class")
            ax.set(ylabel="share of the rows", xticks=list(found))
            ax.set_ylim(bottom=0.0)
            ax.yaxis.set_major_formatter(percent)
        handles = left.get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=4, frameon=False)

    def _draw(self, ax: Any, found: Parts, keys: tuple[str, ...]) -> None:
        """Draw a curve for each part."""
        from protolearn.report import class_marker, colour

        names = {"bias": "bias (squared)", "training": "training error", "error": "test error"}
        for code, key in enumerate(keys):
            values = [one[key] for one in found.values()]
            look = {"color": colour(code), "marker": class_marker(code), "ms": 5}
            ax.plot(list(found), values, label=names.get(key, key), **look)
