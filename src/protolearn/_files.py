"""Writing files: beside the target first, then renamed, so that nothing is ever half-written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Return a path to write to; it becomes ``path`` if the block ends without an error.

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
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    # The ending stays last: some writers choose the format by it.
    handle, name = tempfile.mkstemp(
        prefix=f".{target.stem[:40]}-", suffix=target.suffix[-40:], dir=target.parent
    )
    os.close(handle)
    try:
        yield Path(name)
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    """Read the mask of new files, which only setting it reveals."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
