"""Heuristic LVQ: Kohonen's rules, which move prototypes but follow no gradient."""

from __future__ import annotations

from typing import Any, ClassVar

from .._validation import check_choice, check_flag, check_integer, check_number, resolve
from ..distances import DISTANCES, Distance
from ..solvers import LEAST_IN_STREAMS, SCHEDULES, Callback
from .settings import RuleSettings
from .training import TrainedClassifier


class HeuristicClassifier(TrainedClassifier):
    """A classifier that follows a rule, one sample at a time."""

    _attributes = """
    solver_ : str
        The name of the rule.
    n_iter_ : int
        Epochs done.
    loss_curve_ : list of float
        Share of errors met during each epoch.
    validation_curve_ : list of float
        With early stopping: share of errors of the held-out rows after each epoch.
    """
    learning_rate: float
    raw_rates = False  # of older files
    n_iter_no_change: int | None = 5
    _rule: ClassVar[str]
    _settings_type = RuleSettings

    def __init__(
        self,
        *,
        distance: Any = "sqeuclidean",
        metric_rate: float = 0.01,
        shuffle: bool = True,
        raw_rates: bool = False,
        n_iter_no_change: int | None = 5,
        **training: Any,
    ):
        super().__init__(**training)
        self.distance = distance
        self.metric_rate = metric_rate
        self.shuffle = shuffle
        self.raw_rates = raw_rates
        self.n_iter_no_change = n_iter_no_change

    def _axes(self) -> tuple[Distance]:
        return (resolve(self, "distance", DISTANCES, Distance),)

    def _takes_sparse(self) -> bool:
        return True

    def _solver_parameters(self, stream: bool) -> dict[str, Any]:
        """Return what the solver takes besides the metric rate and the order, checked."""
        check_number(self, "learning_rate", low=0.0, high=1.0, above=True, below=True)
        if self.n_iter_no_change is not None:
            check_integer(self, "n_iter_no_change", low=1)
        return {
            "learning_rate": self.learning_rate,
            "schedule": "constant",
            "n_iter_no_change": self.n_iter_no_change,
            "raw_rates": check_flag(self, "raw_rates"),
        }


class ScheduledClassifier(HeuristicClassifier):
    """A classifier whose rule has one learning rate for all prototypes, which falls with time."""

    def __init__(
        self,
        *,
        learning_rate: float = 0.05,
        schedule: str = "auto",
        decay: float = 1e-4,
        least_rate: float | None = None,
        **rule: Any,
    ):
        super().__init__(**rule)
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.decay = decay
        self.least_rate = least_rate

    def _solver_parameters(self, stream: bool) -> dict[str, Any]:
        parameters, least_rate = super()._solver_parameters(stream), self.least_rate
        if least_rate is not None:
            check_number(self, "least_rate", low=0.0, high=1.0)
        schedule = check_choice(self, "schedule", ("auto", *SCHEDULES))
        if self.least_rate is not None and schedule not in ("auto", "inverse_time"):
            raise ValueError(
                f"least_rate={self.least_rate!r} belongs to schedule='inverse_time' or 'auto', and "
                f"here it is {schedule!r}; leave one of them out."
            )
        if schedule == "linear" and stream:
            raise ValueError(
                "schedule='linear' falls to zero at an end that a stream does not have; for "
                "partial_fit take 'inverse_time', 'constant' or 'auto'."
            )
        if schedule == "auto":
            schedule = "inverse_time" if stream else "linear"
            least_rate = LEAST_IN_STREAMS if least_rate is None else least_rate
        decay = check_number(self, "decay", low=0.0)
        return parameters | {"schedule": schedule, "decay": decay, "least_rate": least_rate}


