"""Folders of Parquet files: one table in many files, read batch by batch."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Indices
from .arrow_files import ROWS, Blocks, column_names, first_line, first_values
from .assembly import read_columns
from .cell_values import text_of
from .column_values import kind_of_type
from .data_file import PARQUET, MemoryLimit, TableFileError, report_read_errors

IGNORED = (".", "_")
"""How names begin that are no data: of hidden files, and of notes that other programs leave."""


class CodedTexts(NamedTuple):
    """A column of texts in a batch: the different ones, and which of them each row has."""

    texts: list[str | None]
    codes: Indices


@dataclass(frozen=True)
class ParquetFolder:
    """A table in the files of a folder."""

    path: Path
    fragments: tuple[Any, ...]  # the files that have rows, in the order of their names
    schema: Any  # of pyarrow; columns that the names of folders tell stand last
    n_files: int  # also those without rows
    n_rows: int
    delimiter = ""
    notes = assumptions = ()

    @classmethod
    def at(cls, path: Any) -> ParquetFolder:
        """Return the files of a folder, which must have one schema."""
        where = Path(os.fsdecode(path))
        files = parquet_files(where)
        dataset = dataset_of(where, files)
        with report_damage(where):
            fragments = list(dataset.get_fragments())
            lengths = [fragment.count_rows() for fragment in fragments]
        filled = [one for one, n in zip(fragments, lengths, strict=True) if n] or fragments[:1]
        check_alike(where, filled)
        schema = schema_of(filled, dataset.schema)
        column_names(str(where), schema.names, [])
        return cls(where, tuple(filled), schema, len(files), sum(lengths))

    @property
    def name(self) -> str:
        """The name without the folders above."""
        return self.path.name or self.path.resolve().name

    @property
    def kind(self) -> str:
        """What it is, in words."""
        return f"a folder of {self.n_files:,} Parquet file{'s' * (self.n_files > 1)}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.schema.names)

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[int, Any]]:
        """Return some rows of some columns at a time, and how many rows were before."""
        from pyarrow import dataset

        start = 0
        unbuffered = dataset.ParquetFragmentScanOptions(pre_buffer=False)
        sizes = {"columns": list(columns), "batch_size": ROWS, "batch_readahead": 1}
        for fragment in self.fragments:
            with report_damage(Path(fragment.path)):
                schema = schema_of([fragment], self.schema)
                for batch in fragment.to_batches(schema, fragment_scan_options=unbuffered, **sizes):
                    yield start, batch
                    start += batch.num_rows

    def sample(self, columns: Sequence[str]) -> dict[str, Any]:
        """Return the first rows."""
        return first_values(self.blocks(columns, {}))

    def blocks(self, columns: Sequence[str], types: Mapping[str, Any]) -> Blocks:
        """Return some rows of some columns at a time, and how many rows were before."""
        for start, batch in self.batches(columns):
            if batch.num_rows:
                yield start, dict(zip(batch.schema.names, batch.columns, strict=True))

    def place(self, number: int) -> str:
        """Return the words for a row: its number from 1."""
        return f"row {number + 1}"

    def read_rows(
        self, chosen: Sequence[str], asked: Mapping[str, str], rows: Indices
    ) -> NDArray[Any]:
        """Read some rows, whose places from 0 ascend; others are not kept."""
        limit = MemoryLimit.of(None)
        return read_columns(self, chosen, asked, {}, limit, rows).frame

    def coded_texts(self, name: str) -> Iterator[tuple[int, CodedTexts]]:
        """Return a column as texts, batch by batch, and how many rows were before."""
        for start, batch in self.batches([name]):
            column = batch.column(0)
            if not hasattr(column, "dictionary"):
                column = column.dictionary_encode()
            codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.intp)
            yield start, CodedTexts([*map(text_of, column.dictionary.to_pylist()), None], codes)


def is_folder(path: Any) -> bool:
    """Whether something names a folder."""
    with suppress(TypeError, ValueError, OSError):
        return Path(os.fsdecode(path)).is_dir()
    return False


def dataset_of(folder: Path, files: Sequence[Path]) -> Any:
    """Open files; the names of folders in the folder may tell columns, as in ``year=2024``."""
    import pyarrow as pa
    from pyarrow import dataset

    try:
        options = {"format": "parquet", "partitioning": "hive", "partition_base_dir": str(folder)}
        return dataset.dataset(list(map(str, files)), **options)
    except pa.ArrowTypeError as error:
        raise TableFileError(
            f"{str(folder)!r} names a column in its folders that its files hold as another type "
            f"({first_line(error)}); leave it out of the files, or rename the folders."
        ) from None
    except (pa.ArrowException, OSError) as error:
        raise TableFileError(
            f"{str(folder)!r} holds a damaged Parquet file ({first_line(error)}); copy or load it "
            "again."
        ) from None


def schema_of(fragments: Sequence[Any], known: Any) -> Any:
    """Return the columns of files, each with the first type that tells anything, and of folders.

    Files without a value in a column may have the type null there.
    """
    import pyarrow as pa
    from pyarrow.dataset import get_partition_keys

    fields: dict[str, Any] = {}
    first = fragments[0].physical_schema
    if len(set(first.names)) < len(first):  # a name twice, which is told later
        return first
    for fragment in fragments:
        for field in fragment.physical_schema:
            before = fields.get(field.name)
            if before is None or pa.types.is_null(before.type):
                fields[field.name] = field
    for name in get_partition_keys(fragments[0].partition_expression):
        fields.setdefault(name, known.field(name))
    return pa.schema(list(fields.values()))


@contextmanager
def report_damage(path: Path) -> Iterator[None]:
    """Raise a sentence that says which file cannot be read."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise TableFileError(
            f"{str(path)!r} cannot be read as Parquet ({first_line(error)}); copy or load it again."
        ) from None


