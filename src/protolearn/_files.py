"""Writing files: a draft beside the target, synced to the disk, then renamed over it.

Whatever happens on the way, an error, a full disk, a killed process or a power cut, the target
holds its old content or the new one, never a mixture.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MOST = 20
"""Characters of the target's name in that of its draft: a name has at most 255 bytes."""

DESCRIPTOR = re.compile(r"/dev/(stdout|stderr|fd/\d+)|/proc/[^/]+/fd/\d+")
"""Names of what is open already; it may be a file, which others add to as well."""


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
    if is_stream(path):
        with _streaming_to(Path(path)) as draft:  # the real path of a pipe is no path
            yield draft
        return
    target = Path(os.path.realpath(path))
    before = target.stat() if target.exists() else None
    if before is not None and stat.S_ISDIR(before.st_mode):
        raise IsADirectoryError(f"{str(path)!r} is a folder; name a file.")
    target.parent.mkdir(parents=True, exist_ok=True)
    # The ending stays last: some writers choose the format by it.
    name = f".{target.stem[:MOST]}-{secrets.token_hex(8)}{target.suffix[-MOST:]}"
    draft = target.with_name(name)
    try:
        # Less the umask, as for any new file.
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL, 0o666))
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
def replacing_files(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Return a folder to write files to; all of them, or none, then replace those of ``folder``.

    Other files in ``folder`` stay. The new files are complete and on the disk before the first old
    one is moved, and an error while they are moved puts the old ones back.
    """
    target = Path(os.path.realpath(folder))
    target.mkdir(parents=True, exist_ok=True)
    finish_replacing(target)
    token = secrets.token_hex(8)
    drafts, olds = target / f".new-{token}", target / f".old-{token}"
    try:
        drafts.mkdir()
        with _locked(drafts):
            yield drafts
            _exchange(target, drafts, olds)
    except BaseException:
        shutil.rmtree(drafts, ignore_errors=True)
        raise
    finally:
        for made in (drafts, olds):  # old files that could not be put back stay where they are
            with suppress(OSError):
                made.rmdir()


def finish_replacing(folder: str | os.PathLike[str]) -> None:
    """Finish what a killed process has begun: if it moved old files, its new ones are complete."""
    for olds in Path(folder).glob(".old-*"):
        drafts = olds.with_name(olds.name.replace(".old-", ".new-"))
        with suppress(OSError), _locked(drafts) as is_ours:
            if is_ours:
                for name in os.listdir(drafts):
                    os.replace(drafts / name, olds.with_name(name))
                _sync_folder(olds.parent)
                shutil.rmtree(olds)
                drafts.rmdir()


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Keep other processes from a folder; the context is whether none of them does so already."""
    handle, is_ours = -1, False
    with suppress(ImportError, OSError):
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_ours = True
    try:
        yield is_ours
    finally:
        with suppress(OSError):
            os.close(handle)


def _exchange(target: Path, drafts: Path, olds: Path) -> None:
    """Move files into a folder, and those that they replace out of it and away."""
    names = sorted(os.listdir(drafts))
    replaced = [name for name in names if os.path.lexists(target / name)]
    for name in names:
        if (target / name).is_dir():
            raise IsADirectoryError(f"{str(target / name)!r} is a folder, where a file belongs.")
        if (target / name).exists():
            _copy_rights((target / name).stat(), drafts / name)
        _sync(drafts / name)
    _sync_folder(drafts)
    olds.mkdir()
    try:
        for name in replaced:
            os.replace(target / name, olds / name)
        for name in names:
            os.replace(drafts / name, target / name)
        _sync_folder(target)
    except BaseException:
        # What was done is read from the disk: an interrupt may have come after any step.
        for name in names:
            if os.path.lexists(olds / name):
                with suppress(OSError):
                    os.replace(olds / name, target / name)
            elif name not in replaced and not (drafts / name).exists():
                (target / name).unlink(missing_ok=True)
        raise
    for name in replaced:
        with suppress(OSError):
            (olds / name).unlink()


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a path is written to and never replaced: a pipe, a device, an open descriptor."""
    is_plain = os.path.isfile(path) or os.path.isdir(path)
    return (os.path.exists(path) and not is_plain) or DESCRIPTOR.fullmatch(
        os.path.abspath(path)
    ) is not None


@contextmanager
def _streaming_to(target: Path) -> Iterator[Path]:
    """Return a path to write to; its content is sent to a pipe or a device in the end."""
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder, target.name)
        yield draft
        with draft.open("rb") as content, target.open("ab", buffering=0) as stream:
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
