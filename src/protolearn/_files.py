"""Writing files: a draft beside the target, synced to the disk, then renamed over it.

Whatever happens on the way, an error, a full disk, a killed process or a power cut, the target
holds its old content or the new one, never a mixture.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MOST = 20
"""Characters of the target's name in that of its draft: a name has at most 255 bytes."""


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Return a path to write to; it becomes ``path`` if the block ends without an error.

    A link stays a link, and the file that it names is replaced. The mode and the owner of a file
    that is there stay. What is no regular file, such as a pipe or a device, is written to.

    Parameters
    ----------
    path : str or path
        The file to make; its folder is made if it is missing.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "note.txt"
    >>> with replacing(target) as path:
    ...     _ = path.write_text("done")
    >>> target.read_text()
    'done'
    """
    target = Path(os.path.realpath(path))
    before = target.stat() if target.exists() else None
    if before is not None and stat.S_ISDIR(before.st_mode):
        raise IsADirectoryError(f"{str(path)!r} is a folder; name a file.")
    if before is not None and not stat.S_ISREG(before.st_mode):
        with _streaming_to(target) as draft:
            yield draft
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    # The ending stays last: some writers choose the format by it.
    name = f".{target.stem[:MOST]}-{secrets.token_hex(8)}{target.suffix[-MOST:]}"
    draft = target.with_name(name)
    handle = os.open(draft, os.O_CREAT | os.O_EXCL, 0o666)  # less the umask, as for any new file
    try:
        os.close(handle)
        yield draft
        if before is not None:
            _copy_rights(before, draft)
        _sync(draft)
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


@contextmanager
def _streaming_to(target: Path) -> Iterator[Path]:
    """Return a path to write to; its content is sent to a pipe or a device in the end."""
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder, target.name)
        yield draft
        with draft.open("rb") as content, target.open("wb", buffering=0) as stream:
            shutil.copyfileobj(content, stream)


def _copy_rights(before: os.stat_result, draft: Path) -> None:
    """Set the owner, as far as this user may, and the mode of a file that will be replaced."""
    now = draft.stat()
    if hasattr(os, "chown") and (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        with suppress(PermissionError):
            os.chown(draft, before.st_uid, before.st_gid)
    os.chmod(draft, stat.S_IMODE(before.st_mode))


def _sync(path: Path) -> None:
    """Wait until the content of a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":  # elsewhere folders cannot be opened
        _sync(folder)
