"""Files that want something run, imported or blown up: one clear error, and nothing happens."""

import importlib
import io
import json
import pickle
import sys
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np
import pytest
from scipy import sparse

import protolearn
from protolearn import GLVQ
from protolearn.io import ModelFileError, file
from protolearn.io.skops_payload import PLAN
from protolearn.io.trust import known_types

RAN = []


def run(*args, **kwargs):
    """Is what a malicious file would like to have called."""
    RAN.append(args)


class Runs:
    """Runs when it is built in any way."""

    def __new__(cls, *args, **kwargs):
        run(*args)
        return super().__new__(cls)

    def __setstate__(self, state):
        run(state)

    def __reduce__(self):
        return run, ("pickle",)


@pytest.fixture(autouse=True)
def nothing_runs():
    """Assert that nothing was run or imported."""
    RAN.clear()
    sys.modules.pop("this", None)
    yield
    assert not RAN
    assert "this" not in sys.modules


def refused(path, match=None, **trusted):
    """Assert that a file is refused, in a text of one line that is not endless."""
    with pytest.raises(ModelFileError, match=match) as caught:
        protolearn.load(path, **trusted)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 4000


def node(name, loader, **parts):
    """Give a node."""
    module, _, kind = name.rpartition(".")
    return {"__class__": kind, "__module__": module, "__loader__": f"{loader}Node", **parts}


def plain(value):
    """Give the node of a plain value."""
    return node("builtins.str", "Json", content=json.dumps(value), is_json=True)


def sequence(*parts, kind="tuple"):
    """Give the node of a tuple or list."""
    return node(f"builtins.{kind}", kind.title(), content=list(parts))


def mapping(**parts):
    """Give the node of a dict."""
    types = [node("builtins.str", "Type") for _ in parts]
    return node("builtins.dict", "Dict", content=parts, key_types=sequence(*types, kind="list"))


def loaders(name):
    """Give a node of each kind that names a type or a function."""
    text = sequence(plain("echo"))
    inside = {
        "func": node(name, "Function"),
        "args": text,
        "kwds": mapping(),
        "namespace": mapping(),
    }
    generator = {"bit_generator": mapping(bit_generator=plain("seed")), "seed_seq": mapping()}
    module, _, kind = name.rpartition(".")
    return {
        "function": node(name, "Function"),
        "type": node(name, "Type"),
        "object": node(name, "Object", content=mapping(a=plain(1))),
        "empty object": node(name, "Object"),
        "reduce": node(name, "ConstructorFromReduce", content=text),
        "partial": node("functools.partial", "Partial", content=inside),
        "partial by that name": node(name, "Partial", content=inside),
        "method": node(name, "Method", content={"func": "__init__", "obj": node(name, "Object")}),
        "operator": node(name, "OperatorFunc", attrs=text),
        "loss": node(name, "Loss", content=mapping(), __reduce__={"args": text}),
        "tree": node(name, "Tree", content=mapping(), __reduce__={"args": text}),
        "forest": node(name, "QuantileForest", content=mapping(), __reduce__={"args": text}),
        "tuple": node(name, "Tuple", content=text["content"]),
        "list": node(name, "List", content=text["content"]),
        "set": node(name, "Set", content=text["content"]),
        "dict": {**mapping(a=plain(1)), "__class__": kind, "__module__": module},
        "keys": {**mapping(a=plain(1)), "key_types": sequence(node(name, "Function"), kind="list")},
        "default": node(
            "collections.defaultdict",
            "DefaultDict",
            content={"main": mapping(), "default_factory": node(name, "Type")},
        ),
        "array": node(name, "NdArray", type="json", content=[plain(1)], shape=sequence(plain(1))),
        "mask": node(name, "MaskedArray", content={"data": plain(1), "mask": plain(1)}),
        "random state": node(name, "RandomState", content=mapping()),
        "random generator": node(name, "RandomGenerator", content=generator),
        "dtype": node(name, "DType", content=plain(1)),
        "slice": node(name, "Slice", content={"start": 1, "stop": 2, "step": 1}),
        "json": node(name, "Json", content="1"),
        "cached": node(name, "Cached", __id__=1),
        "unknown loader": node(name, "Evil"),
        "dict of old": node(name, "_DictWithDeprecatedKeys", content={"main": mapping()}),
    }


