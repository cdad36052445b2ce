"""How large a fitted model is: the fewer numbers it takes to write it down, the simpler."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...classifiers import GRLVQ, KernelGLVQ
from ...ensemble import PrototypeSVM


def n_numbers(model: Any) -> int:
    """Give how many numbers decide: prototypes, metric, coefficients."""
    if isinstance(model, KernelGLVQ):  # a prototype is a combination of rows
        return model.dual_coef_.size + len(model.support_) * model.n_features_in_
    if isinstance(model, PrototypeSVM):
        return model.hyperplanes_.size + model.offsets_.size
    if hasattr(model, "coef_"):
        return int(np.size(model.coef_) + np.size(model.intercept_))
    metric = "relevances_" if isinstance(model, GRLVQ) else "omega_"
    return model.prototypes_.size + np.size(getattr(model, metric, ()))


def n_prototypes(model: Any) -> int:
    """Give how many prototypes decide; of a linear classifier one for each class."""
    if isinstance(model, KernelGLVQ):
        return len(model.dual_coef_)
    return len(model.prototypes_) if hasattr(model, "prototypes_") else len(model.classes_)
