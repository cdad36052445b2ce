"""A bar that shows how far a comparison is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(total: int, done: int, *, shown: bool) -> Iterator[Callable[[str, int], None]]:
    """Return a function ``update(description, done)`` that moves a bar, if one is shown.

    Parameters
    ----------
    total : int
        Number of fits.
    done : int
        How many of them are finished already.
    shown : bool
        Whether there is a bar.
    """
    if not shown:
        yield lambda description, done: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        # Names may have brackets, which are no markup here.
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("fits, remaining"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=total, completed=done)
        yield lambda description, done: progress.update(
            task, description=description, completed=done
        )
