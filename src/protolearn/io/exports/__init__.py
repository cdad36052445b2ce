"""Models in other languages, with their reasons: JSON, C, JavaScript, SQL and ONNX."""

from __future__ import annotations

import json
import os
from importlib import resources
from pathlib import Path
from typing import Any

from ..._files import replacing
from .c_code import c_header
from .model_document import Document, document_of
from .sql_query import write_query

__all__ = ["LANGUAGES", "document_of", "export", "javascript_module"]

LANGUAGES = {"c": ".h", "js": ".mjs", "sql": ".sql", "onnx": ".onnx", "json": ".json"}
"""What a model can be exported to, and how such a file ends."""

NUMBERS = ("float", "double", "int16", "int8")


def export(
    model: Any,
    path: str | os.PathLike[str],
    to: str,
    *,
    number: str | None = None,
    table: str | None = None,
) -> None:
    """Write a model as a file of another language, which gives the same answers and reasons.

    The file takes rows as the model does: numbers, categories, dates and missing values in the
    user's units. It answers with the label, the probabilities, the nearest prototype, what each
    column contributes, the hypothesis margin, the certified radius, and whether the row is
    rejected.

    Parameters
    ----------
    model : classifier
        A fitted nearest-prototype model whose distance is squared Euclidean, also after a linear
        map (``GLVQ``, ``GRLVQ``, ``GMLVQ``, ``LGMLVQ``, ``RSLVQ`` and others); a linear classifier,
        also of scikit-learn; a :class:`~protolearn.RejectClassifier`, a search or
        :class:`~protolearn.AutoPrototypeClassifier` with one; or a Pipeline of scalers, PCA and the
        like, or a table, that ends in one.
    path : str or path
        The file to write. In C its stem is what all names begin with.
    to : {"c", "js", "sql", "onnx", "json"}
        The language: a C99 header, an ES module, one ``SELECT`` for SQLite, DuckDB and PostgreSQL,
        an ONNX graph (see :func:`to_onnx`, which takes more models), or the document from which
        the first three are written.
    number : {"float", "double", "int16", "int8"}, default=None
        The type of numbers in C; None: ``"float"``. Whole ones are fixed point: the label, the
        nearest prototype, the scores and, of nearest-prototype models, the contributions.
    table : str, default=None
        The table that the query reads; None: ``"rows"``.

    See Also
    --------
    save : One file that Python reads back as a model.
    to_onnx : The graph alone.

    Notes
    -----
    The numbers of the answers are described in the documentation, *Export*. For a model with a
    soft decision over several prototypes a class there is no certified radius, and what columns
    contribute compares the nearest prototype of the class with the nearest of the others.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from protolearn import GLVQ, datasets, export
    >>> X, y = datasets.load("iris")
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "iris.json"
    >>> export(GLVQ(random_state=0).fit(X, y), path, to="json")
    >>> json.loads(path.read_text())["classes"]
    ['setosa', 'versicolor', 'virginica']
    """
    content = exported_bytes(model, Path(path).stem, to, number=number, table=table)
    with replacing(path) as draft:
        draft.write_bytes(content)


def exported_bytes(
    model: Any,
    name: str,
    to: str,
    *,
    number: str | None = None,
    table: str | None = None,
    threshold: float | None = None,
) -> bytes:
    """Return what :func:`export` writes; rows of a smaller probability are flagged by a threshold.

    ``name`` is what names in C begin with.
    """
    if to not in LANGUAGES:
        raise ValueError(f"to={to!r} must be one of {', '.join(map(repr, LANGUAGES))}.")
    if number is not None and (to != "c" or number not in NUMBERS):
        raise ValueError(f"number={number!r} is for to='c', and one of {NUMBERS!r}.")
    if table is not None and to != "sql":
        raise ValueError(f"table={table!r} is for to='sql'; to={to!r} reads no table.")
    if to == "onnx":
        from ..onnx import to_onnx

        graph = to_onnx(model)
        if threshold is not None:
            graph.metadata_props.add(key="reject_below_probability", value=str(threshold))
        return graph.SerializeToString()
    text = source_code(document_of(model, threshold), to, name, number, table)
    return text.encode("utf-8", "surrogateescape")


def source_code(
    document: Document, to: str, name: str, number: str | None = None, table: str | None = None
) -> str:
    """Return a model, given as a document, in another language."""
    if to == "c":
        return c_header(document, name, number or "float")[0]
    if to == "sql":
        return write_query(document, "rows" if table is None else table)
    if to == "js":
        return javascript_module(document)
    return json.dumps(document, allow_nan=False, indent=1) + "\n"


def javascript_module(document: Document) -> str:
    """Return an ES module with a model, and the functions that run any such model.

    Parameters
    ----------
    document : dict
        The model, see :func:`document_of`. Its texts do not end a script in a page.
    """
    engine = engine_text()
    text = json.dumps(document, allow_nan=False).replace("<", "\\u003c")
    return (
        f"{engine}\nconst model = modelOf({text});\n\n"
        "export const { classes, columns, document, encode, decide, label, predict } = model;\n"
        "export default model;\n"
    )


def engine_text() -> str:
    """Return the functions that run any model in JavaScript."""
    return resources.files(__package__).joinpath("model.mjs").read_text(encoding="utf-8")
