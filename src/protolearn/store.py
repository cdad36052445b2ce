"""Results that are kept in a file, so that work that was cut off need not be done again.

Whatever can be resumed keeps its results here: fits, searches, comparisons, the parts of a command
and the published experiments. Results have keys, and a fingerprint says what they depend on.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import inspect
import io
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from types import CodeType, FunctionType
from typing import IO, Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .codebook import Codebook

Arrays = Mapping[str, NDArray[Any]]

Record = Callable[..., Any]
"""``record(work, *state)`` returns ``work(*state)``; by default it is :func:`operator.call`, which
does just that. That of a :class:`Journal` also writes the result down, or finds it."""

FORMAT = "protolearn store 1"
BEGIN = f'{{"format": "{FORMAT}", '.encode()
KEY = b'{"key": '
CHECK = b', "check": "'

SYNC = 1.0
"""Seconds after which what is written has to be on the disk itself."""

MOST_SHOWN = 60
"""Characters of a value that a message shows."""

CODEBOOK = tuple(field.name for field in fields(Codebook))
"""The arrays of a codebook."""

WITHOUT_EFFECT = "n_jobs", "verbose"
"""Parameters that may change between two runs: results do not depend on them."""


class Owner(NamedTuple):
    """Whose results a file holds, in the words of its error messages.

    Attributes
    ----------
    name : str
        What computes the results.
    work : str
        What it computes: the file may belong to another such.
    label : str
        How the file is called; ``{path}`` stands for its path in quotes.
    advice : str
        What to do with a file that belongs to other work.
    """

    name: str
    work: str
    label: str = "checkpoint={path}"
    advice: str = "Give what was given before to continue it, or another path, or delete the file."


FIT = Owner(
    "a fit",
    "fit",
    advice=f"{Owner._field_defaults['advice']} Each fit has to have a file of its own, also in a "
    "search or a cross-validation.",
)


class Store:
    """Results by key, in a file of JSON lines that is only ever added to.

    The first line tells the format and what the results depend on; every other line is a result.
    Each line ends with its checksum. A last line that is half written or damaged is cut off when
    the file is opened again; damage elsewhere is an error.

    Parameters
    ----------
    path : str, path or None
        The file; one that is there is continued. None: results are kept in memory alone.
    known_by : mapping of str to str
        All that the results depend on; a file with other entries is refused.
    owner : Owner
        Whose results they are.
    exclusive : bool, default=False
        Whether no other process may use the file at the same time. Otherwise several may, and do
        some work twice at worst.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        known_by: Mapping[str, str],
        *,
        owner: Owner,
        exclusive: bool = False,
    ):
        self.path = None if path is None else Path(path)
        self._owner = owner
        self._offsets: dict[str, int] = {}  # of lines, by the key as JSON
        self._synced = monotonic()
        self._file: IO[bytes] | None = None if self.path else io.BytesIO()
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._open_exclusively(self.path) if exclusive else None
        try:
            with self._open() as file:
                self._continue(file, dict(known_by))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._offsets)

    def __iter__(self) -> Iterator[Any]:
        """Go through the keys in the order in which they came first."""
        keys = map(json.loads, self._offsets)
        return (tuple(key) if isinstance(key, list) else key for key in keys)

    def __contains__(self, key: Any) -> bool:
        return json.dumps(key) in self._offsets

    def get(self, key: Any) -> Any:
        """Return the result of a key, None if there is none; tuples have become lists."""
        offset = self._offsets.get(json.dumps(key))
        if offset is None:
            return None
        with self._open() as file:
            file.seek(offset)
            return json.loads(file.readline(), object_hook=_decode)["value"]

    def add(self, key: Any, value: Any) -> None:
        """Keep a result, in the file too.

        Parameters
        ----------
        key : str, int, or tuple of these
            By what it is found again; a later result replaces an earlier one.
        value : object
            Numbers, texts, arrays, None, and lists and dicts of these.
        """
        line = _line({"key": key, "value": _encode(value)})
        with self._open() as file:
            self._offsets[json.dumps(key)] = self._append(file, line)

    def close(self) -> None:
        """Let others use the file."""
        if self._file is not None:
            self._file.close()

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        """Open the file for the block; another process has to wait that long."""
        if self._file is not None:
            yield self._file
            return
        assert self.path is not None
        with open(self.path, "a+b") as file:
            _lock(file, wait=True)
            yield file

    def _open_exclusively(self, path: Path) -> IO[bytes]:
        file = open(path, "a+b")  # noqa: SIM115  # the store closes it
        try:
            _lock(file, wait=False)
        except OSError:
            file.close()
            work = self._owner.work
            raise ValueError(
                f"{self._label()} is in use by another {work}; give each {work} its own path."
            ) from None
        return file

    def _continue(self, file: IO[bytes], known_by: dict[str, str]) -> None:
        """Begin the file, or find the results that are there."""
        file.seek(0)
        head = file.readline()
        if not head.endswith(b"\n") and BEGIN.startswith(head[: len(BEGIN)]):
            file.truncate(0)  # not even the beginning was written
            about = {"format": FORMAT, "owner": self._owner.name, "known_by": known_by}
            self._append(file, _line(about))
            return
        self._check_head(head, known_by)
        end, number = len(head), 1
        while line := file.readline():
            number += 1
            if not _is_whole(line):
                if file.read(1):
                    raise self._damage(f"line {number} is not what was written")
                break
            text = line[len(KEY) :].decode("ascii")
            self._offsets[text[: json.JSONDecoder().raw_decode(text)[1]]] = end
            end += len(line)
        if end < file.seek(0, os.SEEK_END):
            file.truncate(end)

    def _check_head(self, head: bytes, known_by: Mapping[str, str]) -> None:
        """Raise if the first line is that of something else."""
        if not head.startswith(BEGIN):
            raise self._damage(f"it does not begin as a {FORMAT!r}")
        if not _is_whole(head):
            raise self._damage("its first line is not what was written")
        found = json.loads(head)
        if found["owner"] != self._owner.name:
            raise self._damage(f"it is one of {found['owner']}")
        self.refuse(changes("", found["known_by"], known_by))

    def refuse(self, changed: Sequence[str]) -> None:
        """Raise if something has changed: then the file belongs to other work."""
        if changed:
            raise ValueError(
                f"{self._label()} belongs to another {self._owner.work}: {'; '.join(changed)}. "
                f"{self._owner.advice}"
            )

    def _append(self, file: IO[bytes], line: bytes) -> int:
        """Add a line; return where it begins."""
        end = file.seek(0, os.SEEK_END)
        file.seek(max(end - 1, 0))
        if file.read(1) not in (b"", b"\n"):  # another process was killed while it wrote
            file.seek(0)
            end = file.truncate(file.read().rfind(b"\n") + 1)
        file.seek(end)
        file.write(line)
        file.flush()
        if self.path is not None and monotonic() > self._synced + SYNC:
            os.fsync(file.fileno())
            self._synced = monotonic()
        return end

    def _damage(self, why: str) -> ValueError:
        return ValueError(
            f"{self._label()} is no checkpoint of {self._owner.name}, or it is damaged ({why}). "
            "Give another path, or delete the file to start anew."
        )

    def _label(self) -> str:
        return self._owner.label.format(path=repr(str(self.path)))


