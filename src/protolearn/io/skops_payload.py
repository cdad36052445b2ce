"""The part of a file that holds the model, in the format of skops.

Its plan of the model is made of nodes, each with a type and how it is built.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import numpy as np
from sklearn.exceptions import InconsistentVersionWarning

from .file import ModelFileError, Pieces, check_members, zip_members
from .trust import LISTED, file_names, known_types

Node = dict[str, Any]

PLAN = "schema.json"
OLDEST = 2  # format of skops: the rules for files of older ones are less strict
ARRAY = b"\x93NUMPY"  # how the file of an array begins; NumPy would take a zip for many of them
RECORDS, HEADER_SIZE = b"'descr': [", 128  # how the type of records begins, and where that is
SPARSE = b"PK"  # how the file of a sparse matrix begins: a zip of arrays
KINDS = "biufcmMSU"  # of numbers, times and texts: what an array may hold
DEEPEST = 40  # parts within parts that are looked into; an object may hold itself

PLAIN = frozenset(
    f"{kind}Node"
    for kind in (
        *("Bytes", "DefaultDict", "Dict", "Function", "List", "MaskedArray"),
        *("NdArray", "Object", "RandomState", "Set", "Tuple", "Type"),
    )
)
"""How types may be built that are not on our list: skops looks at all of these before it imports
anything, and builds them by no call that the file chooses. Its other ways are not all like that in
each of its versions."""

VALUES = frozenset(
    f"{kind}Node"
    for kind in ("Bytearray", "Bytes", "DType", "Function", "Json", "Slice", "Tuple", "Type")
)
"""Nodes of plain values. Python may keep equal ones once or twice, so that is not written."""


def dump(model: Any) -> bytes:
    """Write a model; the same one gives the same bytes."""
    from skops.io import dumps

    with ZipFile(BytesIO(dumps(model))) as archive:
        plan = json.loads(archive.read(PLAN))
        mend_keys(plan)
        rename_types(plan, file_names())
        plan, names = canonical_plan(plan, lambda name: _digest(archive, name))
        members = {new: _tidy(archive.read(old)) for old, new in names.items()}
    text = json.dumps(plan, separators=(",", ":"))
    return zip_members({PLAN: text.encode(), **members}).read()


def build(payload: Pieces, trusted: frozenset[str]) -> Any:
    """Build the model, in which ``unknown_types`` has found nothing."""
    from skops.io import load

    with ZipFile(payload) as archive:
        here = {type_of(node) for _, node in nodes(json.loads(archive.read(PLAN)))}
    needed = trusted | here & known_types().keys()  # skops walks through this list at each node
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentVersionWarning)  # load says it once
        return load(payload, trusted=sorted(needed))


def unknown_types(payload: Pieces, trusted: frozenset[str]) -> dict[str, str]:
    """Return the types that are not known, each with its first place; nothing is imported."""
    from skops.io import get_untrusted_types

    there = checked_nodes(payload)
    found: dict[str, str] = {}
    for place, node in there:
        kind = type_of(node)
        ways = () if kind.startswith(LISTED) else PLAIN
        if kind not in trusted and node["__loader__"] not in known_types().get(kind, ways):
            found.setdefault(kind, place)
    if found:  # skops need not see it
        return found
    places = {type_of(node): place for place, node in reversed(there)}
    others = set(get_untrusted_types(file=payload)) - set(known_types()) - trusted
    return {kind: places.get(kind, "the model") for kind in sorted(others)}


def checked_nodes(payload: Pieces) -> list[tuple[str, Node]]:
    """Return the nodes of the plan, and raise if it is not one that ``dump`` could have written."""
    with ZipFile(payload) as archive:
        plan = json.loads(archive.read(PLAN))
        if not isinstance(plan, dict) or plan.get("__loader__") is None:
            raise ValueError("it holds no model")
        if type(plan.get("protocol")) is not int or not OLDEST <= plan["protocol"] <= _newest():
            raise ModelFileError("the model is in a format that this version of skops cannot read")
        there = list(nodes(plan))
        check_shared([node for _, node in there])
        for _, node in there:
            _check_content(node, archive, payload.size)
    return there


def fingerprint(payload: bytes) -> str:
    """Return the content of a payload without what may differ between equal models."""
    with ZipFile(BytesIO(payload)) as archive:
        plan = json.loads(archive.read(PLAN))
        return json.dumps(bare(plan, lambda name: _digest(archive, name)))


def _check_content(node: Node, archive: ZipFile, limit: int) -> None:
    """Raise if what should be an array is not the file of one, or if keys of a dict have no types.

    Skops calls what is there.
    """
    if node["__loader__"] == "DictNode":
        kinds = node["key_types"]
        ways = {kinds["__loader__"], *(kind["__loader__"] for kind in kinds["content"])}
        if not ways <= {"ListNode", "TypeNode"}:
            raise ValueError("keys of a dict have something else than types")
    name, data = type_of(node), archive.read(node["file"]) if "file" in node else b""
    if node["__loader__"] == "SparseMatrixNode":
        with ZipFile(BytesIO(data)) as arrays:
            check_members(arrays, len(data))
            for member in arrays.namelist():
                _check_array(arrays.read(member), limit)
    elif node["__loader__"] == "MaskedArrayNode":
        if {part["__loader__"] for part in node["content"].values()} != {"NdArrayNode"}:
            raise ValueError("a masked array of it is none")
    elif node["__loader__"] == "NdArrayNode" and "file" in node:
        dtype, shape = _check_array(data, limit)
        kind = getattr(np, node["__class__"], None) if name != "numpy.ndarray" else None
        if kind and (shape or dtype.names or np.dtype(kind).kind != dtype.kind):
            raise ValueError("a number of it is none")  # void of a number would be so many bytes
    elif node["__loader__"] == "NdArrayNode" and len(node["shape"]["content"]) != 1:
        inner = [type_of(part) for _, part in nodes(node["content"]) if "file" in part]
        if "numpy.ndarray" in inner:
            raise ValueError("an array of objects holds arrays")  # NumPy would unfold them


def _check_array(data: bytes, limit: int) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Return type and shape of the file of an array; raise if they are not what its bytes are."""
    if not data.startswith(ARRAY):
        raise ValueError("an array of it is none")
    file = BytesIO(data)
    old = np.lib.format.read_magic(file)[0] == 1
    read = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    fields = [dtype[name] for name in dtype.names] if dtype.names else [dtype]
    if any(field.kind not in KINDS or field.shape for field in fields):
        raise ValueError("an array of it holds objects, not numbers or texts (allow_pickle)")
    count = int(np.prod([1, *shape], dtype=object))  # exact, however large
    if count * dtype.itemsize != len(data) - file.tell():
        raise ValueError("an array of it claims another size than it has")
    if max((*shape, dtype.itemsize)) > limit or (count and not dtype.itemsize):
        raise ValueError("an array of it claims a size beyond the file")
    return dtype, shape


