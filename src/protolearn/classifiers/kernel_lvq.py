"""Prototypes in the feature space of a kernel, as combinations of samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from inspect import signature
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets

from .._arrays import (
    Floats,
    Indices,
    as_floats,
    check_magnitude,
    checked_sparse,
    do_once,
    relative_weights,
    validate_data,
)
from .._validation import all_or_nothing, check_choice, check_sample_weight, integer_in, resolve
from ..blocks import encode
from ..codebook import Codebook
from ..distances import Distance
from ..kernels import FeatureKernel, check_gram, check_kernel, kernel_of
from ..losses import LOSSES, Loss, SlopedLoss
from ..prototypes import STARTS, is_automatic
from ..solvers import Callback
from .composable import PrototypeClassifier, row_weights
from .feature_space import RESIDUAL, FeatureSpaceDistance, GivenProducts, coordinates, warn_if_far
from .kernel_support import (
    CoordinateDistance,
    FeatureSpaceModel,
    FeatureSpaceTrainer,
    expansion,
    nearest,
    prune,
)
from .lvq import GLVQ
from .nearest_prototype import NearestPrototypeClassifier
from .rows import check_classes
from .settings import CostSettings


class KernelGLVQ(NearestPrototypeClassifier):
    """GLVQ with prototypes in the feature space of a kernel.

    A prototype is a combination of training rows, ``w_k = sum_l a_kl phi(x_l)``, and its squared
    distance to a row follows from the kernel alone. The training rows get coordinates in which
    their products are those of the kernel (a pivoted Cholesky factor of the Gram matrix),
    :class:`GLVQ` is trained on these, and once more with prototypes that combine few rows.

    The kernel is evaluated for all pairs of training rows if its Gram matrix has full rank, one
    column at a time. With n rows and rank m this takes ``O(n m^2)`` time, and memory for about
    two arrays of shape (n, m): some thousands of rows are fine, sparse ones too; those that
    prototypes combine become dense. Scale the features beforehand.

    Any other loss and margin goes the same way: ``margin="hypothesis", loss="hinge", beta=4`` is
    :class:`MarginLVQ` in the feature space, ``margin="difference", loss="logistic", beta=1`` is
    :class:`LOGM`, and ``margin="log_odds", loss="logistic", beta=1, decision="soft"`` is
    :class:`RSLVQ`.

    Parameters
    ----------
    kernel : {"rbf", "polynomial", "poly", "linear", "precomputed"} or callable, default="rbf"
        The product of two rows in the feature space; it has to be positive semi-definite. A
        function takes two arrays of rows and gives the matrix of their products. With
        "precomputed" ``fit`` takes the Gram matrix of the training rows and the other methods
        the products of the given rows (one a line) with all training rows.
    gamma : "scale" or float, default="scale"
        Factor in ``exp(-gamma |x - z|^2)`` and ``(gamma x.z + coef0)^degree``. "scale" is
        ``1 / (n_features * X.var())``, by ``sample_weight``.
    degree : int, default=3
        Degree of the polynomial.
    coef0 : float, default=1.0
        Constant in the polynomial, at least 0.
    margin : str or Margin, default="relative"
        ``"difference"``, ``"relative"``, ``"hypothesis"``, ``"k_nearest"``, ``"log_odds"``, or an
        object of :mod:`protolearn.margins`.
    loss : str or Loss, default="sigmoid"
        ``"identity"``, ``"sigmoid"``, ``"logistic"``, ``"hinge"``, ``"broken_linear"``,
        ``"exponential"``, or an object of :mod:`protolearn.losses`.
    beta : float or None, default=15.0
        Slope of a loss that is given by its name; an object has its own. None with the sigmoid
        takes the identity, ``phi(m) = -m``. 15 suits the relative margin; :class:`MarginLVQ` has
        4, :class:`MCE` 2 and :class:`LOGM` 1.
    decision : {"nearest", "soft"}, default="nearest"
        Whether the nearest prototype decides, or all of them by their posterior.
    max_support : int, "auto" or None, default="auto"
        Most training rows for each prototype; K prototypes combine the same ``K * max_support``
        rows. They are chosen one by one, of many rows some at a time: those that bring their span
        nearest to the trained prototypes, which are then trained again within that span. "auto"
        begins with 5 and doubles until at most 2 % of what training gained is lost, by the mean
        cost of the training rows, and at most 10 % of these change their class; winding borders
        need more rows than smooth ones. If half of the rows were not enough, and with None,
        prototypes stay as they were trained, on as many rows as the Gram matrix has rank.
    init : {"kmeans", "means", "kmeans++", "random"}, default="kmeans"
        Where the prototypes begin, in the feature space: k-means in each class, the class mean
        (several are moved apart a little), rows far from each other, or random rows.
    prototypes_per_class : int, dict or "auto", default=1
        Number of prototypes of every class, or one number a label; labels left out have one. "auto"
        starts with one and adds more where held-out rows show that it helps (``n_prototypes_``).
    solver : {"auto", "lbfgs", "sgd", "adam", "momentum"} or Solver, default="auto"
        Full-batch L-BFGS, sequential gradient descent, mini-batches, or an object of
        :mod:`protolearn.solvers` with its own settings. "auto" takes L-BFGS for a smooth cost with
        one prototype a class and data that are not large, else ``sgd``.
    max_iter : int, default=None
        Most iterations (L-BFGS) or epochs (all others). None: 1000 iterations,
        fewer for millions of learned numbers; 8 to 30 epochs, fewer for very large and very small
        data.
    tol : float, default=1e-3
        L-BFGS stops when the largest derivative is below ``tol``, or ``10 tol`` times the first one
        where that is less, or when some iterations lower the cost by less than ``tol**2`` each.
        Epochs without a linear schedule stop after five of them without a relative improvement of
        ``tol``. Early stopping requires the same improvement.
    attraction : float, default=0.0
        Weight of a term that pulls the nearest own prototype to each sample, against overfitting.
    scale : "data" or float, default="data"
        Unit of distance. "data" takes the mean distance of a sample to its nearest initial own
        prototype; 1.0 leaves distances as they are.
    class_weight : dict or "balanced", default=None
        Weight of each class, as everywhere in scikit-learn.
    early_stopping : bool, default=False
        Whether to hold out some rows, end when their cost has not fallen for ten iterations, and
        keep the prototypes that were best on them.
    validation_fraction : float, default=0.1
        Share of each class that is held out for early stopping.
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
    verbose : int, default=0
        1 prints the first and the last iteration, every twentieth part of ``max_iter`` and one
        after ten seconds without a line; 2 prints every iteration.
    random_state : int, RandomState instance or None, default=None
        Seed of the initial prototypes, of the held-out rows and of the order of the samples.

    Attributes
    ----------
    dual_coef_ : array of shape (K, n_support)
        The coefficients of each prototype.
    support_ : array of shape (n_support,)
        The training rows that they belong to.
    exemplar_indices_ : array of shape (K,)
        The training row nearest to each prototype, in the feature space.
    exemplars_ : array of shape (K, d)
        These rows, or their indices if the kernel is precomputed.
    gamma_ : float
        The factor that was used; not there for kernels without one.
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    rule_ : DecisionRule
        What predicts: the prototypes, the distance, and how distances decide.
    prototype_labels_ : array of shape (K,)
        The label of each prototype.
    n_prototypes_ : dict
        The number of prototypes of each label.
    scale_ : float
        The unit of distance that was used.
    solver_ : str
        The solver that was used.
    n_iter_ : int
        Iterations or epochs done.
    loss_curve_ : list of float
        Mean cost of a sample after each iteration (during each epoch, where there are epochs).
    history_ : dict of arrays
        With ``history``, one line a state, the first before training: "dual_coef" (of all training
        rows), "loss" (of the sample), "example" (the row that was presented, or -1), "n_iter".
    validation_curve_ : list of float
        With early stopping: mean cost of the held-out rows after each iteration.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Their names, if X has names that are strings.

    See Also
    --------
    GLVQ : The same in the space of the rows themselves.

    Notes
    -----
    With a precomputed kernel the length of a new row in the feature space is not known.
    ``distances`` and ``nearest_prototypes`` then leave out ``k(x, x)``, and so do the scores of
    more than two classes in ``decision_function``. It is the same for all prototypes:
    ``predict``, ``predict_proba`` and differences of scores are as with the kernel itself.

    A callback sees the prototypes in the coordinates of the feature space. It is not called, and
    nothing is printed, while they are trained again on few rows; ``n_iter_``, ``loss_curve_``,
    ``history_`` and ``validation_curve_`` tell of the first training.

    References
    ----------
    Qin and Suganthan (2004), *A novel kernel prototype-based learning algorithm*, ICPR.

    Schleif, Villmann, Hammer and Schneider (2011), *Efficient kernelized prototype based
    classification*, International Journal of Neural Systems 21.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from protolearn import GLVQ, KernelGLVQ
    >>> X, y = make_circles(200, noise=0.05, factor=0.5, random_state=0)
    >>> model = KernelGLVQ(max_support=5, random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2), round(GLVQ(random_state=0).fit(X, y).score(X, y), 2)
    (1.0, 0.66)
    >>> model.dual_coef_.shape
    (2, 10)
    """

    support_: Indices
    exemplar_indices_: Indices
    exemplars_: NDArray[Any]
    gamma_: float
    history_: dict[str, Any]
    history = False  # of older files

    def __init__(
        self,
        *,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        margin: Any = "relative",
        loss: Any = "sigmoid",
        beta: float | None = 15.0,
        decision: str = "nearest",
        max_support: Any = "auto",
        init: str = "kmeans",
        prototypes_per_class: Any = 1,
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
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.margin = margin
        self.loss = loss
        self.beta = beta
        self.decision = decision
        self.max_support = max_support
        self.init = init
        self.prototypes_per_class = prototypes_per_class
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.attraction = attraction
        self.scale = scale
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.calibrate = calibrate
        self.callback = callback
        self.history = history
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the prototypes.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Training data; a Gram matrix of shape (n_samples, n_samples), not a sparse one, if the
            kernel is precomputed.
        y : array-like of shape (n_samples,)
            Labels: numbers or strings, of at least two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; weight 2 counts as the row twice, weight 0 as no row.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        with all_or_nothing(self):
            trainer = self._trainer()
            kinds = [np.float64, np.float32]
            form = False if self._is_precomputed() else "csr"
            X, y = validate_data(self, X, y, dtype=kinds, order="C", accept_sparse=form)
            single = X.dtype == np.float32
            X = checked_sparse(X).astype(np.float64) if issparse(X) else as_floats(X)
            check_classification_targets(y)
            rounding = SINGLE_ROUNDING if single and self._is_precomputed() else RESIDUAL
            if self._is_precomputed():
                check_gram(X, rounding)
            elif not callable(self.kernel):
                check_magnitude(X)
            weight, classes = check_sample_weight(sample_weight, len(y)), np.unique(y)
            rows = np.arange(n := len(y))
            weight = None if weight is None else relative_weights(weight)
            if weight is not None and not weight.all():
                rows = np.flatnonzero(weight)
                X = X[np.ix_(rows, rows)] if self._is_precomputed() else X[rows]
                y, weight = y[rows], weight[rows]
            check_classes(classes, np.bincount(encode(y, classes), minlength=len(classes)))
            kernel = kernel_of(self, X, weight)
            L, pivots = do_once(coordinates, X, kernel, rounding)
            warn_if_far(L, rounding)
            whole = kept = FeatureSpaceModel(trainer.fit(L, y, weight), L, pivots)
            if self.max_support is not None:
                kept = prune(whole, y, weight, self.max_support)
            self._store(whole, kept, X, kernel, rows)
            if hasattr(whole.model, "history_"):
                self.history_ = history_of_rows(whole, rows, n)
        return self

    def support_weights(self, X: Any, y: Any, sample_weight: Any = None) -> Floats:
        """Return the weight of each training row in each prototype.

        At a minimum of the cost a prototype is ``sum_l w_l phi(x_l)`` with these weights (Crammer
        et al., 2002, section 5). The hinge and the broken linear loss leave many of them at zero.
        The model predicts by ``dual_coef_``, the coefficients of the rows ``support_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training rows, or their Gram matrix if the kernel is precomputed.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights that ``fit`` was given.

        Returns
        -------
        weights : array of shape (n_samples, n_prototypes)
            Each column sums to one; it is zero if no row pulls at the prototype.
        """
        D = np.array(self.distances(X), dtype=np.float64)
        if self._is_precomputed():
            check_gram(as_floats(X), SINGLE_ROUNDING)
            D = np.maximum(D + np.diagonal(X)[:, None], 0.0)
        return row_weights(self, CostSettings.of(self._trainer()), D, y, sample_weight)

    def __sklearn_tags__(self) -> Any:
        """Return whether X is a matrix of products, for scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        tags.input_tags.sparse = not self._is_precomputed()
        return tags

    @property
    def dual_coef_(self) -> Floats:
        """The coefficients of each prototype."""
        return self._fitted_rule("dual_coef_").codebook.prototypes

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _trainer(self) -> FeatureSpaceTrainer:
        """Return what learns in the feature space; raise if a parameter is wrong."""
        check_kernel(self)
        if self.max_support is not None and not is_automatic(self.max_support):
            integer_in(self.max_support, "max_support={value!r} must be 'auto', None, or", 1)
        if not isinstance(self.init, str):
            raise ValueError(
                "init cannot be an array: the prototypes lie in a feature space. Give one of "
                f"{', '.join(map(repr, STARTS))}."
            )
        check_choice(self, "init", tuple(STARTS))
        shared = signature(PrototypeClassifier).parameters.keys() & self.get_params(deep=False)
        settings = {name: getattr(self, name) for name in shared} | {"loss": self._loss()}
        trainer = FeatureSpaceTrainer(distance=CoordinateDistance(), **settings)
        CostSettings.of(trainer)
        return trainer

    def _loss(self) -> Loss:
        """Return the loss, with the slope ``beta`` if it is given by its name."""
        if isinstance(self.loss, str) and self.loss == "sigmoid":
            return GLVQ(beta=self.beta)._axes()[2]  # with None the identity
        loss = resolve(self, "loss", LOSSES, Loss)
        named = isinstance(self.loss, str) and isinstance(loss, SlopedLoss)
        return loss.set_params(beta=self.beta) if named else loss

    def _store(
        self,
        whole: FeatureSpaceModel,
        kept: FeatureSpaceModel,
        X: Any,
        kernel: FeatureKernel | None,
        rows: Indices,
    ) -> None:
        """Keep the prototypes as combinations of rows, all at once."""
        points, support = kept.model.prototypes_, kept.pivots
        exemplars = nearest(points, kept.L)
        distance: Distance
        if kernel is None:
            distance = GivenProducts(rows[support])
            self.exemplars_ = rows[exemplars]
        else:
            distance = FeatureSpaceDistance(kernel, X[support])
            self.exemplars_ = dense(X[exemplars])
        self.support_ = rows[support]
        self.exemplar_indices_ = rows[exemplars]
        lengths, labels = np.einsum("ij,ij->i", points, points), kept.model.rule_.codebook.labels
        codebook = Codebook(
            expansion(points, kept.L, support),
            labels,
            lengths[:, None],
            np.arange(len(labels)),
            np.zeros(len(support)),
        )
        taught = (whole if self.calibrate == "cv" else kept).model.rule_.decision
        self.rule_ = replace(
            whole.model.rule_, codebook=codebook, distance=distance, decision=taught
        )
        for name in ("gamma_", "validation_curve_", "history_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if kernel is not None and "gamma" in kernel.settings:
            self.gamma_ = kernel.settings["gamma"]
        for name in LEARNED:
            if hasattr(whole.model, name):
                setattr(self, name, getattr(whole.model, name))


def history_of_rows(whole: FeatureSpaceModel, rows: Indices, n: int) -> dict[str, Any]:
    """Return the history of a training in coordinates, as combinations of the n rows of fit."""
    kept = dict(whole.model.history_)
    states, example = kept.pop("prototypes"), kept["example"]
    del kept["metric"]
    dual_coef = np.zeros((*states.shape[:2], n))
    combined = [expansion(points, whole.L, whole.pivots) for points in states]
    dual_coef[:, :, rows[whole.pivots]] = combined
    return kept | {"example": np.where(example < 0, -1, rows[example]), "dual_coef": dual_coef}


def dense(rows: Any) -> Floats:
    """Return a few rows as an array."""
    return rows.toarray() if issparse(rows) else rows


SINGLE_ROUNDING = 1e-5
"""Share of the largest product that counts as rounding, if products come in single precision."""

LEARNED = (
    "n_prototypes_",
    "solver_",
    "n_iter_",
    "loss_curve_",
    "validation_curve_",
)
"""What the model has from its training in the whole feature space."""
