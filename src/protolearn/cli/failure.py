"""Errors of the command: one sentence on the error stream, and an exit code."""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

NO_ACCESS = FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError
"""What is wrong with a path that was given."""

BAD_INPUT = 2
"""Exit code of bad usage and of bad data."""

FAILED = 1
"""Exit code of work that could not be finished."""


class Failure(Exception):
    """The reason why a command ends: what was given, what was expected, what to do."""

    def __init__(self, message: str, code: int = BAD_INPUT):
        super().__init__(message)
        self.code = code


@contextmanager
def report_errors(command: str, how_to_go_on: str = "") -> Iterator[None]:
    """Turn whatever goes wrong in a command into a sentence on the error stream and an exit code.

    A user who stops the command reads ``how_to_go_on``.
    """
    signal.signal(signal.SIGTERM, interrupt)
    with warnings.catch_warnings():
        warnings.showwarning = warning_printer()
        try:
            yield
        except KeyboardInterrupt:
            raise exit_with(command, f"stopped. {how_to_go_on}", FAILED) from None
        except Failure as failure:
            raise exit_with(command, str(failure), failure.code) from failure
        except BrokenPipeError:
            sys.stderr.close()  # whoever read the output has gone; nothing is wrong
            raise typer.Exit(FAILED) from None
        except (ValueError, TypeError, *NO_ACCESS) as error:
            raise exit_with(command, str(error) or type(error).__name__, BAD_INPUT) from error
        except MemoryError as error:
            raise exit_with(command, "there is not enough memory.", FAILED) from error
        except OSError as error:  # such as a disk that is full
            raise exit_with(command, f"failed: {error}", FAILED) from error
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise exit_with(command, f"failed unexpectedly: {what}", FAILED) from error


def exit_with(command: str, message: str, code: int) -> typer.Exit:
    """Print a sentence, and return what ends the command."""
    one_line = " ".join(message.split())
    typer.echo(f"protolearn {command}: {one_line}", err=True)
    return typer.Exit(code)


def interrupt(number: int, frame: Any) -> None:
    """Treat a request to end as Ctrl-C."""
    raise KeyboardInterrupt


def warning_printer() -> Any:
    """Return a function that prints each different warning once, as a note."""
    seen = set()

    def show(message: Any, *args: Any, **kwargs: Any) -> None:
        text = " ".join(str(message).split())
        if text not in seen:
            seen.add(text)
            typer.echo(f"note: {text}", err=True)

    return show
