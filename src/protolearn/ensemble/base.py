"""What exemplar and prototype SVMs have in common: scaling, votes, and what is shown of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from .._arrays import Floats, Indices, middle
from .._dask import row_by_row
from .._validation import check_choice, check_flag, check_integer, check_number
from ..one_versus_rest import OneVersusRestClassifier
from .calibration import CALIBRATIONS, Calibration
from .machines import Machines, Settings
from .members import Members
from .negatives import choose_negatives
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
        return self._shares(self._checked(X))

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
        X = self._checked(X)
        rows = self._scaler.transform(X)
        return self._voters.votes(rows, np.arange(len(self._voters))).T

    def _checked(self, X: Any) -> Floats:
        check_is_fitted(self, "classes_")
        return validate_data(self, X, reset=False, dtype=np.float64, order="C")

    def _shares(self, X: Floats) -> Floats:
        """Return the share of each class in the votes."""
        K = len(self.classes_)
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

    def _scaled(self, X: Floats) -> Floats:
        """Learn the scale of features; give the rows relative to their mean, in these units."""
        scaler = StandardScaler(with_std=self.standardize).set_output(transform="default")
        self._scaler = scaler.fit(X)
        return self._scaler.transform(X)

    def _settings(self) -> Settings:
        return Settings(float(self.C), self.penalty, float(self.tol), int(self.max_iter))

    def _calibration(self) -> Calibration:
        return CALIBRATIONS[self.calibration]

    def _exemplar_machines(self, rows: Floats, codes: Indices) -> Machines:
        """Train one model a row; keep those that fire."""
        exemplar, negative = choose_negatives(rows, codes, self.n_negatives)
        own = np.arange(len(rows))
        members = Members.none().joined(own, own, 1.0).joined(exemplar, negative, -1.0)
        machines = Machines.untrained(rows, codes, members)
        return machines.trained(rows, self._settings()).useful(rows)

    def _store(self, machines: Machines, voters: Voters, X: Floats, places: Indices) -> None:
        """Show the ensemble in the units of X; ``places`` are the rows of the training part."""
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
            warnings.warn(
                f"No model of {type(self).__name__} fires on any training row with C={self.C:g}: "
                "the model with the largest decision value decides alone. Raise C, or see whether "
                "the features differ between rows.",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif not machines.solved.all():
            warnings.warn(
                f"{(~machines.solved).sum()} of the {len(machines)} models of "
                f"{type(self).__name__} have not reached tol={self.tol:g} after {self.max_iter} "
                "sweeps. Raise max_iter or tol, lower C, or standardize the features.",
                ConvergenceWarning,
                stacklevel=3,
            )
