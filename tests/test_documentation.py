"""Docstrings tell the truth about parameters, and the examples in the text run."""

import importlib
import inspect
import pkgutil
import re
import sys
import types
from collections import defaultdict
from dataclasses import is_dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris

import protolearn
import protolearn_papers
from given_profile import in_all, long_test

ROOT = Path(__file__).parent.parent
MODULES = [
    "protolearn",
    "protolearn.losses",
    "protolearn.margins",
    "protolearn.distances",
    "protolearn.solvers",
    "protolearn.checks",
    "protolearn.report",
    "protolearn.datasets",
    "protolearn.analysis",
    "protolearn.linear",
    "protolearn.perceptrons",
    "protolearn.ensemble",
    "protolearn.selection",
    "protolearn.tables",
    "protolearn.io",
    "protolearn_papers",
]
# Summary there and on one line; parameters all documented, none invented, in order, with types.
CODES = {"GL08", "SS01", "SS03", "SS06", "PR01", "PR02", "PR03", "PR04", "PR06", "PR07", "RT03"}
LISTED = r"^   ([A-Za-z_][\w.]*)$"
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
PAGES = [
    f"docs/{path.name}"
    for path in sorted((ROOT / "docs").glob("*.md"))
    if BLOCK.search(path.read_text(encoding="utf-8"))
]
LONG = ["docs/automatic.md", "docs/evaluation.md", "docs/metrics.md"]
TEXTS = ["README.md", "CONTRIBUTING.md", *(page for page in PAGES if page not in LONG)]

FAMILIES = ("classifiers", "linear", "perceptrons", "ensemble")
RULES = "LVQ1 OLVQ1 LVQ21 LVQ3"
LOCAL_LOSS = "the loss is made steeper where the classes begin hardly apart"
EPOCHS = "a rule has epochs, and counts errors"
IN_MEMORY = "all rows are dense, in memory, and seen at once"

