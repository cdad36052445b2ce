"""Checks of parameters; every message says what was given and what to do."""

from __future__ import annotations

import difflib
import numbers
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import column_or_1d

T = TypeVar("T")


ENDS_SILENTLY = (
    "A callback raised StopIteration, which would end an iteration of the caller without an error. "
    "Return True to stop the fit, or raise another error."
)


@contextmanager
def all_or_nothing(model: Any) -> Iterator[None]:
    """Restore a model exactly if an error, of whatever type, ends the fit within.

    Only names are restored: a fit replaces what an earlier one has stored, and never changes it.
    """
    before = dict(vars(model))
    try:
        yield
    except BaseException as error:
        model.__dict__ = before
        if isinstance(error, StopIteration):
            raise RuntimeError(ENDS_SILENTLY) from None
        raise


class ScaleWarning(UserWarning):
    """A few values dominate all distances, or prototypes lie far outside the data.

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import load_wine
    >>> from protolearn import GLVQ, ScaleWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", ScaleWarning)
    ...     try:
    ...         model = GLVQ().fit(*load_wine(return_X_y=True))
    ...     except ScaleWarning as warning:
    ...         print(str(warning)[:48])
    Feature 12 makes up 99.8% of the variance of the
    """


BOOLEANS = bool, np.bool_
"""Truth values, which are not numbers here."""

NORMS = [1, 2, np.inf]
"""Norms in which a row may move."""


def number_in(
    value: Any,
    name: str,
    low: float,
    high: float = np.inf,
    *,
    above: bool = False,
    below: bool = False,
) -> float:
    """Return a value as a finite float from ``low`` to ``high``; ``above``, ``below``: without."""
    if isinstance(value, numbers.Real) and not isinstance(value, BOOLEANS):
        try:
            number = float(value)
        except OverflowError:
            number = np.inf
        ends = (low, above), (high, below)
        if np.isfinite(number) and low <= number <= high and (number, True) not in ends:
            return number
    if high < np.inf:
        wanted = f" in {'(' if above else '['}{low:g}, {high:g}{')' if below else ']'}"
    elif low > -np.inf:
        wanted = f" greater than {low:g}" if above else f" of at least {low:g}"
    else:
        wanted = ""
    raise ValueError(f"{name.format(value=value)} must be a finite number{wanted}.")


def integer_in(value: Any, name: str, low: int, high: int = 10**9) -> int:
    """Return a value as an int from ``low`` to ``high``."""
    is_integer = isinstance(value, numbers.Integral) and not isinstance(value, BOOLEANS)
    if is_integer and low <= value <= high:
        return int(value)
    if is_integer and value > high:  # its digits might fill the screen
        raise ValueError(f"{name.format(value=high + 1)} or more is too large; at most {high}.")
    raise ValueError(f"{name.format(value=value)} must be an integer of at least {low}.")


def check_number(
    owner: object,
    name: str,
    *,
    low: float,
    high: float = np.inf,
    above: bool = False,
    below: bool = False,
) -> float:
    """Return the parameter ``owner.name`` as a finite float within its bounds."""
    shown = f"{name}={{value!r}} of {type(owner).__name__}"
    return number_in(getattr(owner, name), shown, low, high, above=above, below=below)


def check_positive(owner: object, name: str) -> float:
    """Return the parameter ``owner.name`` as a positive float."""
    return check_number(owner, name, low=0.0, above=True)


def check_integer(owner: object, name: str, *, low: int) -> int:
    """Return the parameter ``owner.name`` as an int of at least ``low``."""
    return integer_in(getattr(owner, name), f"{name}={{value!r}} of {type(owner).__name__}", low)


def check_flag(owner: object, name: str) -> bool:
    """Return the parameter ``owner.name`` if it is True or False."""
    value = getattr(owner, name)
    if isinstance(value, BOOLEANS):
        return bool(value)
    raise ValueError(f"{name}={value!r} of {type(owner).__name__} must be True or False.")


def check_verbose(owner: Any) -> None:
    """Raise if the parameter ``owner.verbose`` is neither a number of zero or more nor a flag."""
    if not isinstance(owner.verbose, BOOLEANS):
        integer_in(owner.verbose, f"verbose={{value!r}} of {type(owner).__name__}", 0)


def check_history(owner: Any) -> Any:
    """Return the parameter ``owner.history``: a flag, or how often to keep where training is."""
    if isinstance(owner.history, BOOLEANS):
        return bool(owner.history)
    return check_choice(owner, "history", ("sweep", "step"), True, False)


