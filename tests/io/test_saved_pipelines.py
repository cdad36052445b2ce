"""Models of the library inside and beside those of scikit-learn."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA, KernelPCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, mutual_info_classif
from sklearn.frozen import FrozenEstimator
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.linear_model._sgd_fast import Hinge
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, NuSVR, OneClassSVM
from sklearn.utils.fixes import parse_version

import protolearn
from protolearn import GLVQ, GMLVQ, LOGM, MeanOfClass, RejectClassifier
from protolearn.io import ModelFileError

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


def glvq():
    """Give a model that is quickly fitted."""
    return GLVQ(max_iter=2, random_state=0)


STEPS = {
    "scaled": [StandardScaler()],
    "chain": [SimpleImputer(add_indicator=True), PowerTransformer(), PCA(2, random_state=0)],
    "other chain": [KNNImputer(), RobustScaler(), MinMaxScaler(), TruncatedSVD(2, random_state=0)],
    "bins": [QuantileTransformer(n_quantiles=5), KBinsDiscretizer(3, encode="onehot-dense")],
    "kernel": [KernelPCA(2, kernel="rbf", random_state=0)],
    "selected": [SelectKBest(mutual_info_classif, k=3), SelectFromModel(MeanOfClass())],
    "eliminated": [RFE(LogisticRegression(), n_features_to_select=2)],
    "function": [FunctionTransformer(np.exp, np.log)],
    "union": [FeatureUnion([("few", PCA(1)), ("all", StandardScaler())])],
    "columns": [
        ColumnTransformer(
            [
                ("first", StandardScaler(), [0, 1]),
                ("slice", "passthrough", slice(2, 3)),
                ("array", PCA(1), np.array([2, 3])),
                ("mask", "drop", [True, False, False, False]),
            ]
        )
    ],
    "metric before": [GMLVQ(max_iter=2, rank=2, random_state=0)],
}


@pytest.mark.parametrize("what", STEPS)
def test_pipelines(what, small, come_back):
    X, y = small
    come_back(make_pipeline(*STEPS[what], glvq()).fit(X, y), X)


def search(**options):
    """Give a search with two folds."""
    return {"param_grid": {"beta": [1.0, 2.0]}, "cv": 2, **options}


AROUND = {
    "grid": GridSearchCV(glvq(), **search(cv=StratifiedKFold(2, shuffle=True, random_state=0))),
    "grid of parts": GridSearchCV(
        Pipeline([("scale", None), ("model", glvq())]),
        {"scale": [StandardScaler(), "passthrough"], "model": [glvq(), LOGM(max_iter=2)]},
        cv=2,
    ),
    "grid with holes": GridSearchCV(
        glvq(),
        [{"beta": [1.0]}, {"scale": [2.0], "prototypes_per_class": [{"setosa": 2}, 1]}],
        cv=2,
        scoring=make_scorer(f1_score, average="macro"),
        error_score=0.0,
    ),
    "grid of scores": GridSearchCV(
        glvq(), **search(scoring=["accuracy", "neg_log_loss"], refit="accuracy")
    ),
    "random": RandomizedSearchCV(glvq(), {"beta": [1.0, 2.0]}, n_iter=1, cv=2, random_state=0),
    "halving": HalvingGridSearchCV(glvq(), **search(random_state=0)),
    "Platt": CalibratedClassifierCV(glvq(), method="sigmoid", cv=2),
    "isotonic": CalibratedClassifierCV(MeanOfClass(), method="isotonic", cv=2, ensemble=False),
    "bag": BaggingClassifier(glvq(), 2, random_state=0),
    "boosted": AdaBoostClassifier(glvq(), n_estimators=2, random_state=0),
    "stack": StackingClassifier([("a", glvq()), ("b", MeanOfClass())], LogisticRegression(), cv=2),
    "one versus rest": OneVsRestClassifier(glvq()),
    "one versus one": OneVsOneClassifier(glvq()),
    "reject in a pipeline": make_pipeline(StandardScaler(), RejectClassifier(glvq(), cost=0.3)),
    "reject of a pipeline": RejectClassifier(make_pipeline(PCA(2), glvq()), threshold=0.1),
}


@pytest.mark.parametrize("what", AROUND)
def test_models_around_a_model(what, small, come_back):
    X, y = small
    come_back(AROUND[what].fit(X, y), X)


def test_results_of_a_search_come_back(small, come_back):
    X, y = small
    model = AROUND["grid of parts"].fit(X, y)
    loaded = come_back(model)
    assert loaded.cv_results_.keys() == model.cv_results_.keys()
    assert (loaded.cv_results_["mean_test_score"] == model.cv_results_["mean_test_score"]).all()
    assert list(map(repr, loaded.cv_results_["params"])) == list(
        map(repr, model.cv_results_["params"])
    )


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.8"), reason="has no temperature"
)
def test_temperature(small, come_back):
    X, y = small
    come_back(CalibratedClassifierCV(glvq(), method="temperature", cv=2).fit(X, y), X)


@pytest.mark.parametrize(
    "model",
    [
        TunedThresholdClassifierCV(MeanOfClass(), cv=2, random_state=0),
        FixedThresholdClassifier(MeanOfClass(), threshold=0.3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_thresholds_of_two_classes(model, small, come_back):
    X, y = small
    rows = y != "setosa"
    come_back(model.fit(X[rows], (y[rows] == "virginica").astype(int)), X)


OTHERS = [
    LogisticRegression(),
    LinearSVC(),
    GaussianNB(),
    LinearDiscriminantAnalysis(),
    MLPClassifier([3], max_iter=2, random_state=0),
    RidgeClassifier(),
]


def test_votes_with_others(small, come_back):
    X, y = small
    named = [(f"other{number}", model) for number, model in enumerate(OTHERS)]
    come_back(VotingClassifier([("ours", glvq()), *named]).fit(X, y), X)


COMPILED = [
    RandomForestClassifier(1),
    KNeighborsClassifier(),
    KNeighborsClassifier(algorithm="brute"),
    SVC(),
    NuSVC(),
    OneClassSVM(),
    SVR(),
    NuSVR(),
]


@pytest.mark.parametrize("other", COMPILED, ids=repr)
def test_compiled_estimators_have_to_be_trusted_in_every_version(other, small, tmp_path):
    """Each would read memory beyond arrays that a file has cut off."""
    X, y = small
    codes = np.unique(y, return_inverse=True)[1]
    model = Pipeline([("scale", StandardScaler()), ("other", other)]).fit(X, codes)
    with pytest.raises(ModelFileError, match=r"Trees, neighbours and SVMs .* not known"):
        protolearn.save(model, tmp_path / "model")


FOREST = ["ensemble._forest.RandomForestClassifier", "tree._classes.DecisionTreeClassifier"]
TRUSTED = {
    "forest": (
        RandomForestClassifier(2, max_depth=2, random_state=0),
        [f"sklearn.{name}" for name in (*FOREST, "tree._tree.Tree")],
    ),
    "SVC": (SVC(), SVC),
    "SGD": (SGDClassifier(max_iter=3, random_state=0), [SGDClassifier, Hinge]),
}


@pytest.mark.parametrize("what", TRUSTED)
def test_others_that_are_trusted(what, small, come_back, tmp_path):
    X, y = small
    model, trusted = TRUSTED[what]
    with pytest.raises(ModelFileError, match="which load would refuse"):
        protolearn.save(model.fit(X, y), tmp_path / "model")
    loaded = come_back(model, trusted=trusted)
    with pytest.raises(ModelFileError, match="holds types that are not known"):
        protolearn.load(tmp_path / "model")  # come_back wrote it
    assert (loaded.predict(X) == model.predict(X)).all()


@pytest.mark.parametrize(
    "cv", [GroupKFold(2), TimeSeriesSplit(2), RepeatedStratifiedKFold(n_splits=2)], ids=repr
)
def test_splits_that_are_not_yet_made(cv, come_back):
    assert repr(come_back(GridSearchCV(glvq(), {"beta": [1.0]}, cv=cv)).cv) == repr(cv)


def test_a_frame_with_columns_of_several_types(small, come_back):
    X, y = small
    frame = pd.DataFrame(X[:, :2], columns=["long", "wide"])
    frame["colour"] = np.where(X[:, 2] > 0.0, "red", "blue")
    frame["shape"] = np.where(X[:, 3] > 0.0, "round", None)
    frame.loc[::5, "long"] = np.nan
    encoded = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["long", "wide"]),
            ("texts", OneHotEncoder(sparse_output=False, handle_unknown="ignore"), ["colour"]),
            (
                "holes",
                make_pipeline(SimpleImputer(strategy="constant", fill_value="?"), OrdinalEncoder()),
                make_column_selector("shape"),
            ),
        ]
    )
    come_back(make_pipeline(encoded, glvq()).fit(frame, y), frame)


def test_output_as_frames(small, come_back):
    X, y = small
    frame = pd.DataFrame(X, columns=list("abcd"))
    scaler = StandardScaler().set_output(transform="pandas")
    come_back(make_pipeline(scaler, glvq()).fit(frame, y), frame)


def test_a_frozen_model(small, come_back):
    X, y = small
    come_back(FrozenEstimator(glvq().fit(X, y)), X)


def test_objects_that_are_one_stay_one(small, come_back):
    X, _ = small
    state, rows = np.random.RandomState(0), X.copy()
    model = Pipeline([("a", GLVQ(random_state=state)), ("b", GLVQ(random_state=state, init=rows))])
    model.rows = rows
    loaded = come_back(model)
    assert loaded.steps[0][1].random_state is loaded.steps[1][1].random_state
    assert loaded.steps[1][1].init is loaded.rows
    assert loaded.steps[0][1].random_state.rand() == state.rand()


def test_values_of_all_kinds(come_back):
    model = GLVQ()
    model.kept = {
        "bytes": [b"\x00a", b"\x00a"],
        "one": [same := b"twice", same],
        "numbers": (1, 10**30, -0.0, float("inf"), np.float32(0.1), np.int8(-3)),
        "texts": ["", "\ud800", "日本\n", np.str_("x")],
        "arrays": [
            np.zeros((0, 3)),
            np.array(5.0),
            np.arange(6.0).reshape(2, 3).T,
            np.array([], "U3"),
        ],
        "objects": np.array([None, "a", 1.5, (1, 2)], dtype=object),
        "masked": np.ma.masked_array([1.0, 2.0], [True, False]),
        "others": [None, True, slice(1, None, 2), {1, "a"}, np.dtype("<M8[D]"), float, np.float64],
    }
    kept = come_back(model).kept
    assert repr(kept) == repr(model.kept)
    assert kept["arrays"][2].flags.f_contiguous