@cache
def _newest() -> int:
    """Return the format that skops writes here; not every version of it minds a newer one."""
    from skops.io import dumps

    with ZipFile(BytesIO(dumps(None))) as archive:
        return int(json.loads(archive.read(PLAN))["protocol"])


def _tidy(data: bytes) -> bytes:
    """Return the file of an array of records, with zeros in the gaps between its fields.

    The arrays of a sparse matrix are no longer compressed.
    """
    if data.startswith(SPARSE):
        with ZipFile(BytesIO(data)) as arrays:
            return zip_members({name: arrays.read(name) for name in arrays.namelist()}).read()
    if not data.startswith(ARRAY) or RECORDS not in data[:HEADER_SIZE]:
        return data
    found = np.load(BytesIO(data), allow_pickle=False)
    tidy = np.zeros_like(found)
    for name in found.dtype.names or ():
        tidy[name] = found[name]
    buffer = BytesIO()
    np.save(buffer, tidy, allow_pickle=False)
    return buffer.getvalue()


def _digest(archive: ZipFile, name: str) -> str:
    """Return the checksum of a member."""
    return hashlib.sha256(archive.read(name)).hexdigest()


def nodes(state: Any, place: str = "model", attributes: bool = False) -> Iterator[tuple[str, Node]]:
    """Return all nodes of a plan, each with its place in the model.

    ``attributes``: the names of the next dict are those of attributes.
    """
    if isinstance(state, list):
        for number, part in enumerate(state):
            yield from nodes(part, f"{place}[{number}]")
    elif isinstance(state, dict):
        if "__loader__" in state:
            loader = state["__loader__"]
            yield place, state
            of_object = loader == "ObjectNode" or (attributes and loader == "DictNode")
            for part in state.values():
                yield from nodes(part, place, of_object)
        elif not isinstance(state.get("__id__", {}), dict):  # skops would look it up
            raise ValueError("a part of it stands for another one")
        else:
            for name, part in state.items():
                yield from nodes(part, f"{place}.{name}" if attributes else f"{place}[{name!r}]")


