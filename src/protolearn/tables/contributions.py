"""What each column of a table has to do with a decision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import Floats
from ..analysis import FEATUREWISE, apply_step
from ..classifiers import NearestPrototypeClassifier
from ..codebook import Codebook
from ..rule import LinearRule, as_rule
from .columns import CategoryColumn, column_places
from .encoder import TableEncoder
from .pipeline import TableSteps
from .table_checks import NO_FEATURE_NAMES, ignore_warnings


@dataclass(frozen=True, eq=False)
class Contributions:
    """What the columns of a table have to do with decisions.

    Attributes
    ----------
    columns : tuple
        Names of the columns.
    shares : array of shape (n_samples, n_columns) or None
        Positive where a column speaks for the predicted class, negative where it speaks against
        it. The absolute values of a row sum to one, or are all zero where nothing speaks. None if
        the model has no such shares.
    reason : str
        Why there are none; empty if there are.
    """

    columns: tuple[Any, ...]
    shares: Floats | None
    reason: str = ""


def contributions_table(pipeline: Any, frame: Any) -> Contributions:
    """Return how much each column of a table has to do with each decision.

    Parameters
    ----------
    pipeline : Pipeline
        A fitted one that begins with a :class:`TableEncoder`, see :func:`table_pipeline`, or a
        search over such. Steps in between are scalers.
    frame : DataFrame, or array-like of shape (n_samples, n_columns)
        The rows.

    Returns
    -------
    found : Contributions
        With ``columns`` and ``shares``; or with a ``reason``, where a decision is not a sum over
        columns: kernels, ensembles, committee and parity machines.

    See Also
    --------
    prototypes_table : What rows are compared with.
    counterfactual_table : What would change the decision.

    Notes
    -----
    The numbers of the model that belong to one column, such as the entries of its categories, are
    added up.

    Of a nearest-prototype model a column speaks for the predicted class by as much as it brings
    the row nearer to the nearest prototype of that class than to the nearest one of another.

    Of a linear model with the score ``w_c.x + b_c`` of class c it is by as much as it adds to the
    lead of the predicted class over the second best class k on the way to the row from the
    boundary between them, from the point m there that is nearest to the mean of the training rows:
    ``(w_c - w_k)_j (x - m)_j``. These terms sum to the lead. If the weights are the difference of
    two prototypes, both definitions agree where the boundary is halfway between the prototypes
    and the mean lies on the line through them, as for the means of two classes.

    So what speaks for the predicted class is never less than what speaks against it, but for
    models with a soft decision.

    Examples
    --------
    >>> from protolearn import GLVQ
    >>> from protolearn.tables import contributions_table, table_pipeline
    >>> rows = [[20.0, "red"], [21.0, "blue"], [40.0, "red"], [41.0, "blue"]]
    >>> model = table_pipeline(GLVQ(init="means")).fit(rows, ["young", "young", "old", "old"])
    >>> contributions_table(model, [[22.0, "red"]]).shares.round(2)
    array([[ 0.99, -0.01]])
    """
    steps = TableSteps.of(pipeline)
    columns = tuple(column.name for column in steps.encoder.columns_)
    Z = steps.encoder.transform(frame)
    shares_of, reason = share_function(steps)
    if shares_of is None:
        return Contributions(columns, None, reason)
    rows = model_input(steps, Z)
    try:
        with ignore_warnings(NO_FEATURE_NAMES):
            shares = shares_of(rows)
    except (TypeError, ValueError) as error:
        return Contributions(columns, None, f"{type(steps.model).__name__}: {error}")
    return Contributions(columns, by_column(steps.encoder, shares))


def share_function(steps: TableSteps) -> tuple[Callable[[Any], Floats] | None, str]:
    """Return what tells the shares of the numbers that the model sees, or why there is nothing."""
    name = type(steps.model).__name__
    mixing = [step for _, step in steps.between if not isinstance(step, FEATUREWISE)]
    if mixing:
        what = type(mixing[0]).__name__
        return None, f"{what} before the model is not known to change each column by itself"
    if isinstance(steps.model, NearestPrototypeClassifier):
        return steps.model.contributions, ""
    if not hasattr(steps.model, "coef_") or not hasattr(steps.model, "intercept_"):
        return None, f"{name} decides neither by distances of rows nor by linear scores"
    try:
        rule = as_rule(steps.model)
    except TypeError as error:
        return None, str(error)
    assert isinstance(rule, LinearRule)
    center = model_input(steps, mean_row(steps.encoder))
    return lambda rows: linear_shares(rule, rows, center), ""


def model_input(steps: TableSteps, Z: Any) -> Any:
    """Return rows of the encoder as the model sees them."""
    for _, step in steps.between:
        Z = apply_step(step, Z)
    return np.asarray(Z, dtype=np.float64)


def mean_row(encoder: TableEncoder) -> Floats:
    """Return the mean of the training rows as the encoder makes them, an array (1, d)."""
    parts = []
    for column in encoder.columns_:
        if isinstance(column, CategoryColumn):
            counts = np.array(column.counts, dtype=np.float64)
            if None not in column.categories:
                counts[column.usual] += column.n_missing
            parts.append(counts @ column.entries / max(counts.sum(), 1.0))
        else:
            parts.append(np.zeros(1))
    return np.concatenate(parts)[None]


def linear_shares(rule: LinearRule, rows: Floats, center: Floats) -> Floats:
    """Return the share of each feature in the lead of the best class over the second."""

    def terms(part: Any, codebook: Codebook, distance: Any) -> tuple[Floats, Floats]:
        scores = distance.scores(part, codebook)
        own = scores.argmax(axis=1)
        others = scores.copy()
        np.put_along_axis(others, own[:, None], -np.inf, axis=1)
        rival = others.argmax(axis=1)
        normal = codebook.prototypes[own] - codebook.prototypes[rival]
        offset = (codebook.metric[own] - codebook.metric[rival])[:, 0]
        length = np.square(normal).sum(axis=1)
        lead = normal @ center[0] + offset
        away = np.divide(lead, length, out=np.zeros_like(lead), where=length > 0.0)
        speaks = normal * (part - center + away[:, None] * normal)
        return speaks, scores

    rows = rule.read_rows(rule.model, rows).astype(np.float64, copy=False)
    return rule.by_chunks(rows, terms)


def by_column(encoder: TableEncoder, shares: Floats) -> Floats:
    """Add up what belongs to one column; the absolute values of a row then sum to one."""
    starts = [places.start for places in column_places(encoder.columns_)]
    speaks = np.add.reduceat(shares, starts, axis=1)
    total = np.abs(speaks).sum(axis=1, keepdims=True)
    return np.divide(speaks, total, out=np.zeros_like(speaks), where=total > 0.0)
