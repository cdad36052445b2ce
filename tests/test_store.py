"""Results that are kept in a file: found again bit for bit, and never mixed with others."""

import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import protolearn.store
from given_store import lines, write
from protolearn.store import Journal, Owner, Store

OWNER = Owner("a test", "test")
VALUES = {
    "number": 1,
    "fraction": 0.1 + 0.2,
    "none": None,
    "nothing": [],
    "text": "Zürich\n",
    "nested": {"a": [1.5, {"b": True}]},
    "large": 2**80,
}
ARRAYS = {
    "floats": np.random.RandomState(0).randn(3, 4),
    "columns first": np.asfortranarray(np.random.RandomState(1).randn(3, 4)),
    "single": np.float32([0.1, np.nan, -0.0]),
    "scalar": np.array(2.5),
    "empty": np.zeros((0, 3)),
    "words": np.array(["a", "bcd"]),
    "truth": np.array([True, False]),
    "whole": np.arange(5, dtype=">i4"),
}


@pytest.fixture
def path(tmp_path):
    """Return a place for a file, in a folder that does not exist yet."""
    return tmp_path / "new folder" / "results.jsonl"


def opened(path, known_by=None, **more):
    return Store(path, {"a": "1"} if known_by is None else known_by, owner=OWNER, **more)


def filled(path, n=5, **more):
    with opened(path, **more) as store:
        for i in range(n):
            store.add(("part", i), {"square": i**2, "row": np.full(3, i / 7)})
    return path.read_bytes()


@pytest.mark.parametrize("in_memory", [False, True])
def test_values_come_back(path, in_memory):
    store = opened(None if in_memory else path)
    for name, value in VALUES.items():
        store.add(name, value)
    for again in (False,) if in_memory else (False, True):
        if again:
            store.close()
        one = opened(path) if again else store
        assert {name: one.get(name) for name in VALUES} == VALUES
        assert list(one) == list(VALUES)
        assert len(one) == len(VALUES)
        assert "number" in one
        assert "another" not in one
        assert one.get("another") is None
    assert path.exists() != in_memory


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_come_back_bit_for_bit(path, name):
    opened(path).add(name, [ARRAYS[name]])
    (found,) = opened(path).get(name)
    assert found.dtype == ARRAYS[name].dtype
    assert found.shape == ARRAYS[name].shape
    assert found.tobytes() == ARRAYS[name].tobytes()
    assert found.flags.f_contiguous == ARRAYS[name].flags.f_contiguous
    assert found.flags.writeable


def test_numbers_that_json_does_not_have(path):
    numbers = [np.nan, np.inf, -np.inf, 5e-324, -0.0, np.float64(0.1), np.int32(7)]
    opened(path).add(0, numbers)
    np.testing.assert_array_equal(opened(path).get(0), numbers)
    assert np.signbit(opened(path).get(0)[4])
    lines(path)


def test_objects_are_refused(path):
    store = opened(path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="allow_pickle"):
        store.add("objects", np.array([{}], dtype=object))
    with pytest.raises(TypeError, match="JSON"):
        store.add("an object", object())
    assert path.read_bytes() == before


def test_keys(path):
    with opened(path) as store:
        for key in (1, "1", ("1",), ("a", 2), ("a", "2")):
            store.add(key, [key])
    with opened(path) as store:
        assert list(store) == [1, "1", ("1",), ("a", 2), ("a", "2")]
        store.add("1", "later")
    with opened(path) as store:
        assert store.get("1") == "later"
        assert store.get(1) == [1]


def test_cut_off_at_every_byte(path):
    """Whatever was whole is there, and what is done again makes the file what it was."""
    whole = filled(path)
    ends = np.cumsum([len(line) for line in whole.splitlines(keepends=True)])
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        n_found = max(int((ends <= size).sum()) - 1, 0)
        with opened(path) as store:
            assert len(store) == n_found
        assert path.read_bytes() == whole[: ends[n_found]]
    path.write_bytes(whole[: ends[2] + 9])
    assert filled(path)[ends[2] :] == whole[ends[0] :]


@pytest.mark.parametrize("line", range(6))
def test_every_damaged_byte_is_seen(path, line):
    """The last line is cut off, any other is an error that leaves the file alone."""
    whole = filled(path)
    ends = np.cumsum([0] + [len(one) for one in whole.splitlines(keepends=True)])
    for place in range(ends[line], ends[line + 1] - 1):  # without its end, two lines are one
        damaged = bytearray(whole)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        if line < 5:
            with pytest.raises(
                ValueError, match=r"not a checkpoint of a test, or it is damaged \("
            ):
                opened(path)
            assert path.read_bytes() == damaged
        else:
            assert len(opened(path)) == 4
            assert path.read_bytes() == whole[: ends[line]]


def test_ends_of_lines_may_be_those_of_windows(path):
    whole = filled(path)
    path.write_bytes(whole.replace(b"\n", b"\r\n")[:-6])
    with opened(path) as store:
        assert len(store) == 4
        store.add("more", 1)
    with opened(path) as store:
        assert store.get("more") == 1
        np.testing.assert_array_equal(store.get(("part", 3))["row"], np.full(3, 3 / 7))


