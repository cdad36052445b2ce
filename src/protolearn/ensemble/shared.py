"""What the two ensembles tell about themselves, written once."""

from __future__ import annotations

from .. import _documented

PARAMETERS = """n_negatives : int, default=7
        Most negatives k that an exemplar begins with: the nearest rows of other classes in front of
        a hyperplane through it.
    C : float, default=100.0
        Cost of a row on the wrong side of its margin.
    penalty : {"l2", "l1"}, default="l2"
        How large weights are punished. With "l2" a model is the usual SVM, ``|w|^2 / 2`` and the
        hinge loss; "l1", ``|w|_1`` and the squared hinge loss, makes most weights zero: each model
        selects the features of its region.
    calibration : {"local", "binning", "platt", None}, default="local"
        What the vote of a model that fires is worth: the probability of its class, learned from all
        training rows. "platt" is a sigmoid of the decision value, "binning" the share of the class
        among rows of about the same decision value, "local" takes the distance from the exemplar
        into account too; with None each vote counts one.
    standardize : bool, default=True
        Whether to divide features by their standard deviations, on which distances and the meaning
        of ``C`` depend."""

SOLVER = """tol : float, default=1e-4
        The duality gap, in parts of the cost, at which a model is trained well enough.
    max_iter : int, default=1000
        Most sweeps through the rows of a model, or with "l1" through its weights."""

ATTRIBUTES = """classes_ : array of shape (n_classes,)
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
        Names of the features, if X had names of type str."""

documented = _documented.documented(parameters=PARAMETERS, solver=SOLVER, attributes=ATTRIBUTES)
