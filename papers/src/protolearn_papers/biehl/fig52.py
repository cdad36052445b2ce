"""Figure 5.2: matrix relevance LVQ of the iris flowers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn._arrays import Floats
from protolearn.classifiers import GMLVQ
from protolearn.datasets import feature_names, load

from ..claims import Claim, claims_table, told
from ..findings import Figure, Findings, Table
from ..work import Work

SHORT, LONG = "50 epochs", "to the end"
SETTINGS: dict[str, dict[str, Any]] = {
    SHORT: {"solver": "adam", "max_iter": 50},
    LONG: {"solver": "lbfgs", "max_iter": 1000},
}
"""How the two systems are trained; the figure shows the first."""

ALMOST_ALL, VERY_GOOD, FEW = 0.97, 0.95, 0.95
"""Accuracies, and share of the eigenvalues on the first two, from which on a statement holds."""


def run(work: Work) -> Findings:
    """Train on all flowers, and on folds."""
    X, y = load("iris")
    names = [name.removesuffix(" (cm)") for name in feature_names("iris")]
    Z = StandardScaler().fit_transform(X)
    models = {name: system(name, work.seed).fit(Z, y) for name in SETTINGS}
    repeats = 1 if work.quick else 10
    tasks = {
        f"{name}, folds {i}": (name, work.seed + i) for name in SETTINGS for i in range(repeats)
    }
    scores = work.map("folds", accuracies, tasks)
    tested = {
        name: np.concatenate([scores[f"{name}, folds {i}"] for i in range(repeats)])
        for name in SETTINGS
    }
    trained = {name: float(model.score(Z, y)) for name, model in models.items()}
    claims = [
        claim
        for name, model in models.items()
        for claim in claims_of(name, model, names, trained[name], float(tested[name].mean()))
    ]
    figure = Figure(
        "fig5_2",
        "prototypes, relevances and projection of iris",
        Draw(models[SHORT], Z, y, names),
        (12.0, 5.6),
    )
    return Findings(
        [
            claims_table("statements", "What the text says", claims),
            matrix_table(models, names),
            prototypes_table(models, names),
        ],
        [figure],
        [
            "GMLVQ with the identity for Phi, one prototype a class, features with zero mean and "
            f"unit variance. Trained for {SETTINGS[SHORT]['max_iter']} epochs (the figure), and "
            f"until the cost falls no more ({models[LONG].n_iter_} iterations of L-BFGS).",
            f"Test accuracy is that of {repeats} times ten folds, scaled by their training part.",
            *told(claims),
            collapse(models),
        ],
    )


def system(name: str, seed: int) -> GMLVQ:
    """Make the classifier of one of the settings."""
    return GMLVQ(beta=None, random_state=seed, **SETTINGS[name])


def accuracies(name: str, seed: int) -> list[float]:
    """Return the test accuracies of ten folds."""
    X, y = load("iris")
    folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=1, random_state=seed)
    found = []
    for train, test in folds.split(X, y):
        model = make_pipeline(StandardScaler(), system(name, seed)).fit(X[train], y[train])
        found.append(float(model.score(X[test], y[test])))
    return found


def eigenvalues(model: Any) -> Floats:
    """Return the eigenvalues of Lambda, the largest first."""
    return np.asarray(np.linalg.eigvalsh(model.metric_)[::-1])


def claims_of(name: str, model: Any, names: list[str], train: float, test: float) -> list[Claim]:
    """Hold the statements of section 5.2.2 against one system."""
    order = np.argsort(-model.relevances_)
    dominant = sorted(order[:2].tolist())
    off = np.abs(np.triu(model.metric_, 1))
    pair = [int(i) for i in np.unravel_index(off.argmax(), off.shape)]
    leading = float(eigenvalues(model)[:2].sum())
    share = float(model.relevances_[dominant].sum())
    return [
        Claim(
            f"Training accuracy, {name}",
            "almost perfect",
            f"{100 * train:.1f} %",
            float(train >= ALMOST_ALL),
        ),
        Claim(
            f"Test accuracy, {name}", "very good", f"{100 * test:.1f} %", float(test >= VERY_GOOD)
        ),
        Claim(
            f"Dominant features, {name}",
            "3 and 4",
            f"{dominant[0] + 1} and {dominant[1] + 1}, {100 * share:.0f} % of the relevance",
            float(dominant == [2, 3]),
        ),
        Claim(
            f"Most important pair, {name}",
            "3 and 4",
            f"{pair[0] + 1} and {pair[1] + 1}, {model.metric_[pair[0], pair[1]]:.2f}",
            float(pair == [2, 3]),
        ),
        Claim(
            f"Lambda is of low rank, {name}",
            "nearly singular",
            f"{100 * leading:.1f} % of the eigenvalues in the first two",
            float(leading >= FEW),
        ),
    ]


def collapse(models: dict[str, Any]) -> str:
    """Return a text that says how many directions remain."""
    first = {name: 100 * eigenvalues(model)[0] for name, model in models.items()}
    return (
        f"The first eigenvalue has {first[SHORT]:.1f} % of the sum after {SHORT} and "
        f"{first[LONG]:.1f} % at the end of the training: the longer it is trained, the fewer "
        "directions count."
    )


def matrix_table(models: dict[str, Any], names: list[str]) -> Table:
    """Return diagonal and eigenvalues of Lambda."""
    records: list[dict[str, Any]] = [
        {
            "training": name,
            "quantity": quantity,
            **{f"v{i + 1}": float(value) for i, value in enumerate(values)},
        }
        for name, model in models.items()
        for quantity, values in (
            ("eigenvalues", eigenvalues(model)),
            ("relevances", model.relevances_),
        )
    ]
    columns = [f"v{i + 1}" for i in range(len(names))]
    return Table(
        "relevances",
        "Eigenvalues of Lambda and its diagonal, the relevances",
        ["", *(f"{i + 1} ({name})" for i, name in enumerate(names))],
        [
            [f"{one['quantity']}, {one['training']}", *(f"{one[key]:.4f}" for key in columns)]
            for one in records
        ],
        records,
    )


def prototypes_table(models: dict[str, Any], names: list[str]) -> Table:
    """Return the prototypes, in standard deviations."""
    records = [
        {"training": name, "class": str(label), **dict(zip(names, map(float, row), strict=True))}
        for name, model in models.items()
        for label, row in zip(model.prototype_labels_, model.prototypes_, strict=True)
    ]
    return Table(
        "prototypes",
        "Prototypes, in standard deviations from the mean",
        ["class", *names],
        [
            [f"{one['class']}, {one['training']}", *(f"{one[key]:z.2f}" for key in names)]
            for one in records
        ],
        records,
    )


class Draw:
    """Draws prototypes, eigenvalues, relevances, the matrix and the projection."""

    def __init__(self, model: Any, Z: Floats, y: NDArray[Any], names: list[str]):
        self.model, self.Z, self.y, self.names = model, Z, y, names

    def __call__(self, figure: Any) -> None:
        """Draw on an empty figure."""
        from protolearn.report import ProjectionDisplay

        left, right = figure.subfigures(1, 2, width_ratios=(1.0, 1.15))
        axes = left.subplots(3, 2)
        self._draw_prototypes(axes[:, 0])
        self._draw_metric(axes[:, 1])
        ax = right.subplots()
        ProjectionDisplay.from_estimator(self.model, self.Z, self.y, ax=ax)
        ax.set_aspect("auto")
        ax.set(
            title="projection of the flowers",
            xlabel=r"first eigenvector of $\Lambda$",
            ylabel=r"second eigenvector of $\Lambda$",
        )

    def _draw_prototypes(self, axes: Any) -> None:
        """Draw a bar for each feature of each prototype."""
        from protolearn.report import colour

        largest = 1.15 * np.abs(self.model.prototypes_).max()
        features = np.arange(len(self.names)) + 1
        rows = zip(axes, self.model.prototype_labels_, self.model.prototypes_, strict=True)
        for code, (ax, label, prototype) in enumerate(rows):
            ax.bar(features, prototype, color=colour(code))
            ax.axhline(0.0, color="#666666", lw=0.8)
            ax.set(title=f"prototype, {label}", ylim=(-largest, largest), xticks=features)
        axes[-1].set_xlabel("feature")

    def _draw_metric(self, axes: Any) -> None:
        """Draw eigenvalues, diagonal and off-diagonal elements of Lambda."""
        from protolearn.report import COLOURS

        features = np.arange(len(self.names)) + 1
        bars = {
            r"eigenvalues of $\Lambda$": eigenvalues(self.model),
            r"diagonal of $\Lambda$": self.model.relevances_,
        }
        for ax, (title, values) in zip(axes, bars.items(), strict=False):
            ax.bar(features, values, color=COLOURS[-1])
            ax.set(title=title, ylim=(0.0, 1.0), xticks=features)
        off = self.model.metric_ - np.diag(self.model.relevances_)
        size = np.abs(off).max()
        edges = 0.5, len(features) + 0.5
        image = axes[2].imshow(
            off, cmap="gray", vmin=-size, vmax=size, extent=(*edges, *edges[::-1])
        )
        axes[2].set(title=r"off-diagonal of $\Lambda$", xticks=features, yticks=features)
        axes[2].set_xlabel("feature")
        axes[2].figure.colorbar(image, ax=axes[2])