def check_choice(owner: object, name: str, choices: tuple[str, ...], *others: object) -> str:
    """Return the parameter ``owner.name`` if it is one of the choices.

    ``others`` are further values that the owner understands, for the message alone.
    """
    value = getattr(owner, name)
    if isinstance(value, str) and value in choices:
        return value
    raise ValueError(
        f"{name}={value!r} of {type(owner).__name__} must be one of "
        f"{', '.join(map(repr, (*choices, *others)))}.{_near(value, choices)}"
    )


def check_norm(norm: Any) -> Any:
    """Return 1, 2 or ``numpy.inf``; raise for any other norm."""
    if isinstance(norm, BOOLEANS) or not isinstance(norm, numbers.Real) or norm not in NORMS:
        raise ValueError(f"norm={norm!r} must be 1, 2 or numpy.inf.")
    return NORMS[NORMS.index(float(norm))]


def resolve(
    owner: object, name: str, registry: Mapping[str, type[T]], base: type[T], *others: str
) -> T:
    """Turn the parameter ``owner.name``, a short name or an object, into an object.

    ``others`` are further names that the owner understands, for the message alone.
    """
    value = getattr(owner, name)
    if isinstance(value, base):
        return value
    if isinstance(value, str) and value in registry:
        return registry[value]()
    names = (*others, *registry)
    given = f"the class {value.__name__}" if isinstance(value, type) else repr(value)
    raise ValueError(
        f"{name}={given} of {type(owner).__name__} must be one of "
        f"{', '.join(map(repr, names))}, or an object derived from "
        f"{base.__module__.rsplit('.', 1)[0]}.{base.__name__}.{_near(value, names)}"
    )


def check_sample_weight(sample_weight: Any, n_samples: int) -> NDArray[np.float64] | None:
    """Return the weights as one finite, non-negative double a row, or None for equal weights."""
    weight = finite_weights(sample_weight, n_samples)
    if weight is not None and not weight.any():
        raise ValueError("sample_weight is zero everywhere: there is nothing to learn from.")
    return weight


def finite_weights(sample_weight: Any, n_samples: int) -> NDArray[np.float64] | None:
    """Return the same of some rows, which may all have the weight zero."""
    if sample_weight is None:
        return None
    if np.ma.is_masked(sample_weight):
        raise ValueError("sample_weight is an array with masked values. Leave these rows out.")
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_samples, weight)
    if weight.shape != (n_samples,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}, expected one weight a row: ({n_samples},)."
        )
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError("sample_weight must be finite and non-negative.")
    return weight


def check_class_weight(class_weight: Any, classes: Any, y: Any) -> NDArray[np.float64]:
    """Return the weight of each class."""
    if isinstance(class_weight, str) and class_weight != "balanced":
        raise ValueError(
            f"class_weight={class_weight!r} must be 'balanced', a dict of weights by label or None."
        )
    by_class: NDArray[np.float64] = compute_class_weight(class_weight, classes=classes, y=y)
    check_weight_range(by_class, f"class_weight={class_weight!r} must give a weight")
    return by_class


def check_weight_range(weight: NDArray[np.float64], what: str) -> None:
    """Raise if weights have sizes with which one cannot compute."""
    if not ((weight == 0.0) | ((weight >= 1e-100) & (weight <= 1e100))).all():
        raise ValueError(f"{what} that is zero, or from 1e-100 to 1e100; rescale the weights.")


def _near(value: Any, choices: tuple[str, ...]) -> str:
    """Suggest the choice that a misspelt value resembles."""
    match = difflib.get_close_matches(str(value), choices, 1)
    return f" Did you mean {match[0]!r}?" if match else ""


def known_classes(model: Any, classes: Any) -> NDArray[Any]:
    """Return the classes of a stream; raise if a later call names others."""
    known: NDArray[Any] | None = getattr(model, "classes_", None)
    if classes is None and known is None:
        raise ValueError(
            "classes must be given at the first call of partial_fit: all labels that will "
            "come, for example np.unique(y)."
        )
    if classes is None:
        return known  # type: ignore[return-value]
    if np.ndim(classes) != 1:
        raise ValueError(
            f"classes={classes!r} must be a list or an array of labels, for example np.unique(y)."
        )
    given = np.unique(column_or_1d(classes))
    if known is not None and not np.array_equal(given, known):
        raise ValueError(
            f"classes={given.tolist()!r} differ from {known.tolist()!r} of the first call."
        )
    if len(given) < 2:
        raise ValueError(f"classes={given.tolist()!r} must name at least two labels.")
    return given
