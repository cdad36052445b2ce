"""Heuristic LVQ: Kohonen's rules, which move prototypes but follow no gradient."""

from __future__ import annotations

from typing import Any, ClassVar, Unpack

from .._validation import check_choice, check_number, resolve
from ..distances import DISTANCES, Distance
from ..solvers import LEAST_IN_STREAMS, SCHEDULES
from .settings import RuleSettings
from .shared import (
    OF_RULES,
    DecayParameters,
    RuleParameters,
    ScheduledRuleParameters,
    TrainingParameters,
)
from .trained import TrainedClassifier


class HeuristicClassifier(TrainedClassifier):
    """A classifier that follows a rule, one sample at a time."""

    learning_rate: float
    _rule: ClassVar[str]
    _settings_type = RuleSettings
    _texts = OF_RULES

    def __init__(
        self,
        *,
        distance: Any = "sqeuclidean",
        metric_rate: float = 0.01,
        shuffle: bool = True,
        **training: Unpack[TrainingParameters],
    ):
        super().__init__(**training)
        self.distance = distance
        self.metric_rate = metric_rate
        self.shuffle = shuffle

    def _axes(self) -> tuple[Distance]:
        return (resolve(self, "distance", DISTANCES, Distance),)

    def _solver_parameters(self, stream: bool) -> dict[str, Any]:
        """Return what the solver takes besides the metric rate and the order, checked."""
        check_number(self, "learning_rate", low=0.0, high=1.0, above=True, below=True)
        return {"learning_rate": self.learning_rate, "schedule": "constant"}


class ScheduledClassifier(HeuristicClassifier):
    """A classifier whose rule has one learning rate for all prototypes, which falls with time."""

    def __init__(
        self,
        *,
        learning_rate: float = 0.05,
        schedule: str = "auto",
        decay: float = 1e-4,
        least_rate: float | None = None,
        **rule: Unpack[RuleParameters],
    ):
        super().__init__(**rule)
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.decay = decay
        self.least_rate = least_rate

    def _solver_parameters(self, stream: bool) -> dict[str, Any]:
        parameters, least_rate = super()._solver_parameters(stream), self.least_rate
        if least_rate is not None:
            check_number(self, "least_rate", low=0.0, high=1.0)
        schedule = check_choice(self, "schedule", ("auto", *SCHEDULES))
        if self.least_rate is not None and schedule not in ("auto", "inverse_time"):
            raise ValueError(
                f"least_rate={self.least_rate!r} belongs to schedule='inverse_time' or 'auto', and "
                f"here it is {schedule!r}; leave one of them out."
            )
        if schedule == "linear" and stream:
            raise ValueError(
                "schedule='linear' falls to zero at an end that a stream does not have; for "
                "partial_fit take 'inverse_time', 'constant' or 'auto'."
            )
        if schedule == "auto":
            schedule = "inverse_time" if stream else "linear"
            least_rate = LEAST_IN_STREAMS if least_rate is None else least_rate
        decay = check_number(self, "decay", low=0.0)
        return parameters | {"schedule": schedule, "decay": decay, "least_rate": least_rate}


class LVQ1(ScheduledClassifier):
    """Learning vector quantisation: the nearest prototype moves.

    It moves by ``rate (x - w)`` to a sample of its own class, and away from one of another.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Kohonen (1990), *The self-organizing map*, Proceedings of the IEEE 78.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import LVQ1
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LVQ1(prototypes_per_class=5, random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    """

    _rule = "lvq1"

    def __init__(self, **rule: Unpack[ScheduledRuleParameters]):
        super().__init__(**rule)


class OLVQ1(HeuristicClassifier):
    """LVQ1 with an optimised learning rate for each prototype.

    A rate falls when its prototype classifies a sample rightly, ``eta / (1 + eta)``, and rises when
    it does not, ``eta / (1 - eta)``, up to where it began; then the prototype moves as in
    :class:`LVQ1`. So all samples count about the same in the end.

    Parameters
    ----------
    learning_rate : float, default=0.1
        First rate of every prototype, and the largest it may have; between 0 and 1.
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    LVQ_PAK moves first and changes the rate afterwards; the two differ once an error occurs.

    While a prototype is right its rate falls about as ``1 / t`` with the number t of samples it
    won; an error takes one of these steps back, so that the rate rises. After a long stream a
    prototype therefore hardly moves, and needs about as many errors to become quick again.

    References
    ----------
    Kohonen (1992), *New developments of learning vector quantization and the self-organizing map*.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import OLVQ1
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OLVQ1(prototypes_per_class=5, random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.97
    """

    _rule = "olvq1"

    def __init__(self, *, learning_rate: float = 0.1, **rule: Unpack[RuleParameters]):
        super().__init__(**rule)
        self.learning_rate = learning_rate


class LVQ21(ScheduledClassifier):
    """LVQ2.1: of the two nearest prototypes the right one comes, the wrong one goes.

    Only where exactly one of them is of the sample's class, and the sample lies in a window around
    the border between them: ``d_near / d_far > (1 - window) / (1 + window)``, distances unsquared.
    Kohonen advises to begin with prototypes that are already good, and to stop soon.

    Parameters
    ----------
    window : float, default=0.1
        Width of the window, between 0 and 1.
    learning_rate : float, default=0.02
        First learning rate, the share of the way to the sample that a prototype goes; between 0
        and 1.
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    LVQ_PAK compares squared distances, so its window of the same name is another one.

    References
    ----------
    Kohonen (1990), *Improved versions of learning vector quantization*, IJCNN.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import LVQ21
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LVQ21(prototypes_per_class=5, random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    """

    _rule = "lvq21"

    def __init__(
        self,
        *,
        window: float = 0.1,
        learning_rate: float = 0.02,
        **rule: Unpack[DecayParameters],
    ):
        super().__init__(learning_rate=learning_rate, **rule)
        self.window = window

    def _solver_parameters(self, stream: bool) -> dict[str, Any]:
        window = check_number(self, "window", low=0.0, high=1.0, above=True, below=True)
        return super()._solver_parameters(stream) | {"window": window}


class LVQ3(LVQ21):
    """LVQ3: LVQ2.1 that also keeps the prototypes of a class among their samples.

    Where both of the two nearest prototypes are of the sample's class, both come nearer, by
    ``epsilon`` times the rate.

    Parameters
    ----------
    epsilon : float, default=0.25
        Size of that step, from 0 to 1; usual are 0.1 to 0.5.
    window : float, default=0.1
        Width of the window of :class:`LVQ21`, between 0 and 1.
    learning_rate : float, default=0.02
        First learning rate, the share of the way to the sample that a prototype goes; between 0
        and 1.
    {parameters}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Kohonen (1990), *The self-organizing map*, Proceedings of the IEEE 78.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import LVQ3
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LVQ3(prototypes_per_class=5, random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    """

    _rule = "lvq3"

    def __init__(
        self,
        *,
        epsilon: float = 0.25,
        window: float = 0.1,
        learning_rate: float = 0.02,
        **rule: Unpack[DecayParameters],
    ):
        super().__init__(window=window, learning_rate=learning_rate, **rule)
        self.epsilon = epsilon

    def _solver_parameters(self, stream: bool) -> dict[str, Any]:
        epsilon = check_number(self, "epsilon", low=0.0, high=1.0)
        return super()._solver_parameters(stream) | {"epsilon": epsilon}
