"""Data sets that are neither bundled nor in the folder: fetched through scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._folder import Data, folder_state
from ._loading import load, names
from ._sizes import SIZES, Size

IDS = {
    "diabetes": (37,),
    "pima": (37,),
    "glass": (41,),
    "glass2": (41,),
    "heart": (53,),
    "ionosphere": (59,),
    "sonar": (40,),
    "vehicle": (54,),
    "segment": (36,),
    "letter": (6,),
    "satimage": (182, 294),  # a version that lacks rows is known
    "pendigits": (32,),
    "optdigits": (28,),
    "usps": (41082,),
    "mnist": (554,),
}
"""Numbers of the sets at OpenML; the first one of the right size is taken."""

WINDOWS = {
    "build wind float": "float",
    "vehic wind float": "float",
    "build wind non-float": "non_float",
}

STATLOG_SOILS = {
    "1": "red soil",
    "2": "cotton crop",
    "3": "grey soil",
    "4": "damp grey soil",
    "5": "vegetation stubble",
    "7": "very damp grey soil",
}

CLASSES = {
    "pima": {"tested_negative": "0", "tested_positive": "1"},
    "glass2": WINDOWS,
    "satimage": {
        code + point: soil for code, soil in STATLOG_SOILS.items() for point in ("", ".", ".0")
    },
    "usps": {str(digit + 1): str(digit) for digit in range(10)},
}
"""Our names of the classes where theirs are others; rows of any other class are left out."""

TYPES = {"usps": np.float32, "mnist": np.uint8}
"""Types of X that are not double."""

WORD = "(?<![a-z])[a-z]{2,20}(?![a-z])"
"""A word: two to twenty letters in a row, and no more."""

FEWEST = 3
"""Training messages that a word is in, at least."""


def fetch(name: str, part: str = "all") -> Data:
    """Load a data set by name, and download it if it is not here.

    What :func:`load` finds is taken from there: the sets that come with scikit-learn and those of
    the folder that the environment variable ``PROTOLEARN_DATA`` names. Else "diabetes", "pima",
    "glass", "glass2", "heart", "ionosphere", "sonar", "vehicle", "segment", "letter",
    "satimage", "pendigits", "optdigits", "usps", "mnist" and "20ng" are downloaded by
    scikit-learn, which keeps them in its own folder, see :func:`sklearn.datasets.get_data_home`.
    A download must have the features and the rows of each class, in each part, that the set is
    known to have. The order of its rows can still be another one than that of a file.

    Parameters
    ----------
    name : str
        Name of the set.
    part : {"all", "train", "test", "dev"}, default="all"
        Part of the customary split, where the set has one.

    Returns
    -------
    X : ndarray or scipy.sparse.csr_array of shape (n_rows, n_features)
        Features, not scaled; of the word counts a sparse array.
    y : ndarray of str of shape (n_rows,)
        Class names.

    Raises
    ------
    ValueError
        If the name or the part is unknown, or if the file of the folder is malformed.
    FileNotFoundError
        If the set could not be downloaded, or if what came is not the set.

    See Also
    --------
    load : The same without network.

    Examples
    --------
    >>> from protolearn.datasets import fetch
    >>> X, y = fetch("iris")
    >>> X.shape
    (150, 4)
    """
    if not isinstance(name, str) or name not in SIZES or name in names():
        return load(name, part)
    size = SIZES[name]
    if part not in (known := dict.fromkeys(("all", *size.parts))):
        raise ValueError(
            f"part={part!r} of {name!r} must be one of: {', '.join(map(repr, known))}."
        )
    X, y = _download(name, part)
    if part == "all":
        return X, y
    rows = _rows_of_part(part, size)
    return X[rows], y[rows]


def _download(name: str, part: str) -> Data:
    """Return a set from the first source that has it; raise if none has."""
    reasons = []
    for source in _download_sources(name):
        try:
            X, y = source()
            _check(X, y, SIZES[name], part)
        except (OSError, ValueError, KeyError) as error:  # of the network, or of what came
            reasons.append(f"{type(error).__name__}: {error}")
        else:
            return X, y
    raise FileNotFoundError(
        f"The data set {name!r} (part={part!r}) is neither in a folder nor to be had from the "
        f"network ({'; '.join(dict.fromkeys(reasons))}). Connect to the network and try again, or "
        f"have it as {name}.csv.gz or {name}.npz. {folder_state()}"
    )


def _download_sources(name: str) -> Iterator[Callable[[], Data]]:
    if name == "20ng":
        yield word_counts
    for number in IDS.get(name, ()):
        yield partial(_from_openml, name, number)


def _from_openml(name: str, number: int) -> Data:
    """Return rows and classes as our files have them."""
    # Imported here: sklearn.datasets is slow to import.
    from sklearn import datasets

    X, y = datasets.fetch_openml(
        data_id=number, return_X_y=True, as_frame=False, parser="liac-arff", n_retries=1
    )
    labels = np.asarray(y).astype(np.str_)
    rows, named = _classes_as_ours(labels, name)
    return np.asarray(X, dtype=TYPES.get(name, np.float64))[rows], named


def _classes_as_ours(labels: NDArray[np.str_], name: str) -> tuple[Any, NDArray[np.str_]]:
    """Return the rows of the classes that are wanted, and our names of these."""
    wanted = {label for classes in SIZES[name].parts.values() for label in classes}
    if name not in CLASSES or wanted.issuperset(labels.tolist()):
        return slice(None), labels
    ours = CLASSES[name]
    rows = np.flatnonzero(np.isin(labels, list(ours)))
    return rows, np.array([ours[label] for label in labels[rows].tolist()], dtype=np.str_)


def _check(X: Any, y: NDArray[np.str_], size: Size, part: str) -> None:
    """Raise if features, or rows of each class, are not those of the set.

    The parts are only looked at if one is asked for: without them the order of rows is free.
    """
    if X.shape[1] != size.n_features:
        raise ValueError(f"it has {X.shape[1]} features instead of {size.n_features}")
    wanted: dict[str, int] = {}
    for classes in size.parts.values():
        for label, rows in classes.items():
            wanted[label] = wanted.get(label, 0) + rows
    if (found := _counts(y)) != wanted:
        raise ValueError(f"it has the rows {found} in its classes instead of {wanted}")
    for one in size.parts if part != "all" else ():
        if _counts(y[_rows_of_part(one, size)]) != size.parts[one]:
            raise ValueError(
                "its rows are not in the order of the customary split, so that only part='all' "
                "can be had"
            )


def _rows_of_part(part: str, size: Size) -> slice:
    start = 0
    for one, classes in size.parts.items():
        end = start + sum(classes.values())
        if one == part:
            return slice(start, end)
        start = end
    raise ValueError(f"there is no part {part!r}")


def _counts(y: NDArray[np.str_]) -> dict[str, int]:
    labels, rows = np.unique(y, return_counts=True)
    return dict(zip(labels.tolist(), rows.tolist(), strict=True))


def word_counts() -> Data:
    """Return the words of whole 20 Newsgroups messages, headers too, and the groups.

    Training rows come first, then by class and number.
    """
    from sklearn import datasets
    from sklearn.feature_extraction.text import CountVectorizer

    train, test = (
        _in_order(datasets.fetch_20newsgroups(subset=part, shuffle=False))
        for part in ("train", "test")
    )
    counter = CountVectorizer(token_pattern=WORD, min_df=FEWEST, dtype=np.int32)
    blocks = [counter.fit_transform(train[0]), counter.transform(test[0])]
    return sp.csr_array(sp.vstack(blocks, format="csr")), np.array(train[1] + test[1])


def _in_order(bunch: Any) -> tuple[list[str], list[str]]:
    """Return texts and groups, by group and number of the message."""
    groups = [str(bunch.target_names[code]) for code in bunch.target]
    numbers = [int(Path(path).name) for path in bunch.filenames]
    order = sorted(range(len(groups)), key=lambda row: (groups[row], numbers[row]))
    return [bunch.data[row] for row in order], [groups[row] for row in order]
