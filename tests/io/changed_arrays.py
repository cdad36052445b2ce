"""Load models with a value changed, and use them: an error is fine, a crash or a hang is not.

``python changed_arrays.py NAME STEP`` fits one model. For each of its arrays, numbers, texts and
lists and each change, or for every STEPth of these, it writes a file, loads it and asks the model
for everything. It prints what it is about to do, so that the last line names
what crashed or took too long, and at the end one line of JSON: how many files were refused, and by
how many bytes the memory grew.
"""

import contextlib
import copy
import faulthandler
import json
import resource
import sys
import tempfile
import warnings
from enum import Enum
from itertools import count
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
LONGEST = 60  # seconds for a file: many times what is needed


def replaced(a, number, whole):
    """Fill an array with a number, by its type."""
    return np.full_like(a, whole if a.dtype.kind == "i" else number)


OF_ARRAYS = {
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
OF_NUMBERS = {
    "missing": lambda a: float("nan"),
    "zero": lambda a: type(a)(0),
    "one more": lambda a: type(a)(a + 1),
    "negative": lambda a: type(a)(-1 - abs(a)),
    "huge": lambda a: type(a)(1e300 if isinstance(a, float) else LARGEST),
    "somewhat huge": lambda a: type(a)(10**9),
    "infinite": lambda a: float("inf"),
    "very large": lambda a: 10**400,
    "text": str,
    "nothing": lambda a: None,
    "array": lambda a: np.array([a, a]),
}
OF_TEXTS = {
    "emptied": lambda a: "",
    "another": lambda a: f"{a}?",
    "very long": lambda a: "long" * 50_000,
    "number": lambda a: -1,
    "nothing": lambda a: None,
}
OF_NOTHING = {
    "number": lambda a: 10**9,
    "negative": lambda a: -1,
    "fraction": lambda a: 0.5,
    "text": lambda a: "text",
    "list": lambda a: [0, 1],
    "array": lambda a: np.zeros((3, 2)),
}
OF_LISTS = {
    "emptied": lambda a: a[:0],
    "cut": lambda a: a[: len(a) // 2],
    "repeated": lambda a: a + a,
    "nothing": lambda a: None,
}
KINDS = (
    (np.ndarray, OF_ARRAYS),
    ((bool, int, float, np.generic), OF_NUMBERS),
    (str, OF_TEXTS),
    (type(None), OF_NOTHING),
    ((list, tuple), OF_LISTS),
)


def is_object_array(thing):
    return isinstance(thing, np.ndarray) and thing.dtype.kind == "O"


def parts(thing):
    """Give what an object holds, each with how it is reached."""
    if isinstance(thing, dict):
        return [(("item", key), part) for key, part in thing.items()]
    if isinstance(thing, (list, tuple)) or is_object_array(thing):
        return [(("item", key), part) for key, part in enumerate(thing)]
    ours = type(thing).__module__.startswith(("protolearn.", "sklearn."))
    if isinstance(thing, Enum) or not ours:
        return []
    return [(("attribute", key), part) for key, part in getattr(thing, "__dict__", {}).items()]


def places(thing, path=(), seen=None):
    """Give the places of all values in a model, each with the changes that it can take."""
    seen = set() if seen is None else seen
    plain = thing is None or isinstance(thing, (bool, int, float, str, np.generic))
    if not plain and id(thing) in seen:
        return
    seen.add(id(thing))
    for kind, changes in KINDS:
        if isinstance(thing, kind) and path and not is_object_array(thing):
            yield path, changes
            break
    for step, part in parts(thing):
        yield from places(part, (*path, step), seen)


def change_at(thing, path, change):
    """Return a thing with one value changed; a tuple is made again."""
    if not path:
        return change(thing)
    kind, key = path[0]
    new = change_at(thing[key] if kind == "item" else getattr(thing, key), path[1:], change)
    if kind == "attribute":
        object.__setattr__(thing, key, new)  # also if it is frozen
    elif isinstance(thing, tuple):
        items = [*thing[:key], new, *thing[key + 1 :]]
        return type(thing)(*items) if hasattr(thing, "_fields") else tuple(items)
    else:
        thing[key] = new
    return thing


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


def main(name, step):
    """Try all changes of a model."""
    model, rows = fitted(name)
    path = Path(tempfile.mkdtemp()) / "model"
    write(model, path)
    use(protolearn.load(path), rows)  # compiles everything
    size, before = path.stat().st_size, memory()
    counts = dict.fromkeys(("refused", "loaded", "other"), 0)
    number = count()
    for place, changes in places(model):
        for what, change in changes.items():
            if next(number) % step:
                continue
            print(name, place, what, flush=True)
            faulthandler.dump_traceback_later(LONGEST, exit=True)
            try:
                write(change_at(copy.deepcopy(model), place, change), path)
            except Exception:  # a change that this value does not take
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
    faulthandler.cancel_dump_traceback_later()
    print(json.dumps({**counts, "grown": memory() - before, "size": size}))


def memory():
    """Give the most bytes that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
