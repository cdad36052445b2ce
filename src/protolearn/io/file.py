"""The container: a zip of a description and the model, sealed by a checksum at its end.

The comment of a zip is its last part. It holds the SHA-256 of all bytes before it, so that a change
of any byte is seen before anything is parsed. Nothing is compressed: what is read is never more
than what is on the disk.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field, fields
from io import BytesIO, RawIOBase
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

FORMAT, VERSION = "protolearn model", 1
HEADER, PAYLOAD = "protolearn.json", "model.skops"
SEAL = b"sha256:"
DIGITS = 64  # of a SHA-256 in hexadecimal
START = b"PK\x03\x04"
NAME_AT = 30  # where a zip has the name of its first member
PLAIN_NAME = re.compile(r"[0-9a-z]+\.[a-z]+")  # no folder, nothing that could lead out of one
EARLIEST = 1980, 1, 1, 0, 0, 0  # the time of all members: the same model gives the same bytes


class ModelFileError(ValueError):
    """Raised for a file that is no model, and for a model that no file can hold.

    The message says what was found and what to do.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from protolearn.io import ModelFileError, load
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "numbers.csv"
    >>> _ = path.write_text("1,2")
    >>> try:
    ...     load(path)
    ... except ModelFileError as error:
    ...     print("no model")
    no model
    """


@dataclass(frozen=True)
class ModelFile:
    """What a file says about its model.

    Attributes
    ----------
    model : str
        The model in one line.
    versions : dict of str to str
        Versions of Python and of the libraries that it was saved with.
    checksum : str
        SHA-256 of the part that holds the model.
    notes : dict
        What was given to ``save``.

    See Also
    --------
    describe : Read this from a file.

    Examples
    --------
    >>> from protolearn.io import ModelFile
    >>> ModelFile("GLVQ()", {"protolearn": "0.1"}, "sha256:0123").model
    'GLVQ()'
    """

    model: str
    versions: dict[str, str]
    checksum: str
    notes: dict[str, Any] = field(default_factory=dict)


def pack(about: ModelFile, payload: bytes) -> bytes:
    """Return the bytes of a file."""
    header = {"format": FORMAT, "version": VERSION, **vars(about)}
    text = json.dumps(header, indent=1, ensure_ascii=False, allow_nan=False)
    comment = SEAL + b"0" * DIGITS
    members = {HEADER: text.encode(errors="surrogatepass"), PAYLOAD: payload}
    whole = zip_members(members, comment).read()[:-DIGITS]
    return whole + _digest(whole)


def unpack(path: str | os.PathLike[str]) -> tuple[ModelFile, bytes]:
    """Return what a file says and the part that holds the model, or raise if it is not whole."""
    data = _content(Path(path))
    if data[-DIGITS:] != _digest(data[:-DIGITS]):
        raise _damage_error(path, "its content does not have the checksum written at its end")
    try:
        with ZipFile(BytesIO(data)) as archive:
            check_members(archive, len(data))
            if archive.namelist() != [HEADER, PAYLOAD]:
                raise BadZipFile("it has other parts than a model has")
            text, payload = archive.read(HEADER), archive.read(PAYLOAD)
    except Exception as error:  # a zip can be wrong in many ways
        raise _damage_error(path, str(error) or type(error).__name__) from error
    about = _description(path, text)
    if about.checksum != checksum(payload):
        raise _damage_error(path, "its model does not have the checksum of its description")
    return about, payload


def checksum(payload: bytes) -> str:
    """Return the checksum of the part that holds the model."""
    return (SEAL + _digest(payload)).decode()


class Pieces(RawIOBase):
    """A file in memory that keeps the bytes that are written, and returns them without a copy."""

    def __init__(self) -> None:
        self.starts, self.pieces, self.at = [0], [b""], 0

    def write(self, data: Any, /) -> int:
        """Add a piece, or replace one by another that is as long."""
        place = bisect_left(self.starts, self.at)
        self.starts[place : place + 1], self.pieces[place : place + 1] = [self.at], [data]
        self.at += len(data)
        return len(data)

    def read(self, size: int = -1, /) -> bytes:
        """Return bytes; those of a whole piece are the piece itself."""
        end = self.size if size < 0 else min(self.at + size, self.size)
        found = []
        while self.at < end:
            place = bisect_right(self.starts, self.at) - 1
            start = self.starts[place]
            found.append(self.pieces[place][self.at - start : end - start])
            self.at += len(found[-1])
        return b"".join(found)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Go to a place."""
        self.at = offset + (0, self.at, self.size)[whence]
        return self.at

    @property
    def size(self) -> int:
        """The number of bytes."""
        return self.starts[-1] + len(self.pieces[-1])


