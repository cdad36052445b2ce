"""Real data by name: the sets bundled with scikit-learn and those of the benchmark folder."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._folder import Data, Source, folder_sources, folder_state

LOADERS = {  # sets that scikit-learn bundles need neither a download nor a folder
    "digits": "load_digits",  # the 1,797 test rows of optdigits
    "iris": "load_iris",
    "wdbc": "load_breast_cancer",
    "wine": "load_wine",
}


@dataclass(frozen=True)
class Description:
    """What a listing shows of one data set.

    Attributes
    ----------
    name : str
        Name that ``load`` takes.
    n_rows : int
        Number of rows, all parts together.
    n_features : int
        Number of columns of X.
    classes : dict of str to int
        Number of rows of each class, all parts together, sorted by label.
    parts : tuple of str
        Parts of the customary split, besides ``"all"``; empty when there is none.
    origin : str
        Where the rows come from: a scikit-learn function or a file.
    """

    name: str
    n_rows: int
    n_features: int
    classes: dict[str, int]
    parts: tuple[str, ...]
    origin: str


def load(name: str, part: str = "all") -> Data:
    """Load a data set by name.

    "iris", "wine", "wdbc" and "digits" come with scikit-learn, always. Any other name is looked
    up in the folder that the environment variable ``PROTOLEARN_DATA`` names, as
    ``NAME.csv.gz`` (header, numeric columns, the class in the last column ``target``) or
    ``NAME.npz`` (arrays ``X_train``, ``y_train``, ``X_test``, ``y_test``, or CSR parts).
    Loading a file never runs code from it.

    Parameters
    ----------
    name : str
        Name of the set; ``names()`` lists those available.
    part : {"all", "train", "test", "dev"}, default="all"
        Part of the customary split, where the set has one; "all" stacks the parts in the
        order train, dev, test.

    Returns
    -------
    X : ndarray or scipy.sparse.csr_array of shape (n_rows, n_features)
        Features as in the source, not scaled. Doubles from scikit-learn and CSV files;
        archives keep the type they store (usps float32, mnist uint8, word counts int32).
    y : ndarray of str of shape (n_rows,)
        Readable class names, also for digits: "0" to "9".

    Raises
    ------
    ValueError
        If the name or the part is unknown, or if the file is malformed.

    Examples
    --------
    >>> from protolearn.datasets import load
    >>> X, y = load("iris")
    >>> X.shape
    (150, 4)
    >>> print(y[0], y[-1])
    setosa virginica
    """
    source = _find(name)
    if part != "all":
        parts = source.parts()
        if part not in parts:
            known = ", ".join(map(repr, ("all", *parts)))
            reason = "" if parts else ", since the set has no customary split"
            raise ValueError(f"part={part!r} of {name!r} must be one of: {known}{reason}.")
    return source.read(part)


def names() -> list[str]:
    """List the data sets that ``load`` finds now.

    Returns
    -------
    list of str
        The bundled sets and those of the folder that ``PROTOLEARN_DATA`` names, sorted.

    Examples
    --------
    >>> from protolearn.datasets import names
    >>> "wine" in names()
    True
    """
    return sorted(_sources())


def feature_names(name: str) -> list[str]:
    """Return the names of the columns of a data set.

    Parameters
    ----------
    name : str
        Name of the set; ``names()`` lists those available.

    Returns
    -------
    list of str
        One name a column of X: the header of a CSV file, the words of a text set, pixel
        positions of an image set, or ``x0``, ``x1``, ... where the file names none.

    Examples
    --------
    >>> from protolearn.datasets import feature_names
    >>> feature_names("wine")[:3]
    ['alcohol', 'malic_acid', 'ash']
    """
    return _find(name).feature_names()


def describe(name: str) -> Description:
    """Describe a data set without reading its features.

    Parameters
    ----------
    name : str
        Name of the set; ``names()`` lists those available.

    Returns
    -------
    Description
        Name, size, class counts, parts and origin of the set.

    Examples
    --------
    >>> from protolearn.datasets import describe
    >>> wdbc = describe("wdbc")
    >>> wdbc.n_rows, wdbc.n_features, wdbc.classes
    (569, 30, {'benign': 357, 'malignant': 212})
    """
    source = _find(name)
    labels, counts = np.unique(source.labels(), return_counts=True)
    return Description(
        name=name,
        n_rows=int(counts.sum()),
        n_features=len(source.feature_names()),
        classes=dict(zip(labels.tolist(), counts.tolist(), strict=True)),
        parts=source.parts(),
        origin=source.origin,
    )


def _sources() -> dict[str, Source]:
    # Bundled sets go last: a file of the same name never replaces one.
    return folder_sources() | {name: BundledSource(name) for name in LOADERS}


def _find(name: Any) -> Source:
    if isinstance(name, str) and name in LOADERS:
        return BundledSource(name)
    sources = _sources()
    if isinstance(name, str) and name in sources:
        return sources[name]
    near = difflib.get_close_matches(str(name).lower(), sources, 3)
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    raise ValueError(
        f"Unknown data set {name!r}.{hint} Known now: {', '.join(sorted(sources))}. "
        f"{folder_state()}"
    )


class BundledSource(Source):
    """A data set inside the scikit-learn package."""

    def __init__(self, name: str) -> None:
        super().__init__(name, f"scikit-learn, sklearn.datasets.{LOADERS[name]}")

    def parts(self) -> tuple[str, ...]:
        return ()

    def read(self, part: str) -> Data:
        bunch = self._bunch()
        names = np.asarray(bunch.target_names).astype(np.str_)
        return np.asarray(bunch.data, dtype=np.float64), names[bunch.target]

    def labels(self) -> NDArray[np.str_]:
        return self.read("all")[1]

    def feature_names(self) -> list[str]:
        return [str(name) for name in self._bunch().feature_names]

    def _bunch(self) -> Any:
        # Imported here: sklearn.datasets is slow to import, and most users never load a set.
        from sklearn import datasets

        return getattr(datasets, LOADERS[self.name])()