class LVQ1(ScheduledClassifier):
    """Learning vector quantisation: the nearest prototype moves.

    It moves by ``rate (x - w)`` to a sample of its own class, and away from one of another.

    Parameters
    ----------
    learning_rate : float, default=0.05
        First learning rate, between 0 and 1: the share of the way to the sample that a prototype
        goes.
    schedule : {"auto", "linear", "inverse_time", "constant"}, default="auto"
        How the rate falls: to zero in the last epoch, as ``1 / (1 + decay t)`` with the number t of
        samples seen, or not at all. "auto" is linear in ``fit``, inverse_time in ``partial_fit``.
    decay : float, default=1e-4
        Decay of the inverse-time schedule, for each sample seen.
    least_rate : float, default=None
        Share of the first rate below which the inverse-time schedule does not fall, from 0 to 1.
        None: zero, or a tenth where ``schedule`` is "auto".
    prototypes_per_class : int, dict or "auto", default=1
        Number of prototypes of every class, or one number a label; labels left out have one. "auto"
        starts with one and adds more where held-out rows show that it helps (``n_prototypes_``).
    init : {"kmeans", "means", "kmeans++", "random"}, array or DecisionRule, default="kmeans"
        Where the prototypes begin: k-means in each class, the class mean (several are moved apart a
        little), rows far from each other, random rows, or given prototypes, grouped by class in the
        order of ``classes_``. The ``rule_`` of a fitted model with the same distance: learning
        goes on from its prototypes and metric, such as those that a person has edited.
    max_iter : int, default=None
        Most epochs; the prototypes of the last are kept. None: one to ten, fewer for many rows, and
        the prototypes with the fewest training errors are kept: the initial ones, with a warning,
        if no epoch makes as few. ``partial_fit`` makes one pass whatever it is.
    tol : float, default=1e-3
        Relative improvement of the share of errors that counts as progress, for
        ``n_iter_no_change`` and for early stopping.
    n_iter_no_change : int or None, default=5
        Training stops after so many epochs without a relative improvement of ``tol`` in the share
        of errors, unless the learning rate falls linearly; None: it makes ``max_iter`` epochs.
    class_weight : dict or "balanced", default=None
        Weight of each class, as everywhere in scikit-learn.
    early_stopping : bool, default=False
        Whether to hold out some rows, end when their share of errors has not fallen for ten
        epochs, and keep the prototypes that were best on them.
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
    distance : str or Distance, default="sqeuclidean"
        A short name, as in :class:`~protolearn.PrototypeClassifier`, or an object of
        :mod:`protolearn.distances`. The step is half the gradient of the distance, with squared
        Euclidean distance ``x - w``. Steps of other distances are multiplied by the inverse of a
        typical curvature, ``Distance.stride``, unless ``raw_rates``.
    metric_rate : float, default=0.01
        Step size of the metric as a share of that of the prototypes, where the distance learns one.
    shuffle : bool, default=True
        Whether each epoch takes the samples in a new random order.
    raw_rates : bool, default=False
        Whether steps are as printed, ``rate`` times half the gradient of the distance, and
        ``metric_rate`` times that for a metric, with nothing rescaled or shortened.

    References
    ----------
    Kohonen (1990), *The self-organizing map*, Proceedings of the IEEE 78.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import LVQ1
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LVQ1(prototypes_per_class=5, random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    """

    _rule = "lvq1"

    def __init__(
        self,
        *,
        learning_rate: float = 0.05,
        schedule: str = "auto",
        decay: float = 1e-4,
        least_rate: float | None = None,
        prototypes_per_class: Any = 1,
        init: Any = "kmeans",
        max_iter: int | None = None,
        tol: float = 1e-3,
        n_iter_no_change: int | None = 5,
        class_weight: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        calibrate: str | None = "train",
        callback: Callback | None = None,
        history: Any = False,
        checkpoint: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        distance: Any = "sqeuclidean",
        metric_rate: float = 0.01,
        shuffle: bool = True,
        raw_rates: bool = False,
    ):
        super().__init__(
            learning_rate=learning_rate,
            schedule=schedule,
            decay=decay,
            least_rate=least_rate,
            prototypes_per_class=prototypes_per_class,
            init=init,
            max_iter=max_iter,
            tol=tol,
            n_iter_no_change=n_iter_no_change,
            class_weight=class_weight,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            calibrate=calibrate,
            callback=callback,
            history=history,
            checkpoint=checkpoint,
            verbose=verbose,
            random_state=random_state,
            distance=distance,
            metric_rate=metric_rate,
            shuffle=shuffle,
            raw_rates=raw_rates,
        )


