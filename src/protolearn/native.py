"""Compiled scalar functions, and how a compiled loop receives them.

``@native(LOSS)`` marks a plain Python function as one that numba compiles on its first use and
keeps on disk. A loop that works for *any* loss takes the loss as an address and turns it back into
a function::

    loss_at = pointer(LOSS)

    @native(f8(vector, ADDRESS, vector))
    def total(margins, loss, theta):
        phi = loss_at(loss)
        ...

    total(margins, Sigmoid.phi.address, theta)

An address is an ordinary integer argument: the loop is compiled once, is found again in the disk
cache by the next process, accepts functions that were written after it, and a call costs about a
microsecond (passing the function object itself costs fifty).

A native function never calls one of another file by name: its cache would not notice an edit there.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from functools import cache, cached_property
from operator import attrgetter
from typing import Any

import numba
from numba import types
from numba.extending import overload

from .numba_internals import (
    c_address,
    function_cast,
    has_function_pointers,
    memory_options,
    seal_the_cache,
    skip_the_compiler,
)

__all__ = [
    "ADDRESS",
    "CONSTRAIN",
    "FAST",
    "GRADIENT",
    "LOSS",
    "MARGIN",
    "MODULATION",
    "PAIR",
    "ROW",
    "SCHEDULE",
    "Native",
    "native",
    "pointer",
    "types",
]

f8 = types.float64
i8 = types.intp
vector = types.Array(f8, 1, "C", readonly=True)
matrix = types.Array(f8, 2, "C", readonly=True)
flags = types.Array(types.boolean, 1, "C", readonly=True)
flags_matrix = types.Array(types.boolean, 2, "C", readonly=True)
indices = types.Array(i8, 1, "C", readonly=True)
indices_out = types.Array(i8, 1, "C")
indices_matrix = types.Array(i8, 2, "C", readonly=True)
indices_matrix_out = types.Array(i8, 2, "C")
vector_out = types.Array(f8, 1, "C")
matrix_out = types.Array(f8, 2, "C")

ADDRESS = i8
"""The type of a function argument of a native loop."""

LOSS = types.UniTuple(f8, 2)(f8, vector)
"""``phi(m, theta) -> (value, slope)``"""

MARGIN = f8(vector, flags, vector, vector_out)
"""``margin(d, same, theta, g) -> value``; writes dm/dd into g, which arrives as zeros."""

MODULATION = f8(f8, vector)
"""``f(E, theta) -> change of the embedding strength`` of an example with the local potential E"""

PAIR = f8(vector, vector, vector)
"""``pair(x, w, theta) -> distance``"""

GRADIENT = types.void(vector, vector, vector, vector_out, vector_out)
"""``gradient(x, w, theta, gw, gtheta)``; writes the derivatives, both arrive as zeros."""

ROW = types.void(vector, matrix, matrix, indices, ADDRESS, vector_out)
"""``row(x, W, theta, group, pair, out)``; the distances of one sample to all prototypes."""

CONSTRAIN = types.void(vector_out, i8)
"""``constrain(theta, d)``; puts the parameter row of d features where it belongs, in place."""

SCHEDULE = f8(i8, vector)
"""``rate(t, theta) -> learning rate of step t``"""

# Sums over features may be reordered, so that they run in SIMD registers; NaN and infinity keep
# their meaning. Scalar functions are compiled as written: their authors guard against overflow.
_FAST = {"reassoc", "contract", "nsz"}
FAST: dict[str, Any] = {"error_model": "numpy", "fastmath": _FAST}
"""The same options for helpers of a native function, ``@numba.njit(**FAST)`` in its own file."""

_damaged: list[str] = []  # folders with damaged files that this process has found
_AS_WRITTEN = (LOSS, MARGIN, MODULATION, SCHEDULE)


def native(
    signature: Any, *, makes_arrays: bool | None = None
) -> Callable[[Callable[..., Any]], Native]:
    """Mark a function for compilation on first use, with one fixed signature.

    The function works on numbers and arrays alone and must not raise: an exception inside a
    compiled loop is printed and passed over.

    Parameters
    ----------
    signature : numba signature
        ``LOSS``, ``MARGIN``, ``MODULATION``, ``PAIR``, ``GRADIENT``, ``SCHEDULE`` or any other.
    makes_arrays : bool, default=None
        Whether the function, or one that it calls by name, makes arrays. One that does not need not
        count who uses them, and takes about half the time where it does little else. None: True,
        but for protolearn's own functions.

    Returns
    -------
    decorator : callable
        Turns a function into a :class:`Native`.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.native import LOSS, native
    >>> @native(LOSS)
    ... def ramp(m, theta):
    ...     return (1.0 - theta[0] * m, -theta[0]) if theta[0] * m < 1.0 else (0.0, 0.0)
    >>> ramp(0.5, np.array([1.0]))
    (0.5, -1.0)
    >>> ramp.py(0.5, np.array([1.0])) == ramp(0.5, np.array([1.0]))
    True
    """
    return lambda function: Native(function, signature, makes_arrays)


class Native:
    """A function with two forms: compiled (call it) and plain Python (``.py``).

    As a class attribute it stays a function of its own arguments: no ``self`` is bound. With
    numba's JIT disabled (``NUMBA_DISABLE_JIT=1``) both forms are the Python one.
    """

    def __init__(
        self, function: Callable[..., Any], signature: Any, makes_arrays: bool | None = None
    ):
        self.py = function
        self.signature = signature
        self.ours = function.__module__.startswith(f"{__package__}.")
        self.makes_arrays = not self.ours if makes_arrays is None else makes_arrays
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__module__ = function.__module__

    # Python finds the compiled form here and calls it, with nothing in between.
    __call__ = property(attrgetter("compiled"), doc="Run the compiled form.")

    def __repr__(self) -> str:
        return f"<native {self.__module__}.{self.__qualname__}>"

    def __reduce__(self) -> Any:
        """Pickle by name where another process finds the name, else by value."""
        found: Any = sys.modules.get(self.__module__)
        for name in self.__qualname__.split("."):
            found = getattr(found, name, None)
        if found is self and self.__module__ != "__main__":
            return self.__qualname__
        return Native, (self.py, self.signature, self.makes_arrays)

    @cached_property
    def compiled(self) -> Callable[..., Any]:
        """The compiled form, from the disk cache where it is found there."""
        if numba.config.DISABLE_JIT or not has_function_pointers():
            return self.py
        options = self._options()
        try:
            dispatcher = numba.njit(cache=True, **options)(self.py)
            if self.ours:
                skip_the_compiler(dispatcher)
            seal_the_cache(dispatcher, _warn_damaged)
            dispatcher.compile(self.signature)
            dispatcher.disable_compile()
            return dispatcher
        except Exception:  # the cache raises errors of any type; what is wrong here is so below
            dispatcher = numba.njit(self.signature, **options)(self.py)
            if os.path.exists(self.py.__code__.co_filename):  # interactive code never has a cache
                _warn_uncached()
            return dispatcher

    @cached_property
    def address(self) -> Any:
        """What a native loop takes in place of the function."""
        compiled = self.compiled
        if compiled is self.py:
            return self.py
        return c_address(
            compiled,
            self.signature,
            lambda: numba.cfunc(self.signature, **self._options())(self.py),
        )

    def _options(self) -> dict[str, Any]:
        """Return how numba is to compile the function."""
        fast = False if self.signature in _AS_WRITTEN else _FAST
        return {**FAST, "nogil": True, "fastmath": fast, **memory_options(self.makes_arrays)}


def pointer(signature: Any) -> Callable[[Any], Callable[..., Any]]:
    """Return the conversion, for use inside native loops, from an address back to a function."""

    def at(address: Any) -> Any:
        return address  # plain Python: the address *is* the function

    cast = function_cast(types.FunctionType(signature), ADDRESS)

    @overload(at)
    def compiled_at(address):
        return lambda address: cast(address)

    return at


def _warn_damaged(folder: str) -> None:
    """Warn once a process that files of the disk cache are damaged."""
    _damaged.append(folder)
    if len(_damaged) == 1:
        warnings.warn(
            f"Compiled functions in {folder} are damaged. They are discarded and compiled again; "
            "the results are the same. If this happens again, check the disk.",
            RuntimeWarning,
            stacklevel=2,
        )


@cache
def _warn_uncached() -> None:
    """Warn once a process that nothing is kept."""
    warnings.warn(
        "protolearn's compiled functions cannot be kept on disk: they are compiled again in "
        "every process. Set NUMBA_CACHE_DIR to a writable folder to keep them.",
        RuntimeWarning,
        stacklevel=4,
    )
