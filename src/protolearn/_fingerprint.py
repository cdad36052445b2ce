"""By what data, splits and parameters are known again, in another process and on another day."""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any

import joblib
import numpy as np
from scipy import sparse

WITHOUT_EFFECT = "n_jobs", "verbose"
"""Parameters that may change between two runs: results do not depend on them."""


def digest(*data: Any) -> str:
    """Return a short text that other data would not have.

    Parameters
    ----------
    *data : array-like, structured array, sparse matrix or data frame
        What to know again: shapes, types and all values count.
    """
    state = hashlib.blake2b(digest_size=12)
    for one in data:
        for piece in _pieces(one):
            state.update(piece)
    return state.hexdigest()


def parameters(model: Any, without: Sequence[str] = ()) -> dict[str, str]:
    """Return the class and all parameters of an estimator as text, those inside it too.

    Those named by ``without`` are left out.
    """
    values = model.get_params(deep=True)
    return {"class": _class_name(type(model))} | {
        name: text(value)
        for name, value in sorted(values.items())
        if name.rsplit("__", 1)[-1] not in WITHOUT_EFFECT and name not in without
    }


def text(value: Any) -> str:
    """Write a value so that equal texts mean equal values, in every process."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return repr(value)
    if isinstance(value, Mapping):
        return f"{{{_joined(f'{text(key)}: {text(one)}' for key, one in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(text, value))}]"
    if isinstance(value, (set, frozenset)):
        return f"set({_joined(map(text, value))})"
    if isinstance(value, type):
        return _class_name(value)
    if isinstance(value, np.ndarray) or sparse.issparse(value) or hasattr(value, "columns"):
        return f"{type(value).__name__} #{digest(value)}"
    if hasattr(value, "get_params"):
        return f"({', '.join(f'{name}={one}' for name, one in parameters(value).items())})"
    return f"{_class_name(type(value))} #{_state(value)}"


def _state(value: Any) -> str:
    """Return a text that tells objects of one class apart by what is in them."""
    if isinstance(value, np.random.RandomState):
        return digest(text(value.get_state(legacy=False)))
    if isinstance(value, np.random.Generator):
        return digest(text(value.bit_generator.state))
    if isinstance(value, functools.partial):
        return digest(text([value.func, value.args, value.keywords]))
    if isinstance(value, FunctionType):
        return _function(value)
    try:
        return str(joblib.hash(value))
    except Exception as error:
        raise ValueError(
            f"The parameter {value!r} cannot be known again in another run ({error}); "
            "leave out checkpoint, or give a function or an object that can be pickled."
        ) from error


def _function(function: FunctionType) -> str:
    """Return a text that tells functions of one name apart by their code and what they hold."""
    try:
        code = inspect.getsource(function).strip()
    except (OSError, TypeError):
        code = ""
    # Of several in a line the source is the same, and of none in a file it may be another's.
    nowhere = function.__code__.co_filename.startswith("<")
    if not code or nowhere or code.count("lambda") > 1:
        code += text(_compiled(function.__code__))
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    held += [function.__defaults__, function.__kwdefaults__]
    return f"{function.__module__}.{function.__qualname__} {digest(code, text(held))}"


def _compiled(code: CodeType) -> list[Any]:
    """Return what a function does, with the constants and the functions in it."""
    held = [_compiled(one) if isinstance(one, CodeType) else one for one in code.co_consts]
    return [code.co_code, code.co_names, held]


def _joined(texts: Iterable[str]) -> str:
    return ", ".join(sorted(texts))


def _class_name(cls: type) -> str:
    """Name a class by its package alone, since libraries move their private modules."""
    return f"{cls.__module__.split('.')[0]}.{cls.__qualname__}"


def _pieces(data: Any) -> Iterator[bytes]:
    """Return the bytes of the values, and before them what says how they are to be read."""
    if sparse.issparse(data):
        rows = data.tocsr()
        yield f"csr {rows.shape} ".encode()
        for part in rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64):
            yield from _pieces(part)
    elif hasattr(data, "columns"):
        for name in data.columns:
            yield f"column {name!r} ".encode()
            yield from _pieces(np.asarray(data[name]))
    elif (array := np.asarray(data)).dtype.names:
        for name in array.dtype.names:
            yield f"field {name!r} ".encode()
            yield from _pieces(array[name])
    else:
        yield f"array {array.shape} {array.dtype.str} ".encode()
        if array.dtype.hasobject:
            yield "\0".join(text(item) for item in array.ravel()).encode()
        else:
            yield np.ascontiguousarray(array).tobytes()
