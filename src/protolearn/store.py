"""A journal of what was computed, so that work that was cut off need not be done again.

Results are written one after the other, each with its length and a checksum: one that is only half
written is not read. Whoever computes the same things in the same order finds them there.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ._checkpoints import changes
from .codebook import Codebook

Arrays = Mapping[str, NDArray[Any]]

Record = Callable[..., Any]
"""``record(work, *state)`` returns ``work(*state)``; by default it is :func:`operator.call`, which
does just that. That of a :class:`Journal` also writes the result down, or finds it."""

MAGIC = b"protolearn journal 2\n"

FRAME = 8 + 16
"""Bytes before each result: its length and its checksum."""

CODEBOOK = tuple(field.name for field in fields(Codebook))
"""The arrays of a codebook."""

SYNC = 1.0
"""Seconds after which what is written has to be on the disk itself."""


def state_of(rng: np.random.RandomState) -> dict[str, NDArray[Any]]:
    """Return the state of a source of randomness as arrays."""
    state: dict[str, Any] = rng.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise ValueError(
            f"checkpoint takes a RandomState with MT19937, not with {state['bit_generator']}; give "
            "an integer as random_state."
        )
    keys, rest = state["state"]["key"], [state["state"]["pos"], state["has_gauss"], state["gauss"]]
    return {"keys": np.asarray(keys), "places": np.array(rest)}


def put_back(rng: np.random.RandomState, arrays: Arrays) -> None:
    """Set a source of randomness to where ``state_of`` has seen it."""
    position, has_gauss, gauss = arrays["places"].tolist()
    rng.set_state(("MT19937", arrays["keys"], int(position), int(has_gauss), gauss))


class Journal:
    """A journal in a file.

    Parameters
    ----------
    path : str or path
        The file; one that is there is continued.
    known_by : mapping of str to str
        All that the results depend on.
    random_state : RandomState
        Written at the beginning, and set where the file is continued.
    """

    def __init__(self, path: Any, known_by: Mapping[str, str], random_state: Any):
        self.path = Path(path)
        if self.path.is_dir():
            raise ValueError(f"checkpoint={str(path)!r} is a folder; name a file in it.")
        self._known_by = {**known_by, "protolearn": version("protolearn")}
        self.n_found, self._next, self._end = 0, 0, 0
        state_of(random_state)  # one that cannot be put down is told before a file is made
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = _locked(self.path)
        try:
            self._open(random_state)
        except BaseException:
            self._file.close()
            raise
        self._synced = monotonic()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def record(self, work: Callable[..., Any], *state: Any) -> Any:
        """Return ``work(*state)``, from the file if it was computed before.

        Parameters
        ----------
        work : callable
            Returns a number, a text, an array, a tuple of these, or a codebook.
        *state : array, RandomState, or object with ``arrays`` and ``restore``
            What the result depends on. Arrays tell whether it is the same computation; the other
            objects may be changed by the work, and come back as it left them.
        """
        known = b"".join(one.tobytes() for one in state if isinstance(one, np.ndarray))
        mark = np.frombuffer(_checksum(known) if known else b"", dtype=np.uint8)
        changing = [one for one in state if not isinstance(one, np.ndarray)]
        if self._next < self._end:
            found = _unpacked(self._read_next())
            if not np.array_equal(found["at"], mark):
                raise ValueError(
                    f"checkpoint={str(self.path)!r} does not fit to this fit: other data, another "
                    "version of NumPy or SciPy, or another processor, have taken another way. Give "
                    "another path, or delete the file to start anew."
                )
            for place, one in enumerate(changing):
                _restore(one, _part(found, f"state {place} "))
            return _as_result(_part(found, "result "))
        result = work(*state)
        arrays = {f"result {name}": one for name, one in _result_arrays(result).items()}
        for place, one in enumerate(changing):
            kept = state_of(one) if isinstance(one, np.random.RandomState) else one.arrays()
            arrays |= {f"state {place} {name}": array for name, array in kept.items()}
        self._append(_packed({**arrays, "at": mark}))
        return result

    def _append(self, payload: bytes) -> None:
        self._file.seek(0, os.SEEK_END)
        self._file.write(_framed(payload))
        self._file.flush()
        if monotonic() > self._synced + SYNC:
            os.fsync(self._file.fileno())
            self._synced = monotonic()

    def _open(self, random_state: Any) -> None:
        """Begin the file, or go on with what is there; half of a result is cut off."""
        self._file.seek(0)
        begin = self._file.read(len(MAGIC))
        if not MAGIC.startswith(begin):
            raise self._damaged("it does not begin as one")
        places = list(_whole_results(self._file))
        if len(places) < 2:  # not even the beginning was written
            self._begin(random_state)
            return
        self._next = len(MAGIC)
        self._check_known(json.loads(self._read_next())["known_by"])
        put_back(random_state, _unpacked(self._read_next()))
        self.n_found, self._end = len(places) - 2, places[-1]
        self._file.truncate(self._end)

    def _begin(self, random_state: Any) -> None:
        """Write what the results will depend on."""
        head = json.dumps({"known_by": self._known_by}).encode()
        state = _packed(state_of(random_state))
        self._file.truncate(0)
        self._file.write(MAGIC + _framed(head) + _framed(state))
        self._file.flush()

    def _read_next(self) -> bytes:
        """Read the result at the present place, and go on to the next."""
        self._file.seek(self._next)
        size = int.from_bytes(self._file.read(FRAME)[:8], "big")
        payload = self._file.read(size)
        self._next += FRAME + size
        return payload

    def _check_known(self, before: Mapping[str, str]) -> None:
        changed = changes("", before, self._known_by)
        if changed:
            raise ValueError(
                f"checkpoint={str(self.path)!r} belongs to another fit: {'; '.join(changed)}. "
                "Give what was given before to continue it, or another path, or delete the file. "
                "Each fit has to have a file of its own, also in a search or a cross-validation."
            )

    def _damaged(self, why: str) -> ValueError:
        return ValueError(
            f"checkpoint={str(self.path)!r} is no checkpoint of a fit, or it is damaged: {why}. "
            "Give another path, or delete the file to start anew."
        )


def _result_arrays(result: Any) -> dict[str, NDArray[Any]]:
    """Return the parts of a result as arrays, by their places; a single one is "whole"."""
    if isinstance(result, Codebook):
        return {f"codebook {name}": getattr(result, name) for name in CODEBOOK}
    if not isinstance(result, tuple):
        return {"whole": np.asarray(result)}
    return {str(place): np.asarray(one) for place, one in enumerate(result)}


def _as_result(arrays: Arrays) -> Any:
    """Return what ``_result_arrays`` was given: numbers and texts are not arrays."""
    if f"codebook {CODEBOOK[0]}" in arrays:
        return Codebook(*(arrays[f"codebook {name}"] for name in CODEBOOK))
    plain = {name: one if one.ndim else one.item() for name, one in arrays.items()}
    return plain["whole"] if "whole" in plain else tuple(plain[str(k)] for k in range(len(plain)))


def _restore(changing: Any, arrays: Arrays) -> None:
    """Set an object to the state in which the work left it."""
    if isinstance(changing, np.random.RandomState):
        put_back(changing, arrays)
    else:
        changing.restore(arrays)


def _part(arrays: Arrays, prefix: str) -> Arrays:
    """Return the arrays whose names begin with a prefix, without it."""
    return {k.removeprefix(prefix): one for k, one in arrays.items() if k.startswith(prefix)}


def _locked(path: Path) -> IO[bytes]:
    """Open a file to read and to add to it; raise if another process does the same."""
    file = open(path, "a+b")  # noqa: SIM115  # the journal closes it
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # where there are no such locks
        pass
    except OSError:
        file.close()
        raise ValueError(
            f"checkpoint={str(path)!r} is in use by another fit; give each fit its own path."
        ) from None
    return file


def _checksum(payload: bytes) -> bytes:
    return hashlib.blake2b(payload, digest_size=16).digest()


def _framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(8, "big") + _checksum(payload) + payload


def _whole_results(file: IO[bytes]) -> Iterator[int]:
    """Return where each result ends that is whole, one after the other."""
    end, n_bytes = len(MAGIC), os.fstat(file.fileno()).st_size
    while end + FRAME <= n_bytes:
        file.seek(end)
        frame = file.read(FRAME)
        size = int.from_bytes(frame[:8], "big")
        if end + FRAME + size > n_bytes or _checksum(file.read(size)) != frame[8:]:
            return
        end += FRAME + size
        yield end


def _packed(arrays: Arrays) -> bytes:
    """Write arrays so that reading them runs no code."""
    target = io.BytesIO()
    np.savez(target, **arrays)  # type: ignore[arg-type]
    return target.getvalue()


def _unpacked(payload: bytes) -> Arrays:
    with np.load(io.BytesIO(payload), allow_pickle=False) as content:
        return {name: content[name] for name in content.files}
