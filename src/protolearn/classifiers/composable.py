"""Classifiers with a cost function, and the composable one: any distance, margin, loss, solver."""

from __future__ import annotations

from abc import abstractmethod
from inspect import signature
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._arrays import Floats
from .._validation import check_choice, check_sample_weight, resolve
from ..blocks import Block, encode
from ..distances import DISTANCES, Distance
from ..losses import LOSSES, Loss
from ..margins import MARGINS, Margin
from ..solvers import SOLVERS, Callback, Solver
from .problem import FirstDistances
from .rows import weigh
from .settings import CostSettings
from .training import TrainedClassifier


def is_auto(value: Any) -> bool:
    """Whether a parameter is left to the data."""
    return isinstance(value, str) and value == "auto"


class CostFunctionClassifier(TrainedClassifier):
    """A classifier that lowers ``loss(margin(distance(x, prototypes)))``.

    A subclass names its parts in ``_axes``.
    """

    _attributes = """
    solver_ : str
        The solver that was used.
    n_iter_ : int
        Iterations or epochs done.
    loss_curve_ : list of float
        Mean cost of a sample after each iteration (during each epoch, where there are epochs).
    validation_curve_ : list of float
        With early stopping: mean cost of the held-out rows after each iteration.
    """
    slope_factor_: float
    _settings_type = CostSettings
    _is_soft: bool = False
    """Whether all prototypes decide, by their posterior."""
    _own_slope: ClassVar[tuple[str, float] | None] = None
    """The parameter that is a slope, and its value where it is "auto"."""

    def __init__(
        self,
        *,
        solver: Any = "auto",
        attraction: float | None = 0.0,
        scale: Any = "data",
        **training: Any,
    ):
        super().__init__(**training)
        self.solver = solver
        self.attraction = attraction
        self.scale = scale

    @abstractmethod
    def _axes(self) -> tuple[Distance, Margin, Loss]:
        """Return the distance, the margin and the loss."""

    @property
    def _follows_contrast(self) -> bool:  # type: ignore[override]
        """Whether a slope may be made steeper: one that is given is used as given."""
        return self._own_slope is None or is_auto(getattr(self, self._own_slope[0]))

    def _slope(self) -> Any:
        """Return the slope that is given, or the default."""
        name, default = self._own_slope  # type: ignore[misc]
        given = getattr(self, name)
        return default if is_auto(given) else given

    def support_weights(self, X: Any, y: Any, sample_weight: Any = None) -> Floats:
        """Return the weight of each training row in each prototype.

        At a minimum of the cost a prototype is the sum of the training rows times these weights,
        for every distance ``|A (x - w)|^2`` (Crammer et al., 2002, section 5). Rows with a weight
        other than zero are its support vectors: rows of its class pull with positive weights, rows
        of other classes push with negative ones. With the margins of two winners a row supports
        its nearest own prototype and its nearest rival only.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights that ``fit`` was given.

        Returns
        -------
        weights : array of shape (n_samples, n_prototypes)
            Each column sums to one; it is zero if no row pulls at the prototype.
        """
        check_is_fitted(self, "rule_")
        D = np.array(self.distances(X), dtype=np.float64)
        return row_weights(self, CostSettings.of(self), D, y, sample_weight, self.slope_factor_)

    def _takes_sparse(self) -> bool:
        if isinstance(self.solver, str):
            return self.solver not in SOLVERS or SOLVERS[self.solver].takes_sparse
        return bool(getattr(self.solver, "takes_sparse", True))

    def _named_solver(self, *axes: Any, stream: bool) -> Solver:
        """Return the solver that the parameters name; raise if it does not fit the axes."""
        solver = resolve(self, "solver", SOLVERS, Solver, "auto")  # type: ignore[type-abstract]
        solver.check(*axes)
        if self.checkpoint is not None and "record" not in signature(solver.minimize).parameters:
            raise ValueError(
                f"{type(solver).__name__}.minimize has no parameter record, so that a fit by it "
                "cannot be resumed; leave out checkpoint."
            )
        if stream and isinstance(self.solver, str):
            solver = type(solver).for_stream()
        if stream:
            solver.check_streaming()
        return solver


