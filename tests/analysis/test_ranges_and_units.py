"""What a counterfactual is told: features, ranges, classes, and rows in the units of the user."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import Bounds
from scipy.sparse import csr_array
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from given_model import given_model
from protolearn import GLVQ, GMLVQ, MRSLVQ, counterfactual, sample_margin

SCALERS = {
    "standard": [StandardScaler()],
    "minmax": [MinMaxScaler()],
    "robust": [RobustScaler()],
    "power": [PowerTransformer()],
    "boxcox": [PowerTransformer(method="box-cox")],
    "several": [StandardScaler(), "passthrough", MinMaxScaler(), MaxAbsScaler()],
    "passthrough": ["passthrough"],
    "none": [],
}
OTHERS = {
    "pca": [StandardScaler(), PCA(2)],
    "whitened": [PCA(3, whiten=True)],
    "chosen": [SelectKBest(k=2), StandardScaler()],
    "logarithm": [FunctionTransformer(np.log1p, np.expm1)],
    "power, pca": [PowerTransformer(), PCA(3)],
    "frames": [StandardScaler().set_output(transform="pandas")],
}


@pytest.fixture(scope="module")
def flowers():
    """Iris as a frame, with names of the classes."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X.set_axis(["sl", "sw", "pl", "pw"], axis=1), np.array(["se", "ve", "vi"])[y]


@pytest.fixture
def scattered():
    """Continuous skewed rows of two classes."""
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1], 100)
    return np.exp(rng.randn(200, 3) + y[:, None]), y


def fitted(steps, X, y):
    """Fit a pipeline."""
    return make_pipeline(*steps, GLVQ(prototypes_per_class=2, random_state=0)).fit(X, y)