NAMES = ["os.system", "builtins.eval", "subprocess.Popen", "this.s", f"{__name__}.Runs"]


@pytest.mark.parametrize("kind", loaders("os.system"))
@pytest.mark.parametrize("name", NAMES)
def test_unknown_types_in_every_way(kind, name, forger, monkeypatch):
    monkeypatch.setitem(sys.modules, Runs.__module__, sys.modules[__name__])
    refused(forger.attribute(loaders(name)[kind]), "not known|cannot be built")


KNOWN = [
    "protolearn.GLVQ",
    "protolearn.NumberColumn",
    "sklearn.pipeline.Pipeline",
    "sklearn.metrics._classification.accuracy_score",
]


@pytest.mark.parametrize("name", KNOWN)
def test_known_types_in_other_ways(name, forger):
    allowed = {"function"} if name.endswith("score") else {"object", "empty object"}
    for kind, part in loaders(name).items():
        if kind not in allowed:
            refused(forger.attribute(part))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("functools.partial", "partial"),
        ("operator.methodcaller", "operator"),
        ("operator.attrgetter", "operator"),
        ("numpy.random._generator.Generator", "random generator"),
        ("sklearn.tree._tree.Tree", "tree"),
        ("sklearn.linear_model._sgd_fast.Hinge", "reduce"),
        ("builtins.str", "reduce"),
        ("builtins.type", "reduce"),
        ("numpy.ndarray", "reduce"),
        ("numpy.fromfile", "function"),
        ("numpy.load", "function"),
        ("builtins.open", "type"),
        ("builtins.object", "object"),
        ("joblib.memory.Memory", "object"),
        ("protolearn.native.Native", "object"),
        ("protolearn.selection.auto.ledger.Ledger", "object"),
        ("protolearn.store.Store", "object"),
        ("scipy.sparse._csr.csr_matrix", "object"),
    ],
)
def test_what_is_useful_elsewhere_is_not_known_here(name, kind, forger):
    refused(forger.attribute(loaders(name)[kind]), "not known")


def test_all_that_is_known_is_there_and_writes_no_files():
    for name, ways in known_types().items():
        if name.startswith("protolearn."):
            module, _, kind = name.rpartition(".")
            found = getattr(sys.modules[module], kind)
            assert isinstance(found, type)
            assert ways == ("ObjectNode",)
            assert not hasattr(found, "__del__")
            assert "edger" not in name


@pytest.mark.parametrize("name", ["protolearn.Codebook2", "protolearn.store", "protolearn.save"])
def test_names_of_ours_are_looked_up_and_not_imported(name, forger, monkeypatch):
    monkeypatch.setattr(importlib, "import_module", None)
    for part in (node(name, "Object", content=mapping()), node(name, "Function")):
        refused(forger.attribute(part), f"not known, the first at model.extra: {name}")


def test_the_place_is_told(forger):
    path = forger.attribute(sequence(plain(1), mapping(word=node("os.system", "Function"))))
    refused(path, r"first at model\.extra\[1\]\['word'\]: os\.system")


def test_keys_of_a_dict_are_made_by_nothing_but_types(forger):
    """Skops calls the type of a key with its name."""
    for part in (node("numpy.log", "Function"), plain(1), node("numpy.str_", "Type")):
        keys = sequence(part, kind="list")
        path = forger.attribute({**mapping(a=plain(1)), "key_types": keys})
        if part["__loader__"] != "TypeNode":
            refused(path, "keys of a dict")
    with pytest.warns(UserWarning, match="saved with"):
        assert protolearn.load(path).extra == {"a": 1}


@pytest.mark.filterwarnings("ignore:.*saved with")
@pytest.mark.parametrize("seed", range(4))
def test_random_changes_of_the_plan(seed, forger):
    text, rng = forger.plan_text, np.random.RandomState(seed)
    signs = list('{}[]",:0aN_\\')
    for _ in range(30):
        changed = list(text)
        for place in rng.randint(len(text), size=rng.randint(1, 4)):
            changed[place] = signs[rng.randint(len(signs))]
        try:
            loaded = protolearn.load(forger.text("".join(changed)))
        except ModelFileError:
            continue
        assert isinstance(loaded, GLVQ)