class OLVQ1(HeuristicClassifier):
    """LVQ1 with an optimised learning rate for each prototype.

    A rate falls when its prototype classifies a sample rightly, ``eta / (1 + eta)``, and rises when
    it does not, ``eta / (1 - eta)``, up to where it began; then the prototype moves as in
    :class:`LVQ1`. So all samples count about the same in the end.

    Parameters
    ----------
    learning_rate : float, default=0.1
        First rate of every prototype, and the largest it may have; between 0 and 1.
    prototypes_per_class : int, dict or "auto", default=1
        Number of prototypes of every class, or one number a label; labels left out have one. "auto"
        starts with one and adds more where held-out rows show that it helps (``n_prototypes_``).
    init : {"kmeans", "means", "kmeans++", "random"}, array or DecisionRule, default="kmeans"
        Where the prototypes begin: k-means in each class, the class mean (several are moved apart a
        little), rows far from each other, random rows, or given prototypes, grouped by class in the
        order of ``classes_``. The ``rule_`` of a fitted model with the same distance: learning
        goes on from its prototypes and metric, such as those that a person has edited.
    max_iter : int, default=None
        Most epochs; the prototypes of the last are kept. None: one to ten, fewer for many rows, and
        the prototypes with the fewest training errors are kept: the initial ones, with a warning,
        if no epoch makes as few. ``partial_fit`` makes one pass whatever it is.
    tol : float, default=1e-3
        Relative improvement of the share of errors that counts as progress, for
        ``n_iter_no_change`` and for early stopping.
    n_iter_no_change : int or None, default=5
        Training stops after so many epochs without a relative improvement of ``tol`` in the share
        of errors, unless the learning rate falls linearly; None: it makes ``max_iter`` epochs.
    class_weight : dict or "balanced", default=None
        Weight of each class, as everywhere in scikit-learn.
    early_stopping : bool, default=False
        Whether to hold out some rows, end when their share of errors has not fallen for ten
        epochs, and keep the prototypes that were best on them.
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
    distance : str or Distance, default="sqeuclidean"
        A short name, as in :class:`~protolearn.PrototypeClassifier`, or an object of
        :mod:`protolearn.distances`. The step is half the gradient of the distance, with squared
        Euclidean distance ``x - w``. Steps of other distances are multiplied by the inverse of a
        typical curvature, ``Distance.stride``, unless ``raw_rates``.
    metric_rate : float, default=0.01
        Step size of the metric as a share of that of the prototypes, where the distance learns one.
    shuffle : bool, default=True
        Whether each epoch takes the samples in a new random order.
    raw_rates : bool, default=False
        Whether steps are as printed, ``rate`` times half the gradient of the distance, and
        ``metric_rate`` times that for a metric, with nothing rescaled or shortened.

    Notes
    -----
    LVQ_PAK moves first and changes the rate afterwards; the two differ once an error occurs.

    While a prototype is right its rate falls about as ``1 / t`` with the number t of samples it
    won; an error takes one of these steps back, so that the rate rises. After a long stream a
    prototype therefore hardly moves, and needs about as many errors to become quick again.

    References
    ----------
    Kohonen (1992), *New developments of learning vector quantization and the self-organizing map*.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import OLVQ1
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OLVQ1(prototypes_per_class=5, random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.97
    """

    _rule = "olvq1"

    def __init__(
        self,
        *,
        learning_rate: float = 0.1,
        prototypes_per_class: Any = 1,
        init: Any = "kmeans",
        max_iter: int | None = None,
        tol: float = 1e-3,
        n_iter_no_change: int | None = 5,
        class_weight: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        calibrate: str | None = "train",
        callback: Callback | None = None,
        history: Any = False,
        checkpoint: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        distance: Any = "sqeuclidean",
        metric_rate: float = 0.01,
        shuffle: bool = True,
        raw_rates: bool = False,
    ):
        super().__init__(
            prototypes_per_class=prototypes_per_class,
            init=init,
            max_iter=max_iter,
            tol=tol,
            n_iter_no_change=n_iter_no_change,
            class_weight=class_weight,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            calibrate=calibrate,
            callback=callback,
            history=history,
            checkpoint=checkpoint,
            verbose=verbose,
            random_state=random_state,
            distance=distance,
            metric_rate=metric_rate,
            shuffle=shuffle,
            raw_rates=raw_rates,
        )
        self.learning_rate = learning_rate


