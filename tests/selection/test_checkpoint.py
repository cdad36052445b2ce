"""Checkpoints: interrupted runs that continue, and files that do not belong."""

import os
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from given_store import lines, results, write
from protolearn import GLVQ
from protolearn.losses import Sigmoid
from protolearn.selection.comparison import compare
from protolearn.store import digest, parameters, text

IRIS = load_iris(return_X_y=True)
HARD = IRIS[0][:, :2] + np.random.RandomState(0).randn(150, 2), IRIS[1]


class Counted(ClassifierMixin, BaseEstimator):
    """A random answer by its seed; counts fits, and is interrupted at one of them."""

    fits = 0
    stop_at = None
    error = KeyboardInterrupt

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        Counted.fits += 1
        if Counted.fits == Counted.stop_at:
            raise Counted.error
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.random.RandomState(self.random_state).choice(self.classes_, len(X))


@pytest.fixture
def counted():
    """Count from zero."""
    Counted.fits, Counted.stop_at, Counted.error = 0, None, KeyboardInterrupt
    yield Counted
    Counted.stop_at = None


@pytest.fixture
def path(tmp_path):
    """Give a place for a checkpoint, in a folder that does not exist yet."""
    return tmp_path / "new folder" / "run.jsonl"


def stored(path):
    """Give the number of folds in a file."""
    return sum(len(key) == 3 for key in results(path))


run = partial(
    compare, {"free": Counted(), "seeded": Counted(3)}, {"iris": IRIS, "hard": HARD}, cv=4
)


@pytest.mark.parametrize("stop_at", [1, 2, 7, 16])
def test_interrupted_and_continued(counted, path, stop_at):
    expected = run(random_state=0)
    assert counted.fits == 16
    counted.fits, counted.stop_at = 0, stop_at
    with pytest.raises(KeyboardInterrupt):
        run(random_state=0, checkpoint=path)
    assert stored(path) == stop_at - 1
    counted.fits, counted.stop_at = 0, None
    found = run(random_state=0, checkpoint=path)
    assert counted.fits == 16 - (stop_at - 1)  # no fit twice
    np.testing.assert_array_equal(found.scores, expected.scores)
    again = run(random_state=0, checkpoint=path)
    assert counted.fits == 16 - (stop_at - 1)  # and none at all now
    np.testing.assert_array_equal(again.scores, expected.scores)
    np.testing.assert_array_equal(again.fit_times, found.fit_times)
    assert [file.name for file in path.parent.iterdir()] == ["run.jsonl"]


def test_failed_fits_are_tried_again(counted, path):
    counted.stop_at, counted.error = 3, ArithmeticError
    with pytest.raises(RuntimeError, match=r"split 2 .*(?s:.)*finished is in .*run.json"):
        run(random_state=0, checkpoint=path)
    assert stored(path) == 2
    counted.fits = 0
    with pytest.warns(FitFailedWarning):
        run(random_state=0, checkpoint=path, error_score=np.nan)
    assert stored(path) == 15
    counted.fits, counted.stop_at = 0, None
    found = run(random_state=0, checkpoint=path)
    assert counted.fits == 1
    np.testing.assert_array_equal(found.scores, run(random_state=0).scores)


KILLED = """
import os, signal, sys
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from protolearn.selection.comparison import compare
fits, fit = [], GaussianNB.fit
def killed(self, X, y):
    fits.append(1)
    if len(fits) == 6:
        os.kill(os.getpid(), signal.SIGKILL)
    return fit(self, X, y)
GaussianNB.fit = killed
iris = load_iris(return_X_y=True)
compare([GaussianNB()], {"iris": iris}, checkpoint=sys.argv[1], random_state=0)
"""


@pytest.mark.skipif(os.name == "nt", reason="has no SIGKILL")
def test_killed_and_continued(path):
    ended = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert stored(path) == 5
    found = compare([GaussianNB()], {"iris": IRIS}, checkpoint=path, random_state=0)
    expected = compare([GaussianNB()], {"iris": IRIS}, random_state=0)
    np.testing.assert_array_equal(found.scores, expected.scores)


def test_only_what_is_new(counted, path):
    start = {"checkpoint": path, "cv": 3, "random_state": 0}
    compare({"a": Counted()}, {"iris": IRIS}, **start)
    assert counted.fits == 3
    more = {"b": Counted(1), "a": Counted()}, {"hard": HARD, "iris": IRIS}
    found = compare(*more, **start)
    assert counted.fits == 3 + 9
    np.testing.assert_array_equal(found.scores, compare(*more, cv=3, random_state=0).scores)
    counted.fits = 0
    compare({"b": Counted(1)}, {"hard": HARD}, **start)
    with pytest.raises(ValueError, match="random_state of model 'a' was None and is 5"):
        compare({"a": Counted(5)}, {"hard": HARD}, **start)  # the others are still known
    compare(*more, **start)
    assert counted.fits == 0


