"""Prototypes of pictures, drawn as pictures."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arrays import Floats, Indices
from ..tables import CategoryColumn, Column
from .style import colour, panels_for

IN_A_ROW = 12
"""Pictures beside each other at most."""

WIDEST, SIDE = 12.0, 1.8
"""Width of a figure and of a picture at most, in inches."""


def draw_pictures(
    pictures: Floats,
    names: Sequence[str],
    codes: Indices,
    limits: tuple[float, float] | None,
    ax: Any,
) -> Any:
    """Draw each picture in a frame of the colour of its class.

    Parameters
    ----------
    pictures : array of shape (n_pictures, height, width) or (n_pictures, height, width, 3)
        In grey, or in red, green and blue.
    names : sequence of str
        Titles.
    codes : array of shape (n_pictures,)
        Their classes.
    limits : tuple of two floats or None
        Values that are black and white; None: the least and the greatest.
    ax : sequence of matplotlib Axes or None
        Where to draw, one for each picture. None makes a figure.

    Returns
    -------
    panels : array of matplotlib Axes
        Where each was drawn.
    """
    low, high = limits or (pictures.min(), pictures.max())
    grey = pictures.ndim == 3
    if not grey:
        pictures = np.clip((pictures - low) / ((high - low) or 1.0), 0.0, 1.0)
    panels = new_panels(pictures) if ax is None else panels_for(ax, 1, len(pictures))
    for panel, picture, name, code in zip(panels, pictures, names, codes, strict=True):
        drawn = panel.imshow(picture, cmap="gray", vmin=low, vmax=high)
        panel.set_title(name, fontsize="medium").set_parse_math(False)
        panel.set(xticks=[], yticks=[])
        panel.spines[:].set(color=colour(code), lw=2.0)
    if grey and ax is None:
        panels[0].figure.colorbar(drawn, ax=list(panels), shrink=0.8, aspect=30, pad=0.02)
    return panels


def new_panels(pictures: Floats) -> Any:
    """Make a figure with a panel for each picture."""
    n_pictures, height, width, *_ = pictures.shape
    across = n_across(n_pictures)
    down = -(-n_pictures // across)
    side = min(SIDE, WIDEST / across)
    size = 0.8 + side * across, (0.3 + side * min(height / width, 3.0)) * down
    panels = np.ravel(panels_for(None, down, across, figsize=size, squeeze=False))
    for unused in panels[n_pictures:]:
        unused.set_axis_off()
    return panels[:n_pictures]


def n_across(n_panels: int) -> int:
    """Return the number of panels in a row that leaves few places empty and is not too tall."""
    wanted = np.sqrt(2.5 * n_panels)
    choices = range(1, min(n_panels, IN_A_ROW) + 1)
    return min(choices, key=lambda across: -n_panels % across + abs(across - wanted))


def checked_shape(image_shape: Any, columns: Sequence[Column]) -> tuple[int, ...]:
    """Return the shape of pictures; raise if the columns are none of that shape."""
    shape = tuple(image_shape) if np.iterable(image_shape) else ()
    whole = all(isinstance(n, numbers.Integral) and int(n) > 0 for n in shape)
    if not whole or not (len(shape) == 2 or (len(shape) == 3 and shape[2] == 3)):
        raise ValueError(
            f"image_shape={image_shape!r} must be (rows, columns) or (rows, columns, 3)."
        )
    words = [str(c.name) for c in columns if isinstance(c, CategoryColumn)]
    if words:
        raise ValueError(
            f"image_shape={image_shape!r} needs numbers, and column {words[0]!r} is of categories."
        )
    if np.prod(shape) != len(columns):
        raise ValueError(
            f"image_shape={image_shape!r} is a picture of {np.prod(shape)} numbers; the prototypes "
            f"have {len(columns)}, one for each column of X."
        )
    return tuple(int(n) for n in shape)