def test_a_trusted_type_does_not_open_the_door_for_others(forger):
    path = forger.attribute(node("os.system", "Function"))
    refused(path, "os.system", trusted=[Runs, "mymodule.Ramp"])


@pytest.mark.parametrize("protocol", [0, 1, -1, 99, "2", True, None, 2.0])
def test_other_formats_of_skops(protocol, forger):
    refused(forger.plan({**forger.new_plan(), "protocol": protocol}))


@pytest.mark.parametrize(
    "top", [plain([1, 2]), sequence(), node("builtins.int", "Type"), mapping()]
)
def test_only_a_model_is_given(top, forger):
    refused(forger.plan({**top, "protocol": 2}), "holds no model")


DEEP = 20_000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        "5",
        '"text"',
        "{}",
        '{"protocol": 2}',
        '{"__loader__": "ObjectNode", "protocol": 2}',
        '{"__loader__": [], "protocol": 2}',
        '{"__loader__": {}, "protocol": 2}',
        '{"__loader__": null, "protocol": 2}',
        '{"__loader__": "JsonNode", "__class__": {}, "__module__": [], "protocol": 2}',
        "[" * DEEP,
        "[" * DEEP + "]" * DEEP,
        '{"a":' * DEEP + "1" + "}" * DEEP,
        "1" * DEEP,
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    ],
    ids=lambda text: text[:30],
)
def test_plans_that_are_none(text, forger):
    refused(forger.text(text), "cannot be built|not known")


def test_no_plan(forger):
    refused(forger.payload(file.zip_members({"1.npy": b""}).read()), "cannot be built")


@pytest.mark.parametrize("payload", [b"", b"PK", b"nothing", pickle.dumps(Runs())], ids=repr)
def test_no_zip_inside(payload, forger):
    refused(forger.payload(payload), "cannot be built")


def test_deep_nodes(forger):
    deep = plain(1)
    for _ in range(600):
        deep = sequence(deep, kind="list")
    plan = forger.new_plan()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        plan["content"]["content"]["beta"] = deep
        text = json.dumps(plan)
    finally:
        sys.setrecursionlimit(limit)
    refused(forger.text(text), "cannot be built")


def test_few_nodes_cannot_stand_for_billions(forger):
    deep = {**sequence(plain(1), plain(1), kind="list"), "__id__": 1000}
    for number in range(1001, 1060):
        last = {"__id__": number - 1}
        deep = {**sequence(deep, last, kind="list"), "__id__": number}
    refused(forger.attribute(deep), "stands for another")


def test_a_number_cannot_stand_for_another_node(forger):
    other = {**sequence(plain(1), kind="list"), "__id__": 1000}
    again = {**sequence(plain(2), kind="list"), "__id__": 1000}
    refused(forger.attribute(sequence(other, again)), "one number")


def test_a_node_inside_itself(forger):
    inner = {**sequence(kind="list"), "__id__": 1000}
    refused(forger.attribute({**sequence(inner, kind="list"), "__id__": 1000}), "one number")


def array(data, **parts):
    """Give the node of an array in a file."""
    return node("numpy.ndarray", "NdArray", type="numpy", file="1.npy", **parts)


def saved(data, **options):
    """Give the bytes of an array."""
    buffer = io.BytesIO()
    np.save(buffer, data, **options)
    return buffer.getvalue()


def test_a_pickle_in_an_array(forger):
    objects = np.array([Runs.__new__, None], dtype=object)
    objects[0] = object.__new__(Runs)
    path = forger.attribute(array(objects), _1_npy=saved(objects, allow_pickle=True))
    refused(path, "allow_pickle")


@pytest.mark.parametrize("what", ["pickle", "npz", "empty", "text"])
def test_something_else_than_an_array(what, forger):
    buffer = io.BytesIO()
    np.savez(buffer, a=np.eye(2))
    evil = object.__new__(Runs)
    content = {"pickle": pickle.dumps(evil), "npz": buffer.getvalue(), "empty": b"", "text": b"1,2"}
    refused(forger.attribute(array(None), _1_npy=content[what]), "an array of it is none")