def _lock(file: IO[bytes], wait: bool) -> None:
    """Keep other processes from a file until it is closed; raise if one has it, or wait."""
    try:
        import fcntl
    except ImportError:  # where there are no such locks
        return
    fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def _line(record: Mapping[str, Any]) -> bytes:
    """Write a record as JSON, its checksum last."""
    body = json.dumps(record, allow_nan=False)[:-1].encode("ascii")
    return body + CHECK + _checksum(body) + b'"}\n'


def _is_whole(line: bytes) -> bool:
    """Whether a line is as it was written; ends of lines may be those of Windows."""
    body, _, rest = line.rstrip(b"\r\n").rpartition(CHECK)
    return line.endswith(b"\n") and rest == _checksum(body) + b'"}'


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=8).hexdigest().encode()


def _encode(value: Any) -> Any:
    """Return a value as JSON has it, which has no arrays, infinity and NaN."""
    if isinstance(value, np.ndarray):
        target = io.BytesIO()
        np.save(target, value, allow_pickle=False)
        return {"$array": base64.b64encode(target.getvalue()).decode()}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": str(value)}
    if isinstance(value, Mapping):
        return {name: _encode(one) for name, one in value.items()}
    return [_encode(one) for one in value] if isinstance(value, (list, tuple)) else value


def _decode(found: dict[str, Any]) -> Any:
    """Return what ``_encode`` was given; no code of the file runs."""
    if "$array" in found:
        return np.load(io.BytesIO(base64.b64decode(found["$array"])), allow_pickle=False)
    return float(found["$float"]) if "$float" in found else found


