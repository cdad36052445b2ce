"""LVQ with a learned metric: relevances, a matrix, or several matrices.

Each class is a docstring, its parameters and the line that names its parts.
"""

from __future__ import annotations

from typing import Any

from sklearn.base import TransformerMixin

from .._validation import check_choice
from ..distances import Distance, LocalMatrix, Matrix, Relevance
from ..losses import Identity, Logistic, Loss, Sigmoid
from ..margins import LogOdds, Margin, Relative
from ..solvers import Callback
from .composable import CostFunctionClassifier


class GlobalMetricClassifier(TransformerMixin, CostFunctionClassifier):
    """A classifier with one learned map, which makes it a transformer as well."""

    def transform(self, X: Any) -> Any:
        """Return ``Omega x``: the rows where the learned metric is the plain Euclidean one.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The rows. A Dask array or frame is answered lazily, by a Dask array.

        Returns
        -------
        Z : array of shape (n_samples, rank)
            In the units of the distance; a frame if ``set_output`` asks for one. A sum over
            features of which one is missing is NaN.
        """
        return self._map_rows(X)


class GRLVQ(GlobalMetricClassifier):
    """Generalised relevance LVQ: GLVQ with a learned weight for every feature.

    The distance is ``sum_j lambda_j (x_j - w_j)^2``; ``relevances_`` holds the weights lambda,
    which sum to one. Scale the features beforehand, or the relevances also make up for their
    units.

    Parameters
    ----------
    beta : float or None, default=15.0
        Slope of the sigmoid ``phi``; None takes the identity, ``phi(m) = -m``.
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
    relevances_ : array of shape (d,)
        How much each feature counts: the diagonal of ``metric_``. They sum to one.
    omega_, metric_ : arrays of shape (d, d)
        Diagonal matrices of the roots of the relevances, and of the relevances.
    slope_factor_ : float
        How many times steeper the loss was made (see ``scale``); 1.0: it was not.

    References
    ----------
    Hammer and Villmann (2002), *Generalized relevance learning vector quantization*, Neural
    Networks 15.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GRLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GRLVQ(random_state=0).fit(X, y)
    >>> bool(model.relevances_[2:].sum() > 0.5)  # petals
    True
    """

    def __init__(
        self,
        *,
        beta: float | None = 15.0,
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
        self.beta = beta

    def _axes(self) -> tuple[Distance, Margin, Loss]:
        return Relevance(), Relative(), Identity() if self.beta is None else Sigmoid(self.beta)


class GMLVQ(GlobalMetricClassifier):
    """Generalised matrix LVQ: GLVQ with a learned linear map.

    The distance is ``|Omega (x - w)|^2``, the squares of the entries of Omega sum to one. With
    ``rank=2`` the map is a picture of the data in which the classes come apart; ``transform`` gives
    it.

    Parameters
    ----------
    rank : int, default=None
        Number of rows of Omega; None: as many as there are features.
    beta : float or None, default=10.0
        Slope of the sigmoid ``phi``; None takes the identity, ``phi(m) = -m``.
    regularization : float, default=0.0
        Weight mu of the penalty ``-(mu / 2) log det(Omega Omega^T)``, which keeps the metric from
        collapsing to few directions.
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
    omega_ : array of shape (rank, d)
        The map. It has fewer rows where the features or the directions in which the data vary are
        fewer.
    metric_ : array of shape (d, d)
        ``Omega^T Omega``.
    relevances_ : array of shape (d,)
        How much each feature counts: the diagonal of ``metric_``. They sum to one.
    slope_factor_ : float
        How many times steeper the loss was made (see ``scale``); 1.0: it was not.

    References
    ----------
    Schneider, Biehl and Hammer (2009), *Adaptive relevance matrices in learning vector
    quantization*, Neural Computation 21. Bunte et al. (2012), *Limited rank matrix learning*,
    Neural Networks 26.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GMLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GMLVQ(rank=2, random_state=0).fit(X, y)
    >>> model.transform(X).shape
    (150, 2)
    """

    def __init__(
        self,
        *,
        rank: int | None = None,
        beta: float | None = 10.0,
        regularization: float = 0.0,
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
        self.rank = rank
        self.beta = beta
        self.regularization = regularization

    def _axes(self) -> tuple[Distance, Margin, Loss]:
        distance = Matrix(self.rank, self.regularization)
        return distance, Relative(), Identity() if self.beta is None else Sigmoid(self.beta)


class LGMLVQ(CostFunctionClassifier):
    """Local matrix LVQ: a learned linear map for each class, or for each prototype.

    Parameters
    ----------
    localized : {"class", "prototype"}, default="class"
        Whether each class or each prototype has its own map.
    rank : int, default=None
        Number of rows of each Omega; None: as many as there are features, at most 100.
    beta : float or None, default=10.0
        Slope of the sigmoid ``phi``; None takes the identity, ``phi(m) = -m``.
    regularization : float, default=0.0
        Weight mu of the penalty ``-(mu / 2) log det(Omega Omega^T)``, mean over the maps. Where
        rows are few and labels noisy, and with ``solver="lbfgs"``, 0.05 or 0.1 keeps the maps from
        learning the noise.
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
    omega_ : array of shape (groups, rank, d)
        The maps, in the order of ``classes_`` or of the prototypes.
    metric_ : array of shape (groups, d, d)
        ``Omega^T Omega`` of each.
    relevances_ : array of shape (groups, d)
        Their diagonals; each row sums to one.
    slope_factor_ : float
        How many times steeper the loss was made (see ``scale``); 1.0: it was not.

    References
    ----------
    Schneider, Biehl and Hammer (2009), *Adaptive relevance matrices in learning vector
    quantization*, Neural Computation 21.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import LGMLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> LGMLVQ(random_state=0).fit(X, y).relevances_.shape
    (3, 4)
    """

    def __init__(
        self,
        *,
        localized: str = "class",
        rank: int | None = None,
        beta: float | None = 10.0,
        regularization: float = 0.0,
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
        self.localized = localized
        self.rank = rank
        self.beta = beta
        self.regularization = regularization

    def _axes(self) -> tuple[Distance, Margin, Loss]:
        check_choice(self, "localized", ("class", "prototype"))
        distance = LocalMatrix(self.rank, self.regularization, self.localized)
        return distance, Relative(), Identity() if self.beta is None else Sigmoid(self.beta)


class MRSLVQ(GlobalMetricClassifier):
    """Matrix robust soft LVQ: RSLVQ with a learned linear map.

    Maximises the posterior probability of the right class under a mixture of Gaussians of one
    learned shape, and decides by that posterior.

    Parameters
    ----------
    rank : int, default=None
        Number of rows of Omega; None: as many as there are features.
    xi : float, default=2.0
        Sharpness of the Gaussians, ``exp(-xi D / scale)``.
    regularization : float, default=0.0
        Weight mu of the penalty ``-(mu / 2) log det(Omega Omega^T)``, which keeps the metric from
        collapsing to few directions.
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
    attraction : float or None, default=None
        Weight of a term that pulls the nearest own prototype to each sample; None: 0.003, plus
        half the share of missing values in ``fit``. Without it, 0.0 as in the paper, prototypes of
        classes that can be separated leave the data and never stop.
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
    omega_, metric_, relevances_ : arrays
        As in :class:`GMLVQ`.
    slope_factor_ : float
        How many times steeper the loss was made (see ``scale``); 1.0: it was not.

    References
    ----------
    Schneider, Biehl and Hammer (2009), *Distance learning in discriminative vector quantization*,
    Neural Computation 21.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import MRSLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MRSLVQ(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _is_soft = True

    def __init__(
        self,
        *,
        rank: int | None = None,
        xi: float = 2.0,
        regularization: float = 0.0,
        prototypes_per_class: Any = 1,
        init: Any = "kmeans",
        solver: Any = "auto",
        max_iter: int | None = None,
        tol: float = 1e-3,
        attraction: float | None = None,
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
        self.rank = rank
        self.xi = xi
        self.regularization = regularization

    def _axes(self) -> tuple[Distance, Margin, Loss]:
        return Matrix(self.rank, self.regularization), LogOdds(self.xi), Logistic()
