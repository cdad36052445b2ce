"""Errors of the command: one sentence on the error stream, and an exit code."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer

NO_ACCESS = FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError
"""What is wrong with a path that was given."""

BAD_INPUT = 2
"""Exit code of bad usage and of bad data."""

FAILED = 1
"""Exit code of work that could not be finished."""

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What changes a terminal or the order of the letters; tabs and ends of lines do not."""


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
    for name in {"SIGINT", "SIGTERM", "SIGHUP"} & set(dir(signal)):
        if signal.getsignal(number := getattr(signal, name)) != signal.SIG_IGN:  # else: nohup
            signal.signal(number, interrupt)
    with warnings.catch_warnings():
        warnings.showwarning = warning_printer()
        try:
            yield
            sys.stdout.flush()
        except KeyboardInterrupt:
            raise exit_with(command, f"stopped. {how_to_go_on}", FAILED) from None
        except Failure as failure:
            raise exit_with(command, str(failure), failure.code) from failure
        except BrokenPipeError:
            raise exit_with(command, "stopped: the output was closed.", FAILED) from None
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
    one_line = escape_controls(" ".join(message.split()))
    with suppress(OSError):  # of a terminal that was closed
        typer.echo(f"protolearn {command}: {one_line}", err=True)
    try:
        sys.stdout.flush()
    except OSError:  # else Python tries again at its end, and prints a traceback
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return typer.Exit(code)


def escape_controls(text: str) -> str:
    """Return a text with its control characters written as escape sequences of Python."""
    return CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class Application(typer.Typer):
    """The command, which prints to any terminal."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command that the arguments name."""
        if not os.environ.get("COLUMNS", "80").strip("0"):
            del os.environ["COLUMNS"]  # a width of nothing means that it is not known
        sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        if sys.stdout is None:
            sys.exit("protolearn: standard output is closed; redirect it, such as > /dev/null.")
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        try:
            sys.exit(super().__call__(*args, standalone_mode=False, **kwargs))
        except Exception as error:
            if not hasattr(error, "show"):
                raise
            error.message = escape_controls(error.message)  # type: ignore[attr-defined]
            error.show()  # of an error about the arguments, which it repeats
            sys.exit(BAD_INPUT)


def interrupt(number: int, frame: Any) -> None:
    """Treat a request to end as Ctrl-C."""
    raise KeyboardInterrupt


def warning_printer() -> Any:
    """Return a function that prints each different warning once, as a note."""
    seen = set()

    def show(message: Any, *args: Any, **kwargs: Any) -> None:
        text = escape_controls(" ".join(str(message).split()))
        if text not in seen:
            seen.add(text)
            typer.echo(f"note: {text}", err=True)

    return show
