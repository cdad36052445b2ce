"""LVQ with a learned metric: relevances, a matrix, or several matrices.

Each class is a docstring, its parameters and the line that names its parts.
"""

from __future__ import annotations

from typing import Any, Unpack

from sklearn.base import TransformerMixin

from .._validation import check_choice
from ..distances import Distance, LocalMatrix, Matrix, Relevance
from ..losses import Identity, Logistic, Loss, Sigmoid
from ..margins import LogOdds, Margin, Relative
from .lvq import CostFunctionClassifier
from .shared import SharedParameters


class GlobalMetricClassifier(TransformerMixin, CostFunctionClassifier):
    """A classifier with one learned map, which makes it a transformer as well."""

    def transform(self, X: Any) -> Any:
        """Return ``Omega x``: the rows where the learned metric is the plain Euclidean one.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The rows. A Dask array or frame is answered lazily, by a Dask array.

        Returns
        -------
        Z : array of shape (n_samples, rank)
            In the units of the distance; a frame if ``set_output`` asks for one.
        """
        return self._map_rows(X)


class GRLVQ(GlobalMetricClassifier):
    """Generalised relevance LVQ: GLVQ with a learned weight for every feature.

    The distance is ``sum_j lambda_j (x_j - w_j)^2``; ``relevances_`` holds the weights lambda,
    which sum to one. Scale the features beforehand, or the relevances also make up for their
    units.

    Parameters
    ----------
    beta : float or None, default=15.0
        Slope of the sigmoid ``phi``; None takes the identity, ``phi(m) = -m``.
    {parameters}

    Attributes
    ----------
    relevances_ : array of shape (d,)
        How much each feature counts.
    omega_, metric_ : arrays of shape (d, d)
        Diagonal matrices of the roots of the relevances, and of the relevances.
    {attributes}

    References
    ----------
    Hammer and Villmann (2002), *Generalized relevance learning vector quantization*, Neural
    Networks 15.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GRLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GRLVQ(random_state=0).fit(X, y)
    >>> bool(model.relevances_[2:].sum() > 0.5)  # petals
    True
    """

    def __init__(self, *, beta: float | None = 15.0, **shared: Unpack[SharedParameters]):
        super().__init__(**shared)
        self.beta = beta

    def _axes(self) -> tuple[Distance, Margin, Loss]:
        return Relevance(), Relative(), Identity() if self.beta is None else Sigmoid(self.beta)


class GMLVQ(GlobalMetricClassifier):
    """Generalised matrix LVQ: GLVQ with a learned linear map.

    The distance is ``|Omega (x - w)|^2``, the squares of the entries of Omega sum to one. With
    ``rank=2`` the map is a picture of the data in which the classes come apart; ``transform`` gives
    it.

    Parameters
    ----------
    rank : int, default=None
        Number of rows of Omega; None: as many as there are features.
    beta : float or None, default=10.0
        Slope of the sigmoid ``phi``; None takes the identity, ``phi(m) = -m``.
    regularization : float, default=0.0
        Weight mu of the penalty ``-(mu / 2) log det(Omega Omega^T)``, which keeps the metric from
        collapsing to few directions.
    {parameters}

    Attributes
    ----------
    omega_ : array of shape (rank, d)
        The map. It has fewer rows where the features or the directions in which the data vary are
        fewer.
    metric_ : array of shape (d, d)
        ``Omega^T Omega``.
    relevances_ : array of shape (d,)
        Its diagonal: how much each feature counts. They sum to one.
    {attributes}

    References
    ----------
    Schneider, Biehl and Hammer (2009), *Adaptive relevance matrices in learning vector
    quantization*, Neural Computation 21. Bunte et al. (2012), *Limited rank matrix learning*,
    Neural Networks 26.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GMLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GMLVQ(rank=2, random_state=0).fit(X, y)
    >>> model.transform(X).shape
    (150, 2)
    """

    def __init__(
        self,
        *,
        rank: int | None = None,
        beta: float | None = 10.0,
        regularization: float = 0.0,
        **shared: Unpack[SharedParameters],
    ):
        super().__init__(**shared)
        self.rank = rank
        self.beta = beta
        self.regularization = regularization

    def _axes(self) -> tuple[Distance, Margin, Loss]:
        distance = Matrix(self.rank, self.regularization)
        return distance, Relative(), Identity() if self.beta is None else Sigmoid(self.beta)


class LGMLVQ(CostFunctionClassifier):
    """Local matrix LVQ: a learned linear map for each class, or for each prototype.

    Parameters
    ----------
    localized : {"class", "prototype"}, default="class"
        Who has a map of its own.
    rank : int, default=None
        Number of rows of each Omega; None: as many as there are features.
    beta : float or None, default=10.0
        Slope of the sigmoid ``phi``; None takes the identity, ``phi(m) = -m``.
    regularization : float, default=0.0
        Weight mu of the penalty ``-(mu / 2) log det(Omega Omega^T)``, mean over the maps. Where
        rows are few and labels noisy, 0.05 or 0.1 keeps the maps from learning the noise.
    {parameters}

    Attributes
    ----------
    omega_ : array of shape (groups, rank, d)
        The maps, in the order of ``classes_`` or of the prototypes.
    metric_ : array of shape (groups, d, d)
        ``Omega^T Omega`` of each.
    relevances_ : array of shape (groups, d)
        Their diagonals; each row sums to one.
    {attributes}

    References
    ----------
    Schneider, Biehl and Hammer (2009), *Adaptive relevance matrices in learning vector
    quantization*, Neural Computation 21.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import LGMLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> LGMLVQ(random_state=0).fit(X, y).relevances_.shape
    (3, 4)
    """

    def __init__(
        self,
        *,
        localized: str = "class",
        rank: int | None = None,
        beta: float | None = 10.0,
        regularization: float = 0.0,
        **shared: Unpack[SharedParameters],
    ):
        super().__init__(**shared)
        self.localized = localized
        self.rank = rank
        self.beta = beta
        self.regularization = regularization

    def _axes(self) -> tuple[Distance, Margin, Loss]:
        check_choice(self, "localized", ("class", "prototype"))
        distance = LocalMatrix(self.rank, self.regularization, self.localized)
        return distance, Relative(), Identity() if self.beta is None else Sigmoid(self.beta)


class MRSLVQ(GlobalMetricClassifier):
    """Matrix robust soft LVQ: RSLVQ with a learned linear map.

    Maximises the posterior probability of the right class under a mixture of Gaussians of one
    learned shape, and decides by that posterior.

    Parameters
    ----------
    rank : int, default=None
        Number of rows of Omega; None: as many as there are features.
    xi : float, default=2.0
        Sharpness of the Gaussians, ``exp(-xi D / scale)``.
    regularization : float, default=0.0
        Weight mu of the penalty ``-(mu / 2) log det(Omega Omega^T)``.
    {parameters}

    Attributes
    ----------
    omega_, metric_, relevances_ : arrays
        As in :class:`GMLVQ`.
    {attributes}

    References
    ----------
    Schneider, Biehl and Hammer (2009), *Distance learning in discriminative vector quantization*,
    Neural Computation 21.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import MRSLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MRSLVQ(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _is_soft = True

    def __init__(
        self,
        *,
        rank: int | None = None,
        xi: float = 2.0,
        regularization: float = 0.0,
        **shared: Unpack[SharedParameters],
    ):
        super().__init__(**shared)
        self.rank = rank
        self.xi = xi
        self.regularization = regularization

    def _axes(self) -> tuple[Distance, Margin, Loss]:
        return Matrix(self.rank, self.regularization), LogOdds(self.xi), Logistic()
