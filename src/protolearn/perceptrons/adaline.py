"""Adaline: potentials of one for all examples, as far as possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np

from .._arrays import Floats, middle
from .._validation import check_choice, check_number, check_positive
from .examples import Examples, Unit
from .perceptron import OnlineUnit
from .presentation import LearningRule, row_order
from .rosenblatt import UPDATES, follow_rule, learn_what_is_missing
from .training_record import Training

ROUNDING = 1e-15
"""Change of a potential of about one that means nothing."""


class Adaline(OnlineUnit):
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
    fit_intercept : {"clamped", "free", True, False}, default="clamped"
        The threshold: the weight of one more input that is always -1, or not a weight (then it
        does not count in the length of ``w``), or none. True is the default.
    class_weight : dict, "balanced" or None, default=None
        Weights of the squared errors by class.
    tol : float, default=1e-8
        Training ends when a sweep changes the weights by no more than this part of their length.
    max_iter : int, default=10000
        Most sweeps through the examples.
    keep : {"best", "last"}, default="last"
        Whether ``coef_`` are the weights with the fewest errors, then the largest stability, of
        all sweeps, or the last ones.
    warm_start : bool, default=False
        Whether ``fit`` goes on with the last weights of the fit before.
    callback : callable, default=None
        Called with a ``TrainingState`` after every sweep; a true value ends training.
    history : {False, True, "sweep", "step"}, default=False
        Whether to keep the states after each sweep (True: the same), or each step, as
        ``history_``; the callback is called as often.
    verbose : int, default=0
        Whether to print lines while training.

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

    Biehl (lecture notes), section 3.6.2.

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
        class_weight: Any = None,
        tol: float = 1e-8,
        max_iter: int = 10_000,
        keep: str = "last",
        warm_start: bool = False,
        callback: Callable[[Any], object] | None = None,
        history: Any = False,
        verbose: int = 0,
    ):
        self.updates = updates
        self.eta = eta
        self.decay = decay
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.keep = keep
        self.warm_start = warm_start
        self.callback = callback
        self.history = history
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

    def _learn(self, examples: Examples, rng: np.random.RandomState, training: Training) -> Unit:
        task, parallel = LinearEquations.of(examples), self.updates == "parallel"
        rate, tol, dust = task.rate(float(self.eta), parallel), float(self.tol), task.dust()

        def rule_at(n_iter: int) -> LearningRule:
            theta = np.array([rate / (1.0 + float(self.decay) * (n_iter - 1))])
            rule = LearningRule.of(learn_what_is_missing, theta, examples)
            return rule._replace(weight=task.weight, shift=1.0 - task.signs * task.target)

        orders = None if parallel else row_order(len(task.signs))
        unit, change, length = follow_rule(
            examples, rule_at, orders, training, tol, dust=dust, threshold=task.threshold
        )
        if examples.free and unit.last is not None:
            last = unit.last._replace(strengths=task.balance(unit.last.strengths))
            unit = unit._replace(strengths=task.balance(unit.strengths), last=last)
        settled = change <= max(tol * length, dust)
        complaint = "" if settled else self._complaint(examples.name, change, length)
        return unit._replace(complaint=complaint)

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
    threshold: float | None  # the free one; None otherwise

    @classmethod
    def of(cls, examples: Examples) -> Self:
        """Return the equations of examples."""
        inputs, signs = examples.inputs, examples.signs
        weight = np.ones(len(signs)) if examples.weight is None else examples.weight
        mean = float(np.average(signs, weights=weight)) if examples.free else 0.0
        threshold = -mean if examples.free else None
        return cls(inputs.rows, signs, signs - mean, weight, 1.0 / inputs.size, threshold)

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
