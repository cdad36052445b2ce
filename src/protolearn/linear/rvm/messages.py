"""What the relevance vector machine tells its user."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning


def warn_of_problems(model: Any) -> None:
    """Warn the caller of ``fit`` of problems that are not solved or have no solution."""
    several = len(model.gain_) > 1
    for k, gain in enumerate(model.gain_):
        which = f" for class {model.classes_.tolist()[k]!r} against the rest" if several else ""
        if gain > model.tol:
            warnings.warn(
                f"RVM has not converged{which} in max_iter={model.max_iter} rounds: one more "
                f"change would gain {gain:.1e} in the log marginal likelihood, more than "
                f"tol={model.tol}. Increase max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif not np.isfinite(model.alpha_[k]).any():
            warnings.warn(
                f"RVM finds no sample relevant{which}: the labels are as probable without "
                "any, and all rows get the same probability. Take another kernel or gamma, or "
                "more samples.",
                UserWarning,
                stacklevel=3,
            )


def report(round_: int, functions: int, log_evidence: float, gain: float) -> None:
    """Print how a round ends."""
    print(
        f"[RVM] round {round_:>4}  relevance vectors {functions:>4}  "
        f"log evidence {log_evidence:.6g}  gain {gain:.1e}",
        flush=True,
    )
