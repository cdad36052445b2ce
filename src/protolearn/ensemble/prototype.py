"""Prototype SVMs: exemplar SVMs whose boundaries shift until they capture clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from .._arrays import Floats, Indices
from .._threads import one_blas_thread
from .._validation import all_or_nothing, check_integer, check_number, check_verbose
from .exemplar import SVMEnsemble
from .linear_machines import Machines, shift
from .members import worth_learning
from .voters import Voters, worth_keeping


@dataclass(frozen=True)
class ScaledRows:
    """Some of the scaled rows, with their class codes and their places in X."""

    rows: Floats
    codes: Indices
    places: Indices

    def some(self, rows: Indices) -> ScaledRows:
        """Return some rows."""
        return ScaledRows(self.rows[rows], self.codes[rows], self.places[rows])


@dataclass(frozen=True)
class Ensemble:
    """The ensemble after some shifts."""

    machines: Machines  # that fire
    voters: Voters  # the same models with their votes
    kept: Indices  # those that pruning has left in the ensemble
    accuracy: float  # on the validation part

    def beats(self, other: Ensemble) -> bool:
        """Whether it is more accurate than another, or as accurate with fewer models."""
        return (self.accuracy, -len(self.kept)) > (other.accuracy, -len(other.kept))


class PrototypeSVM(SVMEnsemble):
    """An ensemble of linear SVMs, each of which captures a cluster of its class.

    Training begins with one SVM for every row, as in :class:`ExemplarSVM`. Then boundaries are
    shifted some times: each row joins the positive set of that model of its class that fires on it
    and has the nearest exemplar; rows of other classes that a model fires on join its negative set
    with a small probability; models that fire on nothing go; and the others are trained again. The
    ensemble after each shift has the models that make it better, and the ensemble that is best on
    held-out rows is kept: rows of models that are not in it join the clusters of those that are.
    Rows whose neighbours have other labels are not learned from, if that does no harm. Together the
    models can separate any classes, and no kernel has to be chosen.

    Parameters
    ----------
    n_shifts : int, default=10
        How many times boundaries are shifted, s.
    hard_negative_probability : float, default=0.005
        How probably a row that a model fires on in error joins its negatives, p.
    validation_fraction : float, default=0.25
        Share of each class that is held out to choose among the ensembles. Classes of very few rows
        are not held out; if no row is, the training rows choose.
    pruning : float or None, default=0.2
        What a model has to contribute to the log-likelihood of the training part to stay in the
        ensemble. Who contributes less is not in it; if all do, the best one of each class stays.
        None keeps all models that fire, and learns from all rows.
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
    verbose : int, default=0
        Whether to print a line after each shift.
    random_state : int, RandomState or None, default=None
        Seed or source of the random numbers: which rows are held out and which hard negatives join.

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
    validation_scores_ : array of shape (n_shifts + 1,)
        Accuracy of the ensemble on the held-out rows: of the exemplar SVMs, and after each shift.
    ensemble_sizes_ : array of shape (n_shifts + 1,)
        The number of models of these ensembles, after pruning. The one that is kept is pruned once
        more, with the held-out rows.
    n_firing_ : array of shape (n_shifts + 1,)
        The number of models that fire after a shift, before pruning.
    best_shift_ : int
        The number of shifts of the ensemble that was kept. If it is 0, each cluster is an exemplar.
    validation_indices_ : array of int
        The held-out rows of X.
    edited_indices_ : array of int
        The rows of X that no model learns from, since most of their neighbours have other labels.
        Their own may be wrong.

    See Also
    --------
    ExemplarSVM : The ensemble before the first shift.

    Notes
    -----
    The algorithm is that of Shen and Danyluk, who leave some of it open. Models see features
    relative to their exemplar, and their bias is regularised, as by LIBLINEAR. The held-out rows
    are stratified; models that fire on nothing go before an ensemble is tried on these rows; of
    equally accurate ensembles the smallest is kept. Models are calibrated on the whole training
    part; those of the ensemble that is kept once more, with the held-out rows too. Where no model
    fires the one with the largest decision value decides.

    Pruning is an addition, after each shift and before the first, and in the end once more with the
    held-out rows. So is editing (Wilson): rows of the training part whose class is not among the
    most frequent of their three nearest neighbours are neither exemplars nor members of any set,
    but calibration and pruning count them. It is left undone if nothing is held out, or if a
    nearest neighbour then tells the class of fewer held-out rows. With ``pruning=None`` and
    ``calibration="platt"`` the algorithm is as published, but for the points above.

    References
    ----------
    Shen and Danyluk, *Prototype support vector machines: supervised classification in complex
    datasets*.

    Zadrozny and Elkan (2001), *Obtaining calibrated probability estimates from decision trees and
    naive Bayesian classifiers*, ICML.

    Wilson (1972), *Asymptotic properties of nearest neighbor rules using edited data*, IEEE
    Transactions on Systems, Man, and Cybernetics.

    Examples
    --------
    >>> from protolearn import PrototypeSVM, datasets
    >>> X, y = datasets.make_striated(random_state=0)
    >>> model = PrototypeSVM(random_state=0).fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 1)
    1.0
    >>> len(model.prototypes_) < 100
    True
    """

    validation_scores_: Floats
    ensemble_sizes_: Indices
    n_firing_: Indices
    best_shift_: int
    validation_indices_: Indices
    edited_indices_: Indices

    def __init__(
        self,
        *,
        n_shifts: int = 10,
        hard_negative_probability: float = 0.005,
        validation_fraction: float = 0.25,
        pruning: float | None = 0.2,
        n_negatives: int = 7,
        C: float = 100.0,
        penalty: str = "l2",
        calibration: str | None = "local",
        standardize: bool = True,
        tol: float = 1e-4,
        max_iter: int = 1000,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_shifts = n_shifts
        self.hard_negative_probability = hard_negative_probability
        self.validation_fraction = validation_fraction
        self.pruning = pruning
        self.n_negatives = n_negatives
        self.C = C
        self.penalty = penalty
        self.calibration = calibration
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Train, shift and choose the models.

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
            rng = check_random_state(self.random_state)
            rows = self._fit_scaler(X)
            held = self._held_out(codes, rng)
            train, validation = (
                ScaledRows(rows[places], codes[places], places)
                for places in (np.flatnonzero(~held), np.flatnonzero(held if held.any() else ~held))
            )
            self.validation_indices_ = np.flatnonzero(held)
            with one_blas_thread():
                core = self._rows_to_learn(train, validation)
                self.edited_indices_ = np.setdiff1d(train.places, core.places)
                best = self._shift_boundaries(core, train, validation, rng)
                voters = best.voters.calibrate(rows, codes, len(self.classes_))
                kept = self._worth_keeping(best.machines, voters, rows, codes)
                machines = self._gather_clusters(best.machines.some(kept), core, rng)
            self._store(machines, voters.some(kept), X, core.places)
            self.n_iter_ = len(self.validation_scores_)
            self._warn(best.machines)
        return self

    def _rows_to_learn(self, train: ScaledRows, validation: ScaledRows) -> ScaledRows:
        """Return the rows to learn from; all, if the algorithm is to be as published."""
        if self.pruning is None or not len(self.validation_indices_):
            return train
        given = train.rows, train.codes, validation.rows, validation.codes
        return train.some(worth_learning(*given))

    def _shift_boundaries(
        self,
        core: ScaledRows,
        train: ScaledRows,
        validation: ScaledRows,
        rng: np.random.RandomState,
    ) -> Ensemble:
        """Return the best ensemble of all shifts, and store how each of them did.

        Models learn from the core of the training part; all of it tells what they are worth.
        """
        machines = self._exemplar_machines(core.rows, core.codes)
        voters = self._calibrate(
            machines, train, Voters.of(machines, core.rows, self._calibration())
        )
        best = self._prune(machines, voters, train, validation)
        self.best_shift_, story = 0, [self._report(0, best)]
        for number in range(1, self.n_shifts + 1):
            old = machines.exemplar
            machines = shift(machines, core.rows, core.codes, self.hard_negative_probability, rng)
            machines = machines.train(core.rows, self._settings()).that_fire(core.rows)
            voters = voters.some(np.searchsorted(old, machines.exemplar)).with_hyperplanes(machines)
            voters = self._calibrate(machines, train, voters)
            ensemble = self._prune(machines, voters, train, validation)
            if ensemble.beats(best):
                best, self.best_shift_ = ensemble, number
            story.append(self._report(number, ensemble))
        accuracy, sizes, firing = zip(*story, strict=True)
        self.validation_scores_ = np.array(accuracy)
        self.ensemble_sizes_, self.n_firing_ = np.array(sizes), np.array(firing)
        return best

    def _calibrate(self, machines: Machines, train: ScaledRows, voters: Voters) -> Voters:
        """Fit the curves of the models that have changed."""
        models = np.flatnonzero(machines.changed)
        return voters.calibrate(train.rows, train.codes, len(self.classes_), models)

    def _prune(
        self, machines: Machines, voters: Voters, train: ScaledRows, validation: ScaledRows
    ) -> Ensemble:
        """Return the models that are worth it, with their held-out accuracy."""
        kept = self._worth_keeping(machines, voters, train.rows, train.codes)
        totals = voters.some(kept).totals(validation.rows, len(self.classes_))
        accuracy = float((totals.argmax(axis=1) == validation.codes).mean())
        return Ensemble(machines, voters, kept, accuracy)

    def _worth_keeping(
        self, machines: Machines, voters: Voters, rows: Floats, codes: Indices
    ) -> Indices:
        """Return the models that are worth their price; all, if there is none or if none fires."""
        if self.pruning is None or machines.silent:
            return np.arange(len(machines))
        return worth_keeping(voters, rows, codes, len(self.classes_), float(self.pruning))

    def _gather_clusters(
        self, machines: Machines, core: ScaledRows, rng: np.random.RandomState
    ) -> Machines:
        """Return the models with the rows of those that were pruned in their clusters."""
        if self.pruning is None or machines.silent:
            return machines
        return shift(machines, core.rows, core.codes, 0.0, rng)

    def _held_out(self, codes: Indices, rng: np.random.RandomState) -> Any:
        """Draw the held-out rows, the same share of each class rounded down."""
        held = np.zeros(len(codes), bool)
        for code in range(len(self.classes_)):
            places = rng.permutation(np.flatnonzero(codes == code))
            held[places[: int(self.validation_fraction * len(places))]] = True
        return held

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer(self, "n_shifts", low=0)
        check_number(self, "hard_negative_probability", low=0.0, high=1.0)
        check_number(self, "validation_fraction", low=0.0, high=1.0, below=True)
        if self.pruning is not None:
            check_number(self, "pruning", low=0.0)
        check_verbose(self)

    def _report(self, number: int, ensemble: Ensemble) -> tuple[float, int, int]:
        """Return accuracy, size and models that fire of an ensemble; print them if asked to."""
        accuracy, size, machines = ensemble.accuracy, len(ensemble.kept), ensemble.machines
        firing = 0 if machines.silent else len(machines)
        if self.verbose:
            print(
                f"Shift {number}: {firing} models fire, {size} are kept, "
                f"validation accuracy {accuracy:.3f}"
            )
        return accuracy, size, firing
