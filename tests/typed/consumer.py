"""What a type checker knows of the public names; mypy checks it with ``make lint``, nobody runs it.

``assert_type`` fails where a type has become wider, and also where it has become ``Any``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import protolearn
import protolearn_papers
from protolearn import (
    GLVQ,
    GMLVQ,
    LVQ1,
    AutoPrototypeClassifier,
    PrototypeClassifier,
    PrototypeSVM,
    RejectClassifier,
    Rosenblatt,
    SoftMarginSVM,
)
from protolearn.analysis import (
    Counterfactuals,
    GeneralizationBound,
    RelevanceProfile,
    TableCounterfactuals,
)
from protolearn.cli.reproduce_command import Experiments
from protolearn.io import ModelFile, describe
from protolearn.linear import LinearPrototypes, PrototypePath
from protolearn.losses import Sigmoid
from protolearn.selection import Comparison

Floats = NDArray[np.float64]
Reals = NDArray[np.floating[Any]]
Indices = NDArray[np.intp]


def data() -> None:
    """Rows and labels come from a seed."""
    X, y = protolearn.datasets.make_spirals(random_state=0)
    assert_type(X, Floats)
    assert_type(y, NDArray[np.int64])


def nearest_prototypes(X: Floats, y: Indices) -> None:
    """Of a fit comes the same class, so that calls may follow."""
    model = GLVQ(beta=2.0, prototypes_per_class=2, random_state=0).fit(X, y)
    assert_type(model, GLVQ)
    assert_type(LVQ1().fit(X, y), LVQ1)
    assert_type(model.predict(X), NDArray[Any])
    assert_type(model.predict_proba(X), Reals)
    assert_type(model.decision_function(X), Reals)
    assert_type(model.distances(X), Reals)
    assert_type(model.nearest_prototypes(X, k=2), tuple[Reals, Indices])
    assert_type(model.contributions(X), Floats)
    assert_type(model.score(X, y), float)
    assert_type(model.prototypes_, Floats)
    assert_type(model.classes_, NDArray[Any])
    assert_type(GMLVQ(rank=2).fit(X, y).relevances_, Floats)
    composed = PrototypeClassifier(distance="matrix", loss=Sigmoid(beta=2.0))
    assert_type(composed.partial_fit(X, y, classes=[0, 1]), PrototypeClassifier)


def other_classifiers(X: Floats, y: Indices) -> None:
    """Hyperplanes, perceptrons, ensembles, and models around models."""
    machine = SoftMarginSVM(C=1.0).fit(X, y)
    assert_type(machine, SoftMarginSVM)
    assert_type(machine.decision_function(X), Floats)
    assert_type(machine.coef_, Floats)
    assert_type(Rosenblatt().fit(X, y).predict(X), NDArray[Any])
    assert_type(PrototypeSVM().fit(X, y).predict_proba(X), Floats)
    assert_type(RejectClassifier(machine, cost=0.3).fit(X, y), RejectClassifier)
    assert_type(AutoPrototypeClassifier(max_fits=20).fit(X, y).best_score_, float)


def analysis(model: GMLVQ, X: Floats, y: Indices) -> None:
    """Every result has a class of its own or is an array."""
    assert_type(protolearn.hypothesis_margin(model, X, y), Floats)
    assert_type(protolearn.sample_margin(model, X), Floats)
    assert_type(protolearn.certified_radius(model, X), Floats)
    assert_type(protolearn.counterfactual(model, X), Counterfactuals | TableCounterfactuals)
    assert_type(protolearn.generalization_bound(model, X, y), GeneralizationBound)
    assert_type(protolearn.relevance_profile(model, X, y), RelevanceProfile)
    assert_type(protolearn.is_separable(X, y), bool)
    assert_type(protolearn.generalized_prototypes(model, X, y), LinearPrototypes)
    assert_type(protolearn.regularization_path(X, y), PrototypePath | list[PrototypePath])
    assert_type(protolearn.compare({"glvq": GLVQ()}, (X, y)), Comparison)


def files(model: GLVQ, path: Path) -> None:
    """Any model may be in a file."""
    protolearn.save(model, path, notes={"target": "species"})
    assert_type(describe(path), ModelFile)
    assert_type(protolearn.load(path), Any)


def published_experiments() -> None:
    """Check that the package has what the command expects at its entry point."""
    package: Experiments = protolearn_papers
    assert package.experiments()
