"""The parity machine: a product of units, grown until it has learned everything."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state

from .._arrays import Floats, Indices
from .._validation import all_or_nothing, check_flag, check_integer, check_number
from ..one_versus_rest import OneVersusRestClassifier
from .hidden_units import MachineOutputs, SphereFrame, next_unit, product_scores
from .perceptron import check_watching, keep_history
from .pocket import Pocket
from .training_record import Training

SHOWN = 3
"""Pairs of rows that a message names."""


class ParityMachine(OneVersusRestClassifier):
    """The product of units that grows, unit by unit, until there is no error.

    The first unit learns the labels ``y``, each further one ``S(x) y`` with the output S of the
    machine so far: +1 where it is right and -1 where it is wrong. Multiplied to the others a unit
    that has learned this corrects the errors. If a unit does not lower the number of errors, a
    *grandmother unit* takes its place: a small ball that holds one of the wrong examples and no
    other, where the output changes its sign. So there is an error less with every unit, and the
    machine learns any labels of different rows. It may need many units, and then generalise badly:
    ``early_stopping`` keeps the number that is best for rows held out.

    More than two classes are told apart by one machine a class.

    Parameters
    ----------
    estimator : classifier, default=None
        What the units are made of: any classifier of two classes with a ``decision_function``. A
        unit is positive if that is. By default ``Pocket(fit_intercept="free", max_iter=100)``. Its
        convergence warnings are not passed on.
    max_units : int, default=None
        Most units of a machine; by default as many as it needs.
    early_stopping : bool, default=False
        Hold out a part of the rows, grow until the errors in them have not become fewer for
        ``n_iter_no_change`` units (or there are no errors in the others), and keep the smallest
        number of units with the fewest.
    validation_fraction : float, default=0.1
        The part of each class that is held out.
    n_iter_no_change : int, default=5
        How many units may be added without fewer errors in the rows held out.
    callback : callable, default=None
        Called with a ``TrainingState`` of the machine so far after every unit; a true value ends
        its growth. Its potentials are the scores, positive where the machine is right.
    history : bool, default=False
        Whether to keep these states as ``history_``.
    verbose : int, default=0
        Whether to print lines while training.
    random_state : int, RandomState or None, default=None
        Seed or source of the random numbers.
        The units get seeds out of it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels in sorted order.
    units_ : list of lists
        The units of each machine: fitted estimators, and grandmother units. All have a
        ``decision_function``.
    n_units_ : array of shape (1,), or (n_classes,)
        Number of units of each machine.
    training_errors_ : list of arrays
        Number of errors in the training rows after each unit, for each machine; also after units
        that were not kept.
    validation_errors_ : list of arrays
        The same for the rows held out. Only with ``early_stopping``.
    history_ : list of dict
        For each machine the attributes of ``TrainingState`` as arrays, a line a unit, the first
        before there is one; ``n_iter`` is the number of units.
    n_features_in_, feature_names_in_ : int, array of shape (n_features,)
        Number of features, and their names if X had names of type str.

    See Also
    --------
    CommitteeMachine : The majority of units.
    Pocket : The default estimator, on its own.

    Notes
    -----
    The score is the product of the signs of all units times the least distance of the row to the
    border of any unit: the distance at which the output can change first. A linear unit (with
    ``coef_``) has the distance ``|w.x + b| / |w|``, a grandmother unit that to the surface of its
    ball; of other units ``|decision_function|`` is taken, whatever it measures. A machine none of
    whose units has a border says the same everywhere, with a score of 1 or -1.

    A unit is negative on its border. Then the score is not zero but the smallest positive or
    negative number that has all its digits, so that its sign is still the product of the signs.

    References
    ----------
    Biehl and Opper (1991), *Tilinglike learning in the parity machine*, Physical Review A 44.

    Biehl (lecture notes), section 4.2.2.

    Examples
    --------
    >>> from protolearn import ParityMachine
    >>> X, y = [[0], [1], [2], [3], [4], [5], [6]], [0, 1, 1, 0, 1, 0, 0]
    >>> model = ParityMachine(random_state=0).fit(X, y)
    >>> model.predict(X).tolist()
    [0, 1, 1, 0, 1, 0, 0]
    >>> model.training_errors_[0].tolist()[-1]
    0
    """

    history_: list[dict[str, Any]]
    units_: list[list[Any]]
    n_units_: Indices
    training_errors_: list[Indices]
    validation_errors_: list[Indices]

    def __init__(
        self,
        estimator: Any = None,
        *,
        max_units: int | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        callback: Callable[[Any], object] | None = None,
        history: Any = False,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.estimator = estimator
        self.max_units = max_units
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.callback = callback
        self.history = history
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Grow the machines.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The examples. Equal ones must have equal labels.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        self : ParityMachine
        """
        with all_or_nothing(self):
            self._check_parameters()
            X, codes, _ = self._check_data(X, y, None)
            check_no_conflict(X, self.classes_[codes])
            rng = check_random_state(self.random_state)
            places = self._hold_out(codes, rng) if self.early_stopping else [np.arange(len(X))]
            frame = SphereFrame.of(X[places[0]])
            self.units_, curves, trainings = [], [], []
            for problem in self._problems(codes, None):
                parts = [MachineOutputs(X[each], problem.signs[each]) for each in places]
                trainings.append(Training.of(self, problem.name, max_iter=0))
                self.units_.append(self._grow(parts, trainings[-1], frame, rng))
                curves.append([np.array(part.curve) for part in parts])
            keep_history(self, trainings)
            self.n_units_ = np.array([len(units) for units in self.units_])
            self.training_errors_ = [curve[0] for curve in curves]
            self.__dict__.pop("validation_errors_", None)  # of an earlier fit
            if self.early_stopping:
                self.validation_errors_ = [curve[1] for curve in curves]
        return self

    def _scores(self, X: Floats) -> Floats:
        return np.column_stack([product_scores(units, X) for units in self.units_])

    def _check_parameters(self) -> None:
        """Raise if a parameter is wrong."""
        if self.max_units is not None:
            check_integer(self, "max_units", low=1)
        check_flag(self, "early_stopping")
        check_number(self, "validation_fraction", low=0.0, high=1.0, above=True, below=True)
        check_integer(self, "n_iter_no_change", low=1)
        check_watching(self)
        given = self.estimator
        usable = hasattr(given, "fit") and hasattr(given, "decision_function")
        if given is not None and (isinstance(given, type) or not usable):
            raise ValueError(
                f"estimator={given!r} of ParityMachine must be a classifier with a "
                "decision_function, such as Pocket() or LogisticRegression(), or None."
            )

    def _hold_out(self, codes: Indices, rng: np.random.RandomState) -> list[Indices]:
        """Return the places of the rows to train with, and of those to look how good it is."""
        fraction = float(self.validation_fraction)
        try:
            places = train_test_split(
                np.arange(len(codes)), test_size=fraction, stratify=codes, random_state=rng
            )
        except ValueError as error:
            raise ValueError(
                f"early_stopping of ParityMachine cannot hold out {fraction:g} of the "
                f"{len(codes)} rows: {error}"
            ) from error
        missing = np.setdiff1d(codes, codes[places[0]])
        if missing.size:
            raise ValueError(
                f"validation_fraction={fraction:g} of ParityMachine leaves no row of class "
                f"{self.classes_.tolist()[missing[0]]!r} to train with; lower it."
            )
        return places

    def _grow(
        self,
        parts: list[MachineOutputs],
        training: Training,
        frame: SphereFrame,
        rng: np.random.RandomState,
    ) -> list[Any]:
        """Return units, added until there are no errors or enough units; only those of use."""
        estimator = self.estimator
        if estimator is None:
            estimator = Pocket(fit_intercept="free", max_iter=100)
        units: list[Any] = []
        training.unit = "unit"
        see_machine(training, parts[0], units)
        while parts[0].errors and not self._enough(parts) and not training.stopped:
            if len(units) == self.max_units:
                self._warn(parts[0].errors, training.name)
                break
            unit = next_unit(parts[0], estimator, frame, rng)
            units.append(unit)
            for part in parts:
                part.add(unit)
            errors = " and ".join(str(part.errors) for part in parts)
            text = f"{type(unit).__name__}, {errors} errors"
            training.report(len(units), text, last=parts[0].errors == 0)
            see_machine(training, parts[0], units)
        useful = self.early_stopping and parts[1].curve
        return units[: int(np.argmin(parts[1].curve)) + 1] if useful else units

    def _enough(self, parts: list[MachineOutputs]) -> bool:
        """Whether the last units were of no use for the rows held out."""
        if not self.early_stopping or not parts[1].curve:
            return False
        curve = parts[1].curve
        return len(curve) - 1 - int(np.argmin(curve)) >= self.n_iter_no_change

    def _warn(self, errors: int, name: str) -> None:
        """Warn that the machine may not grow any more."""
        warnings.warn(
            f"ParityMachine still has {errors} errors with {name} after max_units="
            f"{self.max_units} units. Raise max_units, take a better estimator, or use "
            "early_stopping if few errors in other rows matter more.",
            ConvergenceWarning,
            stacklevel=4,
        )


def see_machine(training: Training, part: MachineOutputs, units: list[Any]) -> None:
    """Keep the state of a machine if someone watches."""
    if training.watched:
        scores = part.signs * product_scores(units, part.rows)
        training.keep(np.empty(0), scores, 1.0, len(units))


def check_no_conflict(X: Floats, labels: NDArray[Any]) -> None:
    """Raise if equal rows have different labels: no machine can learn them."""
    _, first, group = np.unique(X, axis=0, return_index=True, return_inverse=True)
    twins = first[group.ravel()]  # the first row that is equal to each; ravel for NumPy 2.0
    rows = np.flatnonzero(labels != labels[twins])
    if rows.size:
        pairs = [
            f"rows {twins[i]} and {i} ({labels[twins[i]]!s}, {labels[i]!s})" for i in rows[:SHOWN]
        ]
        more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
        raise ValueError(
            f"Equal rows of X have different labels, which no ParityMachine can learn: "
            f"{', '.join(pairs)}{more}. Remove them, or give them the same label."
        )
