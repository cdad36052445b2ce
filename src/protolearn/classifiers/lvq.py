"""Cost-function LVQ: the published algorithms as choices of margin and loss.

Each class is a docstring, its parameters and the line that names its parts.
"""

from __future__ import annotations

from abc import abstractmethod
from inspect import signature
from typing import Any, Unpack

from .._validation import check_choice, resolve
from ..distances import Distance, SquaredEuclidean
from ..losses import BrokenLinear, Exponential, Hinge, Identity, Logistic, Loss, Sigmoid, SlopedLoss
from ..margins import Difference, Hypothesis, LogOdds, Margin, Relative
from ..solvers import SOLVERS, Solver
from .settings import CostSettings
from .shared import OF_COSTS, SharedParameters, TrainingParameters
from .trained import TrainedClassifier


class CostFunctionClassifier(TrainedClassifier):
    """A classifier that lowers ``loss(margin(distance(x, prototypes)))``.

    A subclass names its parts in ``_axes``.
    """

    slope_factor_: float
    _settings_type = CostSettings
    _told = OF_COSTS
    _is_soft: bool = False
    """Whether all prototypes decide, by their posterior."""

    def __init__(
        self,
        *,
        solver: Any = "auto",
        attraction: float = 0.0,
        scale: Any = "data",
        **training: Unpack[TrainingParameters],
    ):
        super().__init__(**training)
        self.solver = solver
        self.attraction = attraction
        self.scale = scale

    @abstractmethod
    def _axes(self) -> tuple[Distance, Margin, Loss]:
        """Return the distance, the margin and the loss."""

    def _takes_sparse(self) -> bool:
        if isinstance(self.solver, str):
            return self.solver not in SOLVERS or SOLVERS[self.solver].takes_sparse
        return bool(getattr(self.solver, "takes_sparse", True))

    def _named_solver(self, *axes: Any, stream: bool) -> Solver:
        """Return the solver that the parameters name; raise if it does not fit the axes."""
        solver = resolve(self, "solver", SOLVERS, Solver, "auto")  # type: ignore[type-abstract]
        solver.check(*axes)
        if self.checkpoint is not None and "record" not in signature(solver.minimize).parameters:
            raise ValueError(
                f"{type(solver).__name__}.minimize has no parameter record, so that a fit by it "
                "cannot be resumed; leave out checkpoint."
            )
        if stream and isinstance(self.solver, str):
            solver = type(solver).for_stream()
        if stream:
            solver.check_streaming()
        return solver


class GLVQ(CostFunctionClassifier):
    """Generalised learning vector quantisation.

    Minimises ``phi(m)`` of the relative margin ``m = (D- - D+) / (D- + D+)``: how much nearer the
    own class is than the next one, as a share of both.

    Parameters
    ----------
    beta : float or None, default=15.0
        Slope of the sigmoid ``phi``; None takes the identity, ``phi(m) = -m``. It is up to ten
        times as steep where the classes begin hardly apart, as in texts; ``slope_factor_`` tells.
    {parameters}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Sato and Yamada (1996), *Generalized learning vector quantization*, NIPS 8.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GLVQ(random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    """

    def __init__(self, *, beta: float | None = 15.0, **shared: Unpack[SharedParameters]):
        super().__init__(**shared)
        self.beta = beta

    def _axes(self) -> tuple[Distance, Margin, Loss]:
        return (
            SquaredEuclidean(),
            Relative(),
            Identity() if self.beta is None else Sigmoid(self.beta),
        )


class MCE(CostFunctionClassifier):
    """Minimum classification error learning.

    Minimises a sigmoid of the difference margin ``D- - D+``: a smooth count of errors.

    Parameters
    ----------
    beta : float, default=2.0
        Slope of the sigmoid. It is up to ten times as steep where the classes begin hardly apart,
        as in texts; ``slope_factor_`` tells.
    {parameters}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Juang and Katagiri (1992), *Discriminative learning for minimum error classification*.
    Jin, Liu and Hou (2008), equations 3 to 6.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import MCE
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MCE(random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    """

    def __init__(self, *, beta: float = 2.0, **shared: Unpack[SharedParameters]):
        super().__init__(**shared)
        self.beta = beta

    def _axes(self) -> tuple[Distance, Margin, Loss]:
        return SquaredEuclidean(), Difference(), Sigmoid(self.beta)


