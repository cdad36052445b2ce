"""Boosted prototypes: from the mean-of-class classifier to the support vector machine."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._validation import check_choice, check_integer, check_number, check_verbose, number_in
from ..one_versus_rest import BinaryProblem
from .ada_boost import Boosted, BoostingProgress, BoostingSettings, CorrectiveRounds, Report, Rounds
from .canonical import Canonical, CenteredFrame, Expansion
from .generalized import PrototypePath, compared_classes
from .kernel_prototypes import KernelPrototypeClassifier

LINES = 20
"""Lines that a fit with verbose=1 prints at most, besides the first and the last."""

SMALLEST_C = 1e-250
"""In the frame; a smaller one leaves the range of double precision."""


class BoostedPrototypes(KernelPrototypeClassifier):
    """Boost the mean-of-class classifier until it is the support vector machine.

    The first round is :class:`MeanOfClass`. Every further one takes the means of the classes again,
    samples on the wrong side with more weight. The prototypes move from the means of the classes to
    those of the support vector machine with hard margins, or with ``C`` of the one with squared
    slacks; ``path_`` keeps how.

    Parameters
    ----------
    C : float, default=np.inf
        Cost of the squared slacks, in units of one over the square of the features. Infinite: hard
        margins, for classes that a hyperplane separates.
    variant : {"corrective", "adaboost*"}, default="corrective"
        "corrective" makes all weights the best ones in every round, for a margin that becomes ever
        sharper; a few tens of rounds are enough. "adaboost*" is the algorithm of the paper: it
        adds the hyperplane of a round to those before, and may need many thousands of rounds.
    epsilon : float, default=1.0
        The size of the steps, in (0, 1]; a small one gives a path of small steps. The margin of
        "corrective" is sharper by the factor ``1 + epsilon`` in each round. "adaboost*" aims so far
        below the margin of a round; there the product of epsilon and rounds decides how near the
        support vector machine is.
    max_iter : int, default=1000000
        The largest number of rounds.
    tol : float, default=5e-4
        Stop when the margin of the hyperplane is at most this part below the bound that the weights
        give, the cosine between the hyperplane and that of the last weights at most a twentieth of
        it below one, and the distance of the prototypes within one per cent of the least known.
    multi_class : {"ovr", "nearest"}, default="ovr"
        How more than two classes are told apart: each is separated from the rest, and the largest
        score wins ("ovr"), or the nearest of the prototypes that the classes have against the rest
        (Graf et al., 2009, section 9).
    kernel : {"linear", "rbf", "polynomial", "poly", "precomputed"} or callable, default="linear"
        The product of two rows. "linear" gives prototypes among the rows. A function takes two
        arrays of rows and gives the matrix of their products. With "precomputed" ``fit`` takes the
        Gram matrix of the training rows and the other methods the products of the given rows (one
        a line) with all training rows.
    gamma : "scale" or float, default="scale"
        Factor in ``exp(-gamma |x - z|^2)`` and ``(gamma x.z + coef0)^degree``. "scale" is
        ``1 / (n_features * X.var())``, by the weights of the rows.
    degree : int, default=3
        Degree of the polynomial.
    coef0 : float, default=1.0
        Constant in the polynomial, at least 0.
    verbose : int, default=0
        1 prints some lines of progress, 2 all steps of the path.

    Attributes
    ----------
    rest_prototypes_ : array of shape (n_classes, n_features)
        The prototypes of all other samples; one versus rest only.
    support_vectors_ : array of shape (n_support, n_features)
        These samples; not there for a precomputed kernel, and for a linear one of support vector
        machines only.
    score_scale_ : array of shape (1,), or (n_classes,)
        Scores are this times ``sum_i dual_coef_i k(x_i, x)``, plus ``intercept_``. Not there for a
        linear kernel.
    exemplars_ : array of shape (n_classes, n_features)
        The training row that is nearest to each prototype in the feature space. Not there for a
        linear or a precomputed kernel.
    exemplar_indices_ : array of shape (n_classes,)
        Their indices; not there for a linear kernel.
    preimages_ : array of shape (n_classes, n_features)
        The points whose images are nearest to the prototypes; there for the rbf kernel only.
    path_ : PrototypePath, or list of them for more than two classes
        The aggregated prototypes, normal, offset and shift after the first rounds and then ever
        more sparsely, from the mean of class to this model, the round with the largest margin. Not
        there for kernels other than the linear one.
    margins_ : array of shape (n_steps,), or list of them
        The margin at every step of the path: the distance of the nearest sample to the hyperplane,
        negative on the wrong side. With a finite ``C`` among samples with a further coordinate of
        length ``1 / sqrt(C)`` each.
    bounds_ : array of shape (n_steps,), or list of them
        What the margin is at most, as known at that step.
    margin_ : array of shape (1,), or (n_classes,) for more than two
        The margin reached, the last of ``margins_``.
    duality_gap_ : array of shape (1,), or (n_classes,) for more than two
        The part of the bound that the margin is short of; more than one if nothing was separated.
    n_iter_ : int
        Rounds made; for more than two classes the most of any.

    See Also
    --------
    HardMarginSVM : The limit.
    SoftMarginSVM : The limit with a finite ``C``, with ``norm=2``.

    Notes
    -----
    "adaboost*" is AdaBoost* with a bias (Graf et al., 2009, section 5.2). "corrective" is the
    totally corrective form with an entropy of the weights (Warmuth et al., 2008), solved by
    Newton's method in every round. The normal is an exact combination of the samples, each of the
    sign of its class, so the prototypes lie in the convex hulls of the classes; the hyperplane
    halves the way between them (with a finite ``C`` among the samples with the further
    coordinates). The rounds of AdaBoost* grow with one over ``epsilon``, ``tol`` and the margin in
    units of the radius of the data, those of the corrective form with the logarithm of that; a
    round takes about two matrix-vector products, or some products of the samples with each other.

    Classes that no hyperplane separates have no hard margin. The rounds end when the margin can be
    no more than a thousandth of the radius, or ``tol`` if that is less; a warning says so, and the
    model is the round with the largest margin, though negative.

    References
    ----------
    Warmuth, Glocer and Vishwanathan (2008), *Entropy regularized LPBoost*, Algorithmic Learning
    Theory.

    Examples
    --------
    >>> from protolearn import BoostedPrototypes
    >>> X = [[0.0, 0.0], [0.0, 2.0], [1.0, 1.0], [3.0, 1.0], [4.0, 0.0], [4.0, 2.0]]
    >>> model = BoostedPrototypes().fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.path_.prototypes[0].round(2)
    array([[0.33, 1.  ],
           [3.67, 1.  ]])
    >>> model.prototypes_.round(1)
    array([[1., 1.],
           [3., 1.]])
    """

    def __init__(
        self,
        *,
        C: float = np.inf,
        variant: str = "corrective",
        epsilon: float = 1.0,
        max_iter: int = 1_000_000,
        tol: float = 5e-4,
        multi_class: str = "ovr",
        kernel: str | Callable[[Any, Any], Any] = "linear",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        verbose: int = 0,
    ):
        self.C = C
        self.variant = variant
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.tol = tol
        self.multi_class = multi_class
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Boost.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The samples; a Gram matrix of shape (n_samples, n_samples) if the kernel is
            precomputed.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        self : BoostedPrototypes
        """
        return self._fit(X, y)

    def _check_parameters(self) -> None:
        if not self._hard():
            name = f"C={{value!r}} of {type(self).__name__}, unless it is np.inf,"
            number_in(self.C, name, 0.0, above=True)
        check_choice(self, "variant", ("corrective", "adaboost*"))
        check_number(self, "epsilon", low=0.0, high=1.0, above=True)
        check_integer(self, "max_iter", low=1)
        check_number(self, "tol", low=0.0)
        check_choice(self, "multi_class", ("ovr", "nearest"))
        check_verbose(self)

    def _hard(self) -> bool:
        return isinstance(self.C, (float, np.floating)) and bool(np.isposinf(self.C))

    def _expand(self, frame: CenteredFrame, problem: BinaryProblem) -> Expansion:
        C = max(float(self.C) * frame.scale**2, SMALLEST_C)
        settings = BoostingSettings(C, float(self.epsilon), int(self.max_iter), float(self.tol))
        rounds = Rounds if self.variant == "adaboost*" else CorrectiveRounds
        return rounds(frame, problem, settings).run(self._report())

    def _report(self) -> Report:
        """Return the function that prints how far the rounds have come."""
        started, shown = perf_counter(), 0
        every = 1 if self.verbose > 1 else max(self.max_iter // LINES, 1)

        def report(progress: BoostingProgress, unit: float, ended: bool) -> None:
            nonlocal shown
            if self.verbose and (shown == 0 or progress.rounds >= shown + every or ended):
                shown = progress.rounds
                print(
                    f"[{type(self).__name__}] round {shown:>7}  margin {progress.lower * unit:.6g}"
                    f"  at most {progress.upper * unit:.6g}  {perf_counter() - started:.1f} s",
                    flush=True,
                )

        return report

    def _store_details(self, expansions: list[Expansion], forms: list[Canonical]) -> None:
        runs: list[Boosted] = [expansion.details for expansion in expansions]
        paths = [
            PrototypePath.of(
                "round", [s.round for s in run.steps], [s.form for s in run.steps], two
            )
            for run, two in zip(runs, compared_classes(self.classes_), strict=True)
        ]
        margins = [np.array([step.margin for step in run.steps]) for run in runs]
        bounds = [np.array([step.bound for step in run.steps]) for run in runs]
        single = len(runs) == 1
        self.path_ = paths[0] if single else paths
        self.margins_ = margins[0] if single else margins
        self.bounds_ = bounds[0] if single else bounds
        self.margin_ = np.array([margin[-1] for margin in margins])
        self.duality_gap_ = np.array([run.gap for run in runs])
        self.n_iter_ = max(run.n_iter for run in runs)
        if len(forms) > 1:  # scores that are compared have the scale of their margins
            self._rescale([self._half_square(form) for form in forms])
        self._warn(runs)

    def _half_square(self, form: Canonical) -> float:
        """Return what a score is divided by to be 1 and -1 on the margin of the limit."""
        square = float(form.coef @ form.coef) + float(np.sum(form.gamma**2)) / float(self.C)
        return 0.5 * square if square > 0.0 else 1.0

    def _warn(self, runs: list[Boosted]) -> None:
        """Warn of classes that were not separated, and of problems that are not solved."""
        overlapping = [run.name for run in runs if run.hopeless]
        if overlapping:
            advice = (
                "HardMarginSVM checks this; for overlapping classes set a finite C, for "
                "example C=0.1, or use SoftMarginSVM"
                if self._hard()
                else f"C={self.C} is too large for double precision; set a smaller one"
            )
            warnings.warn(
                f"{type(self).__name__} found no hyperplane that separates "
                f"{', '.join(overlapping)}: they overlap, or almost. The model is the round with "
                f"the largest margin, though negative. {advice}.",
                ConvergenceWarning,
                stacklevel=5,
            )
        gaps = [run.gap for run in runs if not (run.converged or run.hopeless)]
        if gaps:
            softer = "set a finite C" if self._hard() else "set a smaller C"
            full = self.n_iter_ >= self.max_iter
            where = f"at max_iter={self.max_iter}" if full else f"after {self.n_iter_} rounds"
            warnings.warn(
                f"{type(self).__name__} stopped {where} with a duality gap of "
                f"{max(gaps):.2g}, above tol={self.tol:g}; increase max_iter or tol, or {softer}.",
                ConvergenceWarning,
                stacklevel=5,
            )
