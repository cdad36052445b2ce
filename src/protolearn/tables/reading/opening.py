"""Opening a file, which must be there and a text, packed or not."""

from __future__ import annotations

import difflib
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from .errors import TableFileError
from .foreign import foreign, zeros

HEAD = 1 << 16
"""Bytes at the start that tell what a file is."""

PART = 1 << 20
"""Bytes that are looked at together."""

BYTE_ORDER_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


@dataclass(frozen=True)
class DataFile:
    """A file that is there and can be read, packed by gzip or not.

    Attributes
    ----------
    path : Path
        Where it is.
    gzipped : bool
        Whether it is packed.
    head : bytes
        How it begins, unpacked.
    """

    path: Path
    gzipped: bool
    head: bytes

    @classmethod
    def at(cls, path: Any) -> DataFile:
        """Look at a file."""
        try:
            where = Path(os.fsdecode(path))
        except TypeError:
            raise TypeError(
                f"path is {type(path).__name__}; expected the name of a file."
            ) from None
        check_there(where)
        with readable(where), open(where, "rb") as file:
            gzipped = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            stream: Any = gzip.GzipFile(fileobj=file) if gzipped else file
            head = stream.read(HEAD)
        if not head.strip():
            raise TableFileError(f"{where.name!r} is empty; expected a header and rows below it.")
        return cls(where, gzipped, head)

    @property
    def name(self) -> str:
        """The name without folders."""
        return self.path.name

    @property
    def size(self) -> int:
        """Number of bytes, as it is packed."""
        return os.path.getsize(self.path)

    @contextmanager
    def binary(self) -> Iterator[IO[bytes]]:
        """Open it for reading bytes."""
        with readable(self.path), open(self.path, "rb") as file:
            yield gzip.GzipFile(fileobj=file) if self.gzipped else file  # type: ignore[misc]

    @contextmanager
    def text(self, encoding: str) -> Iterator[IO[str]]:
        """Open it for reading lines, whose ends stay as they are."""
        with self.binary() as file:
            buffered = io.BufferedReader(file) if self.gzipped else file  # type: ignore[type-var]
            yield io.TextIOWrapper(buffered, encoding=encoding, newline="")

    def encodings(self) -> list[str]:
        """Return the encodings that it may have, the likeliest first."""
        for mark, encoding in BYTE_ORDER_MARKS:
            if self.head.startswith(mark):
                return [encoding]
        return [zeros(self.head)] if zeros(self.head) else ["utf-8", "cp1252", "latin-1"]

    def lines(self) -> tuple[int, int]:
        """Count its lines, or a few more, and its bytes, unpacked."""
        n_lines, n_bytes = 1, 0
        with self.binary() as file:
            while part := file.read(PART):
                n_lines += part.count(b"\n")
                if returns := part.count(b"\r"):
                    n_lines += returns - part.count(b"\r\n")
                n_bytes += len(part)
        return n_lines, n_bytes

    def check_text(self) -> None:
        """Raise if it is no text, and say what it is."""
        tail = b""
        if self.head.startswith(b"PK"):
            with open(self.path, "rb") as file:
                file.seek(max(0, os.path.getsize(self.path) - HEAD))
                tail = file.read()
        found = foreign(self.head, tail)
        if found is not None:
            what, do = found
            raise TableFileError(
                f"{self.name!r} is {what}, not a table; expected CSV, TSV, Parquet or ARFF"
                + (f": {do}." if do else ".")
            )


def check_there(path: Path) -> None:
    """Raise if there is no file to read twice."""
    try:
        is_file, is_folder = path.is_file(), path.is_dir()
        there = is_file or path.exists()
    except (OSError, ValueError) as error:  # a name that is too long, or has a zero in it
        raise TableFileError(f"{str(path)!r} cannot be opened: {reason(error)}.") from None
    if is_folder:
        raise TableFileError(f"{str(path)!r} is a folder; expected a file: name one that is in it.")
    if not there:
        raise TableFileError(f"There is no file {str(path)!r}{instead(path)}.")
    if not is_file:
        raise TableFileError(
            f"{str(path)!r} is a pipe or a device, which cannot be read twice; save it as a file."
        )


def instead(path: Path) -> str:
    """Return a text that says what to do about a file that is not there."""
    if ":/" in str(path):
        return "; expected a file on this machine: load it first"
    try:
        there = sorted(other.name for other in path.parent.iterdir() if other.is_file())
    except OSError:
        return "; its folder is not there either, look at how it is written"
    match = difflib.get_close_matches(path.name, there, 1)
    return f"; there is {match[0]!r}" if match else "; look at its name and folder"


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Raise a sentence that says why a file cannot be read."""
    try:
        yield
    except EOFError:
        raise TableFileError(
            f"{path.name!r} is a gzip file that ends too early; copy or load it again."
        ) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise TableFileError(
            f"{path.name!r} is a damaged gzip file ({reason(error)}); copy or load it again."
        ) from None
    except PermissionError:
        raise TableFileError(
            f"You have no permission to read {str(path)!r}; ask for it, or copy the file."
        ) from None
    except OSError as error:
        raise TableFileError(f"{str(path)!r} cannot be read: {reason(error)}.") from None


def reason(error: Exception) -> str:
    """Return the words of an error without its number."""
    return getattr(error, "strerror", None) or str(error).rstrip(".")