@pytest.mark.parametrize("steps", [*SCALERS, *OTHERS])
def test_points_are_in_the_units_of_the_user(steps, flowers):
    X, y = flowers
    pipe = fitted((SCALERS | OTHERS)[steps], X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = counterfactual(pipe, X)
        points = found.points
        np.testing.assert_array_equal(pipe.predict(points), found.label)
    assert found.exact
    assert found.feasible.all()
    assert found.feature_names == ("sl", "sw", "pl", "pw")
    assert (found.label != pipe.predict(X)).all()
    np.testing.assert_allclose(found.distance, sample_margin(pipe, X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("steps", SCALERS)
def test_ranges_are_in_the_units_of_the_user(steps, flowers):
    X, y = flowers
    pipe = fitted(SCALERS[steps], X, y)
    found = counterfactual(pipe, X, "vi", fixed=["sl"], bounds={"pw": (0.1, 1.5), "pl": (1, None)})
    assert found.exact
    assert found.feasible.all()
    assert (pipe.predict(found.points) == "vi").all()
    np.testing.assert_array_equal(found.values[:, 0], X["sl"])
    moved = pipe.predict(X) != "vi"
    assert found.values[moved, 3].max() == 1.5
    assert found.values[:, 3].min() >= 0.1
    last, before = pipe[-1], pipe[:-1]
    ends = np.array([[1.0, 1.0, 1.0, 0.1], [1.0, 1.0, 1e9, 1.5]])
    if steps == "none":
        return
    low, high = np.asarray(before.transform(pd.DataFrame(ends, columns=X.columns)))
    inner = counterfactual(
        last, before.transform(X), "vi", fixed=0, bounds={3: (low[3], high[3]), 2: (low[2], None)}
    )
    np.testing.assert_allclose(found.distance, inner.distance, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    "step",
    [
        QuantileTransformer(n_quantiles=100),
        QuantileTransformer(n_quantiles=100, output_distribution="normal"),
        MinMaxScaler(clip=True),
    ],
    ids=["uniform", "normal", "clip"],
)
def test_steps_with_an_end_of_their_own(step, scattered):
    X, y = scattered
    pipe = fitted([step], X, y)
    found = counterfactual(pipe, X)
    assert found.feasible.all()
    np.testing.assert_array_equal(pipe.predict(found.points), found.label)
    assert (found.label != pipe.predict(X)).all()
    seen = pipe[0].transform(found.points)
    ends = pipe[0].transform([[-1e9] * 3, [1e9] * 3])
    within = counterfactual(pipe[-1], pipe[0].transform(X), bounds=(ends[0], ends[1]))
    np.testing.assert_allclose(found.distance, within.distance, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(seen - pipe[0].transform(X), axis=1), found.distance)


def test_no_true_inverse_is_not_exact(flowers):
    X, y = flowers
    tied = counterfactual(fitted([QuantileTransformer(n_quantiles=100)], X, y), X)
    assert not tied.exact
    assert tied.feasible.mean() > 0.9
    steps = [KBinsDiscretizer(4, encode="ordinal", strategy="uniform")]
    pipe = fitted(steps, X.to_numpy(), y)
    with pytest.warns(UserWarning, match=r"'kbinsdiscretizer' .* cannot be undone"):
        found = counterfactual(pipe, X.to_numpy())
    assert not found.exact
    np.testing.assert_array_equal(pipe.predict(found.points), found.label)
    forgotten = fitted([FunctionTransformer(np.log1p)], X.to_numpy(), y)
    with pytest.warns(UserWarning, match="for which the model has an answer"):
        found = counterfactual(forgotten, X.to_numpy())
    assert not found.exact
    np.testing.assert_array_equal(forgotten.predict(found.points), found.label)


def test_steps_that_make_sparse_rows_are_named(flowers):
    X, y = flowers
    pipe = fitted([KBinsDiscretizer(4, strategy="uniform")], X.to_numpy(), y)
    with pytest.raises(ValueError, match=r"'kbinsdiscretizer'.*sparse rows; encode='onehot-dense'"):
        counterfactual(pipe, X.to_numpy())


class NoInverse(StandardScaler):
    """A scaler of which the inverse does not work."""

    def inverse_transform(self, X, copy=None):
        """Fail."""
        raise NotImplementedError("not written yet")


def test_an_inverse_that_fails_is_named(flowers):
    X, y = flowers
    pipe = fitted([NoInverse()], X.to_numpy(), y)
    with pytest.raises(ValueError, match=r"'noinverse'.*cannot be undone \(not written yet\)"):
        counterfactual(pipe, X.to_numpy())


def test_values_out_of_reach_of_a_power_transformer():
    # Under lambda < 0 no value is seen beyond -1 / lambda; the plane between the classes is there.
    step = PowerTransformer(standardize=False)
    step.fit(np.exp(np.random.RandomState(0).exponential(2.0, size=(200, 2))))
    limit = -1.0 / step.lambdas_
    assert (limit > 0.0).all()
    pipe = make_pipeline(step, given_model([limit / 2.0, limit * 2.5], [0, 1]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = counterfactual(pipe, [[1.0, 1.0]])
    assert not found.feasible.any()
    np.testing.assert_array_equal(found.points, [[1.0, 1.0]])


def test_offset_in_a_pipeline(flowers):
    X, y = flowers
    plain, far = fitted([StandardScaler()], X, y), fitted([StandardScaler()], X + 1e6, y)
    expected = counterfactual(plain, X)
    found = counterfactual(far, X + 1e6, bounds=(1e6 - 10, 1e6 + 10))
    np.testing.assert_allclose(found.points - 1e6, expected.points, atol=1e-4)
    frame = found.points
    np.testing.assert_array_equal(far.predict(frame), found.label)


def test_search_in_a_pipeline(flowers):
    X, y = flowers
    pipe = make_pipeline(StandardScaler(), MRSLVQ(prototypes_per_class=2, random_state=0))
    pipe.fit(X, y)
    found = counterfactual(pipe, X[::50], "ve", fixed="sw", bounds={"pl": (1.0, 4.0)})
    assert found.feasible.all()
    assert (pipe.predict(found.points) == "ve").all()
    np.testing.assert_array_equal(found.values[:, 1], X["sw"][::50])
    assert found.values[:, 2].max() <= 4.0


def test_text_has_the_names_and_the_largest_change_first():
    X = pd.DataFrame({"small": [0.0, 1.0, 10.0, 11.0], "large": [0.0, 100.0, 900.0, 1100.0]})
    pipe = make_pipeline(StandardScaler(), GLVQ(init="means")).fit(X, ["a", "a", "b", "b"])
    found = counterfactual(pipe, X[:1])
    sizes = np.abs(found.changes / pipe[0].scale_)
    np.testing.assert_allclose(found.sizes, sizes)
    first, second = found.describe(0).removeprefix("a -> b: ").split(", ")
    order = ["small", "large"] if sizes[0, 0] > sizes[0, 1] else ["large", "small"]
    assert [first.split()[0], second.split()[0]] == order
    assert list(found.to_frame().columns[:2]) == ["small", "large"]


def test_steps_that_cannot_be_undone(flowers):
    X, y = flowers
    columns = ColumnTransformer([("a", StandardScaler(), ["sl"])], remainder="passthrough")
    for step in (columns, SimpleImputer()):
        with pytest.raises(ValueError, match=r"cannot be undone.*Give the last step alone"):
            counterfactual(fitted([step], X, y), X)


@pytest.mark.parametrize("steps", [OTHERS["pca"], OTHERS["chosen"], OTHERS["logarithm"]])
def test_ranges_where_features_are_mixed(steps, flowers):
    X, y = flowers
    pipe = fitted(steps, X, y)
    for ranges in ({"fixed": "sl"}, {"bounds": (0, 9)}):
        with pytest.raises(ValueError, match="not known to change each feature by itself"):
            counterfactual(pipe, X, **ranges)


@pytest.fixture(scope="module")
def model(flowers):
    """Fit the frame."""
    return GLVQ(random_state=0).fit(*flowers)


@pytest.mark.parametrize(
    "fixed",
    [
        ["sl", "pl"],
        {"sl", "pl"},
        ["sl", 2],
        [0, -2],
        np.array([0, 2]),
        range(0, 4, 2),
        [True, False, True, False],
        pd.Series([True, False, True, False]),
        pd.Index(["sl", "pl"]),
    ],
    ids=lambda fixed: type(fixed).__name__,
)
def test_forms_of_fixed(fixed, model, flowers):
    X = flowers[0][::30]
    found = counterfactual(model, X, fixed=fixed)
    np.testing.assert_array_equal(found.values[:, [0, 2]], X[["sl", "pl"]])
    np.testing.assert_array_equal(found.points, counterfactual(model, X, fixed=[0, 2]).points)
    assert (found.values[:, [1, 3]] != X[["sw", "pw"]]).all(axis=None)


@pytest.mark.parametrize("fixed", ["sl", 0, np.int64(0)], ids=repr)
def test_one_fixed_feature(fixed, model, flowers):
    X = flowers[0][::30]
    found = counterfactual(model, X, fixed=fixed)
    np.testing.assert_array_equal(found.points, counterfactual(model, X, fixed=["sl"]).points)


@pytest.mark.parametrize("fixed", [None, [], ()], ids=repr)
def test_nothing_fixed(fixed, model, flowers):
    X = flowers[0][::30]
    found = counterfactual(model, X, fixed=fixed, bounds={})
    np.testing.assert_array_equal(found.points, counterfactual(model, X).points)


NONE = np.inf


@pytest.mark.parametrize(
    "bounds",
    [
        {"pw": (0.55, 1.2), 2: (None, 3)},
        {"pw": [0.55, 1.2], "pl": (-NONE, 3)},
        ([None, None, None, 0.55], [None, None, 3, 1.2]),
        (np.array([-NONE, -NONE, -NONE, 0.55]), (None, None, 3, 1.2)),
        [(None, None), (None, None), (None, 3), (0.55, 1.2)],
        ((None, None), (None, None), (None, 3), (0.55, 1.2)),
        np.array([[-NONE, NONE], [-NONE, NONE], [-NONE, 3], [0.55, 1.2]]),
        Bounds([-NONE, -NONE, -NONE, 0.55], [NONE, NONE, 3, 1.2]),
    ],
    ids=lambda bounds: type(bounds).__name__,
)
def test_forms_of_bounds(bounds, model, flowers):
    X = flowers[0][::10]
    found = counterfactual(model, X, bounds=bounds)
    expected = counterfactual(model, X, bounds={"pw": (0.55, 1.2), "pl": (None, 3)})
    np.testing.assert_array_equal(found.points, expected.points)
    assert found.values[found.feasible, 3].min() == 0.55
    assert found.values[found.feasible, 2].max() <= 3.0


@pytest.mark.parametrize("bounds", [(1, 6), Bounds(1, 6), ([1] * 4, 6)], ids=repr)
def test_bounds_of_all_features(bounds, model, flowers):
    found = counterfactual(model, flowers[0], bounds=bounds)
    assert found.values[found.feasible].min() == 1.0
    assert found.values[found.feasible].max() <= 6.0


def test_two_pairs_of_two_features():
    model = given_model([[0.0, 0.0], [4.0, 4.0]], [0, 1])
    for bounds in (((0, 3.5), (0, 1)), [(0, 3.5), (0, 1)], ([0, 0], [3.5, 1]), Bounds(0, [3.5, 1])):
        found = counterfactual(model, [[0.0, 0.0]], bounds=bounds)
        np.testing.assert_allclose(found.points, [[3.0, 1.0]], atol=1e-9)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"target": "setosa"}, r"target contains \['setosa'\].*its classes are \['se', 've', 'vi'"),
        ({"target": 1}, "target contains"),
        ({"target": ["se"]}, r"target has shape \(1,\), expected one label, or one for each of"),
        ({"target": [["se"]] * 5}, r"target has shape \(5, 1\)"),
        (
            {"fixed": "sepal"},
            "names the feature 'sepal', which the model has not seen. It has 'sl', ",
        ),
        ({"fixed": ["sl", "swl"]}, "which the model has not seen. Did you mean 'sw'?"),
        ({"fixed": 4}, "fixed names the feature 4; expected a name, or a number from 0 to 3"),
        ({"fixed": [1.0]}, "fixed names the feature 1.0; expected a name"),
        ({"fixed": [None]}, "fixed names the feature None; expected a name"),
        ({"fixed": [True, False]}, r"fixed is a mask of shape \(2,\), expected one entry for each"),
        ({"bounds": {"pww": (0, 1)}}, "bounds names the feature 'pww'.*Did you mean 'pw'?"),
        ({"bounds": {7: (0, 1)}}, "bounds names the feature 7"),
        ({"bounds": {"pw": (2, 1)}}, r"bounds of feature pw are \(2, 1\): there must be a number"),
        ({"bounds": {"pw": (np.nan, 1)}}, r"bounds of feature pw are \(nan, 1\)"),
        ({"bounds": (3, 2)}, r"bounds of feature sl are \(3, 2\)"),
        ({"bounds": (np.inf, None)}, r"bounds of feature sl are \(inf, inf\)"),
        ({"bounds": {"pw": 1}}, r"bounds={'pw': 1} must be a dict of \(low, high\) by feature"),
        ({"bounds": {"pw": ("a", 1)}}, "must be a dict"),
        ({"bounds": [(0, 1)] * 3}, r"must be a dict.*there are 4 features"),
        ({"bounds": [(0, 1, 2)] * 4}, "must be a dict"),
        ({"bounds": [0, 1]}, "must be a dict"),
        ({"bounds": (0, [1, 2, 3])}, "must be a dict"),
        ({"bounds": 5}, "bounds=5 must be a dict"),
        ({"bounds": "ab"}, "bounds='ab' must be a dict"),
    ],
    ids=str,
)
def test_bad_parameters(given, message, model, flowers):
    with pytest.raises(ValueError, match=message):
        counterfactual(model, flowers[0][:5], **given)


def test_bad_rows(model, flowers):
    X, y = flowers
    holes = X.copy()
    holes.iloc[1, 1] = np.nan
    for given in (model, fitted([StandardScaler()], X, y)):
        with pytest.raises(ValueError, match="X has missing values: counterfactual"):
            counterfactual(given, holes)
    plain = GLVQ(random_state=0).fit(X.to_numpy(), y)
    with pytest.raises(TypeError, match="Sparse data was passed for X"):
        counterfactual(plain, csr_array(X.to_numpy()))
    with pytest.raises(ValueError, match="X has 3 features, but GLVQ is expecting 4"):
        counterfactual(plain, X.to_numpy()[:, :3])
    with pytest.raises(ValueError, match="Expected 2D array"):
        counterfactual(plain, X.to_numpy()[0])
    with pytest.raises(ValueError, match="feature names should match"):
        counterfactual(model, X[["sw", "sl", "pl", "pw"]])


def test_bad_models(flowers):
    X, y = flowers
    with pytest.raises(TypeError, match="GaussianNB is neither a nearest-prototype"):
        counterfactual(GaussianNB().fit(X, y), X)
    for given in (GMLVQ(), make_pipeline(StandardScaler(), GMLVQ())):
        with pytest.raises(NotFittedError):
            counterfactual(given, X)
