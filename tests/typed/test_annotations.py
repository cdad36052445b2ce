"""Every public function and method says its types; only native functions have none.

The types of a native function stand in its decorator, and its arguments are numbers and arrays.
mypy holds the rest to its strict rules, and ``consumer.py`` what users see.
"""

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import protolearn
import protolearn_papers

SOURCES = [Path(package.__file__).parent for package in (protolearn, protolearn_papers)]
NATIVE = "native", "in_either", "njit", "intrinsic", "overload", "_sum", "_maximum", "_exact"
"""Decorators that compile; the last three are njit with the options of their file."""

PACKAGES = sorted(
    f"protolearn.{module.name}"
    for module in pkgutil.iter_modules(protolearn.__path__)
    if not module.name.startswith("_") and module.name != "cli"
)


def public_objects():
    """Give every name in ``__all__`` of the library and its packages, by its path."""
    found = {}
    for path in ["protolearn", *PACKAGES]:
        module = importlib.import_module(path)
        for name in getattr(module, "__all__", []):
            found[f"{path}.{name}"] = getattr(module, name)
    return found


def callables(path, thing):
    """Give functions, and methods of classes that are written in this library."""
    if inspect.isclass(thing):
        for name, member in inspect.getmembers_static(thing):
            function = plain(member)
            if function is not None and (name == "__init__" or not name.startswith("_")):
                yield f"{path}.{name}", function
    elif inspect.isfunction(thing):
        yield path, thing


def plain(member):
    """Give the function behind a method or property, if it is ours and Python."""
    function = getattr(member, "fget", None) or getattr(member, "fn", None)
    function = inspect.unwrap(function or getattr(member, "__func__", member))
    ours = str(getattr(function, "__module__", "")).startswith("protolearn")
    return function if inspect.isfunction(function) and ours else None


def unannotated(function):
    """Give the arguments of a function without a type, and "return" if it has none."""
    signature = inspect.signature(function)
    for name, parameter in signature.parameters.items():
        if parameter.annotation is parameter.empty and name not in {"self", "cls"}:
            yield name
    if signature.return_annotation is signature.empty and function.__name__ != "__init__":
        yield "return"


def test_there_are_packages():
    assert {"protolearn.classifiers", "protolearn.io", "protolearn.losses"} <= set(PACKAGES)


def test_public_callables_are_annotated():
    missing = {
        path: absent
        for name, thing in public_objects().items()
        for path, function in callables(name, thing)
        if (absent := list(unannotated(function)))
    }
    assert not missing


def lacks_types(node):
    """Tell whether a function in the source has an argument, or an answer, without a type."""
    given = node.args
    names = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    untyped = [a for a in names if a and a.annotation is None and a.arg not in {"self", "cls"}]
    typed = any(a and a.annotation is not None for a in names)
    answers = node.returns is not None or (node.name == "__init__" and typed)
    return bool(untyped) or not answers


def is_native(node):
    """Tell whether one of its decorators compiles a function."""
    calls = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
    return any(ast.unparse(call).rpartition(".")[2] in NATIVE for call in calls)


def inside_native(tree):
    """Give the functions inside of native ones: the forms that they take for given types."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and is_native(node):
            yield from (inner for inner in ast.walk(node) if isinstance(inner, ast.FunctionDef))


@pytest.mark.parametrize(
    "folder",
    sorted({path.parent for source in SOURCES for path in source.rglob("*.py")}),
    ids=lambda folder: folder.name,
)
def test_only_native_functions_have_no_types(folder):
    for path in folder.glob("*.py"):
        tree = ast.parse(path.read_text())
        excused = {id(node) for node in inside_native(tree)}
        missing = [
            node.name
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and lacks_types(node) and id(node) not in excused
        ]
        assert not missing, path
