"""The data sets that scikit-learn bundles: they need neither a download nor a folder."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._source import Data, Source

LOADERS = {
    "digits": "load_digits",  # the 1,797 test rows of optdigits
    "iris": "load_iris",
    "wdbc": "load_breast_cancer",
    "wine": "load_wine",
}


class BundledSource(Source):
    """A data set inside the scikit-learn package."""

    def __init__(self, name: str) -> None:
        super().__init__(name, f"scikit-learn, sklearn.datasets.{LOADERS[name]}")

    def parts(self) -> tuple[str, ...]:
        return ()

    def read(self, part: str) -> Data:
        bunch = self._bunch()
        return np.asarray(bunch.data, dtype=np.float64), _names_of(bunch)

    def labels(self) -> NDArray[np.str_]:
        return _names_of(self._bunch())

    def feature_names(self) -> list[str]:
        return [str(name) for name in self._bunch().feature_names]

    def _bunch(self) -> Any:
        # Imported here: sklearn.datasets is slow to import, and most users never load a set.
        from sklearn import datasets

        return getattr(datasets, LOADERS[self.name])()


def _names_of(bunch: Any) -> NDArray[np.str_]:
    names: NDArray[np.str_] = np.asarray(bunch.target_names).astype(np.str_)[bunch.target]
    return names
