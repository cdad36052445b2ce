"""What the linear classifiers tell about themselves, written once."""

from __future__ import annotations

from .. import _documented

ATTRIBUTES = """classes_ : array of shape (n_classes,)
        Labels in sorted order.
    prototypes_ : array of shape (n_classes, n_features)
        The prototype of each class, an average of samples.
    rest_prototypes_ : array of shape (n_classes, n_features)
        The prototypes of all other samples; with more than two classes only.
    shift_ : array of shape (1,), or (n_classes,)
        By how much ``|x - p-|^2 - |x - p+|^2`` is shifted in favour of the second class, or of
        each class. Zero: the hyperplane halves the way between the prototypes.
    coef_ : array of shape (1, n_features), or (n_classes, n_features)
        Normals of the hyperplanes: differences of the prototypes.
    intercept_ : array of shape (1,), or (n_classes,)
        Offsets of the hyperplanes.
    dual_coef_ : array of shape (1, n_samples), or (n_classes, n_samples)
        Coefficients of the samples in the normals. They sum to zero, and their absolute values to
        two: the positive ones are the weights of the samples in a prototype, the negative ones
        those in the other.
    support_ : array of int
        Samples that the method has chosen.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, if X had names of type str."""

documented = _documented.documented(attributes=ATTRIBUTES)