class LVQ21(ScheduledClassifier):
    """LVQ2.1: of the two nearest prototypes the right one comes, the wrong one goes.

    Only where exactly one of them is of the sample's class, and the sample lies in a window around
    the border between them: ``d_near / d_far > (1 - window) / (1 + window)``, distances unsquared.
    Kohonen advises to begin with prototypes that are already good, and to stop soon.

    Parameters
    ----------
    window : float, default=0.1
        Width of the window around the border, between 0 and 1.
    learning_rate : float, default=0.02
        First learning rate, between 0 and 1: the share of the way to the sample that a prototype
        goes.
    schedule : {"auto", "linear", "inverse_time", "constant"}, default="auto"
        How the rate falls: to zero in the last epoch, as ``1 / (1 + decay t)`` with the number t of
        samples seen, or not at all. "auto" is linear in ``fit``, inverse_time in ``partial_fit``.
    decay : float, default=1e-4
        Decay of the inverse-time schedule, for each sample seen.
    least_rate : float, default=None
        Share of the first rate below which the inverse-time schedule does not fall, from 0 to 1.
        None: zero, or a tenth where ``schedule`` is "auto".
    prototypes_per_class : int, dict or "auto", default=1
        Number of prototypes of every class, or one number a label; labels left out have one. "auto"
        starts with one and adds more where held-out rows show that it helps (``n_prototypes_``).
    init : {"kmeans", "means", "kmeans++", "random"}, array or DecisionRule, default="kmeans"
        Where the prototypes begin: k-means in each class, the class mean (several are moved apart a
        little), rows far from each other, random rows, or given prototypes, grouped by class in the
        order of ``classes_``. The ``rule_`` of a fitted model with the same distance: learning
        goes on from its prototypes and metric, such as those that a person has edited.
    max_iter : int, default=None
        Most epochs; the prototypes of the last are kept. None: one to ten, fewer for many rows, and
        the prototypes with the fewest training errors are kept: the initial ones, with a warning,
        if no epoch makes as few. ``partial_fit`` makes one pass whatever it is.
    tol : float, default=1e-3
        Relative improvement of the share of errors that counts as progress, for
        ``n_iter_no_change`` and for early stopping.
    n_iter_no_change : int or None, default=5
        Training stops after so many epochs without a relative improvement of ``tol`` in the share
        of errors, unless the learning rate falls linearly; None: it makes ``max_iter`` epochs.
    class_weight : dict or "balanced", default=None
        Weight of each class, as everywhere in scikit-learn.
    early_stopping : bool, default=False
        Whether to hold out some rows, end when their share of errors has not fallen for ten
        epochs, and keep the prototypes that were best on them.
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
    distance : str or Distance, default="sqeuclidean"
        A short name, as in :class:`~protolearn.PrototypeClassifier`, or an object of
        :mod:`protolearn.distances`. The step is half the gradient of the distance, with squared
        Euclidean distance ``x - w``. Steps of other distances are multiplied by the inverse of a
        typical curvature, ``Distance.stride``, unless ``raw_rates``.
    metric_rate : float, default=0.01
        Step size of the metric as a share of that of the prototypes, where the distance learns one.
    shuffle : bool, default=True
        Whether each epoch takes the samples in a new random order.
    raw_rates : bool, default=False
        Whether steps are as printed, ``rate`` times half the gradient of the distance, and
        ``metric_rate`` times that for a metric, with nothing rescaled or shortened.

    Notes
    -----
    LVQ_PAK compares squared distances, so its window of the same name is another one.

    References
    ----------
    Kohonen (1990), *Improved versions of learning vector quantization*, IJCNN.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import LVQ21
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LVQ21(prototypes_per_class=5, random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    """

    _rule = "lvq21"

    def __init__(
        self,
        *,
        window: float = 0.1,
        learning_rate: float = 0.02,
        schedule: str = "auto",
        decay: float = 1e-4,
        least_rate: float | None = None,
        prototypes_per_class: Any = 1,
        init: Any = "kmeans",
        max_iter: int | None = None,
        tol: float = 1e-3,
        n_iter_no_change: int | None = 5,
        class_weight: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        calibrate: str | None = "train",
        callback: Callback | None = None,
        history: Any = False,
        checkpoint: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        distance: Any = "sqeuclidean",
        metric_rate: float = 0.01,
        shuffle: bool = True,
        raw_rates: bool = False,
    ):
        super().__init__(
            learning_rate=learning_rate,
            schedule=schedule,
            decay=decay,
            least_rate=least_rate,
            prototypes_per_class=prototypes_per_class,
            init=init,
            max_iter=max_iter,
            tol=tol,
            n_iter_no_change=n_iter_no_change,
            class_weight=class_weight,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            calibrate=calibrate,
            callback=callback,
            history=history,
            checkpoint=checkpoint,
            verbose=verbose,
            random_state=random_state,
            distance=distance,
            metric_rate=metric_rate,
            shuffle=shuffle,
            raw_rates=raw_rates,
        )
        self.window = window

    def _solver_parameters(self, stream: bool) -> dict[str, Any]:
        window = check_number(self, "window", low=0.0, high=1.0, above=True, below=True)
        return super()._solver_parameters(stream) | {"window": window}