def zip_members(members: dict[str, bytes], comment: bytes = b"") -> Pieces:
    """Return a zip without compression; the same members give the same bytes."""
    file = Pieces()
    with ZipFile(file, "w", ZIP_STORED) as archive:
        archive.comment = comment
        for name, data in members.items():
            info = ZipInfo(name, EARLIEST)
            info.create_system, info.external_attr = 3, 0o644 << 16
            archive.writestr(info, data)
    file.seek(0)
    return file


def check_members(archive: ZipFile, n_bytes: int) -> None:
    """Raise if members of a zip are larger than the zip, compressed, or not plainly named."""
    members = archive.infolist()
    if any(member.compress_type != ZIP_STORED for member in members):
        raise BadZipFile("a part of it is compressed")
    if sum(member.file_size for member in members) > n_bytes:
        raise BadZipFile("its parts claim to be larger than the file")
    names = [member.filename for member in members]
    if len(set(names)) < len(names):
        raise BadZipFile("it has two parts of one name")
    if not all(map(PLAIN_NAME.fullmatch, names)):
        raise BadZipFile("a part of it has a name that no model has")


def _content(path: Path) -> bytes:
    """Read a file; of one that cannot be ours, not more than its first bytes."""
    if path.is_dir():
        raise ModelFileError(f"{str(path)!r} is a folder; give a file that save has written.")
    try:
        with path.open("rb") as file:
            head = file.read(NAME_AT + len(HEADER))
            if head[: len(START)] != START or head[NAME_AT:] != HEADER.encode():
                raise ModelFileError(
                    f"{str(path)!r} is not a model of protolearn: {_looks_like(head)}. Give a file "
                    "that protolearn.save has written."
                )
            return head + file.read()
    except FileNotFoundError as error:
        where = "" if path.is_absolute() else f" in {str(Path.cwd())!r}"
        raise FileNotFoundError(
            f"There is no file {str(path)!r}{where}. Give a file that protolearn.save has written."
        ) from error


def _looks_like(head: bytes) -> str:
    """Return what a file is that is no model."""
    if not head:
        return "it is empty"
    if len(head) < NAME_AT + len(HEADER) and head.startswith(START):
        return "it is cut off after its first bytes"
    if head.startswith(START):
        return "it is a zip of something else (a file of skops itself is read by skops.io.load)"
    if head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05":
        return "it looks like a pickle, which pickle.load reads if you trust where it comes from"
    if all(byte >= 32 or byte in b"\t\r\n\f" for byte in head):
        return "it looks like text"
    return f"it begins with {head[:8]!r}, so it is something else or damaged"


def _description(path: Any, text: bytes) -> ModelFile:
    """Read the description."""
    try:
        header = json.loads(text)
        form, version = header["format"], header["version"]
        about = ModelFile(**{part.name: header[part.name] for part in fields(ModelFile)})
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damage_error(path, "its description cannot be read") from error
    if form == FORMAT and type(version) is int and version > VERSION:
        raise ModelFileError(
            f"{str(path)!r} has format {version}, and this protolearn reads formats up to "
            f"{VERSION}. Install a newer protolearn."
        )
    is_ours = form == FORMAT and type(version) is int and version == VERSION
    is_sound = isinstance(about.versions, dict) and isinstance(about.notes, dict)
    texts = (about.model, about.checksum, *(about.versions.values() if is_sound else ()))
    if not (is_ours and is_sound and all(isinstance(text, str) for text in texts)):
        raise _damage_error(path, "its description cannot be read")
    return about


def _damage_error(path: Any, why: str) -> ModelFileError:
    """Return the error for a file that is not what was written."""
    return ModelFileError(
        f"{str(path)!r} is damaged: {why}. It was changed or cut off after it was saved; copy it "
        "again, or save the model again."
    )


def _digest(data: bytes) -> bytes:
    """Return the SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest().encode()
