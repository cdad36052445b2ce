"""The composable classifier: any distance, any margin, any loss, any solver."""

from __future__ import annotations

from typing import Any, Unpack

from .._validation import check_choice, resolve
from ..distances import DISTANCES, Distance
from ..losses import LOSSES, Loss
from ..margins import MARGINS, Margin
from .lvq import CostFunctionClassifier
from .shared import SharedParameters


class PrototypeClassifier(CostFunctionClassifier):
    """Nearest-prototype classifier put together from its parts.

    It minimises ``loss(margin(distance(x, prototypes)))``. Each part is a short name or an object,
    one of ours or your own; :class:`GLVQ`, :class:`LOGM`, :class:`RSLVQ` and the others are
    particular choices.

    Parameters
    ----------
    distance : str or Distance, default="sqeuclidean"
        ``"sqeuclidean"``; learned ``"relevance"``, ``"matrix"``, ``"local_matrix"``; fixed
        ``"minkowski"``, ``"mahalanobis"``, ``"kernel"``; for rows of non-negative numbers ``"kl"``,
        ``"cauchy_schwarz"``, ``"renyi"``; or an object of :mod:`protolearn.distances`, which for
        ``"tangent"`` it has to be.
    margin : str or Margin, default="relative"
        ``"difference"``, ``"relative"``, ``"hypothesis"``, ``"log_odds"``, or an object of
        :mod:`protolearn.margins`.
    loss : str or Loss, default="sigmoid"
        ``"identity"``, ``"sigmoid"``, ``"logistic"``, ``"hinge"``, ``"broken_linear"``,
        ``"exponential"``, or an object of :mod:`protolearn.losses`. A short name has the default
        settings of its object, a slope of 1; to set or search them give the object:
        ``loss=Sigmoid(beta=2)``, ``loss__beta``. Steeper ones are mostly better: :class:`GLVQ` has
        15 with the relative margin, :class:`MCE` 2 with the difference.
    decision : {"nearest", "soft"}, default="nearest"
        Whether the nearest prototype decides, or all of them by their posterior.
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import PrototypeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PrototypeClassifier(margin="difference", loss="logistic").fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    """

    def __init__(
        self,
        *,
        distance: Any = "sqeuclidean",
        margin: Any = "relative",
        loss: Any = "sigmoid",
        decision: str = "nearest",
        **shared: Unpack[SharedParameters],
    ):
        super().__init__(**shared)
        self.distance = distance
        self.margin = margin
        self.loss = loss
        self.decision = decision

    def _axes(self) -> tuple[Distance, Margin, Loss]:
        return (
            resolve(self, "distance", DISTANCES, Distance),
            resolve(self, "margin", MARGINS, Margin),
            resolve(self, "loss", LOSSES, Loss),
        )

    @property
    def _is_soft(self) -> bool:  # type: ignore[override]
        return check_choice(self, "decision", ("nearest", "soft")) == "soft"