def row_weights(
    model: Any, settings: CostSettings, D: Floats, y: Any, sample_weight: Any, times: float = 1.0
) -> Floats:
    """Return the derivatives of the cost by distances, those of a prototype with the sum one."""
    rule, weight = model.rule_, check_sample_weight(sample_weight, len(D))
    y = column_or_1d(y)
    check_consistent_length(D, y)
    rows = Block(np.arange(len(D))[:, None], encode(y, rule.classes), weight)
    rows = weigh(rows, model.class_weight, rule.classes, to_mean_one=True)
    some = rows.X[:, 0]
    missing = getattr(model, "_first", FirstDistances(None)).missing
    first = FirstDistances(rule.scale, missing=missing)
    objective = settings.objective(rule.distance, len(rule.classes), 0, first, times)
    same = rule.codebook.same_class(len(rule.classes))
    G = np.zeros_like(D)
    G[some] = objective.slopes(D[some], rows.y.astype(np.intp), rows.weights, rule.codebook, same)
    total = G.sum(axis=0)
    return np.divide(G, total, out=np.zeros_like(G), where=total != 0.0)


class PrototypeClassifier(CostFunctionClassifier):
    """Nearest-prototype classifier put together from its parts.

    It minimises ``loss(margin(distance(x, prototypes)))``. Each part is a short name or an object,
    one of ours or your own; :class:`GLVQ`, :class:`LOGM`, :class:`RSLVQ` and the others are
    particular choices.

    Parameters
    ----------
    distance : str or Distance, default="sqeuclidean"
        ``"sqeuclidean"``; learned ``"relevance"``, ``"mixed"`` (numbers and categories),
        ``"matrix"``, ``"local_matrix"``; fixed ``"minkowski"``, ``"mahalanobis"``, ``"kernel"``;
        for rows of non-negative numbers ``"kl"``, ``"cauchy_schwarz"``, ``"renyi"``; or an object
        of :mod:`protolearn.distances`, which for ``"tangent"`` it has to be.
    margin : str or Margin, default="relative"
        ``"difference"``, ``"relative"``, ``"hypothesis"``, ``"k_nearest"``, ``"log_odds"``, or an
        object of :mod:`protolearn.margins`.
    loss : str or Loss, default="sigmoid"
        ``"identity"``, ``"sigmoid"``, ``"logistic"``, ``"hinge"``, ``"broken_linear"``,
        ``"exponential"``, or an object of :mod:`protolearn.losses`. A short name has the default
        settings of its object, a slope of 1; to set or search them give the object:
        ``loss=Sigmoid(beta=2)``, ``loss__beta``. Steeper ones are mostly better: :class:`GLVQ` has
        15 with the relative margin, :class:`MCE` 2 with the difference.
    decision : {"nearest", "soft"}, default="nearest"
        Whether the nearest prototype decides, or all of them by their posterior.
    prototypes_per_class : int, dict or "auto", default=1
        Number of prototypes of every class, or one number a label; labels left out have one. "auto"
        starts with one and adds more where held-out rows show that it helps (``n_prototypes_``).
    init : {"kmeans", "means", "kmeans++", "random"}, array or DecisionRule, default="kmeans"
        Where the prototypes begin: k-means in each class, the class mean (several are moved apart a
        little), rows far from each other, random rows, or given prototypes, grouped by class in the
        order of ``classes_``. The ``rule_`` of a fitted model with the same distance: learning
        goes on from its prototypes and metric, such as those that a person has edited.
    solver : {"auto", "inside", "lbfgs", "sgd", "adam", "momentum"} or Solver, default="auto"
        Full-batch L-BFGS, sequential gradient descent, mini-batches, or an object of
        :mod:`protolearn.solvers` with its own settings. "auto" takes L-BFGS for a smooth cost with
        one prototype a class (or sparse rows) and data that are not large, unless a bounded loss
        has an unbounded margin or several maps are learned; else ``sgd``, or ``adam`` for sparse
        rows, learned matrices and tangents. ``solver_`` has the choice. The initial prototypes are
        kept, with a warning, if they make fewer training errors. "inside" is the same, with
        prototypes that stay in the range of their class in each feature.
    max_iter : int, default=None
        Most iterations (L-BFGS) or epochs (all others). None: 1000 iterations,
        fewer for millions of learned numbers; 8 to 30 epochs, fewer for very large and very small
        data. ``partial_fit`` makes one pass whatever it is.
    tol : float, default=1e-3
        L-BFGS stops when the largest derivative is below ``tol``, or ``10 tol`` times the first one
        where that is less, or when some iterations lower the cost by less than ``tol**2`` each.
        Epochs without a linear schedule stop after five of them without a relative improvement of
        ``tol``. Early stopping requires the same improvement.
    attraction : float, default=0.0
        Weight of a term that pulls the nearest own prototype to each sample, against overfitting.
    scale : "data" or float, default="data"
        Unit of distance. "data" takes the mean distance of a sample to its nearest initial own
        prototype, so that the other parameters have no dimension; it also makes a sigmoid, hinge
        or broken linear loss steeper where the classes begin hardly apart, unless the distance is
        learned. A number, such as 1.0 for the raw units, leaves the loss as it is given.
    class_weight : dict or "balanced", default=None
        Weight of each class, as everywhere in scikit-learn.
    early_stopping : bool, default=False
        Whether to hold out some rows, end when their cost has not fallen for ten iterations, and
        keep the prototypes that were best on them.
    validation_fraction : float, default=0.1
        Share of each class that is held out for early stopping; for data in parts, of all rows.
    calibrate : {"train", "cv"} or None, default="train"
        How ``predict_proba`` turns margins into probabilities: by a temperature that suits the
        training rows, higher for few rows and many prototypes; by one that suits the held-out rows
        of five refits; None, by a softmax of the scores as they are. A soft decision returns its
        posterior unless this is "cv".
    callback : callable, default=None
        Called with a :class:`~protolearn.solvers.State` after every iteration; the fit ends when it
        returns something true.
    history : {False, True, "sweep", "step"}, default=False
        Whether to keep the prototypes after each epoch (True: the same), or each sample, as
        ``history_``; the callback is called as often. "step" needs a rule or ``solver="sgd"``.
    checkpoint : str or path, default=None
        File in which ``fit`` keeps what it has computed. An interrupted fit with the same data and
        parameters goes on from there, to the same prototypes; delete the file to start again.
        Clones, as in a cross-validation, need files of their own.
    verbose : int, default=0
        1 prints the first and the last iteration, every twentieth part of ``max_iter`` and one
        after ten seconds without a line; 2 prints every iteration.
    random_state : int, RandomState instance or None, default=None
        Seed of the initial prototypes, of the held-out rows and of the order of the samples.

    Attributes
    ----------
    slope_factor_ : float
        How many times steeper the loss was made (see ``scale``); 1.0: it was not.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import PrototypeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PrototypeClassifier(margin="difference", loss="logistic").fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    """

    def __init__(
        self,
        *,
        distance: Any = "sqeuclidean",
        margin: Any = "relative",
        loss: Any = "sigmoid",
        decision: str = "nearest",
        prototypes_per_class: Any = 1,
        init: Any = "kmeans",
        solver: Any = "auto",
        max_iter: int | None = None,
        tol: float = 1e-3,
        attraction: float = 0.0,
        scale: Any = "data",
        class_weight: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        calibrate: str | None = "train",
        callback: Callback | None = None,
        history: Any = False,
        checkpoint: Any = None,
        verbose: int = 0,
        random_state: Any = None,
    ):
        super().__init__(
            prototypes_per_class=prototypes_per_class,
            init=init,
            solver=solver,
            max_iter=max_iter,
            tol=tol,
            attraction=attraction,
            scale=scale,
            class_weight=class_weight,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            calibrate=calibrate,
            callback=callback,
            history=history,
            checkpoint=checkpoint,
            verbose=verbose,
            random_state=random_state,
        )
        self.distance = distance
        self.margin = margin
        self.loss = loss
        self.decision = decision

    def _axes(self) -> tuple[Distance, Margin, Loss]:
        return (
            resolve(self, "distance", DISTANCES, Distance),
            resolve(self, "margin", MARGINS, Margin),
            resolve(self, "loss", LOSSES, Loss),
        )

    @property
    def _follows_contrast(self) -> bool:  # type: ignore[override]
        return isinstance(self.loss, str) and isinstance(self.margin, str)

    @property
    def _is_soft(self) -> bool:  # type: ignore[override]
        return check_choice(self, "decision", ("nearest", "soft")) == "soft"
