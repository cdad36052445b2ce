"""What the trained classifiers have in common, written once: parameters and their text.

A classifier says ``**shared: Unpack[...]`` in its ``__init__`` and ``{parameters}`` in its
docstring; :func:`spell_out` puts the names and the texts of what it inherits there, for
scikit-learn and for people.
"""

from __future__ import annotations

from collections.abc import Iterable
from inspect import Parameter, cleandoc, signature
from typing import Any, TypedDict

from ..solvers import Callback


class TrainingParameters(TypedDict, total=False):
    """Names and types of what every trained classifier takes."""

    prototypes_per_class: Any
    init: Any
    max_iter: int | None
    tol: float
    class_weight: Any
    early_stopping: bool
    validation_fraction: float
    callback: Callback | None
    checkpoint: Any
    verbose: int
    random_state: Any


class SharedParameters(TrainingParameters, total=False):
    """What a classifier with a cost function takes as well."""

    solver: Any
    attraction: float
    scale: Any


class RuleParameters(TrainingParameters, total=False):
    """What a classifier with a heuristic rule takes as well."""

    distance: Any
    metric_rate: float
    shuffle: bool


class DecayParameters(RuleParameters, total=False):
    """How the learning rate of a rule falls."""

    schedule: str
    decay: float
    least_rate: float | None


class ScheduledRuleParameters(DecayParameters, total=False):
    """What a rule with a learning rate that falls takes as well."""

    learning_rate: float


PARAMETERS = {
    "learning_rate": """\
learning_rate : float, default=0.05
    First learning rate, the share of the way to the sample that a prototype goes; between 0 and
    1.""",
    "schedule": """\
schedule : {"auto", "linear", "inverse_time", "constant"}, default="auto"
    How the rate falls: to zero in the last epoch, as ``1 / (1 + decay t)`` with the number t of
    samples seen, or not at all. "auto" is linear in ``fit``, inverse_time in ``partial_fit``,
    where a tenth of the first rate stays unless ``least_rate`` tells otherwise.""",
    "decay": """\
decay : float, default=1e-4
    Decay of the inverse-time schedule, for each sample seen.""",
    "least_rate": """\
least_rate : float, default=None
    Share of the first rate below which the inverse-time schedule does not fall, from 0 to 1. None:
    zero, or a tenth where ``schedule`` is "auto".""",
    "prototypes_per_class": """\
prototypes_per_class : int, dict or "auto", default=1
    Number of prototypes of every class, or one number a label; labels left out have one. "auto"
    starts with one and adds more where held-out rows say that it helps; ``n_prototypes_`` tells
    how many.""",
    "init": """\
init : {"kmeans", "means", "kmeans++", "random"} or array of shape (K, d), default="kmeans"
    Where the prototypes begin: k-means in each class, the class mean (several are moved apart a
    little), rows far from each other, random rows, or given prototypes, grouped by class in the
    order of ``classes_``.""",
    "solver": """\
solver : {"auto", "lbfgs", "sgd", "adam", "momentum"} or Solver, default="auto"
    Full-batch L-BFGS, sequential gradient descent, mini-batches, or an object of
    :mod:`protolearn.solvers` with its own settings. ``auto`` takes L-BFGS where the cost is smooth
    and tame (one prototype a class, no bounded loss of an unbounded margin) and the data are not
    large; for sparse data several prototypes a class are tame too. Else it takes ``sgd``, or
    ``adam`` for sparse data, matrices and tangents, and keeps the initial prototypes, with a
    warning, if these classify more training rows right. ``solver_`` tells which. On Dask it takes
    L-BFGS for all smooth costs, else ``adam``.""",
    "max_iter": """\
max_iter : int, default=None
    Most iterations (L-BFGS) or epochs (all others). None: 1000 iterations; 8 to 30 epochs, fewer
    for many rows and for few. ``partial_fit`` makes one pass whatever it is.""",
    "tol": """\
tol : float, default=1e-3
    L-BFGS stops when no derivative is larger, or an iteration lowers the cost by less than the
    square of it. Epochs at a rate that stays up stop when the cost has not fallen by this share
    for five of them; with a linear schedule they run to the end. Early stopping asks for this
    share of progress on the held-out rows.""",
    "attraction": """\
attraction : float, default=0.0
    Weight of a term that pulls the nearest own prototype to each sample, against overfitting.""",
    "scale": """\
scale : "data" or float, default="data"
    Unit of distance. ``"data"``: the mean distance of a sample to its nearest initial own
    prototype, so that all other parameters have no dimension; and where the nearest rival is
    hardly further away, a sigmoid, hinge or broken linear loss of a distance that is not learned
    is made steeper. A number: that unit, and the loss as it is given; 1.0: the raw units.""",
    "class_weight": """\
class_weight : dict or "balanced", default=None
    Weight of each class, as everywhere in scikit-learn.""",
    "early_stopping": """\
early_stopping : bool, default=False
    Whether to hold out some rows, end when their cost has not fallen for ten iterations, and keep
    the prototypes that were best on them.""",
    "validation_fraction": """\
validation_fraction : float, default=0.1
    Share of each class that is held out for early stopping; of data in parts, each row by lot.""",
    "callback": """\
callback : callable, default=None
    Called with a :class:`~protolearn.solvers.State` after every iteration; the fit ends when it
    returns something true.""",
    "checkpoint": """\
checkpoint : str or path, default=None
    A file for what ``fit`` has computed. A fit that was cut off goes on with it, if data and
    parameters are the same, and ends with the same prototypes as one that was not. Delete it to
    start anew; fits of clones, as in a cross-validation, need files of their own.""",
    "verbose": """\
verbose : int, default=0
    1 prints the first and the last iteration and about every twentieth part of ``max_iter``, 2
    every iteration.""",
    "random_state": """\
random_state : int, RandomState instance or None, default=None
    Seed of the initial prototypes, of the held-out rows and of the order of the samples.""",
    "distance": """\
distance : str or Distance, default="sqeuclidean"
    A short name, as in :class:`~protolearn.PrototypeClassifier`, or an object of
    :mod:`protolearn.distances`. The step is half the gradient of the distance, with squared
    Euclidean distance ``x - w``; other distances are first brought to a like steepness.""",
    "metric_rate": """\
metric_rate : float, default=0.01
    Step size of the metric as a share of that of the prototypes, where the distance learns one.""",
    "shuffle": """\
shuffle : bool, default=True
    Whether each epoch takes the samples in a new random order.""",
}

