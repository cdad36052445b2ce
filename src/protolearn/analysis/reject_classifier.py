"""The reject option: a classifier that may say "I do not know"."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.metrics import accuracy_score
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._arrays import Floats, relative_weights
from .._dask import AccuracyMixin, mean_over_rows, row_by_row
from .._validation import all_or_nothing, check_flag, check_number, number_in
from .confidence import (
    HeldOut,
    Measure,
    check_measure,
    class_leads,
    confidence_of,
    found_thresholds,
    from_fitted,
    from_folds,
    given_thresholds,
    held_out_leads,
    least_leads,
    only_class,
    weight_name,
)
from .hypothesis_margins import known_labels
from .reject_thresholds import common_dtype, free_label
from .relevance_refits import LabelledRows

RULES = "threshold", "cost", "target_error", "class_coverage"

DEFAULT_CONFIDENCE = 0.9

OF_ROWS = 0.5
"""Part of the risk that is for the held-out rows; the rest is for the refit to all rows."""


class MethodAndParameter:
    """A method that has the name of a parameter: objects hold the one, and answer to the other."""

    def __init__(self, method: Any):
        self.method = method
        self.__doc__ = method.__doc__

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        """Return the method."""
        return self.method.__get__(owner, kind)

    def __set__(self, owner: Any, value: Any) -> None:
        """Store the parameter."""
        vars(owner)[self.method.__name__] = value


def model_has(name: str) -> Any:
    """Return a check that the model has a method; if not, the message is that of the model."""
    return lambda self: getattr(getattr(self, "model_", self.model), name) is not None


class AroundClassifier(AccuracyMixin, MetaEstimatorMixin, BaseEstimator):
    """A meta-estimator with a classifier ``model``, and ``model_`` once it is fitted."""

    model: Any
    model_: Any

    @available_if(model_has("predict_proba"))
    @row_by_row
    def predict_proba(self, X: Any) -> Any:
        """Return the class probabilities of the model; rejection leaves them as they are.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows. A Dask array or frame is answered lazily, by a Dask array.

        Returns
        -------
        p : array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self)
        return self.model_.predict_proba(X)

    @available_if(model_has("decision_function"))
    @row_by_row
    def decision_function(self, X: Any) -> Any:
        """Return the class scores of the model; rejection leaves them as they are.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows. A Dask array or frame is answered lazily, by a Dask array.

        Returns
        -------
        scores : array of shape (n_samples, n_classes), or (n_samples,) for two classes
            As the model gives them.
        """
        check_is_fitted(self)
        return self.model_.decision_function(X)

    @property
    def classes_(self) -> NDArray[Any]:
        """Classes of the model."""
        return self.model_.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of features that the model has seen."""
        return self.model_.n_features_in_

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features that the model has seen."""
        return self.model_.feature_names_in_

    def get_metadata_routing(self) -> MetadataRouter:
        """Declare that weights are used here and passed on to the model.

        Returns
        -------
        router : MetadataRouter
            Where metadata go, if routing is turned on in scikit-learn.
        """
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(
            model=self.model, method_mapping=MethodMapping().add(caller="fit", callee="fit")
        )

    def __sklearn_tags__(self) -> Any:
        """Return the tags: all that the model takes is taken."""
        tags, inner = super().__sklearn_tags__(), get_tags(self.model)
        tags.input_tags = deepcopy(inner.input_tags)
        tags.non_deterministic = inner.non_deterministic
        if inner.classifier_tags is not None:
            tags.classifier_tags = deepcopy(inner.classifier_tags)
        return tags


