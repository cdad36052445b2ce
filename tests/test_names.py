"""Names and rooms of the source: a newcomer finds a thing where its name says."""

import ast
import re
from collections import Counter, defaultdict
from pathlib import Path

import protolearn

HOME = Path(protolearn.__file__).parent
FILES = sorted(HOME.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}

PARTICIPLE = re.compile(r"_?[a-z]+(ed|en|wn|ld|de)")
IRREGULAR = {"begun", "built", "found", "gone", "held", "kept", "left", "made", "sought", "told"}
VERBS_AND_NOUNS = {
    *("beside", "between", "build", "decode", "embed", "encode", "flatten", "fold", "hidden"),
    *("hold", "node", "open", "own", "stride", "threshold"),
    "steepened",  # of losses and margins that users have written
}
"""What ends like a participle and is none, and a name that is public."""


def names_of(kind, decorated=True):
    return [
        (node.name, path.relative_to(HOME).as_posix())
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, kind) and (decorated or not node.decorator_list)
    ]


def test_no_file_name_stands_twice():
    names = Counter(path.name for path in FILES if path.name != "__init__.py")
    assert not [name for name, count in names.items() if count > 1]


def test_a_class_name_means_one_thing():
    homes = defaultdict(list)
    for name, path in names_of(ast.ClassDef):
        homes[name].append(path)
    assert not {name: paths for name, paths in homes.items() if len(paths) > 1}


def test_a_module_is_not_called_like_something_that_its_package_offers():
    for init in HOME.rglob("__init__.py"):
        imported = [node for node in TREES[init].body if isinstance(node, ast.ImportFrom)]
        offered = {alias.asname or alias.name for node in imported for alias in node.names}
        modules = {path.stem for path in init.parent.iterdir()} - {"__init__", "__pycache__"}
        if init.parent != HOME:  # `from . import datasets` offers the module itself
            assert not offered & modules, init


def test_functions_are_verbs_or_the_nouns_that_they_return():
    participles = [
        f"{path}: {name}"
        for name, path in names_of((ast.FunctionDef, ast.AsyncFunctionDef), decorated=False)
        if (PARTICIPLE.fullmatch(name) or name.strip("_") in IRREGULAR)
        and name.strip("_") not in VERBS_AND_NOUNS
    ]
    assert not participles


def test_docstrings_begin_with_the_result():
    kinds = ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef
    told = [
        f"{path.name}: {node.name}"
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, kinds)
        and re.match(r"(Give|Tell|Say|Put)\b", ast.get_docstring(node) or "")
    ]
    assert not told


def test_private_modules_at_the_top_are_few():
    assert len(list(HOME.glob("_*.py")) + list(HOME.glob("_*/"))) <= 1 + 6 + 1  # init, __pycache__


def test_few_modules_have_one_importer():
    """A module with one importer is usually a part of it."""
    modules = {_module(path): path for path in FILES}
    importers = defaultdict(set)
    for path, tree in TREES.items():
        for name in _imports(path, tree, modules):
            importers[name].add(path)
    alone = [
        name
        for name, path in modules.items()
        if path.name != "__init__.py" and len(importers[name] - {path}) == 1
    ]
    assert len(alone) <= 60, alone


def _module(path):
    parts = path.relative_to(HOME.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def _imports(path, tree, modules):
    name = _module(path)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            above = parts[: len(parts) - node.level + 1] if node.level else []
            home = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                inside = f"{home}.{alias.name}"
                yield inside if inside in modules else home
