"""What the arrays of a fitted model must be: their shapes, types and ranges.

Compiled code trusts its arrays: an index beyond the end reads memory that is not the model's. So a
model is compared with these tables before it is saved, and after it is loaded.

A size in a shape is a letter, which stands for one number in the whole estimator: ``d`` features,
``c`` classes, ``u`` hyperplanes (one for two classes, else one for each class). After the sizes
come "float" (finite numbers), "number" (numbers that may be infinite or missing), "sorted" (all
different), or "below" and a size.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.preprocessing import OneHotEncoder

from ..analysis import RejectClassifier
from ..classifiers import NearestPrototypeClassifier
from ..distances import MixedDistance, are_places
from ..ensemble import ExemplarSVM, PrototypeSVM
from ..linear import LinearPrototypeClassifier
from ..rule import DecisionRule

HYPERPLANES = {
    "classes_": "c sorted",
    "coef_": "u d float",
    "intercept_": "u float",
    "shift_": "u float",
    "offset_": "u float",
    "_lengths": "u float",
    "kernel_.center": "d float",
    "support_vectors_": "s d float",
    "relevance_vectors_": "r d float",
    "hidden_coef_": "u h d float",
    "hidden_intercept_": "u h float",
    "patterns_": "p d float",
    "_couplings": "d d float",
    "_rows": "t d float",
    "_factor": "t t float",
}

PROTOTYPES = {
    "rule_.classes": "c sorted",
    "rule_.codebook.prototypes": "K d float",
    "rule_.codebook.labels": "K below c",
    "rule_.codebook.metric": "g p float",
    "rule_.codebook.group": "K below g",
    "rule_.codebook.center": "d float",
    "rule_.offsets": "K float",
    "rule_.log.codebook.prototypes": "L d float",
    "rule_.log.codebook.labels": "L below c",
    "rule_.log.codebook.metric": "h p float",
    "rule_.log.codebook.group": "L below h",
    "rule_.log.codebook.center": "d float",
    "rule_.log.offsets": "L float",
}

COMBINATIONS = PROTOTYPES | {
    "rule_.codebook.prototypes": "K s float",
    "rule_.codebook.center": "s float",
    "rule_.distance.rows": "s d float",
    "rule_.distance.columns": "s below d",
    "rule_.distance.kernel.center": "d float",
    "support_": "s",
}
"""Of prototypes that are combinations of training rows."""

VOTERS = {
    "classes_": "c sorted",
    "raised_scores_": "c float",
    "_voters.weights": "M d float",
    "_voters.intercepts": "M float",
    "_voters.exemplars": "M d float",
    "_voters.label": "M below c",
    "_voters.curves": "M w number",
    "_voters.reach": "M float",
    "exemplars_": "M d float",
    "hyperplanes_": "M d float",
    "offsets_": "M float",
    "prototypes_": "M d float",
    "prototype_labels_": "M",
}

TABLES: tuple[tuple[type, dict[str, str]], ...] = (
    (NearestPrototypeClassifier, {}),
    (LinearPrototypeClassifier, {**HYPERPLANES, "prototypes_": "c d float"}),
    (ExemplarSVM, VOTERS),
    (PrototypeSVM, VOTERS),
    (RejectClassifier, {"classes_": "c sorted", "thresholds_": "c number"}),
    (BaseEstimator, HYPERPLANES),  # perceptrons, the automatic choice
)
"""Of each kind of estimator; the first that fits counts."""

METRICS: dict[str, int | str] = {
    **dict.fromkeys(("SquaredEuclidean", "PartialSquaredEuclidean"), 0),
    **dict.fromkeys(("KullbackLeibler", "CauchySchwarz"), 1),
    **dict.fromkeys(("Minkowski", "Renyi"), 2),
    "Kernel": 4,
    **dict.fromkeys(("Relevance", "PartialRelevance"), "d"),
    **dict.fromkeys(("Matrix", "PartialMatrix", "Tangent"), "k d"),
}
"""How many numbers a row of the metric has: so many, one a feature, or several a feature."""

NEEDED = "cdghKL"
"""Sizes that are at least one."""

TWISTER = 624  # numbers in the state of a RandomState


def find_damage(model: Any) -> str:
    """Return what is wrong with a model or with a part of it; "" if nothing is."""
    for place, part in _parts(model, type(model).__name__, set()):
        if isinstance(part, np.random.RandomState):
            position = part.get_state(legacy=False)["state"]["pos"]
            if not 0 <= position <= TWISTER:
                return f"{place} has the position {position}"
        elif isinstance(part, OneHotEncoder) and hasattr(part, "categories_"):
            if not _adds_up(part):
                return f"{place}._n_features_outs does not fit categories_"
        elif hasattr(part, "n_features_in_") and any(
            kind.__module__.startswith("protolearn.") for kind in type(part).__mro__
        ):
            for damage in _damages(part):
                return f"{place}.{damage}"
    return ""


def _parts(thing: Any, place: str, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """Return all objects within an object, with their places."""
    plain = isinstance(thing, np.ndarray) and thing.dtype != object
    if id(thing) in seen or plain or isinstance(thing, (str, bytes, type)):
        return
    seen.add(id(thing))
    if isinstance(thing, dict):
        named = [(f"{place}[{name!r}]", part) for name, part in thing.items()]
    elif isinstance(thing, (list, tuple, set, np.ndarray)):
        items = thing.ravel() if isinstance(thing, np.ndarray) else thing
        named = [(f"{place}[{number}]", part) for number, part in enumerate(items)]
    else:
        named = [(f"{place}.{name}", part) for name, part in getattr(thing, "__dict__", {}).items()]
        yield place, thing
    for name, part in named:
        yield from _parts(part, name, seen)


def _damages(estimator: Any) -> Iterator[str]:
    """Return each array of an estimator that is not what it must be."""
    n_features = estimator.n_features_in_
    if type(n_features) is not int or n_features < 1:
        yield f"n_features_in_ is {n_features!r}"
        return
    table = next(table for kind, table in TABLES if isinstance(estimator, kind))
    rule = getattr(estimator, "rule_", None)
    if isinstance(rule, DecisionRule):
        combines = type(rule.distance).__name__ in ("GivenProducts", "FeatureSpaceDistance")
        table = table | (COMBINATIONS if combines else PROTOTYPES)
    sizes: dict[str, int] = {"d": n_features}
    for name, wanted in table.items():
        array = _attribute(estimator, name)
        problem = "" if array is None else _problem(array, wanted.split(), sizes)
        if problem:
            yield f"{name} {problem}"
            return
        if "c" in sizes:
            sizes.setdefault("u", 1 if sizes["c"] == 2 else sizes["c"])
    width = getattr(_attribute(estimator, "_voters.calibration"), "width", sizes.get("w"))
    if width != sizes.get("w"):
        yield f"_voters.curves has {sizes.get('w')} numbers in a row"
    if "p" in sizes and rule is not None:
        if not _fits_metric(rule, sizes["p"], sizes["d"]):
            yield f"rule_.codebook.metric has {sizes['p']} numbers in a row"
        yield from _lost_memories(getattr(estimator, "_memory", None), rule.codebook)


def _adds_up(encoder: Any) -> bool:
    """Whether an encoder writes within the columns that it says it has.

    The attributes are private. Without one of them the encoder itself raises an error.
    """
    if not hasattr(encoder, "_n_features_outs") or not hasattr(encoder, "_drop_idx_after_grouping"):
        return True
    dropped = encoder._drop_idx_after_grouping
    for number, words in enumerate(encoder.categories_):
        mapping = getattr(encoder, "_default_to_infrequent_mappings", {number: None})[number]
        codes = np.arange(len(words)) if mapping is None else mapping
        drop = None if dropped is None else dropped[number]
        width = codes.max(initial=-1) + 1
        is_sound = codes.shape == (len(words),) and codes.min(initial=0) >= 0
        if not (is_sound and (drop is None or 0 <= drop < width)):
            return False
        if encoder._n_features_outs[number] != width - (drop is not None):
            return False
    return len(encoder._n_features_outs) == len(encoder.categories_) == encoder.n_features_in_


def _lost_memories(memory: Any, codebook: Any) -> Iterator[str]:
    """Return each array that a solver keeps between steps and that does not fit the codebook."""
    for kept, like in (("by_prototype", codebook.prototypes), ("by_group", codebook.metric)):
        for name, array in (getattr(memory, kept, None) or {}).items():
            shape = like.shape[:1] if name == "rate" else like.shape
            is_fit = isinstance(array, np.ndarray) and array.dtype == np.float64
            if not (is_fit and array.shape == shape and array.flags.c_contiguous):
                yield f"_memory.{kept}[{name!r}] does not fit the prototypes"


def _attribute(thing: Any, path: str) -> Any:
    """Return what is at the end of a path of attributes; None if it is not there."""
    for name in path.split("."):
        thing = getattr(thing, name, None)
    return thing


def _problem(array: Any, wanted: list[str], sizes: dict[str, int]) -> str:
    """Return what is wrong with an array; sizes that had no number yet get one."""
    rule = next((word for word in wanted if len(word) > 1), "")
    axes = wanted[: wanted.index(rule)] if rule else wanted
    if not isinstance(array, np.ndarray) or array.ndim != len(axes):
        return f"is not an array with {len(axes)} axes"
    for name, size in zip(axes, array.shape, strict=True):
        if sizes.setdefault(name, size) != size or (name in NEEDED and not size):
            return f"has the shape {array.shape}"
    kind = {"float": np.float64, "number": np.float64, "below": np.intp}.get(rule, array.dtype)
    if array.dtype != kind or not (array.flags.c_contiguous or array.flags.f_contiguous):
        return f"has the type {array.dtype}"
    if rule == "float" and not np.isfinite(array).all():
        return "is not finite everywhere"
    if rule == "below" and array.size and not 0 <= array.min() <= array.max() < sizes[wanted[-1]]:
        return f"is not between 0 and {sizes[wanted[-1]] - 1}"
    if rule == "sorted" and not (array[:-1] < array[1:]).all():
        return "is not sorted, or holds a class twice"
    return ""


def _fits_metric(rule: Any, n_numbers: int, n_features: int) -> bool:
    """Whether the rows of a metric are as long as the distance reads them."""
    distance = rule.distance
    if isinstance(distance, MixedDistance):
        return are_places(rule.codebook.metric, n_features)
    names = [kind.__name__ for kind in type(distance).__mro__ if kind.__name__ in METRICS]
    if not names:
        return True  # of a user, who answers for it
    wanted = METRICS[names[0]]
    several = wanted == "k d" and n_numbers % n_features == 0 < n_numbers
    return several or n_numbers == (n_features if wanted == "d" else wanted)
