"""The lecture as a page: click points, and watch four algorithms learn them step by step."""

from __future__ import annotations

import os
from pathlib import Path

from ..._files import replacing
from .rendering import colours, page_templates

TITLE = "Watch a classifier learn"


def write_lecture(path: str | os.PathLike[str]) -> Path:
    """Write a page on which to watch Rosenblatt, AdaTron, LVQ1 and GLVQ learn.

    One file that a browser shows without a network. Click points of two classes, and go step by
    step or let it run; the formula, its numbers and the errors are beside the picture. The steps
    are those of ``Rosenblatt(order="cyclic")``, ``AdaTron(updates="sequential")``, ``LVQ1`` and
    ``GLVQ`` with ``raw_rates``.

    Parameters
    ----------
    path : str or path
        The file to make.

    Returns
    -------
    path : Path
        The file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from protolearn import report
    >>> report.write_lecture(pathlib.Path(tempfile.mkdtemp()) / "lecture.html").name
    'lecture.html'
    """
    page = page_templates().get_template("lecture.html")
    text = page.render(title=TITLE, colours=colours())
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8")
    return Path(path)
