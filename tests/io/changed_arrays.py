"""Load models whose arrays were changed, and use them: an error is fine, a crash is not.

``python changed_arrays.py NAME`` fits one model. For each of its arrays and each change it writes
a file, loads it and asks the model for everything. It prints what it is about to do, so that the
last line names what crashed, and at the end one line of JSON: how many files were refused, and by
how many bytes the memory grew.
"""

import contextlib
import copy
import json
import resource
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import protolearn
from protolearn import GLVQ
from protolearn.io import ModelFile, ModelFileError
from protolearn.io.file import checksum, pack
from protolearn.io.skops_payload import dump
from protolearn.tables import table_pipeline

warnings.filterwarnings("ignore")

X, y = load_iris(return_X_y=True)
X, y = (X[25:125:2] - X.mean(axis=0)) / X.std(axis=0), y[25:125:2]
PATTERNS = np.where(X > 0.0, 1.0, -1.0)
TABLE = pd.DataFrame(X, columns=list("abcd")).assign(colour=np.resize(["red", "blue", None], 50))
LARGEST = np.iinfo(np.intp).max


def replaced(a, number, whole):
    """Fill an array with a number, by its type."""
    return np.full_like(a, whole if a.dtype.kind == "i" else number)


CHANGES = {
    "emptied": lambda a: a[:0],
    "cut": lambda a: a[: len(a) // 2],
    "narrow": lambda a: np.ascontiguousarray(a[..., : a.shape[-1] // 2]),
    "repeated": lambda a: np.concatenate([a, a]),
    "wide": lambda a: np.concatenate([a, a], axis=-1),
    "one axis more": lambda a: a[None],
    "flat": lambda a: a.ravel(),
    "missing": lambda a: np.full(a.shape, np.nan),
    "huge": lambda a: replaced(a, 1e300, LARGEST),
    "somewhat huge": lambda a: replaced(a, 1e9, 10**9),
    "negative": lambda a: -1 - np.abs(a),
    "very negative": lambda a: replaced(a, -1e300, -(2**40)),
    "text": lambda a: a.astype(str),
    "single": lambda a: a.astype(np.float32),
    "turned": lambda a: np.asfortranarray(a) if a.ndim > 1 else a[::-1],
    "one more": lambda a: a + 1,
    "void": lambda a: np.zeros(a.shape, "V8"),
}


def array_paths(thing, path=(), seen=None):
    """Give the places of all arrays in a model."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray) and thing.dtype != object:
        yield path
    elif isinstance(thing, dict):
        for key in thing:
            yield from array_paths(thing[key], (*path, ("item", key)), seen)
    elif isinstance(thing, (list, tuple)):
        for key, part in enumerate(thing[:2]):
            yield from array_paths(part, (*path, ("item", key)), seen)
    elif type(thing).__module__.startswith(("protolearn.", "sklearn.")):
        for key, part in getattr(thing, "__dict__", {}).items():
            yield from array_paths(part, (*path, ("attribute", key)), seen)


def changed(model, path, change):
    """Give a model with one array changed."""
    holder = model = copy.deepcopy(model)
    for kind, key in path[:-1]:
        holder = holder[key] if kind == "item" else getattr(holder, key)
    kind, key = path[-1]
    if kind == "item":
        holder[key] = change(holder[key])
    else:
        object.__setattr__(holder, key, change(getattr(holder, key)))  # also if it is frozen
    return model


def write(model, path):
    """Write what save would refuse."""
    payload = dump(model)
    path.write_bytes(pack(ModelFile("", {}, checksum(payload)), payload))


METHODS = (
    "predict",
    "decision_function",
    "predict_proba",
    "distances",
    "nearest_prototypes",
    "contributions",
    "transform",
    "project",
    "recall",
)
FUNCTIONS = (
    protolearn.certified_radius,
    protolearn.sample_margin,
    lambda model, rows: protolearn.hypothesis_margin(model, rows, y[:6]),
    lambda model, rows: protolearn.counterfactual(model, rows[:2]),
    lambda model, rows: model.partial_fit(rows, y[:6]),
)


def use(model, rows):
    """Ask a model for everything; errors are answers."""
    for name in METHODS:
        with contextlib.suppress(Exception):
            getattr(model, name)(rows)
    for function in FUNCTIONS:
        with contextlib.suppress(Exception):
            function(model, rows)


def fitted(name):
    """Give a fitted model, and some rows for it."""
    if name == "table":
        return table_pipeline(GLVQ(max_iter=3)).fit(TABLE, y), TABLE[:6]
    if name == "scaled":
        return make_pipeline(StandardScaler(), GLVQ(max_iter=3)).fit(X, y), X[:6]
    if name == "encoded":
        encoder = OneHotEncoder(sparse_output=False, drop="first")
        return make_pipeline(encoder, GLVQ(max_iter=3)).fit(PATTERNS, y), PATTERNS[:6]
    if name == "stream":
        model = GLVQ(solver="adam", random_state=np.random.RandomState(0))
        for start in (0, 20):
            model.partial_fit(X[start : start + 20], y[start : start + 20], classes=np.unique(y))
        return model, X[:6]
    kind = getattr(protolearn, name)
    if name == "Hopfield":
        return kind().fit(PATTERNS[:3]), PATTERNS[:6]
    if name == "RejectClassifier":
        return kind(GLVQ(max_iter=3), threshold=0.1).fit(X, y), X[:6]
    if name == "AutoPrototypeClassifier":
        return kind(max_fits=4, random_state=0).fit(X, y), X[:6]
    model = kind(**{"max_iter": 20} if "max_iter" in kind().get_params() else {})
    if name == "HardMarginSVM":  # two classes that can be separated
        iris = load_iris()
        return model.fit(iris.data[:100:2], iris.target[:100:2]), iris.data[:6]
    return model.fit(X, y), X[:6]


def main(name):
    """Try all changes of a model."""
    model, rows = fitted(name)
    path = Path(tempfile.mkdtemp()) / "model"
    write(model, path)
    use(protolearn.load(path), rows)  # compiles everything
    size, before = path.stat().st_size, memory()
    counts = dict.fromkeys(("refused", "loaded", "other"), 0)
    for place in array_paths(model):
        for what, change in CHANGES.items():
            print(name, place, what, flush=True)
            try:
                write(changed(model, place, change), path)
            except Exception:  # a change that this array does not take
                continue
            try:
                loaded = protolearn.load(path)
            except ModelFileError:
                counts["refused"] += 1
            except Exception as error:
                print(type(error), error, flush=True)
                counts["other"] += 1
            else:
                counts["loaded"] += 1
                use(loaded, rows)
    print(json.dumps({**counts, "grown": memory() - before, "size": size}))


def memory():
    """Give the most bytes that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main(sys.argv[1])
