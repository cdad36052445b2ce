"""Files that may hold a table: whether they are there and can be read, and what they are."""

from __future__ import annotations

import difflib
import io
import os
import re
import shutil
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

HEAD = 1 << 16
"""Bytes at the start that tell what a file is."""

STANDARD_INPUT = "-"
MEMORY = re.compile(r"(\d+(?:\.\d*)?)\s*([kKmMgGtT])?i?[bB]?")
JSON_START = re.compile(rb'\{\s*"[^"\n]*"\s*:')

BYTE_ORDER_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)

PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
"""How files begin that are unpacked on the way."""

PARQUET, FEATHER = b"PAR1", b"ARROW1"
EXCEL = (b"xl/workbook", b"xl/worksheets", b"content.xml")
"""Marks in the files of Excel and of OpenDocument, which are zip archives."""

ARCHIVE = rb"BZh|\xfd7zXZ|7z\xbc\xaf|Rar!|.{257}ustar"
FOREIGN = (
    (rb"\x89PNG|\xff\xd8\xff|GIF8|BM|II\*\0|MM\0\*|RIFF", "a picture, a sound or a film", ""),
    (rb"%PDF|\{\\rtf", "a document", "save the table in it as CSV"),
    (rb"SQLite format 3", "an SQLite database", "write a table of it as CSV"),
    (ARCHIVE, "a packed file or an archive", "unpack it first"),
    (rb"\x89HDF|FEA1|ORC", "an HDF5, ORC or old Feather file", "write it as CSV or Parquet"),
    (rb"\x93NUMPY|PK\x03\x04.*\.npy", "a file of NumPy arrays", "write it by numpy.savetxt"),
    (rb"<stata_dta|\$FL2|RDX|MATLAB 5.0", "a file of a statistics program", "write it as CSV"),
    (rb"\x80[\x02-\x05]", "a pickle of Python", "write the table as CSV"),
    (rb"PK\x03\x04.*schema\.json", "a saved model", "give the table in its place"),
    (rb"PK\x03\x04", "a zip archive", "unpack it first"),
    (rb"\x7fELF|MZ", "a program", ""),
)
"""Files that are no tables: how they begin, what they are, and what to do."""

WRITTEN = (
    (r"<!doctype|<html", "a page of the web", "save the table in it as CSV"),
    (r"<\?xml|<svg", "an XML file", "write the table in it as CSV"),
    (r"\[\{", "a JSON file of one list", "write a line for each row, as in JSON Lines, or CSV"),
)
"""Texts that are no tables, by how they begin but for blanks."""

CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1a\x1b"))


class TableFileError(ValueError):
    """A file is no table, or one with a mistake in it.

    Examples
    --------
    >>> from protolearn.tables import TableFileError, read_table
    >>> try:
    ...     read_table("nowhere.csv")
    ... except TableFileError as error:
    ...     print(error)
    There is no file 'nowhere.csv'; check the name and the folder.
    """


