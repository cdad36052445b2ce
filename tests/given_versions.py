"""Write the model files by which later versions are tested: ``python tests/given_versions.py``.

A new folder ``versions/X.Y.Z`` gets one small file for each kind of model, and ``expected.json``
with what each of them predicts. Run it once for each release, and never change a folder again.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import protolearn
from protolearn import (
    GLVQ,
    GMLVQ,
    LGMLVQ,
    OLVQ1,
    RSLVQ,
    RVM,
    AutoPrototypeClassifier,
    CommitteeMachine,
    ExemplarSVM,
    Hopfield,
    KernelGLVQ,
    MinOver,
    RejectClassifier,
    SoftMarginSVM,
)
from protolearn.tables import table_pipeline

VERSIONS = Path(__file__).parent / "io" / "versions"
STATE = {"random_state": 0}


def rows():
    """Give twelve rows of three classes, without a file and without random numbers."""
    places = np.arange(36.0).reshape(12, 3) * 7.0 % 11.0 / 4.0
    labels = np.resize(["ape", "bear", "cat"], 12)
    return places + 3.0 * (labels == "bear")[:, None] * [1.0, 0.0, -1.0], labels


def table():
    """Give the rows as a table with a column of words and a hole."""
    X, _ = rows()
    frame = pd.DataFrame(X, columns=["long", "wide", "high"])
    frame["colour"] = np.resize(["red", "blue", None], 12)
    return frame


def given(name):
    """Give what a model of this name is asked about."""
    if name == "hopfield":
        return np.where(rows()[0] > 1.0, 1.0, -1.0)
    return table() if name == "table" else rows()[0]


def models():
    """Give an unfitted model of each kind."""
    return {
        "auto": AutoPrototypeClassifier(families=["GLVQ"], max_fits=5, **STATE),
        "committee": CommitteeMachine(max_iter=20, **STATE),
        "exemplar_svm": ExemplarSVM(calibration="platt"),
        "glvq": GLVQ(max_iter=5, prototypes_per_class=2, **STATE),
        "gmlvq": GMLVQ(max_iter=5, rank=2, **STATE),
        "hopfield": Hopfield(),
        "kernel_glvq": KernelGLVQ(max_iter=5, **STATE),
        "lgmlvq": LGMLVQ(max_iter=5, **STATE),
        "min_over": MinOver(max_iter=20),
        "olvq1": OLVQ1(max_iter=5, **STATE),
        "pipeline": make_pipeline(StandardScaler(), SoftMarginSVM()),
        "reject": RejectClassifier(RSLVQ(max_iter=5, **STATE), threshold=0.1),
        "rvm": RVM(kernel="rbf", max_iter=20),
        "table": table_pipeline(GLVQ(max_iter=5, **STATE)),
    }


def predictions(model, X):
    """Give what a model says: labels, or the patterns that it recalls."""
    return np.asarray(model.predict(X) if hasattr(model, "predict") else model.recall(X)).tolist()


def main():
    """Write the folder of this version."""
    folder = VERSIONS / protolearn.__version__
    folder.mkdir(parents=True)  # never over one that is there
    expected = {}
    for name, model in models().items():
        X = given(name)
        model.fit(X[:2]) if name == "hopfield" else model.fit(X, rows()[1])
        protolearn.save(model, folder / f"{name}.protolearn", notes={"kind": name})
        expected[name] = predictions(model, X)
    text = json.dumps(expected, indent=1) + "\n"
    (folder / "expected.json").write_text(text, encoding="utf-8")
    print(f"Wrote {len(expected)} models to {folder}.")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