def test_parallel_runs_continue_too(path):
    models = {"forest": RandomForestClassifier(3)}
    compare(models, {"hard": HARD}, cv=3, random_state=0, checkpoint=path, n_jobs=2)
    found = compare(
        models | {"bayes": GaussianNB()}, {"hard": HARD}, cv=3, random_state=0, checkpoint=path
    )
    expected = compare(models, {"hard": HARD}, cv=3, random_state=0)
    np.testing.assert_array_equal(found.scores[:, :1], expected.scores)


ONE_MORE = IRIS[0] + np.eye(150, 4) * 1e-9, IRIS[1]
RELABELLED = IRIS[0], np.roll(IRIS[1], 1)
KNN = {"knn": KNeighborsClassifier(1)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"datasets": {"iris": ONE_MORE}}, "X of data set 'iris' was"),
        ({"datasets": {"iris": RELABELLED}}, "y of data set 'iris' was"),
        ({"models": {"knn": KNeighborsClassifier(2)}}, "n_neighbors of model 'knn' was 1 and is 2"),
        ({"models": {"knn": GaussianNB()}}, "class of model 'knn' was sklearn.KNeigh.* sklearn.Ga"),
        ({"cv": 4}, "splits of data set 'iris' was"),
        ({"n_repeats": 2}, "splits of data set 'iris' was"),
        ({"scoring": "f1_macro"}, "scoring was 'accuracy' and is 'f1_macro'"),
        ({"random_state": 1}, "random_state was 0 and is 1"),
    ],
)
def test_another_comparison_is_refused(path, change, message):
    settings = {"models": KNN, "datasets": {"iris": IRIS}, "cv": 3, "random_state": 0}
    compare(**settings, checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=f"belongs to another comparison: .*{message}") as caught:
        compare(**(settings | change), checkpoint=path)
    assert "another path" in str(caught.value)
    assert path.read_bytes() == before


def test_splitter_without_a_seed_is_refused(path):
    settings = {"cv": ShuffleSplit(3), "random_state": 0, "checkpoint": path}
    compare(KNN, IRIS, **settings)
    with pytest.raises(ValueError, match="splits of data set 'data' was"):
        compare(KNN, IRIS, **settings)


@pytest.mark.parametrize(
    "content",
    [
        "no JSON",
        "[1, 2]",
        "{}",
        '{"format": "another"}',
        '{"format": "protolearn comparison 1"}',
        '{"format": "protolearn store 1", "owner": "compare", "known_by": {}}\n',
        b"\xff\xfe\x00",
        None,
    ],
    ids=["text", "list", "dict", "format", "head", "no checksum", "binary", "middle"],
)
def test_files_that_are_no_checkpoints(path, content):
    settings = {"cv": 3, "random_state": 0, "checkpoint": path}
    compare(KNN, IRIS, **settings)
    if content is None:
        content = path.read_bytes()[:-40].replace(b"n_neighbors", b"n_neighbours")
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = path.read_bytes()
    with pytest.raises(
        ValueError, match=r"not a checkpoint of compare, or it is damaged .* delete"
    ):
        compare(KNN, IRIS, **settings)
    assert path.read_bytes() == before


def test_what_is_half_written_is_done_again(counted, path):
    expected = run(random_state=0, checkpoint=path).scores
    whole = path.read_bytes()
    ends = np.cumsum([len(line) for line in whole.splitlines(keepends=True)])
    last = range(ends[-2], ends[-1], 7)
    for size in [0, 5, 100, *(ends - 1), *ends, *last]:
        path.write_bytes(whole[:size])
        n_kept = max(int((ends <= size).sum()) - 6, 0)  # a head, versions and names come first
        counted.fits = 0
        np.testing.assert_array_equal(run(random_state=0, checkpoint=path).scores, expected)
        assert counted.fits == 16 - n_kept
        assert stored(path) == 16


def test_a_path_that_cannot_be_written_fails_first(counted, tmp_path):
    with pytest.raises(ValueError, match="is a folder; name a file in it"):
        run(random_state=0, checkpoint=tmp_path)
    assert counted.fits == 0