class LVQ3(LVQ21):
    """LVQ3: LVQ2.1 that also keeps the prototypes of a class among their samples.

    Where both of the two nearest prototypes are of the sample's class, both come nearer, by
    ``epsilon`` times the rate.

    Parameters
    ----------
    epsilon : float, default=0.25
        Size of that step, from 0 to 1; usual are 0.1 to 0.5.
    window : float, default=0.1
        Width of the window around the border, between 0 and 1.
    learning_rate : float, default=0.02
        First learning rate, between 0 and 1: the share of the way to the sample that a prototype
        goes.
    schedule : {"auto", "linear", "inverse_time", "constant"}, default="auto"
        How the rate falls: to zero in the last epoch, as ``1 / (1 + decay t)`` with the number t of
        samples seen, or not at all. "auto" is linear in ``fit``, inverse_time in ``partial_fit``.
    decay : float, default=1e-4
        Decay of the inverse-time schedule, for each sample seen.
    least_rate : float, default=None
        Share of the first rate below which the inverse-time schedule does not fall, from 0 to 1.
        None: zero, or a tenth where ``schedule`` is "auto".
    prototypes_per_class : int, dict or "auto", default=1
        Number of prototypes of every class, or one number a label; labels left out have one. "auto"
        starts with one and adds more where held-out rows show that it helps (``n_prototypes_``).
    init : {"kmeans", "means", "kmeans++", "random"}, array or DecisionRule, default="kmeans"
        Where the prototypes begin: k-means in each class, the class mean (several are moved apart a
        little), rows far from each other, random rows, or given prototypes, grouped by class in the
        order of ``classes_``. The ``rule_`` of a fitted model with the same distance: learning
        goes on from its prototypes and metric, such as those that a person has edited.
    max_iter : int, default=None
        Most epochs; the prototypes of the last are kept. None: one to ten, fewer for many rows, and
        the prototypes with the fewest training errors are kept: the initial ones, with a warning,
        if no epoch makes as few. ``partial_fit`` makes one pass whatever it is.
    tol : float, default=1e-3
        Relative improvement of the share of errors that counts as progress, for
        ``n_iter_no_change`` and for early stopping.
    n_iter_no_change : int or None, default=5
        Training stops after so many epochs without a relative improvement of ``tol`` in the share
        of errors, unless the learning rate falls linearly; None: it makes ``max_iter`` epochs.
    class_weight : dict or "balanced", default=None
        Weight of each class, as everywhere in scikit-learn.
    early_stopping : bool, default=False
        Whether to hold out some rows, end when their share of errors has not fallen for ten
        epochs, and keep the prototypes that were best on them.
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
    distance : str or Distance, default="sqeuclidean"
        A short name, as in :class:`~protolearn.PrototypeClassifier`, or an object of
        :mod:`protolearn.distances`. The step is half the gradient of the distance, with squared
        Euclidean distance ``x - w``. Steps of other distances are multiplied by the inverse of a
        typical curvature, ``Distance.stride``, unless ``raw_rates``.
    metric_rate : float, default=0.01
        Step size of the metric as a share of that of the prototypes, where the distance learns one.
    shuffle : bool, default=True
        Whether each epoch takes the samples in a new random order.
    raw_rates : bool, default=False
        Whether steps are as printed, ``rate`` times half the gradient of the distance, and
        ``metric_rate`` times that for a metric, with nothing rescaled or shortened.

    References
    ----------
    Kohonen (1990), *The self-organizing map*, Proceedings of the IEEE 78.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import LVQ3
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LVQ3(prototypes_per_class=5, random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    """

    _rule = "lvq3"

    def __init__(
        self,
        *,
        epsilon: float = 0.25,
        window: float = 0.1,
        learning_rate: float = 0.02,
        schedule: str = "auto",
        decay: float = 1e-4,
        least_rate: float | None = None,
        prototypes_per_class: Any = 1,
        init: Any = "kmeans",
        max_iter: int | None = None,
        tol: float = 1e-3,
        n_iter_no_change: int | None = 5,
        class_weight: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        calibrate: str | None = "train",
        callback: Callback | None = None,
        history: Any = False,
        checkpoint: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        distance: Any = "sqeuclidean",
        metric_rate: float = 0.01,
        shuffle: bool = True,
        raw_rates: bool = False,
    ):
        super().__init__(
            window=window,
            learning_rate=learning_rate,
            schedule=schedule,
            decay=decay,
            least_rate=least_rate,
            prototypes_per_class=prototypes_per_class,
            init=init,
            max_iter=max_iter,
            tol=tol,
            n_iter_no_change=n_iter_no_change,
            class_weight=class_weight,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            calibrate=calibrate,
            callback=callback,
            history=history,
            checkpoint=checkpoint,
            verbose=verbose,
            random_state=random_state,
            distance=distance,
            metric_rate=metric_rate,
            shuffle=shuffle,
            raw_rates=raw_rates,
        )
        self.epsilon = epsilon

    def _solver_parameters(self, stream: bool) -> dict[str, Any]:
        epsilon = check_number(self, "epsilon", low=0.0, high=1.0)
        return super()._solver_parameters(stream) | {"epsilon": epsilon}