def localize(payload: bytes) -> Pieces:
    """Return a payload for ``build``: modules of today in place of the names that files have."""
    with ZipFile(BytesIO(payload)) as archive:
        check_members(archive, len(payload))
        plan = json.loads(archive.read(PLAN))
        rename_types(plan, {name: kind for kind, name in file_names().items()})
        members = {name: archive.read(name) for name in archive.namelist()}
    return zip_members({**members, PLAN: json.dumps(plan).encode()})


def rename_types(plan: Node, names: dict[str, str]) -> None:
    """Replace names of types in a plan; others stay."""
    for _, node in nodes(plan):
        if type_of(node) in names:
            node["__module__"], _, node["__class__"] = names[type_of(node)].rpartition(".")


def type_of(node: Node) -> str:
    """Return the name of the type of a node."""
    return f"{node.get('__module__')}.{node.get('__class__')}"


def bare(state: Any, content: Callable[[str], str]) -> Any:
    """Return a plan without numbers of nodes, sets in order, files by their content."""
    if isinstance(state, list):
        return [bare(part, content) for part in state]
    if not isinstance(state, dict):
        return state
    if "__loader__" not in state:
        return {name: bare(part, content) for name, part in state.items()}
    kept = {name: bare(part, content) for name, part in state.items() if name != "__id__"}
    if "file" in kept:
        kept["file"] = content(kept["file"])
    if kept["__loader__"] == "SetNode":
        kept["content"].sort(key=json.dumps)
    return kept


def canonical_plan(plan: Node, content: Callable[[str], str]) -> tuple[Node, dict[str, str]]:
    """Return a plan with numbers in place of addresses, sets in order, and new names of files.

    An object that occurs twice is written twice, the second time exactly as the first.
    """
    first: dict[int, Node] = {}
    names: dict[str, str] = {}

    def settle(state: Any) -> Any:
        if isinstance(state, list):
            return [settle(part) for part in state]
        if not isinstance(state, dict):
            return state
        if "__loader__" not in state:
            return {name: settle(part) for name, part in state.items()}
        address = None if state["__loader__"] in VALUES else state.get("__id__")
        if address in first:
            return first[address]
        new: Node = {}
        if address is not None:
            first[address] = new
            new["__id__"] = len(first)  # zero would mean none
        if state["__loader__"] == "SetNode":
            state["content"].sort(key=lambda part: json.dumps(bare(part, content)))
        new.update({name: settle(part) for name, part in state.items() if name != "__id__"})
        if "file" in new:
            ending = new["file"].rpartition(".")[2]
            new["file"] = names.setdefault(new["file"], f"{len(names) + 1}.{ending}")
        return new

    return settle(plan), names


def check_shared(there: Iterable[Node]) -> None:
    """Raise if nodes of one number differ, or if one file is the content of different nodes.

    Skops takes the first node of a number for all of them: few could stand for billions.
    """
    first: dict[Any, Node] = {}
    owners: dict[str, Node] = {}
    for node in there:
        number = node.get("__id__")
        same = first.setdefault(number, node) if number else node
        if same is not node and bare(same, str) != bare(node, str):
            raise ValueError("two parts of it have one number")
        if "file" in node and owners.setdefault(node["file"], same) is not same:
            raise ValueError("two parts of it have one content")


def mend_keys(plan: Node) -> None:
    """Write the key False as an empty text, since ``bool("false")`` is True."""
    for _, node in nodes(plan):
        if node["__loader__"] == "DictNode" and "false" in node["content"]:
            kinds = [kind["__class__"] for kind in node["key_types"]["content"]]
            node["content"] = {
                "" if name == "false" and kind in ("bool", "bool_") else name: part
                for kind, (name, part) in zip(kinds, node["content"].items(), strict=True)
            }


def unwritable_part(thing: Any, place: str, depth: int = 0) -> str:
    """Return the place and the type of the innermost part that cannot be written."""
    for where, part in named_parts(thing) if depth < DEEPEST else ():
        if not is_writable(part):
            return unwritable_part(part, place + where, depth + 1)
    return f"{place} ({type(thing).__name__})"


def named_parts(thing: Any) -> Iterator[tuple[str, Any]]:
    """Return what a thing holds, each with how it is reached."""
    if isinstance(thing, (dict, list, tuple)):
        items = thing.items() if isinstance(thing, dict) else enumerate(thing)
        return ((f"[{name!r}]", part) for name, part in items)
    return ((f".{name}", part) for name, part in getattr(thing, "__dict__", {}).items())


def is_writable(thing: Any) -> bool:
    """Whether a thing can be written alone."""
    from skops.io import dumps

    try:
        return bool(dumps(thing))
    except Exception:
        return False