class Journal:
    """Results of a fit by their number: whoever computes the same in the same order finds them.

    Parameters
    ----------
    path : str or path
        The file; one that is there is continued.
    known_by : mapping of str to str
        All that the results depend on, beside the version of the library.
    random_state : RandomState
        Written at the beginning, and set where the file is continued.
    """

    def __init__(self, path: Any, known_by: Mapping[str, str], random_state: Any):
        if Path(path).is_dir():
            raise ValueError(f"checkpoint={str(path)!r} is a folder; name a file in it.")
        state = random_arrays(random_state)  # raises before a file is made
        known_by = {**known_by, "protolearn": version("protolearn")}
        self._store = Store(path, known_by, owner=FIT, exclusive=True)
        if "random_state" in self._store:
            restore_random(random_state, self._store.get("random_state"))
        else:
            self._store.add("random_state", state)
        self.n_found, self._next = len(self._store) - 1, 0

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *error: object) -> None:
        self._store.close()

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
        mark = _checksum(known).decode() if known else ""
        changing = [one for one in state if not isinstance(one, np.ndarray)]
        number, self._next = self._next, self._next + 1
        if number in self._store:
            found = self._store.get(number)
            if found["at"] != mark:
                raise ValueError(
                    f"checkpoint={str(self._store.path)!r} does not fit to this fit: other data, "
                    "another version of NumPy or SciPy, or another processor, have taken another "
                    "way. Give another path, or delete the file to start anew."
                )
            for one, arrays in zip(changing, found["state"], strict=True):
                restore = getattr(one, "restore", functools.partial(restore_random, one))
                restore(arrays)
            return _as_result(found["result"])
        result = work(*state)
        after = [
            random_arrays(one) if isinstance(one, np.random.RandomState) else one.arrays()
            for one in changing
        ]
        self._store.add(number, {"at": mark, "result": _as_parts(result), "state": after})
        return result


def random_arrays(rng: np.random.RandomState) -> dict[str, NDArray[Any]]:
    """Return the state of a source of randomness as arrays."""
    state: dict[str, Any] = rng.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise ValueError(
            f"checkpoint takes a RandomState with MT19937, not with {state['bit_generator']}; give "
            "an integer as random_state."
        )
    keys, rest = state["state"]["key"], [state["state"]["pos"], state["has_gauss"], state["gauss"]]
    return {"keys": np.asarray(keys), "places": np.array(rest)}


def restore_random(rng: np.random.RandomState, arrays: Arrays) -> None:
    """Set a source of randomness to where ``random_arrays`` has seen it."""
    position, has_gauss, gauss = arrays["places"].tolist()
    rng.set_state(("MT19937", arrays["keys"], int(position), int(has_gauss), gauss))


def _as_parts(result: Any) -> dict[str, Any]:
    """Return a result with what it is: a codebook, a tuple, or one value."""
    if isinstance(result, Codebook):
        return {"codebook": [getattr(result, name) for name in CODEBOOK]}
    if isinstance(result, tuple):
        return {"tuple": result}
    return {"value": result}


def _as_result(parts: Mapping[str, Any]) -> Any:
    """Return what ``_as_parts`` was given."""
    ((kind, found),) = parts.items()
    if kind == "codebook":
        return Codebook(*found)
    return tuple(found) if kind == "tuple" else found


def changes(where: str, before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return which entries differ, three at most: the class alone, or the simplest ones."""
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    names = names[:1] if "class" in names else names
    names.sort(key=lambda name: len(before.get(name, "") + now.get(name, "")))
    return [
        f"{name}{where} was {_short(before.get(name))} and is {_short(now.get(name))}"
        for name in names[:3]
    ]


def _short(value: str | None) -> str:
    if value is None:
        return "not there"
    return value if len(value) <= MOST_SHOWN else f"{value[:MOST_SHOWN]}..."


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
        entries = sorted(f"{text(key)}: {text(one)}" for key, one in value.items())
        return f"{{{', '.join(entries)}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(text, value))}]"
    if isinstance(value, (set, frozenset)):
        return f"set({', '.join(sorted(map(text, value)))})"
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
        code += text(_code_parts(function.__code__))
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    held += [function.__defaults__, function.__kwdefaults__]
    return f"{function.__module__}.{function.__qualname__} {digest(code, text(held))}"


def _code_parts(code: CodeType) -> list[Any]:
    """Return what a function does, with the constants and the functions in it."""
    held = [_code_parts(one) if isinstance(one, CodeType) else one for one in code.co_consts]
    return [code.co_code, code.co_names, held]


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
