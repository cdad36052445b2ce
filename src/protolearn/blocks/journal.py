"""A journal of what was computed, so that work that was cut off can be done again without effort.

Results are put down one after the other, each with its length and a checksum: one that is only
half written is not read. Whoever computes the same things in the same order finds them there.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from .._checkpoints import changes
from .._files import replacing

Arrays = Mapping[str, NDArray[Any]]

MAGIC = b"protolearn journal 1\n"

FRAME = 8 + 16
"""Bytes before each result: its length and its checksum."""

SYNC = 1.0
"""Seconds after which what is written has to be on the disk itself."""


def state_of(rng: np.random.RandomState) -> dict[str, NDArray[Any]]:
    """Give the state of a source of randomness, to be put down."""
    _, keys, *rest = rng.get_state(legacy=True)
    return {"keys": np.asarray(keys), "places": np.array(rest)}


def put_back(rng: np.random.RandomState, arrays: Arrays) -> None:
    """Bring a source of randomness to where ``state_of`` has seen it."""
    position, has_gauss, gauss = arrays["places"].tolist()
    rng.set_state(("MT19937", arrays["keys"], int(position), int(has_gauss), gauss))


class Journal:
    """A journal that keeps nothing."""

    def once(self, work: Callable[[], Arrays], at: NDArray[Any] | None = None) -> Arrays:
        """Give what the work gives, from an earlier process if it was done there.

        Parameters
        ----------
        work : callable
            Gives named arrays.
        at : array, default=None
            What the result depends on, to know it again.
        """
        return work()


NO_JOURNAL = Journal()


class FileJournal(Journal):
    """A journal in a file.

    Parameters
    ----------
    path : str or path
        The file; one that is there is continued.
    known_by : mapping of str to str
        All that the results depend on.
    random_state : RandomState
        Put down at the beginning, and put back where the file is continued.
    """

    def __init__(self, path: Any, known_by: Mapping[str, str], random_state: Any):
        self.path = Path(path)
        self._known_by = {**known_by, "protolearn": version("protolearn")}
        self._results: Iterator[Arrays] = iter(())
        self.n_found = 0
        if self.path.is_dir():
            raise ValueError(f"checkpoint={str(path)!r} is a folder; name a file in it.")
        if self.path.exists():
            self._continue(random_state)
        else:
            self._begin(random_state)
        self._file = _locked(self.path)
        self._synced = monotonic()

    def __enter__(self) -> FileJournal:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def once(self, work: Callable[[], Arrays], at: NDArray[Any] | None = None) -> Arrays:
        """Give the next result of the file, or do the work and put it down."""
        mark = np.frombuffer(b"" if at is None else _checksum(at.tobytes()), dtype=np.uint8)
        for found in self._results:
            if not np.array_equal(found["at"], mark):
                raise ValueError(
                    f"checkpoint={str(self.path)!r} does not fit to this fit: another version of "
                    "NumPy or SciPy, or another processor, has taken another way. Give another "
                    "path, or delete the file to start anew."
                )
            return found
        result = {name: np.asarray(value) for name, value in work().items()}
        self._append(_packed({**result, "at": mark}))
        return result

    def _append(self, payload: bytes) -> None:
        self._file.write(_framed(payload))
        self._file.flush()
        if monotonic() > self._synced + SYNC:
            os.fsync(self._file.fileno())
            self._synced = monotonic()

    def _begin(self, random_state: Any) -> None:
        """Write a file with what the results will depend on."""
        head = json.dumps({"known_by": self._known_by}).encode()
        state = _packed(state_of(random_state))
        with replacing(self.path) as target:
            target.write_bytes(MAGIC + _framed(head) + _framed(state))

    def _continue(self, random_state: Any) -> None:
        """Read what is there, and cut off what is only half written."""
        content = self.path.read_bytes()
        if not content.startswith(MAGIC):
            raise self._damaged("it does not begin as one")
        payloads, end = _payloads(content)
        if len(payloads) < 2:
            raise self._damaged("its beginning cannot be read")
        changed = changes("", json.loads(payloads[0])["known_by"], self._known_by)
        if changed:
            raise ValueError(
                f"checkpoint={str(self.path)!r} belongs to another fit: {'; '.join(changed)}. "
                "Give what was given before to continue it, or another path, or delete the file."
            )
        put_back(random_state, _unpacked(payloads[1]))
        self.n_found = len(payloads) - 2
        self._results = map(_unpacked, payloads[2:])
        if end < len(content):
            os.truncate(self.path, end)

    def _damaged(self, why: str) -> ValueError:
        return ValueError(
            f"checkpoint={str(self.path)!r} is no checkpoint of a fit, or it is damaged: {why}. "
            "Give another path, or delete the file to start anew."
        )


def _locked(path: Path) -> IO[bytes]:
    """Open a file to add to it; raise if another process does the same."""
    file = open(path, "ab")  # noqa: SIM115  # the journal closes it
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


def _payloads(content: bytes) -> tuple[list[bytes], int]:
    """Give the results that are whole, and where they end."""
    found, place = [], len(MAGIC)
    while place + FRAME <= len(content):
        begin = place + FRAME
        end = begin + int.from_bytes(content[place : place + 8], "big")
        payload = content[begin:end]
        if end > len(content) or _checksum(payload) != content[place + 8 : begin]:
            break
        found.append(payload)
        place = end
    return found, place


def _packed(arrays: Arrays) -> bytes:
    """Write arrays so that reading them runs no code."""
    target = io.BytesIO()
    np.savez(target, **arrays)  # type: ignore[arg-type]
    return target.getvalue()


def _unpacked(payload: bytes) -> Arrays:
    with np.load(io.BytesIO(payload), allow_pickle=False) as content:
        return {name: content[name] for name in content.files}
