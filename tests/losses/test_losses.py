"""Losses against plain NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import custom_axes
import reference
from protolearn.checks import check_loss
from protolearn.losses import LOSSES, Identity

BETAS = st.floats(0.01, 100.0)
MARGINS = st.floats(-50.0, 50.0)


def make(name, beta):
    return Identity() if name == "identity" else LOSSES[name](beta=beta)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("beta", [0.3, 1.0, 7.0])
def test_checks(name, beta):
    check_loss(make(name, beta))


def test_checks_on_a_users_loss():
    check_loss(custom_axes.Ramp(0.7))


@pytest.mark.parametrize("name", LOSSES)
@given(m=MARGINS, beta=BETAS)
def test_value_is_the_formula(name, m, beta):
    if name == "exponential" and beta * m < -50.0:
        return  # straight there, see the next test
    value = make(name, beta)([m])[0][0]
    np.testing.assert_allclose(value, reference.LOSSES[name](m, beta), rtol=1e-12, atol=1e-300)


def test_exponential_goes_on_straight():
    value, slope = LOSSES["exponential"]()([-50.0, -60.0, -70.0])
    np.testing.assert_allclose(np.diff(value), 10.0 * np.exp(50.0), rtol=1e-12)
    np.testing.assert_allclose(slope, -np.exp(50.0), rtol=1e-12)


@pytest.mark.parametrize("name", [n for n in LOSSES if n != "identity"])
@pytest.mark.parametrize("beta", [0.0, -1.0, np.nan, np.inf, "2", None, True])
def test_bad_beta(name, beta):
    with pytest.raises(ValueError, match=r"beta=.* must be a finite number greater than 0"):
        LOSSES[name](beta=beta).theta()
