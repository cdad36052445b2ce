"""Folders of Parquet files, beside the same rows in one file."""

import numpy as np
import pytest

from protolearn.tables import TableFileError, read_table

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = 12
WHOLE = pa.table(
    {
        "size": pa.array([1.5, None, *range(ROWS - 2)], pa.float64()),
        "colour": ["red", None, "blue", "red"] * 3,
        "count": list(range(ROWS)),
    }
)


def put(path, table):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)


def sentence(path, **options):
    with pytest.raises(TableFileError) as caught:
        read_table(path, **options)
    return str(caught.value)


def same(frame, other):
    assert frame.dtype == other.dtype
    for name in frame.dtype.names:
        np.testing.assert_array_equal(frame[name], other[name])


@pytest.fixture
def folder(tmp_path):
    """Give a folder of three files, one without rows, and of notes that are ignored."""
    root = tmp_path / "sales"
    put(root / "a.parquet", WHOLE[:5])
    put(root / "b.parquet", WHOLE[:0])
    put(root / "more" / "c", WHOLE[5:])  # told by what it holds
    (root / "_SUCCESS").touch()
    (root / ".a.parquet.crc").write_bytes(b"crc")
    (root / "_notes").mkdir()
    (root / "_notes" / "x.csv").write_text("a,b\n")
    return root


def test_a_folder_is_the_file_of_its_rows(folder, tmp_path):
    put(tmp_path / "whole.parquet", WHOLE)
    whole, parts = read_table(tmp_path / "whole.parquet"), read_table(folder)
    same(parts.frame, whole.frame)
    assert parts.origin == "sales: a folder of 3 Parquet files, 12 rows, 3 columns"
    options = {"columns": ["count", "size"], "kinds": {"count": "category"}}
    same(
        read_table(str(folder), **options).frame,
        read_table(tmp_path / "whole.parquet", **options).frame,
    )


def test_names_of_folders_are_columns(tmp_path):
    for year in (2023, 2024):
        put(tmp_path / "h" / f"year={year}" / "place=north" / "0.parquet", WHOLE[:2])
    frame = read_table(tmp_path / "h").frame
    assert frame["year"].tolist() == [2023, 2023, 2024, 2024]
    assert frame["place"].tolist() == ["north"] * 4
    assert read_table(tmp_path / "h", columns=["year"]).frame.dtype.names == ("year",)


def test_types_of_one_kind_and_columns_without_values(folder):
    names = WHOLE.column_names
    narrow = WHOLE[:2].set_column(2, "count", pa.array([7, 8], pa.int8()))
    empty = narrow.set_column(1, "colour", pa.nulls(2)).set_column(0, "size", pa.nulls(2))
    put(folder / "0.parquet", empty.select(names[::-1]))
    frame = read_table(folder).frame
    assert set(frame.dtype.names) == set(names)
    assert frame["count"][:2].tolist() == [7, 8]
    assert frame["colour"][:3].tolist() == [None, None, "red"]
    assert np.isnan(frame["size"][:2]).all()


def test_errors_name_the_row_in_all(folder):
    put(folder / "z.parquet", WHOLE[:2].set_column(0, "size", pa.array([1.0, np.inf])))
    assert "Column 'size' has inf in row 14" in sentence(folder)


def test_files_that_are_no_parquet(folder, tmp_path):
    (folder / "notes.txt").write_text("hello")
    assert "'notes.txt' in it is none; take it out, or let its name begin" in sentence(folder)
    (tmp_path / "texts").mkdir()
    assert "and there are none" in sentence(tmp_path / "texts")
    (tmp_path / "texts" / "a.csv").write_text("a,b\n1,2\n")
    assert "expected a file, or Parquet files only in it" in sentence(tmp_path / "texts")
    (folder / "notes.txt").write_bytes(b"PAR1 and no more")
    assert "cannot be read as Parquet" in sentence(folder) or "damaged" in sentence(folder)


def test_files_of_different_columns(folder):
    put(folder / "z.parquet", WHOLE.rename_columns(["size", "colour", "number"]))
    told = sentence(folder)
    assert "files with different columns: 'a.parquet' has 'count'" in told
    assert "'z.parquet' has not" in told
    put(folder / "z.parquet", WHOLE.set_column(0, "size", pa.array(["x"] * ROWS)))
    told = sentence(folder)
    assert "'size' is double in 'a.parquet' and string in 'z.parquet'" in told


def test_no_rows_and_no_such_column(folder, tmp_path):
    put(tmp_path / "empty" / "a.parquet", WHOLE[:0])
    assert "has names of columns, but no rows" in sentence(tmp_path / "empty")
    assert "'sales' has no column 'colur'. Did you mean" in sentence(folder, columns=["colur"])
    put(tmp_path / "both" / "count=3" / "a.parquet", WHOLE)  # what the file itself says counts
    assert read_table(tmp_path / "both").frame["count"].tolist() == list(range(ROWS))
