"""Which files of a folder are read, and whether they are one table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .errors import TableFileError
from .opening import readable
from .parquet import MAGIC, kind_of

IGNORED = (".", "_")
"""How names begin that are no data: of hidden files, and of notes that other programs leave."""


def parquet_files(folder: Path) -> list[Path]:
    """Return the files in a folder and in those within, which all have to be Parquet."""
    files = [file for file in sorted(folder.rglob("*")) if counts(file, folder)]
    if not files:
        raise TableFileError(
            f"{str(folder)!r} is a folder; expected a file, or Parquet files in it, and there are "
            "none: look at its name."
        )
    others = [file for file in files if not is_parquet(file)]
    if len(others) == len(files):
        raise TableFileError(
            f"{str(folder)!r} is a folder; expected a file, or Parquet files only in it, and it "
            f"holds {inside(others[0], folder)}: name one that is in it, or write them as Parquet."
        )
    if others:
        raise TableFileError(
            f"{str(folder)!r} is a folder of Parquet files, but {inside(others[0], folder)} in it "
            "is none; take it out, or let its name begin with '_'."
        )
    check_pyarrow(folder)
    return files


def counts(file: Path, folder: Path) -> bool:
    """Whether a path is a file that is no note."""
    parts = file.relative_to(folder).parts
    return not any(part.startswith(IGNORED) for part in parts) and file.is_file()


def is_parquet(file: Path) -> bool:
    """Whether a file begins as Parquet does."""
    with readable(file), file.open("rb") as stream:
        return stream.read(len(MAGIC)) == MAGIC


def check_pyarrow(folder: Path) -> None:
    """Raise if Parquet cannot be read."""
    try:
        import pyarrow.dataset  # noqa: F401
    except ImportError:
        raise TableFileError(
            f"{str(folder)!r} is a folder of Parquet files, which needs pyarrow: pip install "
            "'protolearn[parquet]', or save the table as one CSV file."
        ) from None


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
                    f"{inside(one, folder)} has {lost[0]!r}, and {inside(other, folder)} has not; "
                    "write them with the same ones, or put them into folders of their own."
                )
        for field in fragment.physical_schema:
            if str(field.type) == "null":
                continue
            before, kind = seen.setdefault(field.name, (fragment, field.type))
            if field.type != kind and kind_of(field.name, kind) != kind_of(field.name, field.type):
                raise TableFileError(
                    f"{str(folder)!r} holds files with different columns: {field.name!r} is {kind} "
                    f"in {inside(before, folder)} and {field.type} in {inside(fragment, folder)}; "
                    "write it as the same everywhere."
                )


def inside(file: Any, folder: Path) -> str:
    """Write where a file or fragment is in its folder."""
    path = file if isinstance(file, Path) else Path(file.path)
    try:
        return repr(str(path.relative_to(folder)))
    except ValueError:
        return repr(path.name)