def test_arrays_that_claim_to_be_huge(forger):
    header = saved(np.zeros(3)).replace(b"(3,), }      ", b"(900000000000,), }")
    assert b"900000" in header
    refused(forger.attribute(array(None), _1_npy=header[:128]), "cannot be built")


def test_types_that_take_no_bytes_cannot_be_many(forger):
    for kind in ("<U0", "|S0", "|V0"):
        header = (
            saved(np.zeros(3))
            .replace(b"(3,), }      ", b"(900000000, ), }")
            .replace(b"<f8", kind.encode())
        )
        refused(forger.attribute(array(None), _1_npy=header[:128]), "cannot be built")


def test_a_small_array_in_a_small_file_is_all_that_is_read(forger, monkeypatch):
    """The header is held against the bytes before NumPy allocates anything."""
    header = saved(np.zeros(3)).replace(b"(3,), }      ", b"(600000000,), }  ")
    path = forger.attribute(array(None), _1_npy=header)
    monkeypatch.setattr(np, "load", None)
    refused(path, "claims another size than it has")


@pytest.mark.parametrize("kind", ["void", "str_", "bytes_"])
def test_a_number_cannot_become_so_many_bytes(kind, forger):
    number = {**array(None), "__class__": kind}
    refused(forger.attribute(number, _1_npy=saved(np.array(4 << 30))), "a number of it is none")


def test_a_void_array_is_refused(forger):
    refused(forger.attribute(array(None), _1_npy=saved(np.zeros(3, "V8"))), "holds objects")


def test_a_masked_array_is_made_of_arrays(forger):
    content = {"data": sequence(plain(1)), "mask": plain(True)}
    refused(
        forger.attribute(node("numpy.ma.MaskedArray", "MaskedArray", content=content)),
        "masked array",
    )


def test_arrays_are_not_unfolded_to_objects(forger):
    inner = sequence(array(None), kind="list")
    shape = sequence(plain(1), plain(3))
    objects = node("numpy.ndarray", "NdArray", type="json", content=[inner], shape=shape)
    refused(forger.attribute(objects, _1_npy=saved(np.zeros(3, "i1"))), "holds arrays")


def test_the_position_of_random_numbers_is_within_their_state(tmp_path):
    model = GLVQ(random_state=np.random.RandomState(0))
    state = model.random_state.get_state(legacy=False)
    state["state"]["pos"] = 10**9
    model.random_state.set_state(state)
    with pytest.raises(ModelFileError, match=r"GLVQ\.random_state has the position 1000000000"):
        protolearn.save(model, tmp_path / "model")


def test_one_array_cannot_be_read_a_million_times(forger):
    path = forger.attribute(sequence(array(None), array(None)), _1_npy=saved(np.zeros(3)))
    refused(path, "one content")
    many = [array(None, __id__=0) for _ in range(3)]
    refused(forger.attribute(sequence(*many), _1_npy=saved(np.zeros(3))), "one content")


def test_no_such_member(forger):
    refused(forger.attribute(array(None)), "cannot be built")


def sparse_node():
    """Give the node of a sparse matrix."""
    name = "scipy.sparse._csr.csr_matrix"
    return node(name, "SparseMatrix", type="scipy", file="1.npz")


def test_sparse_matrices_cannot_explode(forger):
    buffer = io.BytesIO()
    big = np.zeros(10_000_000)
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", saved(big))
    path = forger.attribute(sparse_node(), _1_npz=buffer.getvalue())
    refused(path, "compressed", trusted=["scipy.sparse._csr.csr_matrix"])


def test_sparse_matrices_have_to_be_trusted(forger):
    buffer = io.BytesIO()
    sparse.save_npz(buffer, sparse.csr_matrix(np.eye(3)), compressed=False)
    path = forger.attribute(sparse_node(), _1_npz=buffer.getvalue())
    refused(path, "csr_matrix")
    with pytest.warns(UserWarning, match="saved with"):
        model = protolearn.load(path, trusted=["scipy.sparse._csr.csr_matrix"])
    assert (model.extra.toarray() == np.eye(3)).all()