class LOGM(CostFunctionClassifier):
    """Log-likelihood of the margin.

    Minimises ``log(1 + exp(-beta m))`` of the difference margin ``m = D- - D+``, a convex price.

    Parameters
    ----------
    beta : float, default=1.0
        Slope of the loss.
    {parameters}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Jin, Liu and Hou (2008), *Prototype learning with margin-based conditional log-likelihood
    loss*, ICPR.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import LOGM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LOGM(random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    """

    def __init__(self, *, beta: float = 1.0, **shared: Unpack[SharedParameters]):
        super().__init__(**shared)
        self.beta = beta

    def _axes(self) -> tuple[Distance, Margin, Loss]:
        return SquaredEuclidean(), Difference(), Logistic(self.beta)


class SNPC(CostFunctionClassifier):
    """Soft nearest prototype classifier.

    Minimises the posterior probability of the wrong classes under a mixture of equal Gaussians;
    the nearest prototype decides.

    Parameters
    ----------
    xi : float, default=2.0
        Sharpness of the Gaussians, ``exp(-xi D / scale)``. They are up to ten times as sharp where
        the classes begin hardly apart, as in texts; ``slope_factor_`` tells.
    {parameters}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Seo, Bode and Obermayer (2003), *Soft nearest prototype classification*, IEEE Transactions on
    Neural Networks 14.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import SNPC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SNPC(random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    """

    def __init__(self, *, xi: float = 2.0, **shared: Unpack[SharedParameters]):
        super().__init__(**shared)
        self.xi = xi

    def _axes(self) -> tuple[Distance, Margin, Loss]:
        return SquaredEuclidean(), LogOdds(self.xi), Sigmoid()


class RSLVQ(CostFunctionClassifier):
    """Robust soft learning vector quantisation.

    Maximises the posterior probability of the right class under a mixture of equal Gaussians, and
    decides by that posterior; ``predict_proba`` gives it.

    Parameters
    ----------
    xi : float, default=2.0
        Sharpness of the Gaussians, ``exp(-xi D / scale)``.
    {parameters}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Seo and Obermayer (2003), *Soft learning vector quantization*, Neural Computation 15.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import RSLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RSLVQ(random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    """

    _is_soft = True

    def __init__(self, *, xi: float = 2.0, **shared: Unpack[SharedParameters]):
        super().__init__(**shared)
        self.xi = xi

    def _axes(self) -> tuple[Distance, Margin, Loss]:
        return SquaredEuclidean(), LogOdds(self.xi), Logistic()


HYPOTHESIS_LOSSES: dict[str, type[SlopedLoss]] = {
    "hinge": Hinge,
    "broken_linear": BrokenLinear,
    "exponential": Exponential,
}


class MarginLVQ(CostFunctionClassifier):
    """LVQ by the hypothesis margin.

    Minimises a loss of ``(d- - d+) / 2``, the distance by which the prototypes may move before
    the sample changes its class. The hinge gives online loss minimisation, the broken linear loss
    resembles LVQ2.1, the exponential one AdaBoost.

    Parameters
    ----------
    loss : {"hinge", "broken_linear", "exponential"}, default="hinge"
        Price of the margin.
    beta : float, default=4.0
        Slope of the loss. The hinge and the broken linear loss are up to ten times as steep where
        the classes begin hardly apart, as in texts; ``slope_factor_`` tells.
    {parameters}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Crammer, Gilad-Bachrach, Navot and Tishby (2002), *Margin analysis of the LVQ algorithm*,
    NIPS 15.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import MarginLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MarginLVQ(random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    """

    _only_names = ("loss",)

    def __init__(
        self, *, loss: str = "hinge", beta: float = 4.0, **shared: Unpack[SharedParameters]
    ):
        super().__init__(**shared)
        self.loss = loss
        self.beta = beta

    def _axes(self) -> tuple[Distance, Margin, Loss]:
        check_choice(self, "loss", tuple(HYPOTHESIS_LOSSES))
        return SquaredEuclidean(), Hypothesis(), HYPOTHESIS_LOSSES[self.loss](self.beta)