@pytest.mark.parametrize(
    "content",
    [
        b"text",
        b"text\n",
        b"[1]\n",
        b"{}",
        b'{"format": "other"}\n',
        b"\xff\xfe\x00",
        b"\n",
        b"\0" * 9,
    ],
)
def test_foreign_files_are_refused_and_kept(path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(
        ValueError, match=r"not a checkpoint of a test.* Give another path, or delete"
    ):
        opened(path)
    assert path.read_bytes() == content


def test_other_work_is_refused_and_kept(path):
    whole = filled(path, known_by={"a": "1", "b": "x" * 99})
    with pytest.raises(ValueError, match=r"belongs to another test: a was 1 and is 2\. Give what"):
        opened(path, {"a": "2", "b": "x" * 99})
    with pytest.raises(ValueError, match=r"b was x{60}\.\.\. and is not there"):
        opened(path, {"a": "1"})
    with pytest.raises(ValueError, match=r"not a checkpoint of others.*it is one of a test"):
        Store(path, {"a": "1"}, owner=Owner("others", "work"))
    assert path.read_bytes() == whole
    path.write_bytes(whole[:-3])  # what is not ours is not cut off either
    with pytest.raises(ValueError, match="a was 1 and is 2"):
        opened(path, {"a": "2", "b": "x" * 99})
    assert path.read_bytes() == whole[:-3]


def test_the_fingerprint_may_stand_in_another_order(path):
    filled(path, known_by={"a": "1", "b": "2"})
    assert len(opened(path, {"b": "2", "a": "1"})) == 5


def test_a_file_written_by_others_with_the_right_checksums(path):
    filled(path)
    head, *rest = lines(path)
    write(path, [head, *rest, {"key": "more", "value": [{"$float": "inf"}]}])
    assert opened(path).get("more") == [np.inf]


def test_one_at_a_time(path):
    pytest.importorskip("fcntl")
    with opened(path) as store:
        store.add("a", 1)
        with pytest.raises(ValueError, match="is in use by another test; give each test its own"):
            opened(path)
        store.add("b", 2)
    with opened(path) as store:
        assert list(store) == ["a", "b"]


BUSY = """
    import sys
    from protolearn.store import Owner, Store, StoreInUse
    try:
        with Store(sys.argv[1], {"a": "1"}, owner=Owner("a test", "test")) as store:
            for number in range(200):
                store.add((sys.argv[2], number), number)
    except StoreInUse:
        sys.exit(3)
"""


def test_processes_that_start_at_the_same_time_do_not_mix(path):
    pytest.importorskip("fcntl")
    script = textwrap.dedent(BUSY)
    busy = [subprocess.Popen([sys.executable, "-c", script, str(path), name]) for name in "abc"]
    codes = [process.wait() for process in busy]
    done = [name for name, code in zip("abc", codes, strict=True) if code == 0]
    assert done
    assert set(codes) <= {0, 3}
    with opened(path) as store:
        assert {key: store.get(key) for key in store} == {
            (name, number): number for name in done for number in range(200)
        }


def test_a_file_that_is_deleted_or_replaced_meanwhile(path):
    with opened(path) as store:
        store.add("a", 1)
        path.unlink()
        with opened(path) as other:
            other.add("a", 2)
            store.add("b", 3)
            assert [store.get("a"), store.get("b")] == [1, 3]
            assert list(other) == ["a"]
            assert other.get("a") == 2


def test_two_files_that_were_joined_are_refused(path):
    whole = filled(path)
    path.write_bytes(whole + whole)
    with pytest.raises(ValueError, match="is not a result"):
        opened(path)


def test_the_disk_is_waited_for_once_a_second(path, monkeypatch):
    now, synced = [0.0], []
    monkeypatch.setattr(protolearn.store, "monotonic", lambda: now[0])
    monkeypatch.setattr(os, "fsync", synced.append)
    store = opened(path)
    for number in range(100):
        now[0] += 0.1
        store.add(number, number)
    assert 8 <= len(synced) <= 10
    store.close()
    with opened(path) as store:
        assert len(store) == 100  # all is written, though


def test_a_path_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="is a folder; name a file in it"):
        opened(tmp_path)
    with pytest.raises(OSError, match=r"directory|exists"):
        opened(tmp_path / "file" / "results.jsonl")


def walk(journal, rng, n):
    """Return results that depend on chance and on the ones before."""
    point, found = np.zeros(3), []
    for _ in range(n):
        point = point + journal.record(lambda at, rng: rng.normal(size=3), point, rng)
        found.append((point.tobytes(), journal.record(lambda: (1, "b", 0.1))))
    return found


def test_a_journal_goes_on_after_every_record(path):
    rng = np.random.RandomState(3)
    with Journal(path, {}, rng) as journal:
        expected = walk(journal, rng, 4)
    end = rng.get_state()[1].tobytes()
    records = path.read_bytes().splitlines(keepends=True)
    for n_kept in range(1, len(records) + 1):
        path.write_bytes(b"".join(records[:n_kept]))
        rng = np.random.RandomState(3)
        with Journal(path, {}, rng) as journal:
            assert journal.n_found == max(n_kept - 2, 0)
            assert walk(journal, rng, 4) == expected
        assert rng.get_state()[1].tobytes() == end
        assert path.read_bytes() == b"".join(records)


def test_a_journal_that_took_another_way(path):
    rng = np.random.RandomState(0)
    with Journal(path, {}, rng) as journal:
        journal.record(np.sum, np.ones(3))
    with (
        Journal(path, {}, rng) as journal,
        pytest.raises(ValueError, match="does not fit to this fit"),
    ):
        journal.record(np.sum, np.zeros(3))
    assert json.loads(path.read_text().splitlines()[0])["owner"] == "a fit"
