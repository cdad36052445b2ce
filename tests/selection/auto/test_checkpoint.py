"""Searches that were stopped and go on, and files that do not belong to them."""

import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import fbeta_score, make_scorer

from given_store import lines, results, write
from protolearn import AutoPrototypeClassifier, MeanOfClass, store
from protolearn.selection.auto import ledger

ALL_X, ALL_Y = load_iris(return_X_y=True)
X, Y = ALL_X[50::2] * [1.0, 1.0, 0.1, 0.1], ALL_Y[50::2]  # not too easy
SMALL = AutoPrototypeClassifier(
    families=["MeanOfClass", "FisherPrototypes", "Adaline"], cv=3, random_state=0
)
N_FITS = 24  # four candidates: three fits of the first look, and three others


@pytest.fixture
def path(tmp_path):
    """Give a place for a checkpoint, in a folder that does not exist yet."""
    return tmp_path / "new folder" / "search.jsonl"


@pytest.fixture
def made(monkeypatch):
    """Count fits, by the names of candidates and the rows that they learn from."""
    fits, original = [], ledger.trial

    def counted(candidate, task, part, keep):
        fits.append((str(candidate), part.train.tobytes()))
        return original(candidate, task, part, keep)

    monkeypatch.setattr(ledger, "trial", counted)
    return fits


@pytest.fixture(scope="module")
def expected():
    """Give the search that nobody stopped."""
    return clone(SMALL).fit(X, Y)


class Stop:
    """Interrupts at one of its calls, whatever it is called for."""

    def __init__(self, at, answer=None):
        self.at, self.answer, self.n_calls = at, answer, 0

    def __call__(self, *given):
        self.n_calls += 1
        if self.n_calls == self.at:
            raise KeyboardInterrupt
        return self.answer


def stored(path):
    """Give the number of fits in a file."""
    return len(results(path))


def told(model):
    """Give all that a search tells, but for the time that it took."""
    board = model.leaderboard_.to_frame().drop(columns="fit_time")
    stopped = re.sub(r" in [\d.]+ s", "", model.stopped_)
    asked = model.predict_proba(X).tolist(), model.predict(X).tolist()
    best = model.best_params_, model.best_score_, model.temperature_, model.held_out_proba_.tolist()
    return board.to_csv(), stopped, model.n_fits_, *best, *asked


@pytest.mark.parametrize("stop_at", [1, 2, 3, 4, 12, 13, N_FITS])
def test_stopped_by_the_callback_and_continued(path, made, expected, stop_at):
    model = clone(SMALL).set_params(checkpoint=path, callback=Stop(stop_at))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert stored(path) == len(made) == stop_at
    model.set_params(callback=None).fit(X, Y)
    assert len(made) == len(set(made)) == N_FITS == stored(path)
    assert told(model) == told(expected)
    again = clone(model).fit(X, Y)
    assert len(made) == N_FITS  # and none at all now
    assert told(again) == told(expected)
    assert [file.name for file in path.parent.iterdir()] == ["search.jsonl"]


@pytest.mark.parametrize("stop_at", [1, 2, 3, 24, 25, 36])
def test_stopped_within_a_fit_and_continued(path, made, expected, stop_at):
    model = clone(SMALL).set_params(checkpoint=path)
    stop = Stop(stop_at)

    def accuracy(model, X, y):
        stop()
        return float(np.mean(model.predict(X) == y))

    model.set_params(scoring=accuracy)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    n_done = (stop_at - 1) // 2 if stop_at <= 24 else stop_at - 13  # pairs have two scores
    assert stored(path) == n_done
    made.clear()
    # Code and variables make a function what it is: this one does not know how far it was.
    head, *fits = lines(path)
    head["known_by"]["scoring"] = repr("accuracy")
    write(path, [head, *fits])
    model.set_params(scoring="accuracy").fit(X, Y)
    assert len(made) == N_FITS - n_done
    assert told(model) == told(expected)


def test_stopped_again_and_again(path, made, expected):
    model = clone(SMALL).set_params(checkpoint=path)
    n_before = 0
    for _ in range(100):
        try:
            model.set_params(callback=Stop(n_before + 5)).fit(X, Y)
            break
        except KeyboardInterrupt:
            n_before = stored(path)
    assert len(made) == len(set(made)) == N_FITS
    assert told(model) == told(expected)


def test_fits_of_workers_are_kept(path, expected):
    model = clone(SMALL).set_params(checkpoint=path, callback=Stop(2), n_jobs=2)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert stored(path) == 2 * 2 * ledger.AHEAD
    alone = clone(model).set_params(callback=None, n_jobs=None).fit(X, Y)
    assert told(alone) == told(expected)
    together = clone(model).set_params(callback=None).fit(X, Y)
    assert told(together) == told(expected)