ATTRIBUTES = {
    "classes_": """\
classes_ : array of shape (n_classes,)
    The labels, sorted.""",
    "rule_": """\
rule_ : DecisionRule
    What predicts: the prototypes, the distance, and how distances decide.""",
    "prototypes_": """\
prototypes_ : array of shape (K, d)
    The prototypes, in the units of the data.""",
    "prototype_labels_": """\
prototype_labels_ : array of shape (K,)
    The label of each prototype.""",
    "n_prototypes_": """\
n_prototypes_ : dict
    The number of prototypes of each label.""",
    "scale_": """\
scale_ : float
    The unit of distance that was used.""",
    "solver_": """\
solver_ : str
    The solver that was used.""",
    "n_iter_": """\
n_iter_ : int
    Iterations or epochs done.""",
    "loss_curve_": """\
loss_curve_ : list of float
    Mean cost of a sample after each iteration (during each epoch, where there are epochs).""",
    "validation_curve_": """\
validation_curve_ : list of float
    With early stopping: mean cost of the held-out rows after each iteration.""",
    "n_features_in_": """\
n_features_in_ : int
    Number of features.""",
    "feature_names_in_": """\
feature_names_in_ : array of shape (n_features,)
    Their names, if X has names that are strings.""",
}

OF_COSTS = {
    "slope_factor_": """\
slope_factor_ : float
    How many times steeper than given the loss was made, for classes that begin hardly apart.""",
}
"""What is told of a cost besides."""

OF_RULES = {
    "max_iter": """\
max_iter : int, default=None
    Most epochs; the prototypes of the last are kept. None: one to ten, fewer for many rows, and
    the prototypes with the fewest training errors are kept, for which the rows are looked at once
    more after each; these are the initial ones, with a warning, if no epoch makes as few.
    ``partial_fit`` makes one pass whatever it is.""",
    "tol": """\
tol : float, default=1e-3
    Epochs stop when the share of errors has not fallen by this share for five of them, unless the
    schedule is linear, which runs to its end. Early stopping asks for this share of progress on
    the held-out rows.""",
    "solver_": """\
solver_ : str
    The name of the rule.""",
    "n_iter_": """\
n_iter_ : int
    Epochs done.""",
    "loss_curve_": """\
loss_curve_ : list of float
    Share of errors met during each epoch.""",
    "validation_curve_": """\
validation_curve_ : list of float
    With early stopping: share of errors of the held-out rows after each epoch.""",
}
"""What is otherwise where a rule takes the place of a cost."""

IN_MEMORY = {
    "solver": """\
solver : {"auto", "lbfgs", "sgd", "adam", "momentum"} or Solver, default="auto"
    Full-batch L-BFGS, sequential gradient descent, mini-batches, or an object of
    :mod:`protolearn.solvers` with its own settings. ``auto`` takes L-BFGS where the cost is smooth
    and tame (one prototype a class) and the data are not large; else ``sgd``; ``solver_`` tells
    which.""",
    "max_iter": """\
max_iter : int, default=None
    Most iterations (L-BFGS) or epochs (all others). None: 1000 iterations; 8 to 30 epochs, fewer
    for many rows and for few.""",
    "validation_fraction": """\
validation_fraction : float, default=0.1
    Share of each class that is held out for early stopping.""",
}
"""What is otherwise where all rows are in memory, dense, and seen at once."""


def spell_out(cls: type) -> None:
    """Complete the signature and the docstring of a class by what it takes from its parents."""
    own = signature(cls.__init__)  # type: ignore[misc]
    explicit = {n for n, p in own.parameters.items() if p.kind is not Parameter.VAR_KEYWORD}
    inherited = signature(cls.__mro__[1].__init__).parameters  # type: ignore[misc]
    if "__init__" in vars(cls) and len(explicit) < len(own.parameters):
        names = [p for n, p in own.parameters.items() if n in explicit]
        names += [p for n, p in inherited.items() if n not in explicit and n not in PARAMETERS]
        names += [inherited[n] for n in PARAMETERS if n in inherited and n not in explicit]
        cls.__init__.__signature__ = own.replace(parameters=names)  # type: ignore[misc]
    if cls.__doc__ and "{parameters}" in cls.__doc__:
        text = cleandoc(cls.__doc__)
        own_texts = getattr(cls, "_texts", {})
        told = [n for n in PARAMETERS if n in inherited and n not in explicit]
        text = text.replace("{parameters}", texts(told, PARAMETERS | own_texts))
        reached = ATTRIBUTES | getattr(cls, "_told", {})
        cls.__doc__ = text.replace("{attributes}", texts(reached, reached | own_texts))


def texts(names: Iterable[str], told: dict[str, str]) -> str:
    """Return the texts of parameters or attributes below each other."""
    return "\n".join(told[name] for name in names)
