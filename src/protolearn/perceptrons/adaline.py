"""Adaline: potentials of one for all examples, as far as possible."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from .._arrays import Floats, middle
from .._validation import check_choice, check_number, check_positive
from .examples import Examples, Unit
from .perceptron import Perceptron, TrainingLog
from .presentation import learn_in_turn

UPDATES = ("parallel", "sequential")

ROUNDING = 1e-15
"""Change of a potential of about one that means nothing."""


class Adaline(Perceptron):
    """The adaptive linear neuron: least squares by steps in the embedding strengths.

    All potentials are to be one. A step adds to a strength what the potential lacks,
    ``u_i += rate (1 - E_i)``. In parallel all strengths change at once, and the weights tend to
    the least-squares solution, of several the shortest. One after the other they tend to the
    shortest solution if all equations can be solved; if not, to a cycle around least squares, the
    nearer the shorter the steps. With ``eta=1`` it may be far: take a small ``eta``, or ``decay``.

    Parameters
    ----------
    updates : {"parallel", "sequential"}, default="parallel"
        Whether all examples are learned at once, or one after the other.
    eta : float, default=1.0
        Length of a step, more than 0 and less than 2: the rate is ``eta`` divided by the largest
        eigenvalue of ``C_ij = y_i y_j x_i.x_j / N`` in parallel updates, by the largest ``C_ii``
        in sequential ones.
    decay : float, default=0.0
        Steps get shorter: in sweep t their length is ``eta / (1 + decay (t - 1))``.
    fit_intercept : {"clamped", "free", False}, default="clamped"
        The threshold: the weight of one more input that is always -1, or not a weight (then it
        does not count in the length of ``w``), or none.
    tol : float, default=1e-8
        Training ends when a sweep changes the weights by no more than this part of their length.
    max_iter : int, default=10000
        Most sweeps through the examples.
    verbose : int, default=0
        Whether to print lines while training.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels in sorted order.
    coef_ : array of shape (1, n_features), or (n_classes, n_features)
        The weights ``w = sum u_i y_i x_i / N``; a clamped input counts in the number N of inputs.
    intercept_ : array of shape (1,), or (n_classes,)
        Minus the thresholds.
    embedding_strengths_ : array of shape (1, n_samples), or (n_classes, n_samples)
        The embedding strengths ``u`` of the examples.
    support_ : array of int
        Examples with an embedding strength other than zero.
    stability_ : float
        The least stability of the examples, negative if there are errors.
    n_updates_ : int
        How many times weights were changed, in all.
    n_iter_ : int
        Number of sweeps; with several classes, the largest.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, if X had names of type str.

    See Also
    --------
    sklearn.linear_model.Ridge : Least squares in one go.

    Notes
    -----
    In parallel updates with a free threshold the equality ``sum u y = 0`` holds by itself, as the
    inputs are centred. If not all equations can be solved the strengths grow without end while
    the weights settle.

    References
    ----------
    Widrow and Hoff (1960), *Adaptive switching circuits*, IRE WESCON Convention Record.

    Biehl, *The shallow and the deep*, section 3.6.2.

    Examples
    --------
    >>> from protolearn import Adaline
    >>> model = Adaline().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> model.coef_.round(3), model.intercept_.round(3)
    (array([[0.471]]), array([-1.176]))
    """

    def __init__(
        self,
        *,
        updates: str = "parallel",
        eta: float = 1.0,
        decay: float = 0.0,
        fit_intercept: Any = "clamped",
        tol: float = 1e-8,
        max_iter: int = 10_000,
        verbose: int = 0,
    ):
        self.updates = updates
        self.eta = eta
        self.decay = decay
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the examples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The examples.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the squared errors.

        Returns
        -------
        self : Adaline
        """
        return self._fit(X, y, sample_weight)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self, "updates", UPDATES)
        check_number(self, "eta", low=0.0, high=2.0, above=True, below=True)
        check_number(self, "decay", low=0.0)
        check_positive(self, "tol")

    def _center(self, rows: Floats, weight: Floats | None) -> Floats:
        """Return the mean: least squares with a free threshold are those of centred equations."""
        return middle(rows, weight)

    def _learn(self, examples: Examples, rng: np.random.RandomState) -> Unit:
        task = LinearEquations.of(examples)
        parallel = self.updates == "parallel"
        rate, dust = task.rate(float(self.eta), parallel), task.dust()
        w, u, length = np.zeros(task.rows.shape[1]), np.zeros(len(task.signs)), 0.0
        progress = TrainingLog(self.verbose, examples.name)
        for n_iter in range(1, int(self.max_iter) + 1):
            before = w.copy()
            shorter = rate / (1.0 + float(self.decay) * (n_iter - 1))
            (learn_together if parallel else learn_in_turn)(*task[:5], shorter, w, u)
            change, length = float(np.linalg.norm(w - before)), float(np.linalg.norm(w))
            settled = change <= max(float(self.tol) * length, dust)
            progress.report(n_iter, f"weights of length {length:.6g}", last=settled)
            if settled:
                break
        complaint = "" if settled else self._complaint(examples.name, change, length)
        n_updates = n_iter if parallel else n_iter * len(u)
        u = task.balance(u) if examples.free else u
        return Unit(w, task.threshold, u, n_updates, n_iter, complaint)

    def _complaint(self, name: str, change: float, length: float) -> str:
        """Return a text that says that the weights have not settled, and what to do."""
        return (
            f"The weights of Adaline for {name} have not settled after {self.max_iter} sweeps: the "
            f"last one changed weights of length {length:.1e} by {change:.1e}, tol={self.tol:g}. "
            "Raise max_iter or tol, or scale the features."
        )