def sealed(members, compression=0):
    """Give a sealed zip of members, which may have one name."""
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", compression) as archive:
        archive.comment = file.SEAL + b"0" * file.DIGITS
        for name, data in members:
            archive.writestr(ZipInfo(name), data, compression)
    whole = buffer.getvalue()[: -file.DIGITS]
    return whole + file._digest(whole)


@pytest.fixture
def parts(forger):
    """Give the description and the model of a file."""
    forger.plan(forger.new_plan())
    with ZipFile(forger.path) as archive:
        return [(name, archive.read(name)) for name in (file.HEADER, file.PAYLOAD)]


def test_the_parts_themselves_are_right(parts, forger):
    forger.path.write_bytes(sealed(parts))
    with pytest.warns(UserWarning, match="saved with"):
        assert isinstance(protolearn.load(forger.path), GLVQ)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "change",
    [
        lambda parts: [*parts, parts[1]],
        lambda parts: [*parts, parts[0]],
        lambda parts: [*parts, ("../../evil.py", b"")],
        lambda parts: [*parts, ("/etc/evil", b"")],
        lambda parts: [*parts, ("extra.txt", b"")],
        lambda parts: parts[:1],
        lambda parts: [parts[0], ("schema.json", b"{}")],
    ],
)
def test_other_parts_than_two(change, parts, forger):
    forger.path.write_bytes(sealed(change(parts)))
    refused(forger.path, "damaged")


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "name", [PLAN, "../1.npy", "a/b.npy", "/1.npy", "C:\\1.npy", "1.npy\\..\\2"]
)
def test_names_inside(name, forger):
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        archive.writestr(PLAN, json.dumps(forger.new_plan()))
        archive.writestr(name, b"")
    refused(forger.payload(buffer.getvalue()), "cannot be built")


def test_a_compressed_container(parts, forger):
    forger.path.write_bytes(sealed(parts, ZIP_DEFLATED))
    refused(forger.path, "compressed")


def test_a_bomb_in_place_of_the_description(parts, forger, monkeypatch):
    bomb = file.HEADER, bytes(50_000_000)
    forger.path.write_bytes(sealed([bomb, parts[1]], ZIP_DEFLATED))
    monkeypatch.setattr(ZipFile, "read", None)  # nothing may be unpacked
    refused(forger.path, "compressed")


def test_a_compressed_model(forger):
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        archive.writestr(PLAN, b" " * 10_000_000)
    refused(forger.payload(buffer.getvalue()), "compressed")


def test_members_that_claim_to_be_larger(parts, forger):
    """Many entries of the directory for one and the same bytes."""
    data = bytearray(sealed(parts))
    entry = data.rindex(b"PK\x01\x02")
    data[entry + 20 : entry + 28] = b"\xff\xff\xff\x7f" * 2
    whole = bytes(data[: -file.DIGITS])
    forger.path.write_bytes(whole + file._digest(whole))
    refused(forger.path, "claim to be larger")


def test_signs_that_control_a_terminal_are_not_printed(forger):
    path = forger.attribute(node("evil\x1b[31m\r\n.name" * 500, "Function"))
    with pytest.raises(ModelFileError) as caught:
        protolearn.load(path)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 4000


def test_words_of_columns_are_no_code(forger):
    """A type of a column is looked up among types, and nowhere else."""
    for library, name in [
        ("polars", "read_csv"),
        ("polars", "Config"),
        ("polars", "__builtins__"),
        ("os", "system"),
        ("numpy", "O,__import__('this')"),
        ("pandas", "__import__('this')"),
    ]:
        words = mapping(library=plain(library), name=plain(name), settings=mapping())
        column = mapping(name=plain("a"), kind=plain("number"), dtype=words)
        path = forger.attribute(node("protolearn.NumberColumn", "Object", content=column))
        with pytest.warns(UserWarning, match="saved with"):
            dtype = protolearn.load(path).extra.dtype
        assert type(dtype).__name__ == "WrittenType"


def test_all_known_types_are_there():
    for name in known_types():
        module, _, kind = name.rpartition(".")
        if name.startswith("protolearn."):
            assert hasattr(importlib.import_module(module), kind), name
