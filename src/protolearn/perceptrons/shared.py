"""What the perceptrons tell about themselves, written once."""

from __future__ import annotations

from typing import Any

from .. import _documented
from .examples import Examples

EMBEDDING = """embedding_strengths_ : array of shape (1, n_samples), or (n_classes, n_samples)
        How strongly each example is embedded.
    support_ : array of int
        Examples with an embedding strength other than zero.
    stability_ : float
        The least stability of the examples, negative if there are errors.
    n_updates_ : int
        How many times weights were changed, in all.
    n_iter_ : int
        How many sweeps were made; of the unit that took most.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, if X had names of type str."""

ATTRIBUTES = f"""classes_ : array of shape (n_classes,)
        Labels in sorted order.
    coef_ : array of shape (1, n_features), or (n_classes, n_features)
        The weights, ``w = sum u_i y_i x_i / N`` with the embedding strengths ``u``. N is the number
        of inputs, a clamped one included.
    intercept_ : array of shape (1,), or (n_classes,)
        Minus the thresholds.
    {EMBEDDING}"""

CLAMPED = """fit_intercept : {"clamped", "free", False}, default="clamped"
        The threshold: the weight of one more input that is always -1, or not a weight (then it
        does not count in the length of ``w``), or none."""

FREE = CLAMPED.replace('default="clamped"', 'default="free"')

MAX_ITER = """max_iter : int, default=1000
        Most sweeps through the examples."""

VERBOSE = """verbose : int, default=0
        Whether to print lines while training."""

RANDOM_STATE = """random_state : int, RandomState or None, default=None
        Seed or source of the random numbers."""

ETA = """eta : float, default=1.5
        Length of a step, more than 0 and less than 2. At 1 the step ends where it gains most."""

OPTIMUM = """tol : float, default=1e-6
        Training ends when the conditions of the optimum are violated by no more, in units of
        the potential 1 that supporting examples have; less than 1.
    max_iter : int, default=10000
        Most sweeps; a sweep is as many steps as there are examples."""

VANISHED = 1e-6
"""Stability, in units of the longest example, below which no hyperplane is looked for."""

documented = _documented.documented(
    attributes=ATTRIBUTES,
    embedding=EMBEDDING,
    fit_intercept=CLAMPED,
    free_intercept=FREE,
    max_iter=MAX_ITER,
    verbose=VERBOSE,
    eta=ETA,
    optimum=OPTIMUM,
    random_state=RANDOM_STATE,
)


def not_separated(model: Any, examples: Examples) -> str:
    """Return a text that says that no solution was found, and what to do."""
    return (
        f"{type(model).__name__} has not separated {examples.name} after {model.max_iter} sweeps; "
        f"it keeps the best weights seen. If {question(model)} is true raise max_iter, else use "
        "Pocket, or AdaTron with a finite gamma."
    )


def question(model: Any) -> str:
    """Return the call that tells whether a hyperplane separates the classes for a model."""
    return f"is_separable(X, y{', fit_intercept=False' if model.fit_intercept is False else ''})"


def nothing_separates(model: Any, name: str) -> str:
    """Return a text that says that there is no hyperplane to be found, and what to do."""
    advice = "Set a finite gamma" if hasattr(model, "gamma") else "Use AdaTron with a finite gamma"
    return (
        f"{type(model).__name__} found that nothing separates {name} with a stability above "
        f"{VANISHED:g} of the longest example; it keeps the best weights seen. {advice} to allow "
        "errors."
    )