class LinearEquations(NamedTuple):
    """Linear equations ``w.x_i = t_i``."""

    rows: Floats
    signs: Floats
    target: Floats  # the signs, less their mean if the threshold is free
    weight: Floats
    share: float  # 1 / N
    threshold: float  # the free one; zero otherwise

    @classmethod
    def of(cls, examples: Examples) -> Self:
        """Return the equations of examples."""
        inputs, signs = examples.inputs, examples.signs
        weight = np.ones(len(signs)) if examples.weight is None else examples.weight
        mean = float(np.average(signs, weights=weight)) if examples.free else 0.0
        return cls(inputs.rows, signs, signs - mean, weight, 1.0 / inputs.size, -mean)

    def rate(self, eta: float, parallel: bool) -> float:
        """Return the factor of steps of length ``eta``."""
        rows = np.sqrt(self.weight)[:, None] * self.rows
        if parallel:
            small = rows @ rows.T if len(rows) < rows.shape[1] else rows.T @ rows
            steepest = self.share * float(np.linalg.eigvalsh(small)[-1])
        else:
            steepest = self.share * float(np.einsum("ij,ij->i", rows, rows).max())
        return eta / steepest if steepest > 0.0 else 0.0

    def dust(self) -> float:
        """Return the length of a change of weights that is lost in the rounding of potentials."""
        longest = float(np.sqrt(np.einsum("ij,ij->i", self.rows, self.rows).max()))
        return ROUNDING / longest if longest > 0.0 else 0.0

    def balance(self, u: Floats) -> Floats:
        """Return strengths with ``sum u y = 0``; centred inputs have the same weights."""
        return u - self.signs * self.weight * (u @ self.signs) / self.weight.sum()


def learn_together(
    rows: Floats,
    signs: Floats,
    target: Floats,
    weight: Floats,
    share: float,
    rate: float,
    w: Floats,
    u: Floats,
) -> None:
    """Add to all strengths what their potentials lack."""
    steps = rate * weight * (target - rows @ w)
    u += signs * steps
    w += share * (steps @ rows)
