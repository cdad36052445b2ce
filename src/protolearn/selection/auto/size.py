"""How large a fitted model is: the fewer numbers it takes to write it down, the simpler."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...classifiers import GRLVQ, KernelGLVQ
from ...ensemble import ExemplarSVM, PrototypeSVM
from ...perceptrons import CommitteeMachine, ParityMachine


def n_numbers(model: Any) -> int:
    """Return how many numbers decide: prototypes, metric, coefficients."""
    if isinstance(model, KernelGLVQ):  # a prototype is a combination of rows
        return model.dual_coef_.size + len(model.support_) * model.n_features_in_
    if isinstance(model, (ExemplarSVM, PrototypeSVM)):
        return model.hyperplanes_.size + model.offsets_.size
    if isinstance(model, CommitteeMachine):
        return model.hidden_coef_.size + model.hidden_intercept_.size
    if isinstance(model, ParityMachine):  # a unit is a plane, or a ball around a row
        return int(model.n_units_.sum()) * (model.n_features_in_ + 1)
    if hasattr(model, "coef_"):
        return int(np.size(model.coef_) + np.size(model.intercept_))
    if hasattr(model, "intercept_"):  # planes in the feature space of a kernel
        n_support = len(model.support_)
        return model.intercept_.size * (n_support + 1) + n_support * model.n_features_in_
    metric = "relevances_" if isinstance(model, GRLVQ) else "omega_"
    return model.prototypes_.size + np.size(getattr(model, metric, ()))


def n_prototypes(model: Any) -> int:
    """Return how many prototypes decide; of a linear classifier one for each class."""
    if isinstance(model, KernelGLVQ):
        return len(model.dual_coef_)
    return len(model.prototypes_) if hasattr(model, "prototypes_") else len(model.classes_)
