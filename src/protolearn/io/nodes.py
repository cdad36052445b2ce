"""The plan of a model in the file of skops: nodes, each with a type and how it is built."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

Node = dict[str, Any]

VALUES = frozenset(
    f"{kind}Node"
    for kind in ("Bytearray", "Bytes", "DType", "Function", "Json", "Slice", "Tuple", "Type")
)
"""Nodes of plain values. Python may keep equal ones once or twice, so that is not written."""


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


def settled(plan: Node, content: Callable[[str], str]) -> tuple[Node, dict[str, str]]:
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