@pytest.mark.parametrize("seed", [None, np.random.RandomState(0)], ids=["None", "RandomState"])
def test_a_checkpoint_needs_a_seed(path, seed):
    with pytest.raises(ValueError, match="checkpoint needs an integer random_state"):
        compare(KNN, IRIS, checkpoint=path, random_state=seed)
    assert not path.exists()


def test_versions_are_noted_and_do_not_block(path):
    settings = {"cv": 3, "random_state": 0, "checkpoint": path}
    compare(KNN, IRIS, **settings)
    (now,) = versions(path)
    assert set(now) == {"protolearn", "scikit-learn", "numpy", "scipy", "python"}
    then = now | {"numpy": "1.0"}
    records = lines(path)
    records[1] = {"key": ["versions", *then.values()], "value": then}
    write(path, records)
    compare(KNN, IRIS, **settings)
    assert versions(path) == [then, now]


def versions(path):
    return [value for key, value in results(path).items() if key[0] == "versions"]


def test_scores_that_are_not_finite_are_kept(path):
    settings = {"cv": 3, "random_state": 0, "checkpoint": path}
    for value in np.nan, np.inf, -np.inf:
        path.unlink(missing_ok=True)
        for _ in range(2):
            found = compare(KNN, IRIS, scoring=partial(given, value), **settings)
            np.testing.assert_array_equal(found.scores, value)
        lines(path)  # JSON as others read it


def given(value, model, X, y):
    return value


def test_texts_tell_values_apart():
    """All differ from each other, and each is the same when it is made again."""

    def values():
        return [
            1,
            1.0,
            "1",
            True,
            None,
            [1, 2],
            {"a": 1, "b": [2]},
            {1, 2},
            np.arange(3),
            np.arange(3.0),
            np.arange(3).reshape(3, 1),
            sparse.csr_matrix(np.eye(2)),
            np.random.RandomState(0),
            np.random.RandomState(1),
            np.random.default_rng(0),
            lambda x: x,
            lambda x: x + 1,
            closure(1),
            closure(2),
            partial(given, 1),
            partial(given, 2),
            np.mean,
            KFold(3),
            KFold(4),
            Sigmoid(),
            Sigmoid(2.0),
            GLVQ(),
            GLVQ(beta=1.0),
            make_scorer(fbeta_score, beta=1),
            make_scorer(fbeta_score, beta=2),
        ]

    texts = [text(value) for value in values()]
    assert texts == [text(value) for value in values()]
    assert len(set(texts)) == len(texts)
    assert text({"a": 1, "b": 2}) == text({"b": 2, "a": 1})


def closure(number):
    def inner(x):
        return x + number

    return inner


def test_parameters_reach_inside_and_leave_out_what_has_no_effect():
    model = make_pipeline(StandardScaler(), RandomForestClassifier(n_jobs=1, verbose=0))
    other = make_pipeline(StandardScaler(), RandomForestClassifier(n_jobs=2, verbose=1))
    assert parameters(model) == parameters(other)
    assert parameters(model)["randomforestclassifier__max_depth"] == "None"
    other.set_params(standardscaler__with_mean=False)
    assert parameters(model) != parameters(other)


def test_digests_of_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", None], "c": pd.Categorical(["u", "v"])})
    assert digest(frame) == digest(frame.copy())
    changes = [
        frame.rename(columns={"a": "z"}),
        frame.assign(a=[1.0, 3.0]),
        frame.assign(b=["x", "None"]),
        frame.assign(c=pd.Categorical(["v", "u"])),
        frame.iloc[:1],
    ]
    assert len({digest(frame), *map(digest, changes)}) == 6


def test_digests_of_structured_arrays():
    kinds = [("a", float), ("b", object), ("c", "datetime64[us]")]
    rows = np.array([(1.0, "x", "2020-01-01"), (np.nan, None, "NaT")], dtype=kinds)
    assert digest(rows) == digest(rows.copy())
    apart = np.array(rows, dtype=np.dtype(kinds, align=True))
    assert digest(rows) == digest(apart)  # bytes between fields say nothing
    renamed = rows.astype([("z", float), *kinds[1:]])
    changes = [renamed, rows[:1], rows[::-1], rows[["a", "b"]]]
    for field, value in ("a", 2.0), ("b", "None"), ("c", "2020-01-02"):
        changes.append(rows.copy())
        changes[-1][field][-1] = value
    assert len({digest(rows), *map(digest, changes)}) == 8
    plain = np.zeros(2, dtype=[("a", float)])  # without objects too the names count
    assert digest(plain) != digest(plain.astype([("b", float)]))
