"""How a model is saved, loaded and compared, and how a file is made that save would not write."""

import json
import pickle
from io import BytesIO
from zipfile import ZipFile

import numpy as np
import pytest
from sklearn.datasets import load_iris

import protolearn
from protolearn.io.file import ModelFile, checksum, pack, unpack, zip_members
from protolearn.io.skops_payload import PLAN, dump

METHODS = (
    "predict",
    "decision_function",
    "predict_proba",
    "transform",
    "distances",
    "contributions",
    "recall",
)


@pytest.fixture(scope="session")
def small():
    """Every third row of iris, z-scored, and the names of its classes."""
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X[::3], np.array(["setosa", "versicolor", "virginica"])[y[::3]]


def bits(found):
    """Give an answer as type, shape and bytes."""
    found = np.asarray(found.toarray() if hasattr(found, "toarray") else found)
    content = found.tolist() if found.dtype == object else found.tobytes()
    return found.dtype.str, found.shape, content


def answers(model, X):
    """Give all that a model says about rows; an error is an answer too."""
    told = {}
    for name in METHODS:
        if hasattr(model, name):
            try:
                told[name] = bits(getattr(model, name)(X))
            except Exception as error:  # such as that it is not fitted
                told[name] = repr(error)
    return told


@pytest.fixture
def come_back(tmp_path):
    """Save, load and compare; also the bytes of the loaded and of the pickled model."""

    def trip(model, X=None, **trusted):
        path = tmp_path / "model"
        protolearn.save(model, path, **trusted)
        loaded = protolearn.load(path, **trusted)
        assert type(loaded) is type(model)
        if X is not None:
            pickled = pickle.loads(pickle.dumps(model))
            assert dump(pickled) == unpack(path)[1]
            expected = answers(model, X)
            assert expected
            assert answers(loaded, X) == expected
            assert answers(pickled, X) == expected
            assert dump(loaded) == unpack(path)[1]  # to answer has changed nothing
        return loaded

    return trip


class Forger:
    """Files that are whole and sealed, with a content of our choice."""

    def __init__(self, path, plan_text):
        self.path, self.plan_text = path, plan_text

    def new_plan(self):
        """Give the plan that save writes of a new GLVQ."""
        return json.loads(self.plan_text)

    def payload(self, payload):
        """Write a file around the part that holds the model."""
        about = ModelFile("GLVQ()", {"protolearn": "0.1"}, checksum(payload))
        self.path.write_bytes(pack(about, payload))
        return self.path

    def plan(self, plan, **members):
        """Write a file with a plan, and members by number."""
        parts = {name.replace("_", ".")[1:]: data for name, data in members.items()}
        return self.payload(zip_members({PLAN: json.dumps(plan).encode(), **parts}).read())

    def text(self, text):
        """Write a file with a plan as a text."""
        return self.payload(zip_members({PLAN: text.encode()}).read())

    def attribute(self, node, **members):
        """Write the file of a new GLVQ with one more attribute."""
        plan = self.new_plan()
        plan["content"]["content"]["extra"] = node
        plan["content"]["key_types"]["content"].append(
            {"__class__": "str", "__module__": "builtins", "__loader__": "TypeNode"}
        )
        return self.plan(plan, **members)


@pytest.fixture(scope="session")
def plan_text():
    """Give the plan that save writes of a new GLVQ."""
    with ZipFile(BytesIO(dump(protolearn.GLVQ()))) as archive:
        return archive.read(PLAN).decode()


@pytest.fixture
def forger(tmp_path, plan_text):
    """Make files that save would not write."""
    return Forger(tmp_path / "forged.protolearn", plan_text)
