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
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from types import CodeType, FunctionType
from typing import IO, Any, NamedTuple, Self

import joblib
import numpy as np
from scipy import sparse

from .codebook import Codebook

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

WITHOUT_EFFECT = "n_jobs", "verbose"
"""Parameters that may change between two runs: results do not depend on them."""


class StoreInUse(ValueError):
    """The file of a store is open elsewhere."""


class UnusableStore(ValueError):
    """The file of a store is damaged, or belongs to other work."""


class Owner(NamedTuple):
    """Who keeps results in a file, and which work: the words of the error messages."""

    name: str
    work: str
    label: str = "checkpoint={path}"
    advice: str = "Give what was given before to continue it, or another path, or delete the file."


FIT = Owner(
    "a fit",
    "fit",
    advice=f"{Owner._field_defaults['advice']} Each fit needs its own file, also in a search or a "
    "cross-validation.",
)


class Store:
    """Results by key, in a file of JSON lines that is only ever added to.

    The first line tells the format and what the results depend on; every other line is a result.
    Each line ends with its checksum. A last line that is half written or damaged is cut off when
    the file is opened again; damage elsewhere is an error. One store at a time has the file, from
    its beginning to ``close``: the results of two would mix.

    Parameters
    ----------
    path : str, path or None
        The file; one that is there is continued. None: results are kept in memory alone.
    known_by : mapping of str to str
        All that the results depend on; a file with other entries is refused.
    owner : Owner
        Whose results they are.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        known_by: Mapping[str, str],
        *,
        owner: Owner,
    ):
        self.path = None if path is None else Path(path).absolute()  # the folder may change
        self._owner = owner
        self._offsets: dict[str, int] = {}  # of lines, by the key as JSON
        self._synced = monotonic()
        self._label = owner.label.format(path=repr(str(path)))
        self._file: IO[bytes] = io.BytesIO() if self.path is None else self._open(self.path)
        try:
            self._continue(dict(known_by))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._offsets)

    def __iter__(self) -> Iterator[Any]:
        keys = map(json.loads, self._offsets)  # in the order in which they came first
        return (tuple(key) if isinstance(key, list) else key for key in keys)

    def __contains__(self, key: Any) -> bool:
        return json.dumps(key) in self._offsets

    def get(self, key: Any) -> Any:
        """Return the result of a key, None if there is none; tuples have become lists."""
        offset = self._offsets.get(json.dumps(key))
        if offset is None:
            return None
        self._file.seek(offset)
        return json.loads(self._file.readline(), object_hook=_decode)["value"]

    def add(self, key: Any, value: Any) -> None:
        """Keep a result, in the file too; a later one of the same key replaces it.

        Keys are texts, integers and tuples of these; values are numbers, texts, arrays, None, and
        lists and dicts of these.
        """
        line = _line({"key": key, "value": _encode(value)})
        self._offsets[json.dumps(key)] = self._append(line)

    def refuse(self, changed: Sequence[str]) -> None:
        """Raise if something has changed: then the file belongs to other work."""
        if changed:
            raise UnusableStore(
                f"{self._label} belongs to another {self._owner.work}: {'; '.join(changed)}. "
                f"{self._owner.advice}"
            )

    def close(self) -> None:
        """Let others use the file."""
        with suppress(OSError):  # of a full disk, which was raised before
            self._file.close()

    def _open(self, path: Path) -> IO[bytes]:
        """Open the file, and keep others from it until it is closed."""
        if path.is_dir():
            raise ValueError(f"{self._label} is a folder; name a file in it.")
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "a+b")  # noqa: SIM115  # close does it
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            work = self._owner.work
            raise StoreInUse(
                f"{self._label} is in use by another {work}; give each {work} its own path, or "
                "wait until the other has ended."
            ) from None
        except (ImportError, OSError):  # a system or a file system without locks
            pass
        return file

    def _continue(self, known_by: dict[str, str]) -> None:
        """Begin the file, or find the results that are there."""
        file = self._file
        file.seek(0)
        head = file.readline()
        if not head.endswith(b"\n") and BEGIN.startswith(head[: len(BEGIN)]):
            file.truncate(0)  # not even the beginning was written
            about = {"format": FORMAT, "owner": self._owner.name, "known_by": known_by}
            self._append(_line(about))
            return
        self._check_head(head, known_by)
        end, number = len(head), 1
        while line := file.readline():
            number += 1
            if not _is_whole(line):
                if file.read(1):
                    raise self._damage(f"line {number} is not what was written")
                break
            if not line.startswith(KEY):
                raise self._damage(f"line {number} is not a result")
            rest = line[len(KEY) :].decode("ascii")
            self._offsets[rest[: json.JSONDecoder().raw_decode(rest)[1]]] = end
            end += len(line)
        if end < file.seek(0, os.SEEK_END):
            file.truncate(end)

    def _check_head(self, head: bytes, known_by: Mapping[str, str]) -> None:
        """Raise if the first line is that of something else."""
        if not head.startswith(BEGIN):
            raise self._damage(f"it does not begin as a {FORMAT!r}; earlier versions had others")
        if not _is_whole(head):
            raise self._damage("its first line is not what was written")
        found = json.loads(head)
        if found["owner"] != self._owner.name:
            raise self._damage(f"it is one of {found['owner']}")
        self.refuse(changes("", found["known_by"], known_by))

    def _append(self, line: bytes) -> int:
        """Add a line; return where it begins."""
        end = self._file.seek(0, os.SEEK_END)
        try:
            self._file.write(line)
            self._file.flush()
        except OSError as error:
            with suppress(OSError):  # the next line begins where this one would have
                self._file.truncate(end)
            raise type(error)(error.errno, error.strerror, str(self.path)) from error
        if self.path is not None and monotonic() > self._synced + SYNC:
            os.fsync(self._file.fileno())
            self._synced = monotonic()
        return end

    def _damage(self, why: str) -> UnusableStore:
        return UnusableStore(
            f"{self._label} is not a checkpoint of {self._owner.name}, or it is damaged ({why}). "
            "Give another path, or delete the file to start again."
        )


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


class Journal(Store):
    """Results of a fit by their number: whoever computes the same in the same order finds them.

    The random state is written at the beginning, and set where the file is continued.
    """

    def __init__(self, path: Any, known_by: Mapping[str, str], random_state: Any):
        state = _random_state(random_state)  # raises before a file is made
        known_by = {**known_by, "protolearn": version("protolearn")}
        super().__init__(path, known_by, owner=FIT)
        try:
            if "random_state" in self:
                random_state.set_state(self.get("random_state"))
            else:
                self.add("random_state", state)
        except BaseException:
            self.close()
            raise
        self.n_found, self._next = len(self) - 1, 0

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
        if number in self:
            return self._replay(self.get(number), mark, changing)
        result = work(*state)
        self.add(
            number,
            {
                "at": mark,
                "result": vars(result) if isinstance(result, Codebook) else result,
                "state": [
                    _random_state(one) if isinstance(one, np.random.RandomState) else one.arrays()
                    for one in changing
                ],
            },
        )
        return result

    def _replay(self, found: Mapping[str, Any], mark: str, changing: Sequence[Any]) -> Any:
        """Return a result that was found, and set what the work had changed."""
        if found["at"] != mark:
            raise ValueError(
                f"checkpoint={str(self.path)!r} does not fit to this fit: other data, another "
                "version of NumPy or SciPy, or another processor, have taken another way. Give "
                "another path, or delete the file to start again."
            )
        for one, state in zip(changing, found["state"], strict=True):
            restore = one.set_state if isinstance(one, np.random.RandomState) else one.restore
            restore(state)
        result = found["result"]
        if isinstance(result, dict):
            return Codebook(**result)
        return tuple(result) if isinstance(result, list) else result


def _random_state(rng: np.random.RandomState) -> dict[str, Any]:
    """Return the state of a source of randomness, if it can be set again."""
    state: dict[str, Any] = rng.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise ValueError(
            f"checkpoint takes a RandomState with MT19937, not with {state['bit_generator']}; give "
            "an integer as random_state."
        )
    return state


def changes(where: str, before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return which entries differ, three at most: the class alone, or the simplest ones."""
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    names = names[:1] if "class" in names else names
    names.sort(key=lambda name: len(before.get(name, "") + now.get(name, "")))
    return [
        f"{name}{where} was {_short(before, name)} and is {_short(now, name)}" for name in names[:3]
    ]


def _short(values: Mapping[str, str], name: str) -> str:
    value = values.get(name, "not there")
    return value if len(value) <= MOST_SHOWN else f"{value[:MOST_SHOWN]}..."


def digest(*data: Any) -> str:
    """Return a short text that other data would not have: shapes, types and all values count.

    Data are array-likes, structured arrays, sparse matrices and data frames.
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