class RejectClassifier(AroundClassifier):
    """Reject predictions that are not sure enough.

    A row is rejected if the confidence of its prediction is below the threshold of the predicted
    class. The threshold is given, or found on held-out rows by what an error and a rejection cost,
    or by the error that may be left. With ``class_coverage`` a row is rejected if more than one
    class is possible, or none. Exactly one of ``threshold``, ``cost``, ``target_error`` and
    ``class_coverage`` must be given.

    Parameters
    ----------
    model : classifier
        One of protolearn's or scikit-learn's, or a Pipeline.
    threshold : float or dict, default=None
        Confidence below which a row is rejected; by predicted label if it is a dict, where a class
        that is left out is never rejected.
    cost : float, default=None
        Cost of a rejection when an error costs 1, between 0 and 1. The threshold has the smallest
        sum of errors and costs on held-out rows.
    target_error : float, default=None
        The largest share of errors among accepted new rows. The threshold is the smallest that
        held-out rows guarantee this for, with the given ``confidence``. If there is none, all is
        rejected, with a warning that says which error can be guaranteed.
    class_coverage : float, default=None
        Share of the new rows of each class for which the class has to count as possible, however
        rare it is, between 0 and 1: no more than ``1 - class_coverage`` of the rows of any true
        class are accepted with a wrong label. A class of ``n`` rows can be ruled out only if
        ``n + 1 > 1 / (1 - class_coverage)``.
    confidence : float, default=0.9
        Chance, over the rows given to ``fit``, that the error among accepted new rows is at most
        ``target_error``. Between 0 and 1; only ``target_error`` uses it.
    measure : {"margin", "radius", "probability"} or callable, default="margin"
        Confidence of a prediction. ``"margin"``: of a nearest-prototype model, a linear classifier
        of protolearn, or a Pipeline that ends in one, the
        :func:`~protolearn.analysis.hypothesis_margin` of the predicted class; of other models the
        lead of the best score of ``decision_function`` over the second (two classes: its absolute
        value). ``"radius"``: :func:`~protolearn.analysis.certified_radius`, also of scikit-learn's
        linear classifiers. ``"probability"``: the largest of ``predict_proba``. A function
        ``measure(model, X)`` gives an array of shape (n_samples,), larger is surer.
    per_class : bool, default=False
        Whether ``cost`` and ``target_error`` find a threshold for each predicted class. A class
        that is never predicted on held-out rows gets the threshold of all rows. With ``threshold``
        give a dict instead. The ``confidence`` is that of all classes together.
    reject_label : str or number, default=None
        What ``predict`` gives for rejected rows. None: "reject" if the classes are strings; -1 if
        they are numbers, or the next integer below all classes if one is below zero.
    cv : int, splitter, iterable or "prefit", default=5
        Where held-out rows come from: a number of stratified folds, which keep equal rows in one
        fold; a splitter of scikit-learn, or pairs of indices, which decide by themselves. After
        that the model is fitted to all rows. ``"prefit"``: the model is fitted already and left as
        it is, and the rows given to ``fit`` are the held-out ones; it must not have seen them. Only
        ``"prefit"`` has a meaning when ``threshold`` is given.

    Attributes
    ----------
    model_ : classifier
        The fitted model.
    classes_ : array of shape (n_classes,)
        Its classes, without the reject label.
    thresholds_ : array of shape (n_classes,)
        Threshold of each class; -inf rejects nothing, +inf everything. With ``class_coverage`` the
        smallest lead of its score over the best other one at which a class is possible.
    reject_label_ : str or number
        The label of rejected rows.
    reject_rate_ : float
        Share of the held-out rows that are rejected. Only if thresholds were found, or if
        ``cv="prefit"``.
    accepted_error_ : float
        Share of errors among the accepted held-out rows, NaN if all are rejected. Only there too.
    n_features_in_ : int
        Number of features, where the model tells it.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, where the model has seen some.

    See Also
    --------
    accuracy_reject_curve : The accuracy at all thresholds.
    predict_set : Sets of possible classes without a fitted object.

    Notes
    -----
    The rule by cost is that of Chow (1970); thresholds by class for nearest-prototype models are
    those of Fischer, Hammer and Wersing (2016). Rows of equal confidence are accepted or rejected
    together, and among thresholds of the same cost the one that rejects least is taken.

    The rule by target error tests thresholds one after the other, from the surest rows downwards,
    by exact binomial tests with a common level (Learn then Test). With ``cv="prefit"`` and
    independent rows that the model has not seen, the guarantee is proved: the error among accepted
    new rows is above ``target_error`` with a chance of at most ``1 - confidence``. With folds, the
    threshold comes from the models of the folds and is used for the model of all rows. That is not
    covered by the proof, so only half of the risk is spent on the held-out rows; the guarantee
    holds in simulations. The fewest rows that can guarantee an error ``e`` are about
    ``log(1 - confidence) / log(1 - e)``, without a single error among them: 230 for one percent,
    298 with folds. Equal rows count as one row.

    The rule by class coverage is Mondrian conformal prediction: of each class by itself, so many of
    the smallest leads of held-out rows are left out that a new row of the class is with the given
    chance none of them. With ``cv="prefit"`` and independent rows that is proved, on average over
    the rows given to ``fit``; with folds it holds in simulations.

    If the models of the folds have confidences of another size than the model of all rows, by a
    factor of 1.5 or more, their ranks are compared instead.

    References
    ----------
    Angelopoulos, Bates, Candes, Jordan and Lei (2021), *Learn then Test: calibrating predictive
    algorithms to achieve risk control*, arXiv:2110.01052.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn import GLVQ, RejectClassifier, datasets
    >>> X, y = datasets.load("iris")
    >>> model = RejectClassifier(GLVQ(random_state=0), target_error=0.05).fit(X, y)
    >>> bool(model.accepted_error_ <= 0.05)
    True
    >>> np.unique(model.predict(X)).tolist()
    ['reject', 'setosa', 'versicolor', 'virginica']
    """

    class_coverage: float | None = None  # files of before have none

    def __init__(
        self,
        model: Any,
        *,
        threshold: float | Mapping[Any, float] | None = None,
        cost: float | None = None,
        target_error: float | None = None,
        class_coverage: float | None = None,
        confidence: float = DEFAULT_CONFIDENCE,
        measure: Measure = "margin",
        per_class: bool = False,
        reject_label: Any = None,
        cv: Any = 5,
    ):
        self.model = model
        self.threshold = threshold
        self.cost = cost
        self.target_error = target_error
        self.class_coverage = class_coverage
        self.confidence = confidence
        self.measure = measure
        self.per_class = per_class
        self.reject_label = reject_label
        self.cv = cv

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model, and find thresholds unless they are given.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data, whatever the model takes.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, for the model (in a Pipeline its last step) and for the rates on held-out
            rows. An error if the model takes none.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        with all_or_nothing(self):
            rule = self._check_parameters()
            prefit = isinstance(self.cv, str) and self.cv == "prefit"
            names = () if prefit else self._weight_names(sample_weight)
            if prefit:
                check_is_fitted(self.model)
                model = self.model
            else:
                model = clone(self.model).fit(X, y, **dict.fromkeys(names, sample_weight))
            label = free_label(self.reject_label, model.classes_)
            self.model_, self.reject_label_ = model, label
            self._forget_rates()
            data = LabelledRows.of(X, known_labels(model, y), sample_weight)
            if rule == "class_coverage":
                self._find_leads(data, prefit, names)
            elif rule == "threshold":
                self.thresholds_ = given_thresholds(self.threshold, model.classes_)
                if prefit:
                    self._keep_rates(from_fitted(model, data, self.measure))
            else:
                self._find_thresholds(rule, data, prefit, names)
        return self

    @row_by_row
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row, or the reject label.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows. A Dask array or frame is answered lazily, by a Dask array.

        Returns
        -------
        y : array of shape (n_samples,)
            Labels out of ``classes_``, and ``reject_label_``. Of a dtype that holds both; object
            if one is a number and the other a string.
        """
        check_is_fitted(self)
        predicted = np.asarray(self.model_.predict(X))
        labels = predicted.astype(common_dtype(self.classes_, self.reject_label_))
        labels[~self._accepts(X, predicted)] = self.reject_label_
        return labels

    def predict_set(self, X: Any) -> NDArray[np.bool_]:
        """Return which classes are possible, if ``class_coverage`` was given.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        sets : array of bool of shape (n_samples, n_classes)
            Columns in the order of ``classes_``. A row with a single class is accepted.
        """
        check_is_fitted(self)
        if self.class_coverage is None:
            raise ValueError("Sets of possible classes need class_coverage; give it, and fit.")
        return class_leads(self.model_, X) >= self.thresholds_

    @MethodAndParameter
    @row_by_row
    def confidence(self, X: Any) -> Floats:
        """Return how sure the prediction of each row is.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows. A Dask array or frame is answered lazily, by a Dask array.

        Returns
        -------
        confidence : array of shape (n_samples,)
            By the measure that was chosen; larger is surer.
        """
        check_is_fitted(self)
        return confidence_of(self.model_, X, self.measure)

    @row_by_row
    def accepts(self, X: Any) -> NDArray[np.bool_]:
        """Return which rows are not rejected.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows. A Dask array or frame is answered lazily, by a Dask array.

        Returns
        -------
        accepted : array of bool of shape (n_samples,)
            True where ``predict`` gives a class.
        """
        check_is_fitted(self)
        return self._accepts(X, np.asarray(self.model_.predict(X)))

    @mean_over_rows
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy over all rows, where a rejected row is no right answer.

        So it falls with every row that is rejected, were its prediction right. For the accuracy of
        the accepted rows, score those where ``accepts`` is True; for both at once see
        :func:`~protolearn.analysis.accuracy_reject_curve`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows. Of a Dask collection the predictions are counted part by part.
        y : array-like of shape (n_samples,)
            True labels; a Dask array or series too if X is a Dask collection.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        accuracy : float
            Share of right answers.
        """
        predicted, (_, y) = self.predict(X), indexable(X, column_or_1d(y))
        # Whether they agree, since accuracy_score takes no mixture of numbers and strings.
        right = predicted == y
        return float(accuracy_score(np.ones_like(right), right, sample_weight=sample_weight))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; ``confidence`` is also the name of a method.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add the parameters of the model.

        Returns
        -------
        params : dict
            Values by name.
        """
        level = vars(self).get("confidence", DEFAULT_CONFIDENCE)  # files of before have none
        return super().get_params(deep) | {"confidence": level}

    def _check_parameters(self) -> str:
        """Raise if a parameter is wrong, before any work starts; give the name of the rule."""
        named = [name for name in RULES if getattr(self, name) is not None]
        if len(named) != 1:
            raise ValueError(
                "RejectClassifier needs exactly one of threshold, cost, target_error and "
                f"class_coverage; {' and '.join(named) + ' are' if named else 'none is'} given."
            )
        if self.cost is not None:
            check_number(self, "cost", low=0.0, high=1.0, above=True, below=True)
        if self.target_error is not None:
            check_number(self, "target_error", low=0.0, high=1.0, below=True)
        if self.class_coverage is not None:
            check_number(self, "class_coverage", low=0.0, high=1.0, above=True, below=True)
        level = self.get_params(deep=False)["confidence"]
        name = "confidence={value!r} of RejectClassifier"
        number_in(level, name, 0.0, 1.0, above=True, below=True)
        check_flag(self, "per_class")
        if self.per_class and self.threshold is not None:
            raise ValueError(
                "per_class=True has no meaning with threshold, which is given; for a threshold of "
                "each class give a dict of label to number."
            )
        check_measure(self.measure)
        if not is_classifier(self.model):
            raise TypeError(f"model={self.model!r} is not a classifier; give one.")
        return named[0]

    def _weight_names(self, sample_weight: Any) -> tuple[str, ...]:
        """Return the keywords by which the model is given the weights."""
        if sample_weight is None:
            return ()
        if get_config()["enable_metadata_routing"]:
            return tuple(process_routing(self, "fit", sample_weight=sample_weight).model.fit)
        return (weight_name(self.model),)

    def _accepts(self, X: Any, predicted: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which predictions are sure enough."""
        codes = np.searchsorted(self.classes_, predicted)
        if self.class_coverage is None:
            return self.confidence(X) >= self.thresholds_[codes]
        return only_class(self.predict_set(X), codes)

    def _find_thresholds(
        self, rule: str, data: LabelledRows, prefit: bool, names: tuple[str, ...]
    ) -> None:
        """Find the thresholds by the cost or the error that may be left."""
        if prefit:
            held = from_fitted(self.model_, data, self.measure)
        else:
            held = from_folds(self.model_, data, self.cv, self.measure, names)
        held = held._replace(weight=relative_weights(held.weight))
        wanted, risk = getattr(self, rule), 1.0 - self.get_params(deep=False)["confidence"]
        risk *= 1.0 if prefit else OF_ROWS
        self.thresholds_ = found_thresholds(held, self.classes_, rule, wanted, self.per_class, risk)
        self._keep_rates(held)

    def _find_leads(self, data: LabelledRows, prefit: bool, names: tuple[str, ...]) -> None:
        """Find the least lead of each class at which it is possible."""
        leads, rows = held_out_leads(self.model_, data, None if prefit else self.cv, names)
        codes = np.searchsorted(self.classes_, data.y[rows])
        assert self.class_coverage is not None
        self.thresholds_ = least_leads(leads, codes, self.class_coverage)
        best = leads.argmax(axis=1)
        weight = np.ones(len(rows)) if data.weight is None else data.weight[rows]
        self._store_rates(only_class(leads >= self.thresholds_, best), best != codes, weight)

    def _keep_rates(self, held: HeldOut) -> None:
        """Store the rates on held-out rows."""
        codes = np.searchsorted(self.classes_, held.predicted)
        accepted = held.confidence >= self.thresholds_[codes]
        self._store_rates(accepted, held.wrong, relative_weights(held.weight))

    def _store_rates(self, accepted: NDArray[np.bool_], wrong: Any, weight: Floats) -> None:
        """Store how much weight is rejected, and how much of the accepted one is wrong."""
        kept = weight[accepted]
        self.reject_rate_ = float(weight[~accepted].sum() / weight.sum())
        self.accepted_error_ = float(kept @ wrong[accepted] / kept.sum()) if kept.any() else np.nan

    def _forget_rates(self) -> None:
        """Remove the rates of an earlier fit."""
        self.__dict__.pop("reject_rate_", None)
        self.__dict__.pop("accepted_error_", None)
