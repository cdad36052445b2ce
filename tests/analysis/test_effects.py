"""Effects of columns, and whether an answer only ever moves one way, against formulas and rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LogisticRegression

from protolearn import GLVQ, GMLVQ, RSLVQ, SoftMarginSVM, check_monotone
from protolearn.analysis import column_effects, effect_curves
from protolearn.report import EffectDisplay
from protolearn.tables import table_pipeline

COLOURS = ["blue", "green", "red"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(
        {
            "age": rng.randint(20, 60, 120),
            "colour": rng.choice(COLOURS, 120, p=[0.5, 0.3, 0.2]),
            "income": rng.normal(30.0, 9.0, 120).round(1),
        }
    )
    score = frame["age"] / 20 + (frame["colour"] == "red") - frame["income"] / 15
    return frame, np.where(score + 0.2 * rng.randn(120) > np.median(score), "yes", "no")


@pytest.mark.parametrize("last", [LogisticRegression(), SoftMarginSVM()], ids=["logistic", "svm"])
def test_linear_models_have_their_coefficients(table, last):
    frame, y = table
    model = table_pipeline(last).fit(frame, y)
    found, w = column_effects(model), model[-1].coef_[0]
    assert found.exact
    assert found.classes == ("yes",)
    by_name = {(one.column, one.step): one for one in found.effects[0]}
    assert by_name["age", "+1 sd"].effect == pytest.approx(w[0])
    assert by_name["age", "+1 sd"].per_unit == pytest.approx(w[0] / frame["age"].std(ddof=0))
    apart = (w[3] - w[1]) / np.sqrt(2.0)  # entries of categories
    assert by_name["colour", "red instead of blue"].effect == pytest.approx(apart)
    if isinstance(last, LogisticRegression):
        for one in found.effects[0]:
            assert one.odds_ratio == pytest.approx(np.exp(one.effect))
    assert "age: +1 sd" in repr(found)
    assert len(found.to_frame()) == 4


def test_effects_of_prototypes_are_means_over_rows(table):
    frame, y = table
    model = table_pipeline(GLVQ(prototypes_per_class=2, random_state=0)).fit(frame, y)
    found = column_effects(model, frame)
    assert not found.exact
    red, blue = (model.decision_function(frame.assign(colour=c)) for c in ("red", "blue"))
    (one,) = [one for one in found.effects[0] if one.step == "red instead of blue"]
    assert one.effect == pytest.approx((red - blue).mean())
    assert one.low == pytest.approx(np.percentile(red - blue, 5))
    with pytest.raises(ValueError, match="training rows as data="):
        column_effects(model)
    display = EffectDisplay.from_estimator(model, frame)
    widths = [bar.get_width() for bar in display.ax_.patches]
    assert np.abs(widths).tolist() == sorted(np.abs(widths), reverse=True)
    display.figure_.clf()


def test_three_classes_have_three_panels(table):
    frame, y = table
    y = np.where(frame["colour"] == "red", "red", y)
    display = EffectDisplay.from_estimator(table_pipeline(LogisticRegression()).fit(frame, y))
    assert [panel.get_title() for panel in display.ax_] == ["for no", "for red", "for yes"]
    effects = [[one.effect for one in part] for part in display.effects.effects]
    np.testing.assert_allclose(np.sum(effects, axis=0), 0.0, atol=1e-9)
    with pytest.raises(ValueError, match="ax has 1 axes"):
        display.plot(ax=display.ax_[0])
    display.figure_.clf()


def test_curves_are_those_of_partial_dependence(iris):
    X, y = pd.DataFrame(iris[0], columns=list("abcd")), iris[1]
    model = table_pipeline(GMLVQ(random_state=0)).fit(X, y)
    for one in effect_curves(model, X, [2, 0]):
        grid = {one.column: one.values}
        known = partial_dependence(
            model, X, [one.column], custom_values=grid, kind="both", response_method="predict_proba"
        )
        np.testing.assert_allclose(one.mean, known["average"][:, :].T, atol=1e-12)
        ends = np.percentile(known["individual"], [10.0, 90.0], axis=1)
        np.testing.assert_allclose(one.low, ends[0].T, atol=1e-12)
        np.testing.assert_allclose(one.high, ends[1].T, atol=1e-12)
        assert one.values[[0, -1]] == pytest.approx(np.percentile(X.iloc[:, one.column], [1, 99]))


def test_curves_of_categories_and_of_scores(table):
    frame, y = table
    holes = frame.assign(income=frame["income"].where(frame.index % 5 > 0))
    model = table_pipeline(SoftMarginSVM()).fit(holes, y)
    colour, income = effect_curves(model, holes, [1, 2])
    assert colour.texts == COLOURS
    assert not colour.has_probabilities
    for k, one in enumerate(COLOURS):
        score = model.decision_function(holes.assign(colour=one))
        assert colour.mean[k, 1] == pytest.approx(score.mean())
        assert colour.high[k, 1] == pytest.approx(np.percentile(score, 90))
    score = model.decision_function(holes.assign(income=income.values[7]))
    assert income.mean[7, 1] == pytest.approx(score.mean())  # nothing is missing there
    unseen = SoftMarginSVM().fit(np.eye(2), [0, 1])
    with pytest.raises(TypeError, match="has no score by columns"):
        effect_curves(unseen, [[1.0, 2.0], [1.0, np.nan]], [0])


def test_texts_get_a_word():
    is_good, nouns = np.arange(60) % 2, ["food", "room", "view"]
    texts = [f"{('bad', 'good')[k % 2]} {nouns[k % 3]} and guest{k}" for k in range(60)]
    X, y = pd.DataFrame({"text": texts}), np.where(is_good, "praise", "complaint")
    model = table_pipeline(LogisticRegression()).fit(X, y)
    effects = {one.step: one.effect for one in column_effects(model).effects[0]}
    weights = dict(zip(model[0].columns_[0].words, model[-1].coef_[0], strict=True))
    assert {f'with "{word}"' for word in weights} == set(effects)
    unit = model[0].columns_[0].unit[0]
    for word, weight in weights.items():
        assert effects[f'with "{word}"'] == pytest.approx(weight / unit)
    assert effects['with "good"'] > 0.0 > effects['with "bad"']


def sweep(model, frame, column, label):
    """Whether a class is never lost as a column grows, on all rows and values of a table."""
    low, high = frame[column].min(), frame[column].max()
    had = np.zeros(len(frame), dtype=bool)
    for value in np.arange(low, high + 1):
        has = model.predict(frame.assign(**{column: value})) == label
        if (had & ~has).any():
            return False
        had |= has
    return True


@pytest.mark.parametrize(
    "last",
    [
        SoftMarginSVM(),
        GLVQ(random_state=0),
        GLVQ(prototypes_per_class=3, random_state=0),
        GMLVQ(prototypes_per_class=2, random_state=0),
        RSLVQ(prototypes_per_class=2, random_state=0),
    ],
    ids=["svm", "one", "three", "matrix", "soft"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_monotone_or_a_counterexample(table, last):
    frame, y = table
    model = table_pipeline(last).fit(frame, y)
    for direction, label in (("increasing", "yes"), ("decreasing", "yes"), ("increasing", "no")):
        found = check_monotone(model, "age", direction, label=label)
        if found.counterexample is None:
            assert found.holds
            if direction == "increasing":
                assert sweep(model, frame, "age", label)
            continue
        assert not found.holds
        first, second = found.counterexample
        assert model.predict(first)[0] == label != model.predict(second)[0]
        same = [name for name in frame if name != "age"]
        assert first[same].equals(second[same])
        further = second["age"].iloc[0] - first["age"].iloc[0]
        assert (further > 0) == (direction == "increasing")
    if isinstance(last, SoftMarginSVM):
        assert check_monotone(model, "age", label="yes").proved
        assert not check_monotone(model, "age", "decreasing", label="yes").holds


def test_cells_that_do_not_touch_within_the_ranges():
    """The slope of a prototype far away is steeper, but its cell is out of reach."""
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "z": [0.0, 1.0, 0.0, 1.0]})
    model = table_pipeline(GLVQ(init="means", max_iter=1)).fit(frame, ["a", "a", "b", "b"])
    units = model[0].units_
    rows = [[0.5, 0.5], [2.5, 0.5], [100.0, 0.5]]
    labels = np.array([0, 1, 0])
    last = PrototypesAt(units.transform(np.array(rows)), labels)
    far = table_pipeline(GLVQ()).fit(frame, ["a", "a", "b", "b"])
    far.steps[-1] = ("model", last.model)
    assert check_monotone(far, "x", label="b").proved
    frame.loc[4] = 200.0, 0.0
    wide = table_pipeline(GLVQ()).fit(frame, ["a", "a", "b", "b", "a"])
    wide.steps[-1] = ("model", PrototypesAt(wide[0].units_.transform(np.array(rows)), labels).model)
    found = check_monotone(wide, "x", label="b")
    assert not found.holds
    assert found.counterexample is not None


class PrototypesAt:
    """A model with given prototypes of the classes a and b."""

    def __init__(self, W, codes):
        order = np.argsort(codes, kind="stable")
        labels = np.array(["a", "b"])[codes[order]]
        counts = {label: int((labels == label).sum()) for label in ("a", "b")}
        self.model = GLVQ(prototypes_per_class=counts, init=W[order], max_iter=1)
        rng = np.random.RandomState(0)
        X = np.concatenate([w + 1e-3 * rng.randn(5, 2) for w in W[order]])
        self.model.fit(X, np.repeat(labels, 5))
        self.model.prototypes_ = W[order]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("colour",), "holds categories"),
        (("agee",), "Did you mean 'age'"),
        (("age", "up"), "'increasing' or 'decreasing'"),
    ],
)
def test_wrong_questions(table, arguments, message):
    frame, y = table
    model = table_pipeline(SoftMarginSVM()).fit(frame, y)
    with pytest.raises(ValueError, match=message):
        check_monotone(model, *arguments)
    with pytest.raises(ValueError, match="label='maybe'"):
        check_monotone(model, "age", label="maybe")