@pytest.mark.parametrize(("fewer", "more"), [(1, 4), (4, 14), (14, 5)])
def test_other_budgets_go_on_with_the_same_fits(path, made, fewer, more):
    clone(SMALL).set_params(checkpoint=path, max_fits=fewer).fit(X, Y)
    model = clone(SMALL).set_params(checkpoint=path, max_fits=more).fit(X, Y)
    assert len(made) == len(set(made)) == max(fewer, more)
    assert stored(path) == len(made)  # those that nobody asked for again too
    assert told(model) == told(clone(SMALL).set_params(max_fits=more).fit(X, Y))


def test_what_is_known_takes_no_time(path, made, expected):
    clone(SMALL).set_params(checkpoint=path).fit(X, Y)
    hasty = clone(SMALL).set_params(checkpoint=path, time_budget=1e-9).fit(X, Y)
    assert len(made) == N_FITS == hasty.n_fits_
    scores = [{s.model: s.score for s in model.leaderboard_} for model in (hasty, expected)]
    assert scores[0] == scores[1]


def test_how_the_choice_is_made_may_change(path, made):
    clone(SMALL).set_params(checkpoint=path).fit(X, Y)
    model = clone(SMALL).set_params(checkpoint=path, prefer="accurate", verbose=1).fit(X, Y)
    assert len(made) == N_FITS
    assert told(model) == told(clone(SMALL).set_params(prefer="accurate").fit(X, Y))


def refuse_means(model, X, y):
    if isinstance(model[-1], MeanOfClass):
        raise ValueError("no means")
    return model.score(X, y)


def test_candidates_that_failed_are_known(path, made):
    sometimes = clone(SMALL).set_params(scoring=refuse_means, families=["MeanOfClass", "LOGM"])
    first = clone(sometimes).set_params(checkpoint=path, max_fits=12).fit(X, Y)
    n_made = len(made)
    again = clone(first).fit(X, Y)
    assert len(made) == n_made
    assert told(again) == told(first)
    assert "no means" in again.leaderboard_[-1].failure


OTHERS = {
    "X was 50 rows": {"rows": X[:, ::-1]},
    "y was #": {"labels": Y[::-1]},
    "random_state was 0 and is 1": {"random_state": 1},
    "scoring was 'accuracy' and is 'f1_macro'": {"scoring": "f1_macro"},
    "families was .*'Adaline'.* and is .'fixed'": {"families": "fixed"},
    "candidates was": {"standardize": False},
}


@pytest.mark.parametrize("message", OTHERS)
def test_another_search(path, made, message):
    clone(SMALL).set_params(checkpoint=path, max_fits=3).fit(X, Y)
    before = path.read_bytes()
    other = dict(OTHERS[message])
    rows, labels = other.pop("rows", X), other.pop("labels", Y)
    model = clone(SMALL).set_params(checkpoint=path, **other)
    with pytest.raises(ValueError, match=f"belongs to another search: .*{message}"):
        model.fit(rows, labels)
    assert len(made) == 3  # before any work
    assert path.read_bytes() == before


def test_other_spellings_and_labels_of_the_same(path, made):
    clone(SMALL).set_params(checkpoint=path, max_fits=3).fit(X, Y)
    spelled = ["adaline", "mean-of-class", "Fisher prototypes"]
    clone(SMALL).set_params(checkpoint=str(path), max_fits=3, families=spelled).fit(
        X.tolist(), Y.tolist()
    )
    assert len(made) == 3


@pytest.mark.parametrize("scoring", [make_scorer(fbeta_score, beta=2.0, pos_label=1), None])
def test_scorers_are_known_again(path, made, scoring):
    model = clone(SMALL).set_params(checkpoint=path, max_fits=3, scoring=scoring).fit(X, Y)
    clone(model).fit(X, Y)
    assert len(made) == 3
    other = make_scorer(fbeta_score, beta=0.5, pos_label=1)
    with pytest.raises(ValueError, match="another search: scoring was"):
        clone(model).set_params(scoring=other).fit(X, Y)


DAMAGED = {
    "a list": lambda lines: [b"[]\n"],
    "a file of another format": lambda lines: [b'{"format": "protolearn search 1"}\n'],
    "no head": lambda lines: lines[1:],
    "a changed head": lambda lines: [lines[0].replace(b"random_state", b"random state"), lines[1]],
    "a changed score": lambda lines: [
        lines[0],
        lines[1].replace(b'"value": [', b'"value": [1'),
        lines[2],
    ],
    "a lost byte": lambda lines: [lines[0], lines[1][1:], lines[2]],
    "a lost end": lambda lines: [lines[0][:-1], *lines[1:]],
    "a line between": lambda lines: [lines[0], b"\n", *lines[1:]],
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_files(path, made, damage):
    model = clone(SMALL).set_params(checkpoint=path, max_fits=2).fit(X, Y)
    path.write_bytes(b"".join(DAMAGED[damage](path.read_bytes().splitlines(keepends=True))))
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"search\.jsonl.* damaged.* delete the file"):
        model.fit(X, Y)
    assert len(made) == 2
    assert path.read_bytes() == before