# (family, parameter or attribute): groups of classes with a text of their own, each with a reason.
# The classes of a group have the same text, and so have all classes that are in no group.
OTHER_TEXTS = {
    ("classifiers", "beta"): {
        "GLVQ": LOCAL_LOSS,
        "MarginLVQ": "only two of its losses are made steeper",
        "KernelGLVQ": "the slope of any loss",
    },
    ("classifiers", "loss"): {"KernelGLVQ": "beta is the slope of a name"},
    ("classifiers", "xi"): {"SNPC": LOCAL_LOSS},
    ("classifiers", "slope_factor_"): {"RobustLVQ": "the radius is the unit of its hinge"},
    ("classifiers", "max_iter"): {RULES: EPOCHS, "KernelGLVQ": IN_MEMORY},
    **{
        ("classifiers", name): {"SmallGMLVQ": "it chooses its own size, and starts otherwise"}
        for name in ("init", "prototypes_per_class")
    },
    ("classifiers", "tol"): {RULES: EPOCHS},
    ("classifiers", "early_stopping"): {RULES: EPOCHS},
    ("classifiers", "solver_"): {RULES: EPOCHS},
    ("classifiers", "n_iter_"): {RULES: EPOCHS},
    ("classifiers", "loss_curve_"): {RULES: EPOCHS},
    ("classifiers", "validation_curve_"): {RULES: EPOCHS},
    ("classifiers", "history_"): {"KernelGLVQ": "combinations of rows"},
    ("classifiers", "solver"): {"KernelGLVQ": IN_MEMORY},
    ("classifiers", "validation_fraction"): {"KernelGLVQ": IN_MEMORY},
    ("classifiers", "scale"): {"KernelGLVQ": "its loss is never made steeper"},
    ("classifiers", "regularization"): {"LGMLVQ": "there are several maps, which may learn noise"},
    ("classifiers", "rank"): {
        "LGMLVQ": "there are several maps, each of which takes time",
        "SmallGMLVQ": "it chooses its own size, and starts otherwise",
    },
    ("classifiers", "distance"): {"PrototypeClassifier": "it lists the names"},
    ("linear", "tol"): {
        "RVM": "it compares likelihoods",
        "SoftMarginSVM": "its solution is as near as the cost says",
    },
    ("linear", "class_weight"): {"SoftMarginSVM": "the weights are factors of C"},
    **{
        ("linear", name): {"SoftPreprocessing": "it stands around another classifier"}
        for name in ("C", "kernel", "gamma", "coef_", "intercept_")
    },
    ("linear", "verbose"): {"BoostedPrototypes": "it has two kinds of lines"},
    ("linear", "n_iter_"): {
        "BoostedPrototypes": "rounds of boosting",
        "HardMarginSVM SoftMarginSVM": "Newton steps",
    },
    ("perceptrons", "gamma"): {"KernelAdaTron": "its kernel could have a gamma as well"},
    ("perceptrons", "eta"): {"AdaTron": "it has literal updates as well"},
    ("perceptrons", "class_weight"): {
        "AdaTron": "the weights are factors of gamma",
        "KernelAdaTron": "the weights are factors of C",
        "Perceptron Rosenblatt": "the weights are factors of steps",
    },
    ("perceptrons", "keep"): {
        "AdaTron": "an optimum is the best",
        "CommitteeMachine": "it has hidden units",
    },
    ("perceptrons", "callback"): {
        "AdaTron KernelAdaTron": "it looks at all examples after many steps",
        "BayesPoint": "there are many perceptrons",
        "ParityMachine": "it grows by units",
    },
    ("perceptrons", "history_"): {
        "CommitteeMachine": "it has hidden units",
        "KernelAdaTron": "it has no weights",
        "ParityMachine": "it grows by units",
    },
    ("perceptrons", "history"): {"ParityMachine": "it grows by units"},
    ("perceptrons", "max_iter"): {
        "AdaTron KernelAdaTron": "a sweep takes as many steps as there are examples",
        "BayesPoint": "there are many perceptrons",
        "Pocket": "examples are drawn at random",
    },
    ("perceptrons", "c"): {"BayesPoint": "there are many perceptrons"},
    ("perceptrons", "n_features_in_"): {"Hopfield": "a feature is a unit"},
    ("perceptrons", "random_state"): {
        "Hopfield": "a recall has its own random order",
        "ParityMachine": "its units get seeds",
    },
}


def public_objects():
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in module.__all__:
            thing = getattr(module, name)
            record = is_dataclass(thing) or hasattr(thing, "_fields")  # documents its attributes
            if (inspect.isclass(thing) and not record) or inspect.isfunction(thing):
                yield f"{module_name}.{name}"


@pytest.mark.parametrize("name", sorted(set(public_objects())))
def test_docstring(name):
    errors = [(code, text) for code, text in validate(name)["errors"] if code in CODES]
    assert not errors


@pytest.mark.parametrize("name", sorted(n for n in public_objects() if n.count(".") == 1))
def test_public_names_have_an_example(name):
    assert "EX01" not in [code for code, _ in validate(name)["errors"]]


