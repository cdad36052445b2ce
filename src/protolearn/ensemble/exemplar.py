"""Exemplar SVMs, one linear SVM a row, and what they share with prototype SVMs."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from .._arrays import Floats, Indices, middle, validate_data
from .._dask import row_by_row
from .._threads import at_most_threads, one_blas_thread
from .._validation import (
    all_or_nothing,
    check_choice,
    check_flag,
    check_integer,
    check_number,
)
from ..one_versus_rest import OneVersusRestClassifier
from .calibration import CALIBRATIONS, Calibration
from .linear_machines import Machines, SolverSettings
from .members import Members, choose_negatives
from .neighbourhoods import View
from .voters import Voters

PENALTIES = ("l2", "l1")


class SVMEnsemble(OneVersusRestClassifier):
    """Many small linear SVMs that vote where they fire."""

    n_negatives: Any
    C: Any
    penalty: Any
    calibration: Any
    standardize: Any
    tol: Any
    max_iter: Any
    n_jobs: Any = None  # files of the first models have none

    exemplar_indices_: Indices
    exemplars_: Floats
    hyperplanes_: Floats
    offsets_: Floats
    positive_sets_: list[Indices]
    negative_sets_: list[Indices]
    prototypes_: Floats
    prototype_labels_: NDArray[Any]
    n_iter_: int

    @row_by_row
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class: its share of the votes.

        There is one vote more, which the classes share equally, so no probability is zero.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows. A Dask array or frame is answered lazily, by a Dask array.

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
            Classes in the order of ``classes_``.
        """
        return self._shares(self._check_rows(X))

    def votes(self, X: Any) -> Floats:
        """Return the vote of each model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        votes : array of shape (n_samples, n_models)
            The probability of its class according to the model; zero where it does not fire. In a
            row of zeros the model with the largest decision value decides.
        """
        X = self._check_rows(X)
        rows = self._scaler.transform(X)
        with at_most_threads(self.n_jobs):
            return self._voters.votes(rows, np.arange(len(self._voters))).T

    def _check_rows(self, X: Any) -> Floats:
        check_is_fitted(self, "classes_")
        return validate_data(self, X, reset=False, dtype=np.float64, order="C")

    def _shares(self, X: Floats) -> Floats:
        """Return the share of each class in the votes."""
        K = len(self.classes_)
        with at_most_threads(self.n_jobs):
            totals = self._voters.totals(self._scaler.transform(X), K) + 1.0 / K
        return totals / totals.sum(axis=1, keepdims=True)

    def _scores(self, X: Floats) -> Floats:
        """Return probabilities; of two classes, by how much the second is more probable."""
        shares = self._shares(X)
        return shares if shares.shape[1] > 2 else shares[:, 1:] - shares[:, :1]

    def _check_parameters(self) -> None:
        """Raise if a parameter is wrong."""
        check_integer(self, "n_negatives", low=1)
        check_number(self, "C", low=0.0, above=True)
        check_choice(self, "penalty", PENALTIES)
        if self.calibration is not None:
            check_choice(self, "calibration", tuple(filter(None, CALIBRATIONS)), None)
        check_flag(self, "standardize")
        check_number(self, "tol", low=0.0, high=1.0, above=True, below=True)
        check_integer(self, "max_iter", low=1)
        if self.n_jobs not in (None, -1):
            check_integer(self, "n_jobs", low=1)

    def _fit_scaler(self, X: Floats) -> Floats:
        """Learn the scale of features; return the rows relative to their mean, in these units."""
        scaler = StandardScaler(with_std=self.standardize).set_output(transform="default")
        self._scaler = scaler.fit(X)
        return self._scaler.transform(X)

    def _settings(self) -> SolverSettings:
        return SolverSettings(float(self.C), self.penalty, float(self.tol), int(self.max_iter))

    def _calibration(self) -> Calibration:
        return CALIBRATIONS[self.calibration]

    def _exemplar_machines(
        self, rows: Floats, codes: Indices, view: View | None = None
    ) -> Machines:
        """Train one model a row; keep those that fire."""
        exemplar, negative = choose_negatives(rows, codes, self.n_negatives)
        own = np.arange(len(rows))
        members = Members.empty().with_rows(own, own, 1.0).with_rows(exemplar, negative, -1.0)
        machines = Machines.one_a_row(rows, codes, members)
        return machines.train(rows, self._settings()).that_fire(rows, view)

    def _store(self, machines: Machines, voters: Voters, X: Floats, places: Indices) -> None:
        """Set the fitted attributes, in the units of X; ``places`` are the training rows."""
        self._voters = voters
        n = len(machines)
        self.exemplar_indices_ = places[machines.exemplar]
        self.exemplars_ = X[self.exemplar_indices_]
        unit = self._scaler.scale_ if self.standardize else np.ones(X.shape[1])
        self.hyperplanes_ = machines.weights / unit
        self.offsets_ = machines.intercepts - self.hyperplanes_ @ self._scaler.mean_
        self.positive_sets_ = [places[rows] for rows in machines.members.sets(n, 1.0)]
        self.negative_sets_ = [places[rows] for rows in machines.members.sets(n, -1.0)]
        self.prototypes_ = np.array([middle(X[rows]) for rows in self.positive_sets_])
        self.prototype_labels_ = self.classes_[machines.label]

    def _warn(self, machines: Machines) -> None:
        """Warn if models were not trained well enough, or are of no use."""
        if machines.silent:
            message = (
                f"No model of {type(self).__name__} fires on any training row with C={self.C:g}: "
                "the model with the largest decision value decides alone. Raise C, or see whether "
                "the features differ between rows."
            )
        elif not machines.solved.all():
            message = (
                f"{(~machines.solved).sum()} of the {len(machines)} models of "
                f"{type(self).__name__} have not reached tol={self.tol:g} after {self.max_iter} "
                "sweeps. Raise max_iter or tol, lower C, or standardize the features."
            )
        else:
            return
        warnings.warn(message, ConvergenceWarning, stacklevel=3)


