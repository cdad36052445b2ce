"""Learning rates over time, in steps t = 0, 1, ... of one sample each.

* linear: ``rate (1 - t / total)`` (Jin et al., 2008, section 4)
* inverse_time: ``rate max(1 / (1 + decay t), least)``
* constant: ``rate``
"""

from __future__ import annotations

from ..native import SCHEDULE, Native, native


@native(SCHEDULE)
def linear(t, theta):
    """Fall to zero at the last step; theta holds the rate and the number of steps."""
    return theta[0] * max(0.0, 1.0 - t / theta[1])


@native(SCHEDULE)
def inverse_time(t, theta):
    """Fall down to a share of the rate; theta holds the rate, unused, the decay and the share."""
    return theta[0] * max(1.0 / (1.0 + theta[2] * t), theta[3])


@native(SCHEDULE)
def constant(t, theta):
    """Stay."""
    return theta[0]


LEAST_IN_STREAMS = 0.1
"""Share of the first rate that stays in a stream, when the user leaves the rate to us."""

SCHEDULES: dict[str, Native] = {
    "linear": linear,
    "inverse_time": inverse_time,
    "constant": constant,
}