def parquet_files(folder: Path) -> list[Path]:
    """Return the files in a folder and in those within, which all have to be Parquet."""
    files = [file for file in sorted(folder.rglob("*")) if is_data_file(file, folder)]
    if not files:
        raise TableFileError(
            f"{str(folder)!r} is a folder; expected a file, or Parquet files in it, and there are "
            "none: look at its name."
        )
    others = [file for file in files if not is_parquet(file)]
    if len(others) == len(files):
        raise TableFileError(
            f"{str(folder)!r} is a folder; expected a file, or Parquet files only in it, and it "
            f"holds {name_in(others[0], folder)}: name one that is in it, or write them as Parquet."
        )
    if others:
        raise TableFileError(
            f"{str(folder)!r} is a folder of Parquet files, but {name_in(others[0], folder)} in it "
            "is none; take it out, or let its name begin with '_'."
        )
    return files


def is_data_file(file: Path, folder: Path) -> bool:
    """Whether a path is a file that is no note."""
    parts = file.relative_to(folder).parts
    return not any(part.startswith(IGNORED) for part in parts) and file.is_file()


def is_parquet(file: Path) -> bool:
    """Whether a file begins as Parquet does."""
    with report_read_errors(file), file.open("rb") as stream:
        return stream.read(len(PARQUET)) == PARQUET


def check_alike(folder: Path, fragments: Sequence[Any]) -> None:
    """Raise if files have different columns, or one that is a number here and a text there."""
    seen: dict[str, tuple[Any, Any]] = {}
    first = fragments[0]
    for fragment in fragments:
        for one, other in ((first, fragment), (fragment, first)):
            lost = [n for n in one.physical_schema.names if n not in other.physical_schema.names]
            if lost:
                raise TableFileError(
                    f"{str(folder)!r} holds files with different columns: "
                    f"{name_in(one, folder)} has {lost[0]!r}, and {name_in(other, folder)} has "
                    "not; write them with the same ones, or put them into folders of their own."
                )
        for field in fragment.physical_schema:
            if str(field.type) == "null":
                continue
            before, kind = seen.setdefault(field.name, (fragment, field.type))
            if field.type != kind and kind_of_type(field.name, kind) != kind_of_type(
                field.name, field.type
            ):
                raise TableFileError(
                    f"{str(folder)!r} holds files with different columns: {field.name!r} is {kind} "
                    f"in {name_in(before, folder)} and {field.type} in "
                    f"{name_in(fragment, folder)}; write it as the same everywhere."
                )


def name_in(file: Any, folder: Path) -> str:
    """Write where a file or fragment is in its folder."""
    path = file if isinstance(file, Path) else Path(file.path)
    try:
        return repr(str(path.relative_to(folder)))
    except ValueError:
        return repr(path.name)
