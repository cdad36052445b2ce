"""Evaluation and comparison with input that is hard, or wrong."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.naive_bayes import GaussianNB

from protolearn.selection import (
    compare,
    confusion_percent,
    evaluate,
    nested_cross_validate,
    roc,
    roc_over_folds,
)
from protolearn.store import text

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("ask", [evaluate, roc])
def test_a_regressor_is_not_evaluated(ask):
    with pytest.raises(ValueError, match="LinearRegression is a regressor; expected a classifier"):
        ask(LinearRegression().fit(X, Y), X, Y)


def test_resamples_are_checked_where_they_are_not_drawn():
    with pytest.raises(ValueError, match="n_resamples='many'"):
        evaluate(GaussianNB(), X, Y, cv=3, n_resamples="many")


def masks():
    """Folds by truth values: a third of the rows is tested."""
    part = np.arange(len(Y)) % 3
    return [(part != i, part == i) for i in range(3)]


def test_rows_may_be_marked_by_truth_values():
    numbers = [tuple(map(np.flatnonzero, fold)) for fold in masks()]
    by_mask, by_number = (
        compare({"bayes": GaussianNB()}, (X, Y), cv=cv, random_state=0) for cv in (masks(), numbers)
    )
    assert by_mask.test_sizes.tolist() == [[50, 50, 50]]
    np.testing.assert_array_equal(by_mask.train_sizes, by_number.train_sizes)
    np.testing.assert_array_equal(by_mask.scores, by_number.scores)
    for ask, other in ((evaluate, {}), (roc_over_folds, {"positive": 1})):
        first, second = (ask(GaussianNB(), X, Y, cv=cv, **other) for cv in (masks(), numbers))
        assert str(first) == str(second)
    assert evaluate(GaussianNB(), X, Y, cv=masks()).n_samples == 150


def test_labels_of_a_confusion_matrix_differ():
    with pytest.raises(ValueError, match=r"labels=\[0, 0, 1\] must be different"):
        confusion_percent([0, 1], [0, 1], labels=[0, 0, 1])


def test_one_class_alone_needs_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert confusion_percent(["a", "a"], ["a", "a"]).percent.tolist() == [[100.0]]


SEARCH = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-2]}, cv=2)


def test_one_outer_split_is_refused_before_the_search():
    with pytest.raises(ValueError, match="gives one split"):
        nested_cross_validate(SEARCH, X, Y, cv=ShuffleSplit(1, random_state=0))


@pytest.mark.parametrize(
    ("scoring", "refit"),
    [(["accuracy", "f1_macro"], "f1_macro"), ({"a": "accuracy", "f": "f1_macro"}, "f")],
)
def test_a_search_by_several_measures_is_scored_by_the_one_that_decides(scoring, refit):
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}, scoring=scoring, refit=refit)
    result = nested_cross_validate(search, X, Y, cv=3, random_state=0)
    assert result.measure == "f1_macro"
    assert result.interval().high <= 1.0
    assert np.isfinite(result.optimism)


def test_functions_on_one_line_are_told_apart():
    one, two, same = (lambda v: v + 1), (lambda v: v + 2), (lambda v: v + 1)
    assert text(one) != text(two)
    assert text(one) == text(same)


def test_functions_without_source_are_told_apart():
    made = [eval(f"lambda v: v + {k}") for k in (1, 2, 1)]
    assert text(made[0]) != text(made[1])
    assert text(made[0]) == text(made[2])
    inner = [eval(f"lambda v: [(lambda w: w + {k})(v) for v in v]") for k in (5, 6)]
    assert text(inner[0]) != text(inner[1])
