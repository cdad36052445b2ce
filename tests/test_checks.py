"""The public checks find what is wrong."""

import math

import pytest

import custom_axes
from protolearn.checks import check_distance, check_loss, check_margin
from protolearn.distances import Distance, Matrix, SquaredEuclidean
from protolearn.losses import Hinge, Loss, Sigmoid
from protolearn.margins import Difference, Margin
from protolearn.native import GRADIENT, LOSS, MARGIN, native


class WrongSlope(Loss):
    @native(LOSS)
    def phi(m, theta):
        return -m, -2.0


class Rising(Loss):
    @native(LOSS)
    def phi(m, theta):
        return m, 1.0


class NotFinite(Loss):
    @native(LOSS)
    def phi(m, theta):
        return math.exp(-m), -math.exp(-m)


class PlainPython(Loss):
    def phi(m, theta):
        return -m, -1.0


class SmoothHinge(Hinge):
    smooth = True


class WrongGradient(Difference):
    @native(MARGIN)
    def margin(d, same, theta, g):
        g[0], g[1] = -1.0, 2.0
        return d[1] - d[0]


class Backwards(Margin):
    @native(MARGIN)
    def margin(d, same, theta, g):
        g[0], g[1] = 1.0, -1.0
        return d[0] - d[1]


class OwnFirst(Margin):
    """Takes it that own prototypes come first."""

    winners = None

    @native(MARGIN)
    def margin(d, same, theta, g):
        g[0], g[d.size - 1] = -1.0, 1.0
        return d[d.size - 1] - d[0]


class Repelling(Difference):
    @native(MARGIN)
    def attraction(d, same, theta, g):
        g[0] = -1.0
        return -d[0]


class SecondKink(Loss):
    """Steep and smooth in one place, with a small kink in another."""

    @native(LOSS)
    def phi(m, theta):
        e = math.exp(-abs(50.0 * m))
        value = (e if m >= 0.0 else 1.0) / (1.0 + e)
        slope = -50.0 * e / (1.0 + e) ** 2
        if m < 2.0:
            return value + 0.1 * (2.0 - m), slope - 0.1
        return value, slope


class RisesFarAway(Loss):
    @native(LOSS)
    def phi(m, theta):
        if m < 10.0:
            return -m, -1.0
        return m - 20.0, 1.0


class OtherNearest(SquaredEuclidean):
    def nearest(self, X, codebook):
        winner, value = super().nearest(X, codebook)
        return (winner + 1) % len(codebook.prototypes), value


class OtherTerms(SquaredEuclidean):
    def terms(self, X, codebook, prototype):
        return abs(X - codebook.prototypes[prototype])


class HidesNan(SquaredEuclidean):
    def nearest(self, X, codebook):
        winner, _ = super().nearest(X, codebook)
        return winner, 0.0 * winner


class HalfGradient(SquaredEuclidean):
    @native(GRADIENT)
    def gradient(x, w, theta, gw, gtheta):
        for j in range(x.size):
            gw[j] = w[j] - x[j]


class OtherBlocks(SquaredEuclidean):
    def pairwise(self, X, codebook, prepared=None):
        return 2.0 * super().pairwise(X, codebook, prepared)


class ForgetsTheta(custom_axes.Relevances):
    @native(GRADIENT)
    def gradient(x, w, theta, gw, gtheta):
        for j in range(x.size):
            gw[j] = -2.0 * theta[j] * theta[j] * (x[j] - w[j])


class OtherForward(SquaredEuclidean):
    def forward(self, X, codebook, prepared=None):
        D, kept = super().forward(X, codebook, prepared)
        return 2.0 * D, kept

    def pairwise(self, X, codebook, prepared=None):
        return super().forward(X, codebook, prepared)[0]


class OtherDirections(SquaredEuclidean):
    def directions(self, codebook):
        return 2.0 * super().directions(codebook)


class TooFlat(SquaredEuclidean):
    def steepness(self, codebook):
        return 0.5 * super().steepness(codebook)


class OtherPenalty(Matrix):
    def penalty(self, codebook):
        value, gradient = super().penalty(codebook)
        return value, 2.0 * gradient


class WrongSignature(Distance):
    @native(LOSS)
    def pair(m, theta):
        return m, m


@pytest.mark.parametrize(
    ("check", "axis", "message"),
    [
        (check_loss, WrongSlope(), "slope is not the derivative"),
        (check_loss, Rising(), "does not fall"),
        (check_loss, NotFinite(), "not finite"),
        (check_loss, PlainPython(), "must be decorated with @native"),
        (check_loss, SmoothHinge(), "set smooth = False"),
        (check_loss, Difference(), "does not derive from Loss"),
        (check_margin, WrongGradient(), "g is not the derivative of margin"),
        (check_margin, Backwards(), "margin must fall with own distances"),
        (check_margin, OwnFirst(), "is not the derivative|differ|must"),
        (check_margin, Repelling(), "attraction must rise with own distances"),
        (check_loss, SecondKink(), "set smooth = False"),
        (check_loss, RisesFarAway(), "does not fall"),
        (check_distance, OtherNearest(), "nearest is not the smallest"),
        (check_distance, OtherTerms(), "terms do not add up"),
        (check_distance, HidesNan(), "shows_nonfinite is not true"),
        (check_distance, HalfGradient(), "gw is not the derivative"),
        (check_distance, OtherBlocks(), "pairwise differs from pair"),
        (check_distance, ForgetsTheta(), "gtheta is not the derivative"),
        (check_distance, WrongSignature(), "pair has the signature"),
        (check_distance, OtherForward(), "forward differs from pair"),
        (check_distance, OtherDirections(), "directions are not the derivatives"),
        (check_distance, TooFlat(), "steepness is too small"),
        (check_distance, OtherPenalty(regularization=0.1), "derivative of penalty"),
    ],
)
def test_defects_are_found(check, axis, message):
    with pytest.raises(AssertionError, match=message):
        check(axis)


def test_a_class_that_cannot_be_pickled():
    class Local(Sigmoid):
        pass

    with pytest.raises(AssertionError, match="Local cannot be pickled; define it in a module"):
        check_loss(Local())


def test_integer_parameters():
    check_loss(custom_axes.Ramp(1))


@pytest.mark.parametrize("shape", [(3, 2), (20,)])
def test_too_few_rows(rng, shape):
    with pytest.raises(ValueError, match="expected at least 12 rows"):
        check_distance(SquaredEuclidean(), rng.standard_normal(shape))


def test_own_rows(rng):
    check_distance(SquaredEuclidean(), rng.standard_normal((20, 3)) + 50.0)