class ExemplarSVM(SVMEnsemble):
    """One linear SVM for every training row, against its nearest negatives.

    Each model has its exemplar as the only positive row, and a few negatives near it that lie in
    front of a hyperplane through it. A model that fires on a row votes for the class of its
    exemplar, with the probability that it is right. If none fires the one with the largest
    decision value decides. Models that fire on no training row are left out.

    Parameters
    ----------
    n_negatives : int, default=7
        Most negatives k that an exemplar begins with: the nearest rows of other classes in front of
        a hyperplane through it.
    C : float, default=100.0
        Cost of a row on the wrong side of its margin.
    penalty : {"l2", "l1"}, default="l2"
        How large weights are punished: "l2" is the usual SVM, ``|w|^2 / 2`` and the hinge loss;
        "l1", ``|w|_1`` and the squared hinge loss, selects few features for each model.
    calibration : {"local", "binning", "platt", None}, default="local"
        What the vote of a model that fires is worth: the probability of its class. "platt" is a
        sigmoid of the decision value, "binning" the share of the class among training rows of about
        the same decision value; "local" also considers the distance from the exemplar; with None
        each vote counts one.
    standardize : bool, default=True
        Whether to divide features by their standard deviations; distances and ``C`` depend on it.
    tol : float, default=1e-4
        The duality gap, in parts of the cost, at which a model is trained well enough.
    max_iter : int, default=1000
        Most sweeps through the rows of a model, or with "l1" through its weights.
    n_jobs : int or None, default=None
        Number of threads; None or -1: one a core. It changes no number but times.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels in sorted order.
    exemplar_indices_ : array of shape (n_models,)
        The row of X that each model was made for.
    exemplars_ : array of shape (n_models, n_features)
        These rows.
    hyperplanes_ : array of shape (n_models, n_features)
        The normal vectors w of the models, in the units of X.
    offsets_ : array of shape (n_models,)
        A model fires on x if ``w . x + offset`` is positive.
    positive_sets_ : list of n_models arrays of int
        The rows of X that each model gathers: its cluster. It fires on these, unless hard negatives
        have moved it.
    negative_sets_ : list of n_models arrays of int
        The rows of X that it keeps away.
    prototypes_ : array of shape (n_models, n_features)
        The mean of each cluster.
    prototype_labels_ : array of shape (n_models,)
        The label that each model votes for.
    n_iter_ : int
        How many times the models were trained.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, if X had names of type str.

    See Also
    --------
    PrototypeSVM : Models that generalise from exemplars to clusters; fewer and better.

    References
    ----------
    Malisiewicz, Gupta and Efros (2011), *Ensemble of exemplar-SVMs for object detection and
    beyond*, ICCV.

    Shen and Danyluk, *Prototype support vector machines: supervised classification in complex
    datasets*, sections 3 and 4.1.

    Examples
    --------
    >>> from protolearn import ExemplarSVM, datasets
    >>> X, y = datasets.load("iris")
    >>> model = ExemplarSVM().fit(X, y)
    >>> model.hyperplanes_.shape
    (150, 4)
    >>> model.predict(X[:2]).tolist()
    ['setosa', 'setosa']
    """

    def __init__(
        self,
        *,
        n_negatives: int = 7,
        C: float = 100.0,
        penalty: str = "l2",
        calibration: str | None = "local",
        standardize: bool = True,
        tol: float = 1e-4,
        max_iter: int = 1000,
        n_jobs: int | None = None,
    ):
        self.n_negatives = n_negatives
        self.C = C
        self.penalty = penalty
        self.calibration = calibration
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Train the models.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        with all_or_nothing(self):
            self._check_parameters()
            X, codes, _ = self._check_data(X, y, None)
            rows = self._fit_scaler(X)
            with one_blas_thread(), at_most_threads(self.n_jobs):
                machines = self._exemplar_machines(rows, codes)
                voters = Voters.of(machines, rows, self._calibration())
                voters = voters.calibrate(rows, codes, len(self.classes_))
            self._store(machines, voters, X, np.arange(len(X)))
            self.n_iter_ = 1
            self._warn(machines)
        return self
