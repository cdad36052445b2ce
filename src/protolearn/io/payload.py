"""The part of a file that holds the model, in the format of skops."""

from __future__ import annotations

import hashlib
import json
import warnings
from functools import cache
from io import BytesIO
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from sklearn.exceptions import InconsistentVersionWarning

from .errors import ModelFileError
from .file import check_members, stored
from .nodes import Node, bare, check_shared, mend_keys, nodes, settled, type_of
from .trust import known

PLAN = "schema.json"

OLDEST = 2
"""Format of skops: the rules for files of older ones are less strict."""

ARRAY = b"\x93NUMPY"
"""How the file of an array begins; NumPy would take a zip for many of them."""

RECORDS, HEADER_SIZE = b"'descr': [", 128
"""How the type of records begins, and where that is."""

PLAIN = frozenset(
    f"{kind}Node"
    for kind in (
        *("Bytearray", "Bytes", "DefaultDict", "Dict", "Function", "List", "MaskedArray"),
        *("NdArray", "Object", "RandomState", "Set", "Tuple", "Type"),
    )
)
"""How types may be built that are not on our list: skops looks at all of these before it imports
anything, and builds them by no call that the file chooses. Its other ways are not all like that in
each of its versions."""

EXPANSION = 200
"""How many times larger than the file sparse matrices may become; they are compressed."""


def dump(model: Any) -> bytes:
    """Write a model; the same one gives the same bytes."""
    from skops.io import dumps

    with ZipFile(BytesIO(dumps(model))) as archive:
        plan = json.loads(archive.read(PLAN))
        mend_keys(plan)
        plan, names = settled(plan, lambda name: _digest(archive, name))
        members = {new: _tidy(archive.read(old)) for old, new in names.items()}
    text = json.dumps(plan, separators=(",", ":"))
    return stored({PLAN: text.encode(), **members})


def build(payload: bytes, trusted: frozenset[str]) -> Any:
    """Build the model, which ``refused`` has nothing against."""
    from skops.io import loads

    with ZipFile(BytesIO(payload)) as archive:
        here = {type_of(node) for _, node in nodes(json.loads(archive.read(PLAN)))}
    needed = trusted | here & known().keys()  # skops walks through this list at each node
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentVersionWarning)  # load says it once
        return loads(payload, trusted=sorted(needed))


def refused(payload: bytes, trusted: frozenset[str]) -> dict[str, str]:
    """Return the types that are not known, each with its first place; nothing is imported."""
    from skops.io import get_untrusted_types

    there = checked_nodes(payload)
    found: dict[str, str] = {}
    for place, node in there:
        kind = type_of(node)
        if kind not in trusted and node["__loader__"] not in known().get(kind, PLAIN):
            found.setdefault(kind, place)
    if found:  # skops need not see it
        return found
    places = {type_of(node): place for place, node in reversed(there)}
    others = set(get_untrusted_types(data=payload)) - set(known()) - trusted
    return {kind: places.get(kind, "the model") for kind in sorted(others)}


def checked_nodes(payload: bytes) -> list[tuple[str, Node]]:
    """Return the nodes of the plan, and raise if it is not one that ``dump`` could have written."""
    with ZipFile(BytesIO(payload)) as archive:
        check_members(archive, len(payload))
        packed = [name for name in archive.namelist() if name.endswith(".npz")]
        if sum(_size_of_arrays(archive.read(name)) for name in packed) > EXPANSION * len(payload):
            raise BadZipFile("its sparse matrices claim to be larger than is likely")
        plan = json.loads(archive.read(PLAN))
        if not isinstance(plan, dict) or plan.get("__loader__") is None:
            raise ValueError("it holds no model")
        if type(plan.get("protocol")) is not int or not OLDEST <= plan["protocol"] <= _newest():
            raise ModelFileError("the model is in a format that this version of skops cannot read")
        there = list(nodes(plan))
        check_shared([node for _, node in there])
        for _, node in there:
            _check_keys(node)
            _check_array(node, archive)
    return there


def fingerprint(payload: bytes) -> str:
    """Return the content of a payload without what may differ between equal models."""
    with ZipFile(BytesIO(payload)) as archive:
        plan = json.loads(archive.read(PLAN))
        return json.dumps(bare(plan, lambda name: _digest(archive, name)))


def _check_keys(node: Node) -> None:
    """Raise if keys of a dict have no types: skops calls what is there."""
    if node["__loader__"] == "DictNode":
        kinds = node["key_types"]
        ways = {kinds["__loader__"], *(kind["__loader__"] for kind in kinds["content"])}
        if not ways <= {"ListNode", "TypeNode"}:
            raise ValueError("keys of a dict have something else than types")


def _check_array(node: Node, archive: ZipFile) -> None:
    """Raise if what should be an array is not the file of one."""
    if node["__loader__"] == "NdArrayNode" and "file" in node:
        with archive.open(node["file"]) as file:
            if file.read(len(ARRAY)) != ARRAY:
                raise ValueError("an array of it is none")


@cache
def _newest() -> int:
    """Return the format that skops writes here; not every version of it minds a newer one."""
    from skops.io import dumps

    with ZipFile(BytesIO(dumps(None))) as archive:
        return int(json.loads(archive.read(PLAN))["protocol"])


def _tidy(data: bytes) -> bytes:
    """Return the file of an array of records, with zeros in the gaps between its fields."""
    if not data.startswith(ARRAY) or RECORDS not in data[:HEADER_SIZE]:
        return data
    found = np.load(BytesIO(data), allow_pickle=False)
    tidy = np.zeros_like(found)
    for name in found.dtype.names or ():
        tidy[name] = found[name]
    buffer = BytesIO()
    np.save(buffer, tidy, allow_pickle=False)
    return buffer.getvalue()


def _size_of_arrays(data: bytes) -> int:
    """Return how large the arrays of a sparse matrix claim to be."""
    with ZipFile(BytesIO(data)) as archive:
        return sum(member.file_size for member in archive.infolist())


def _digest(archive: ZipFile, name: str) -> str:
    """Return the checksum of a member."""
    return hashlib.sha256(archive.read(name)).hexdigest()
