"""Cost-function LVQ: the published algorithms as choices of margin and loss.

Each class is a docstring, its parameters and the line that names its parts.
"""

from __future__ import annotations

from typing import Any

from .._validation import check_choice
from ..distances import Distance, SquaredEuclidean
from ..losses import BrokenLinear, Exponential, Hinge, Identity, Logistic, Loss, Sigmoid, SlopedLoss
from ..margins import Difference, Hypothesis, LogOdds, Margin, Relative
from ..solvers import Callback
from .composable import CostFunctionClassifier


class GLVQ(CostFunctionClassifier):
    """Generalised learning vector quantisation.

    Minimises ``phi(m)`` of the relative margin ``m = (D- - D+) / (D- + D+)``: how much nearer the
    own class is than the next one, as a share of both.

    Parameters
    ----------
    beta : float, None or "auto", default="auto"
        Slope of the sigmoid ``phi``; None takes the identity, ``phi(m) = -m``. "auto" is 15, and up
        to ten times as steep where the classes begin hardly apart, as in texts (``slope_factor_``).
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

    References
    ----------
    Sato and Yamada (1996), *Generalized learning vector quantization*, NIPS 8.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GLVQ(random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    """

    _own_slope = "beta", 15.0

    def __init__(
        self,
        *,
        beta: float | str | None = "auto",
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
        return (
            SquaredEuclidean(),
            Relative(),
            Identity() if self.beta is None else Sigmoid(self._slope()),
        )


class MCE(CostFunctionClassifier):
    """Minimum classification error learning.

    Minimises a sigmoid of the difference margin ``D- - D+``: a smooth count of errors.

    Parameters
    ----------
    beta : float or "auto", default="auto"
        Slope of the sigmoid. "auto" is 2, and up to ten times as steep where the classes begin
        hardly apart, as in texts (``slope_factor_``).
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

    References
    ----------
    Juang and Katagiri (1992), *Discriminative learning for minimum error classification*.
    Jin, Liu and Hou (2008), equations 3 to 6.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import MCE
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MCE(random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    """

    _own_slope = "beta", 2.0

    def __init__(
        self,
        *,
        beta: float | str = "auto",
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
        return SquaredEuclidean(), Difference(), Sigmoid(self._slope())


class LOGM(CostFunctionClassifier):
    """Log-likelihood of the margin.

    Minimises ``log(1 + exp(-beta m))`` of the difference margin ``m = D- - D+``, a convex price.

    Parameters
    ----------
    beta : float, default=1.0
        Slope of the loss.
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
    slope_factor_ : float
        How many times steeper the loss was made (see ``scale``); 1.0: it was not.

    References
    ----------
    Jin, Liu and Hou (2008), *Prototype learning with margin-based conditional log-likelihood
    loss*, ICPR.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import LOGM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LOGM(random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    """

    def __init__(
        self,
        *,
        beta: float = 1.0,
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
        self.beta = beta

    def _axes(self) -> tuple[Distance, Margin, Loss]:
        return SquaredEuclidean(), Difference(), Logistic(self.beta)


class SNPC(CostFunctionClassifier):
    """Soft nearest prototype classifier.

    Minimises the posterior probability of the wrong classes under a mixture of equal Gaussians;
    the nearest prototype decides, or the posterior itself, ``P_l(x) = sum_s P_ls(x)`` of Jin et al.

    Parameters
    ----------
    xi : float or "auto", default="auto"
        Sharpness of the Gaussians, ``exp(-xi D / scale)``. "auto" is 2, and up to ten times as
        sharp where the classes begin hardly apart, as in texts (``slope_factor_``).
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

    References
    ----------
    Seo, Bode and Obermayer (2003), *Soft nearest prototype classification*, IEEE Transactions on
    Neural Networks 14. Jin, Liu and Hou (2008), equations 16 to 18.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import SNPC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SNPC(random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    """

    _own_slope = "xi", 2.0

    def __init__(
        self,
        *,
        xi: float | str = "auto",
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
        self.xi = xi
        self.decision = decision

    def _axes(self) -> tuple[Distance, Margin, Loss]:
        return SquaredEuclidean(), LogOdds(self._slope()), Sigmoid()

    @property
    def _is_soft(self) -> bool:  # type: ignore[override]
        return check_choice(self, "decision", ("nearest", "soft")) == "soft"


class RSLVQ(CostFunctionClassifier):
    """Robust soft learning vector quantisation.

    Maximises the posterior probability of the right class under a mixture of equal Gaussians, and
    decides by that posterior; ``predict_proba`` gives it.

    Parameters
    ----------
    xi : float, default=2.0
        Sharpness of the Gaussians, ``exp(-xi D / scale)``.
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
    slope_factor_ : float
        How many times steeper the loss was made (see ``scale``); 1.0: it was not.

    References
    ----------
    Seo and Obermayer (2003), *Soft learning vector quantization*, Neural Computation 15.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import RSLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RSLVQ(random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    """

    _is_soft = True

    def __init__(
        self,
        *,
        xi: float = 2.0,
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
        self.xi = xi

    def _axes(self) -> tuple[Distance, Margin, Loss]:
        return SquaredEuclidean(), LogOdds(self.xi), Logistic()


HYPOTHESIS_LOSSES: dict[str, type[SlopedLoss]] = {
    "hinge": Hinge,
    "broken_linear": BrokenLinear,
    "exponential": Exponential,
}


class MarginLVQ(CostFunctionClassifier):
    """LVQ by the hypothesis margin.

    Minimises a loss of ``(d- - d+) / 2``, the distance by which the prototypes may move before
    the sample changes its class. The hinge gives online loss minimisation, the broken linear loss
    resembles LVQ2.1, the exponential one AdaBoost.

    Parameters
    ----------
    loss : {"hinge", "broken_linear", "exponential"}, default="hinge"
        Price of the margin.
    beta : float or "auto", default="auto"
        Slope of the loss. "auto" is 4; the hinge and the broken linear loss are up to ten times as
        steep where the classes begin hardly apart, as in texts (``slope_factor_``).
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

    References
    ----------
    Crammer, Gilad-Bachrach, Navot and Tishby (2002), *Margin analysis of the LVQ algorithm*,
    NIPS 15.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import MarginLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MarginLVQ(random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    """

    _only_names = ("loss",)

    _own_slope = "beta", 4.0

    def __init__(
        self,
        *,
        loss: str = "hinge",
        beta: float | str = "auto",
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
        self.loss = loss
        self.beta = beta

    def _axes(self) -> tuple[Distance, Margin, Loss]:
        check_choice(self, "loss", tuple(HYPOTHESIS_LOSSES))
        return SquaredEuclidean(), Hypothesis(), HYPOTHESIS_LOSSES[self.loss](self._slope())