@dataclass(frozen=True)
class DataFile:
    """A file that is there and can be read, packed or not; or what standard input held."""

    path: Path
    packed: str  # gzip, zstd or ""
    head: bytes  # how it begins, unpacked
    held: IO[bytes] | None = None  # of standard input

    @classmethod
    def at(cls, path: Any, limit: MemoryLimit | None = None) -> DataFile:
        """Return the file at a path, once it is seen to be one; ``-`` is standard input."""
        try:
            where = Path(os.fsdecode(path))
        except TypeError:
            message = f"path is {type(path).__name__}; expected the name of a file."
            raise TypeError(message) from None
        held = None
        if str(where) == STANDARD_INPUT:
            held = standard_input(limit)
            where = Path("standard input")
        else:
            check_there(where)
        file = cls(where, "", b"", held)
        with file.binary() as stream:
            start = stream.read(4)
        packed = next((how for mark, how in PACKED.items() if start.startswith(mark)), "")
        file = cls(where, packed, b"", held)
        with file.binary() as stream:
            head = stream.read(HEAD)
        if not head.strip():
            raise TableFileError(f"{where.name!r} is empty; expected a header and rows below it.")
        return cls(where, packed, head, held)

    @property
    def name(self) -> str:
        """The name without folders."""
        return self.path.name

    def describe_packing(self, kind: str) -> str:
        """Return how a file of some kind is packed, in words."""
        return {"gzip": "gzipped ", "zstd": "zstd-packed "}.get(self.packed, "") + kind

    @contextmanager
    def binary(self) -> Iterator[IO[bytes]]:
        """Open it for reading bytes, unpacked."""
        with report_read_errors(self.path, self.packed), self.opened() as file:
            if not self.packed:
                yield file
                return
            import pyarrow as pa

            with pa.CompressedInputStream(pa.PythonFile(file, "r"), self.packed) as stream:
                yield stream

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """Open it for reading bytes as they are stored."""
        if self.held is None:
            with open(self.path, "rb") as file:
                yield file
        else:
            self.held.seek(0)
            yield self.held

    @contextmanager
    def unpacked(self) -> Iterator[IO[bytes]]:
        """Open it for reading at any place; one that is packed is unpacked to a file first."""
        with self.binary() as stream, tempfile.TemporaryFile() as whole:
            if self.packed:
                shutil.copyfileobj(stream, whole)
                whole.seek(0)
            yield whole if self.packed else stream

    @contextmanager
    def text(self, encoding: str, skip: int = 0) -> Iterator[IO[str]]:
        """Open it for reading lines, but for the first ones; their ends stay as they are."""
        with self.binary() as file:
            stream = io.TextIOWrapper(file, encoding=encoding, newline="")
            deque(islice(stream, skip), maxlen=0)
            yield stream
            stream.detach()

    def encodings(self) -> list[str]:
        """Return the encodings that it may have, the likeliest first."""
        for mark, encoding in BYTE_ORDER_MARKS:
            if self.head.startswith(mark):
                return [encoding]
        told = utf16_without_mark(self.head)
        return [told] if told else ["utf-8", "cp1252", "latin-1"]

    def check_text(self) -> None:
        """Raise if it is no text, and say what it is."""
        what, do = foreign_format(self.head, self.tail) or ("", "")
        if what:
            raise TableFileError(
                f"{self.name!r} is {what}, not a table; expected CSV, Excel, Parquet, Feather, "
                f"JSON Lines or ARFF{': ' * bool(do)}{do}."
            )

    @property
    def tail(self) -> bytes:
        """How a zip archive ends, where it names its parts."""
        if not self.head.startswith(b"PK"):
            return b""
        with self.opened() as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - HEAD))
            return file.read()

    @property
    def format(self) -> str:
        """What kind of table it is, by its content: all that has no mark of its own is a text."""
        if self.head.startswith(PARQUET):
            return "parquet"
        if self.head.startswith(FEATHER):
            return "feather"
        if self.head.startswith(b"\xd0\xcf\x11\xe0"):
            return "excel"
        if self.head.startswith(b"PK\x03\x04"):
            parts = self.head + self.tail
            return "excel" if any(mark in parts for mark in EXCEL) else "text"
        begin = self.head[:1000].removeprefix(b"\xef\xbb\xbf").lstrip()
        return "json" if JSON_START.match(begin) else "text"


@dataclass(frozen=True)
class MemoryLimit:
    """How much memory a table may take."""

    most: float

    @classmethod
    def of(cls, memory: Any) -> MemoryLimit:
        """Return a limit of so many bytes, of a text such as ``4GB``, or of half of the machine."""
        if memory is None:
            try:
                return cls(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2)
            except (AttributeError, ValueError, OSError):  # Windows does not tell
                return cls(float(4 << 30))
        found = MEMORY.fullmatch(str(memory).strip())
        if found is None or float(found[1]) <= 0.0:
            raise ValueError(
                f"memory={memory!r} is not a size; expected bytes as an integer, or a text such as "
                "'500MB' or '4GB'."
            )
        return cls(float(found[1]) * 1000.0 ** " KMGT".index((found[2] or " ").upper()))

    def check(self, name: str, n_bytes: float) -> None:
        """Raise if a table takes more."""
        if n_bytes > self.most:
            raise TableFileError(
                f"{name!r} takes at least {size_text(n_bytes)} of memory as a table, more than the "
                f"{size_text(self.most)} that are allowed; read fewer columns, or raise the limit "
                "(--memory, or memory=)."
            )


def size_text(n_bytes: float) -> str:
    """Write a number of bytes."""
    for unit in ("bytes", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} GB"