@pytest.mark.parametrize("text", in_all(*TEXTS, thorough=LONG))
def test_code_in_the_text_runs(text, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # for what they write
    blocks = BLOCK.findall((ROOT / text).read_text(encoding="utf-8"))
    assert blocks
    module = types.ModuleType("example_in_the_text")  # so that its classes can be pickled
    monkeypatch.setitem(sys.modules, module.__name__, module)
    module.X, module.y = load_iris(return_X_y=True)
    for block in blocks:
        exec(compile(block, f"<{text}>", "exec"), vars(module))
    plt.close("all")


def public_names():
    """Give the names in ``__all__`` of the packages and of all modules without underscore."""
    yield from (("protolearn.", name) for name in protolearn.__all__)
    for found in pkgutil.iter_modules(protolearn.__path__, "protolearn."):
        if not found.name.startswith("protolearn._"):
            module = importlib.import_module(found.name)
            yield from ((f"{found.name}.", name) for name in getattr(module, "__all__", ()))
    yield from (("protolearn_papers.", name) for name in protolearn_papers.__all__)


def reference_names(pattern):
    """Give the full names that a pattern finds in the reference, each in its current module."""
    pages = sorted((ROOT / "docs" / "reference").glob("*.rst"))
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    _, *parts = re.split(r"^\.\. currentmodule:: (\w+)$", text, flags=re.MULTILINE)
    for package, part in zip(parts[::2], parts[1::2], strict=True):
        yield from (f"{package}.{name}" for name in re.findall(pattern, part, re.MULTILINE))


def test_the_reference_has_all_public_names():
    """A name of a package may stand in the reference as one of ``protolearn`` itself."""
    listed = {*reference_names(LISTED), *reference_names(r"``([\w.]+)``")}
    top = {*protolearn.__all__}
    missing = [
        prefix + name
        for prefix, name in public_names()
        if prefix + name not in listed and not (name in top and f"protolearn.{name}" in listed)
    ]
    assert not missing, f"not in docs/reference: {', '.join(missing)}"


def test_the_reference_has_only_what_is_there():
    for name in reference_names(LISTED):
        module, _, last = name.rpartition(".")
        assert hasattr(importlib.import_module(module), last), name


def test_the_chart_is_drawn_and_leads_to_headings(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    chart = importlib.import_module("chart")
    drawn = (ROOT / "docs" / "images" / "choose_a_model.svg").read_text(encoding="utf-8")
    assert drawn == chart.chart(), "run python docs/draw.py"
    page = (ROOT / "docs" / "choose.md").read_text(encoding="utf-8")
    headings = {
        line[3:].lower().replace(" ", "-") for line in page.splitlines() if line[:3] == "## "
    }
    assert set(re.findall(r'href="#([\w-]+)"', drawn)) <= headings


@long_test
def test_the_figures_can_be_drawn_again(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    draw = importlib.import_module("draw")
    draw.draw(tmp_path)
    there = {path.name for path in (ROOT / "docs" / "images").iterdir()}
    assert {path.name for path in tmp_path.iterdir()} <= there


def estimators():
    """Yield each public estimator of the families, with the name of its package."""
    for family in FAMILIES:
        package = importlib.import_module(f"protolearn.{family}")
        for name in package.__all__:
            thing = getattr(package, name)
            public = name in protolearn.__all__ and inspect.isclass(thing)
            if public and issubclass(thing, BaseEstimator):
                yield family, thing


@pytest.mark.parametrize("family", FAMILIES)
def test_what_estimators_share_has_one_text(family):
    """Each writes out its parameters and own attributes, so that texts could drift apart."""
    texts = defaultdict(lambda: defaultdict(list))
    for estimator in (estimator for home, estimator in estimators() if home == family):
        doc, own = NumpyDocString(inspect.getdoc(estimator)), estimator.__name__
        for names, kind, text in (*doc["Parameters"], *doc["Attributes"]):
            for name in names.split(", "):
                groups = OTHER_TEXTS.get((family, name), {})
                group = [classes for classes in groups if own in classes.split()]
                texts[name, kind, *group]["\n".join(text)].append(own)
    differ = {key: dict(found) for key, found in texts.items() if len(found) > 1}
    assert texts
    assert not differ, f"make these texts equal, or add to OTHER_TEXTS: {differ}"


def test_other_texts_are_of_estimators_that_exist():
    known = {(family, estimator.__name__) for family, estimator in estimators()}
    for (family, _), groups in OTHER_TEXTS.items():
        assert {(family, name) for group in groups for name in group.split()} <= known


@pytest.mark.parametrize("estimator", [estimator for _, estimator in estimators()])
def test_estimators_name_their_parameters(estimator):
    """All parameters stand in a signature; none hide behind ``**kwargs``."""
    if estimator.__init__ is object.__init__:
        return  # it has none
    assert not hasattr(estimator.__init__, "__signature__")
    hidden = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    parameters = inspect.signature(estimator.__init__).parameters.values()
    assert not [parameter.name for parameter in parameters if parameter.kind in hidden]
