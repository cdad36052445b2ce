"""The models that the command knows by name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from functools import partial
from typing import Any

from ..selection import FAMILIES, MODELS, AutoPrototypeClassifier, plain_name
from .failure import Failure

AUTO = "auto"
"""Name of the automatic choice."""

LISTING = "protolearn compare --list-models"
"""What a user types to see all names."""


def model_named(name: str, seed: int) -> Any:
    """Return an unfitted model by its name; case, "-" and "_" do not matter.

    It is a class of protolearn, "auto", or a yardstick of scikit-learn.
    """
    model = (_ours() | _yardsticks())[official_name(name)]()
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    return model


def official_name(name: str) -> str:
    """Return the name as the list of models has it, or raise and say which names are near."""
    return _one_of(name, all_names())


def candidates(model: str) -> Any:
    """Return the families and models that may be chosen, by names with commas between them."""
    given = [name.strip() for name in model.split(",") if name.strip()]
    if given in ([], [AUTO]):
        return "all"
    for name in given:
        if plain_name(name) in map(plain_name, _yardsticks()):
            raise Failure(
                f"{name!r} is a model of scikit-learn; only protolearn compare can use it."
            )
    ours = [name for name in _ours() if name != AUTO]
    return [_one_of(name, [*FAMILIES, *ours]) for name in given]


def _one_of(name: str, every: Iterable[str]) -> str:
    """Return one of some names, however it is written, or raise and say which are near."""
    known = {plain_name(one): one for one in every}
    if plain_name(name) in known:
        return known[plain_name(name)]
    near = difflib.get_close_matches(plain_name(name), known, 3)
    hint = f" Did you mean {' or '.join(repr(known[one]) for one in near)}?" if near else ""
    raise Failure(f"there is no model {name!r}.{hint} '{LISTING}' lists all.")


def all_names() -> list[str]:
    """Return the names of the models; those of scikit-learn come last."""
    return [*_ours(), *_yardsticks()]


def print_models() -> None:
    """Print the names of all models."""
    print("Of protolearn:", ", ".join(_ours()))
    print("Families, for fit:", ", ".join(FAMILIES))
    print("From scikit-learn, for comparison:", ", ".join(_yardsticks()), flush=True)


def _ours() -> dict[str, Any]:
    """Return the models of protolearn."""
    found = {_command_name(name): model for name, model in MODELS.items()}
    # The encoder of the table scales already.
    auto = partial(AutoPrototypeClassifier, standardize=False)
    return {AUTO: auto, **dict(sorted(found.items()))}


def _yardsticks() -> dict[str, Any]:
    """Return a few models of scikit-learn that everybody knows."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC

    return {
        "knn": KNeighborsClassifier,
        "lda": LinearDiscriminantAnalysis,
        # The default of 100 steps is too few for many tables.
        "logistic-regression": partial(LogisticRegression, max_iter=1000),
        "random-forest": RandomForestClassifier,
        "svc": SVC,
    }


def _command_name(name: str) -> str:
    """Return the name of a class as words: SoftMarginSVM is soft-margin-svm."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()