HELD: dict[int, tuple[Any, IO[bytes]]] = {}
"""What was read of a standard input, which cannot be read again, by the stream."""


def standard_input(limit: MemoryLimit | None) -> IO[bytes]:
    """Return what standard input holds, as a file that can be read twice."""
    stream, file = HELD.get(id(sys.stdin), (None, None))
    if stream is sys.stdin and file is not None:
        return file
    whole = cast(IO[bytes], tempfile.SpooledTemporaryFile(1 << 24))  # noqa: SIM115
    while part := sys.stdin.buffer.read(1 << 20):
        whole.write(part)
        if limit is not None:
            limit.check("standard input", whole.tell())
    HELD.clear()
    HELD[id(sys.stdin)] = sys.stdin, whole
    return whole


def check_there(path: Path) -> None:
    """Raise if there is no file to read twice, and say what to do about it."""
    try:
        is_file, is_folder = path.is_file(), path.is_dir()
        there = is_file or path.exists()
    except (OSError, ValueError) as error:  # a name that is too long, or has a zero in it
        raise TableFileError(f"{str(path)!r} cannot be opened: {error_text(error)}.") from None
    if is_folder:
        raise TableFileError(f"{str(path)!r} is a folder; expected a file: name one that is in it.")
    if there and not is_file:
        raise TableFileError(
            f"{str(path)!r} is a pipe or a device, which cannot be read twice; save it as a file."
        )
    if is_file:
        return
    advice = "check the name and the folder"
    try:
        names = sorted(other.name for other in path.parent.iterdir() if other.is_file())
        match = difflib.get_close_matches(path.name, names, 1)
        advice = f"there is {match[0]!r}" if match else advice
    except OSError:
        advice = "its folder is not there either, look at how it is written"
    if ":/" in str(path):
        advice = "expected a file on this machine: load it first"
    raise TableFileError(f"There is no file {str(path)!r}; {advice}.")


@contextmanager
def report_read_errors(path: Path, packed: str = "") -> Iterator[None]:
    """Raise a sentence that says why a file cannot be read."""
    try:
        yield
    except TableFileError:
        raise
    except PermissionError:
        raise TableFileError(
            f"You have no permission to read {str(path)!r}; ask for it, or copy the file."
        ) from None
    except OSError as error:
        told = error_text(error)
        if packed and not error.errno:  # of pyarrow
            is_cut = "runcated" in told
            what = f"a {packed} file that ends too early" if is_cut else f"a damaged {packed} file"
            told = "" if is_cut else f" ({told})"
            raise TableFileError(f"{path.name!r} is {what}{told}; copy or load it again.") from None
        raise TableFileError(f"{str(path)!r} cannot be read: {told}.") from None


def error_text(error: Exception) -> str:
    """Return the words of an error without its number."""
    return getattr(error, "strerror", None) or str(error).rstrip(".")


def foreign_format(head: bytes, tail: bytes = b"") -> tuple[str, str] | None:
    """Return what a file is that is no text, and what to do with it; None: it may be a text.

    It is told by how the file begins and ends: a zip file names its parts at its end.
    """
    for mark, what, do in FOREIGN:
        found = re.match(mark, head + tail, re.DOTALL)
        if found and (found.end() > 3 or is_binary(head)):
            return what, do
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or utf16_without_mark(head):  # UTF-16 has zeros
        return None
    if is_binary(head):
        return "binary data", ""
    begin = "".join(head[:100].decode("latin-1").removeprefix("\u00ef\u00bb\u00bf").lower().split())
    return next(((what, do) for mark, what, do in WRITTEN if re.match(mark, begin)), None)


def utf16_without_mark(head: bytes) -> str:
    """Return the encoding of a text in UTF-16 without a mark, by where its zeros are."""
    half = max(len(head) // 2, 1)
    if b"\0" not in head[::2] and head[1::2].count(0) > 0.8 * half:
        return "utf-16-le"
    if b"\0" not in head[1::2] and head[::2].count(0) > 0.8 * half:
        return "utf-16-be"
    return ""


def is_binary(head: bytes) -> bool:
    """Whether bytes hold zeros, or many characters that no text has."""
    return b"\0" in head or len(head) - len(head.translate(None, CONTROL)) > len(head) / 50
