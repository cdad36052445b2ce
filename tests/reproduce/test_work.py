"""Tasks are done once each, remembered, and taken up again where a run was stopped."""

import pytest
from threadpoolctl import threadpool_info

from given_store import lines, results
from protolearn.datasets import fetch
from protolearn.store import Store
from protolearn_papers import Experiment, Figure, Findings, Table, Work, experiments, find
from protolearn_papers.work import OWNER
from protolearn_papers.writing import write

CALLS = []


def opened(path, known_by):
    return Store(path, known_by, owner=OWNER)


def threads(api):
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == api] or [1]


def squared(number):
    CALLS.append(number)
    return {"square": number**2}


def fails_at_three(number):
    if number == 3:
        raise KeyboardInterrupt
    return squared(number)


@pytest.fixture(autouse=True)
def no_calls():
    CALLS.clear()


def tasks(n):
    return {f"task/{i}": (i,) for i in range(n)}


def test_results_come_in_the_order_of_the_tasks_whatever_ends_first():
    found = Work(jobs=2).map("squares", pow, {f"{i}": (i, 2) for i in range(7)})
    assert found == {f"{i}": i**2 for i in range(7)}
    assert list(found) == [f"{i}" for i in range(7)]


def test_progress_is_told_from_nothing_to_all():
    told = []
    Work(progress=lambda *now: told.append(now)).map("squares", squared, tasks(3))
    assert told == [("squares", done, 3) for done in range(4)]


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    path, settings = tmp_path / "finished.jsonl", {"experiment": "x", "seed": "1"}
    with pytest.raises(KeyboardInterrupt):
        Work(store=opened(path, settings)).map("squares", fails_at_three, tasks(5))
    assert CALLS == [0, 1, 2]
    CALLS.clear()
    found = Work(store=opened(path, settings)).map("squares", squared, tasks(5))
    assert CALLS == [3, 4]
    assert found == {f"task/{i}": {"square": i**2} for i in range(5)}


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_half_a_line_is_done_again_and_no_more(tmp_path, end):
    path = tmp_path / "finished.jsonl"
    with opened(path, {"seed": "1"}) as store:
        for i in range(9):
            store.add(f"{i}", i / 2)
    path.write_bytes(path.read_bytes().replace(b"\n", end)[:-6])
    with opened(path, {"seed": "1"}) as again:
        assert {key: again.get(key) for key in again} == {f"{i}": i / 2 for i in range(8)}
        again.add("8", 4.0)
    assert results(path) == {f"{i}": i / 2 for i in range(9)}


def test_a_line_that_is_damaged_is_done_again_if_it_is_the_last(tmp_path):
    path = tmp_path / "finished.jsonl"
    with opened(path, {"seed": "1"}) as store:
        for key in "abc":
            store.add(key, key)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"key": "c"', b'"key: "c"'))
    assert list(opened(path, {"seed": "1"})) == ["a", "b"]
    damaged = whole.replace(b'"key": "b"', b'"key: "b"')
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match="line 3 is not what was written"):
        opened(path, {"seed": "1"})
    assert path.read_bytes() == damaged


def test_other_arguments_are_another_task(tmp_path):
    """A protocol that was changed does not find the results of the one before."""
    path = tmp_path / "finished.jsonl"
    for number in (2, 3, 3):
        with opened(path, {"seed": "1"}) as store:
            found = Work(store=store).map("squares", squared, {"same key": (number,)})
        assert found == {"same key": {"square": number**2}}
    assert CALLS == [2, 3]


def test_other_rows_are_not_mixed_in(tmp_path, monkeypatch):
    path = tmp_path / "finished.jsonl"
    Work(store=opened(path, {"seed": "1"})).need("iris", "wine")
    Work(store=opened(path, {"seed": "1"})).need("iris")
    X, y = fetch("iris")
    monkeypatch.setattr("protolearn_papers.work.fetch", lambda name: (X[::-1], y[::-1]))
    with pytest.raises(ValueError, match="other rows of 'iris'"):
        Work(store=opened(path, {"seed": "1"})).need("iris")


def test_a_task_has_one_thread():
    found = Work().map("threads", threads, {"blas": ("blas",), "openmp": ("openmp",)})
    assert set(found["blas"] + found["openmp"]) == {1}


def test_results_of_other_settings_are_refused_and_kept(tmp_path):
    path = tmp_path / "finished.jsonl"
    opened(path, {"experiment": "x", "seed": "1"}).add("a", 1)
    before = path.read_text()
    with pytest.raises(ValueError, match="seed was 1 and is 2"):
        opened(path, {"experiment": "x", "seed": "2"})
    assert path.read_text() == before


@pytest.mark.parametrize("text", ["no json\n", "[1, 2]\n", '{"format": "other"}\n', "3\n"])
def test_a_foreign_file_is_refused_and_kept(tmp_path, text):
    path = tmp_path / "finished.jsonl"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"finished\.jsonl"):
        opened(path, {"seed": "1"})
    assert path.read_text() == text


def test_experiments_have_names_of_their_own_and_can_be_imported():
    names = [one.name for one in experiments()]
    assert len(set(names)) == len(names)
    for one in experiments():
        assert find(one.name) is one
        module = __import__(f"protolearn_papers.{one.module}", fromlist=["x"])
        assert callable(getattr(module, one.function))


def test_a_wrong_name_is_told_with_near_ones():
    with pytest.raises(ValueError, match="Did you mean 'jin-table1'"):
        find("jin-tabel1")


def test_files_hold_the_numbers_the_words_and_the_pictures(tmp_path):
    table = Table(
        "scores",
        "Scores",
        ["data", "ours"],
        [["a|b", "1.0"]],
        [{"data": "a|b", "ours": 0.123456}],
        ["A remark of the table."],
    )
    figure = Figure("curve", "A line", lambda canvas: canvas.subplots().plot([0, 1]))
    experiment = Experiment("name", "Somebody (2000)", "content", "m", "f", "seconds")
    work = Work(seed=7, quick=True)
    files = write(experiment, work, Findings([table], [figure], ["It holds."]), tmp_path)
    assert [path.name for path in files] == ["results.md", "scores.csv", "curve.png"]
    text = files[0].read_text()
    assert r"| a\|b | 1.0 |" in text
    assert "![A line](curve.png)" in text
    for words in ("Somebody (2000)", "--seed 7 --quick", "A remark of the table.", "- It holds."):
        assert words in text
    assert files[1].read_text().splitlines() == ["data,ours", "a|b,0.123456"]
    assert files[2].read_bytes().startswith(b"\x89PNG")


def test_every_result_is_plain_json(tmp_path):
    path = tmp_path / "finished.jsonl"
    Work(store=opened(path, {"seed": "0"})).map("squares", squared, tasks(2))
    head, *_ = lines(path)
    assert head["known_by"] == {"seed": "0"}
    assert results(path) == {(f"task/{i}", f"({i},)"): {"square": i**2} for i in range(2)}


def test_results_are_replaced_as_a_set(tmp_path):
    """A table that cannot be written leaves the others and the page as they were."""
    experiment = Experiment("name", "Somebody (2000)", "content", "m", "f", "seconds")
    old, new = (Table("one", "One", ["a"], [["1"]], [{"a": number}]) for number in (1, 2))
    wrong = Table("two", "Two", ["a"], [["1"]], [{"a": 1}, {"b": 1}])
    write(experiment, Work(), Findings([old], [], []), tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ValueError, match="fields not in fieldnames"):
        write(experiment, Work(), Findings([new, wrong], [], []), tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