def test_what_is_half_written_is_done_again(path, made, expected):
    model = clone(SMALL).set_params(checkpoint=path).fit(X, Y)
    whole = path.read_bytes()
    ends = np.cumsum([len(line) for line in whole.splitlines(keepends=True)])
    for size in (0, 7, ends[0] - 1, *ends, *range(ends[-2], ends[-1], 9)):
        path.write_bytes(whole[:size])
        made.clear()
        assert told(model.fit(X, Y)) == told(expected)
        assert len(made) == N_FITS - max(int((ends <= size).sum()) - 1, 0)
        assert stored(path) == N_FITS


def test_fits_that_this_search_does_not_have(path, made, expected):
    """Others with the right checksums do no harm."""
    model = clone(SMALL).set_params(checkpoint=path).fit(X, Y)
    more = [{"key": key, "value": [[1.0, 1.0], 0.1, 1, 1, 1.0, ""]} for key in ([4, 0], [0, -1])]
    write(path, [*lines(path), *more])
    assert told(model.fit(X, Y)) == told(expected)
    assert len(made) == N_FITS


def test_bytes_that_are_no_text(path):
    path.parent.mkdir()
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="is not a checkpoint of AutoPrototypeClassifier"):
        clone(SMALL).set_params(checkpoint=path).fit(X, Y)


def test_a_path_that_cannot_be_written_is_told_before_any_fit(tmp_path, made):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="is a folder; name a file in it"):
        clone(SMALL).set_params(checkpoint=tmp_path).fit(X, Y)
    with pytest.raises(OSError, match=r"directory|exists"):
        clone(SMALL).set_params(checkpoint=tmp_path / "file" / "search.jsonl").fit(X, Y)
    assert not made


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"checkpoint": 3}, "checkpoint=3 .* path of a file"),
        ({"checkpoint": "search.jsonl", "random_state": None}, "random_state=None .* an integer"),
        (
            {"checkpoint": "search.jsonl", "random_state": np.random.RandomState(0)},
            "must be an integer",
        ),
    ],
)
def test_wrong_parameters(parameters, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        AutoPrototypeClassifier(**parameters).fit(X, Y)
    assert not list(tmp_path.iterdir())


def test_the_file_is_whole_whenever_somebody_looks(path, monkeypatch):
    """Every fit is in it as soon as the callback is told, and a full disk takes nothing away."""
    seen = []
    look = clone(SMALL).set_params(max_fits=9, callback=lambda progress: seen.append(stored(path)))
    look.set_params(checkpoint=path).fit(X, Y)
    assert seen == [*range(1, 10), 9]

    class HalfWritten(Exception):
        """The disk is full."""

    def half(self, line):
        self._file.write(line[: len(line) // 2])
        raise HalfWritten

    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(store.Store, "_append", half)
        with pytest.raises(HalfWritten):
            clone(look).set_params(max_fits=12).fit(X, Y)
    assert path.read_bytes().startswith(before)
    assert len(path.read_bytes()) > len(before)
    clone(look).set_params(max_fits=12).fit(X, Y)
    assert stored(path) == 12
    assert path.read_bytes().startswith(before)
    assert [file.name for file in path.parent.iterdir()] == ["search.jsonl"]


def test_the_disk_is_not_waited_for_after_every_fit(path, monkeypatch):
    """A thousand short fits need not wait a thousand times."""
    synced = []
    monkeypatch.setattr(store, "monotonic", lambda: 0.0)
    monkeypatch.setattr(os, "fsync", synced.append)
    clone(SMALL).set_params(checkpoint=path, max_fits=5).fit(X, Y)
    assert not synced
    assert stored(path) == 5


KILLED = """
import os, signal, sys
from sklearn.datasets import load_iris
from protolearn import AutoPrototypeClassifier
X, y = load_iris(return_X_y=True)
def killed(progress):
    if progress.n_fits == 6:
        os.kill(os.getpid(), signal.SIGKILL)
AutoPrototypeClassifier(
    families=["MeanOfClass", "FisherPrototypes"], cv=3, max_fits=12, random_state=0,
    callback=killed, checkpoint=sys.argv[1],
).fit(X, y)
"""


@pytest.mark.skipif(os.name == "nt", reason="has no SIGKILL")
def test_killed_and_continued_by_another_process(path, made):
    ended = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert stored(path) == 6
    families = ["MeanOfClass", "FisherPrototypes"]
    given = {"families": families, "cv": 3, "max_fits": 12, "random_state": 0}
    model = AutoPrototypeClassifier(checkpoint=path, **given).fit(ALL_X, ALL_Y)
    assert len(made) == 6
    fresh = AutoPrototypeClassifier(**given).fit(ALL_X, ALL_Y)
    assert model.best_score_ == fresh.best_score_
    assert_array_equal(model.predict_proba(ALL_X), fresh.predict_proba(ALL_X))
