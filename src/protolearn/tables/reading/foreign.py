"""What files are that are no tables."""

from __future__ import annotations

UNPACK = "unpack it first"

FOREIGN = (
    (b"\x89PNG", "a PNG picture", ""),
    (b"\xff\xd8\xff", "a JPEG picture", ""),
    (b"GIF8", "a GIF picture", ""),
    (b"%PDF", "a PDF document", "save the table in it as CSV"),
    (b"SQLite format 3", "an SQLite database", "write a table of it as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file", "save the sheet as CSV"),
    (b"BZh", "packed by bzip2", UNPACK),
    (b"\xfd7zXZ", "packed by xz", UNPACK),
    (b"\x28\xb5\x2f\xfd", "packed by zstd", UNPACK),
    (b"7z\xbc\xaf", "a 7z archive", UNPACK),
    (b"Rar!", "a RAR archive", UNPACK),
    (b"\x89HDF", "an HDF5 file", "write the table as CSV or Parquet"),
    (b"ARROW1", "an Arrow or Feather file", "write it as Parquet"),
    (b"FEA1", "a Feather file", "write it as Parquet"),
    (b"ORC", "an ORC file", "write it as Parquet"),
    (b"\x93NUMPY", "an array of NumPy", "write it by numpy.savetxt"),
    (b"SIMPLE  =", "a FITS file", "write the table as CSV"),
    (b"BM", "a BMP picture", ""),
    (b"II*\0", "a TIFF picture", ""),
    (b"MM\0*", "a TIFF picture", ""),
    (b"RIFF", "a picture, a sound or a film", ""),
    (b"<stata_dta", "a Stata file", "write the table as CSV"),
    (b"$FL2", "an SPSS file", "write the table as CSV"),
    (b"RDX", "a file of R", "write the table by write.csv"),
    (b"MATLAB 5.0", "a file of MATLAB", "write the table as CSV"),
    (b"\x7fELF", "a program", ""),
    (b"MZ", "a program", ""),
)

WRITTEN = (
    ("<!doctype", "a page of the web", "save the table in it as CSV"),
    ("<html", "a page of the web", "save the table in it as CSV"),
    ("<?xml", "an XML file", "write the table in it as CSV"),
    ("<svg", "an SVG picture", ""),
    ("{\\rtf", "a document", "save the table in it as CSV"),
    ("[{", "a JSON file", "write the table as CSV"),
    ('{"', "a JSON file", "write the table as CSV"),
)
"""Texts that are no tables, by how they begin but for blanks."""

ZIPPED = (
    (b"xl/", "an Excel file", "save the sheet as CSV"),
    (b"schema.json", "a saved model", "give the table first and the model where it is asked for"),
    (b"content.xml", "an OpenDocument file", "save the sheet as CSV"),
    (b".npy", "a file of NumPy arrays", "write them by numpy.savetxt"),
    (b"", "a zip archive", UNPACK),
)

CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1a\x1b"))


def foreign(head: bytes, tail: bytes = b"") -> tuple[str, str] | None:
    """Return what a file is that is no text, and what to do with it; None: it may be a text.

    Parameters
    ----------
    head, tail : bytes
        How it begins and ends. A zip file names its parts at its end.
    """
    if head.startswith(b"PK\x03\x04"):
        return next((what, do) for mark, what, do in ZIPPED if mark in head + tail)
    for mark, what, do in FOREIGN:
        if head.startswith(mark) and (len(mark) > 3 or is_binary(head)):
            return what, do
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return "a pickle of Python", "write the table as CSV"
    if head[257:262] == b"ustar":
        return "a tar archive", UNPACK
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or zeros(head):  # UTF-16 has zeros
        return None
    if is_binary(head):
        return "binary data", ""
    begin = "".join(head[:100].decode("latin-1").removeprefix("\u00ef\u00bb\u00bf").lower().split())
    return next(((what, do) for mark, what, do in WRITTEN if begin.startswith(mark)), None)


def zeros(head: bytes) -> str:
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
