"""What all cost-function classifiers have in common, written once: parameters and their text.

A classifier says ``**shared: Unpack[SharedParameters]`` in its ``__init__`` and ``{parameters}`` in
its docstring; :func:`spell_out` puts the names and the text there, for scikit-learn and for people.
"""

from __future__ import annotations

from inspect import Parameter, cleandoc, signature
from typing import Any, TypedDict

from ..solvers import Callback


class SharedParameters(TypedDict, total=False):
    """Names and types of the shared parameters."""

    prototypes_per_class: Any
    init: Any
    solver: Any
    max_iter: int | None
    tol: float
    attraction: float
    scale: Any
    class_weight: Any
    callback: Callback | None
    verbose: int
    random_state: Any


PARAMETERS = """\
prototypes_per_class : int or dict, default=1
    Number of prototypes of every class, or one number a label; labels left out have one.
init : {"kmeans", "means", "kmeans++", "random"} or array of shape (K, d), default="kmeans"
    Where the prototypes begin: k-means in each class, the class mean (several are moved apart a
    little), rows far from each other, random rows, or given prototypes, grouped by class in the
    order of ``classes_``.
solver : {"auto", "lbfgs", "sgd"} or Solver, default="auto"
    Full-batch L-BFGS, sequential gradient descent, or an object of :mod:`protolearn.solvers` with
    its own settings. ``auto`` takes L-BFGS where the loss is smooth and the data are small enough,
    else ``sgd``; ``solver_`` tells which.
max_iter : int, default=None
    Most iterations (L-BFGS) or epochs (SGD). None: 1000, or 10 to 100 by the number of rows.
tol : float, default=1e-4
    L-BFGS stops when no derivative is larger, or an iteration lowers the cost by less than 1e-4 of
    this. SGD with a rate that stays up stops when the cost has not fallen by this share for five
    epochs; with the linear schedule it runs to the end.
attraction : float, default=0.0
    Weight of a term that pulls the nearest own prototype to each sample, against overfitting.
scale : "data" or float, default="data"
    Unit of distance. ``"data"``: the mean distance of a sample to its nearest initial own
    prototype, so that all other parameters have no dimension. 1.0: the raw units.
class_weight : dict or "balanced", default=None
    Weight of each class, as everywhere in scikit-learn.
callback : callable, default=None
    Called with a :class:`~protolearn.solvers.State` after every iteration; the fit ends when it
    returns something true.
verbose : int, default=0
    1 prints the first and the last iteration and about every twentieth part of ``max_iter``, 2
    every iteration.
random_state : int, RandomState instance or None, default=None
    Seed of the initial prototypes and of the order of the samples."""

ATTRIBUTES = """\
classes_ : array of shape (n_classes,)
    The labels, sorted.
prototypes_ : array of shape (K, d)
    The prototypes, in the units of the data.
prototype_labels_ : array of shape (K,)
    The label of each prototype.
scale_ : float
    The unit of distance that was used.
solver_ : str
    The solver that was used.
n_iter_ : int
    Iterations or epochs done.
loss_curve_ : list of float
    Mean cost of a sample after each iteration (SGD: during each epoch).
n_features_in_ : int
    Number of features."""


def spell_out(cls: type) -> None:
    """Complete the signature and the docstring of a class by what it takes from its parent."""
    own = signature(cls.__init__)  # type: ignore[misc]
    if "__init__" in vars(cls) and any(
        p.kind is Parameter.VAR_KEYWORD for p in own.parameters.values()
    ):
        inherited = signature(cls.__mro__[1].__init__).parameters  # type: ignore[misc]
        names = [p for p in own.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
        names += [p for name, p in inherited.items() if name not in own.parameters]
        cls.__init__.__signature__ = own.replace(parameters=names)  # type: ignore[misc]
    if cls.__doc__ and "{parameters}" in cls.__doc__:
        text = cleandoc(cls.__doc__).replace("{parameters}", PARAMETERS)
        cls.__doc__ = text.replace("{attributes}", ATTRIBUTES)
