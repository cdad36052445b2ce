"""How commands end: results, one clear sentence, and an exit code."""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from .failure import BAD_INPUT, FAILED, Failure

NO_ACCESS = FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError
"""What is wrong with a path that was given."""


@contextmanager
def ending(command: str, how_to_go_on: str = "") -> Iterator[None]:
    """Turn whatever goes wrong in a command into a sentence on the error stream and an exit code.

    Parameters
    ----------
    command : str
        Name of the command.
    how_to_go_on : str
        What to tell a user who stops it.
    """
    signal.signal(signal.SIGTERM, stop)
    with warnings.catch_warnings():
        warnings.showwarning = noted()
        try:
            yield
        except KeyboardInterrupt:
            raise told(command, f"stopped. {how_to_go_on}", FAILED) from None
        except Failure as failure:
            raise told(command, str(failure), failure.code) from failure
        except BrokenPipeError:
            sys.stderr.close()  # whoever read the output has gone; nothing is wrong
            raise typer.Exit(FAILED) from None
        except (ValueError, TypeError, *NO_ACCESS) as error:
            raise told(command, str(error) or type(error).__name__, BAD_INPUT) from error
        except MemoryError as error:
            raise told(command, "there is not enough memory.", FAILED) from error
        except OSError as error:  # such as a disk that is full
            raise told(command, f"failed: {error}", FAILED) from error
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise told(command, f"failed unexpectedly: {what}", FAILED) from error


def told(command: str, message: str, code: int) -> typer.Exit:
    """Print a sentence, and give what ends the command."""
    one_line = " ".join(message.split())
    typer.echo(f"protolearn {command}: {one_line}", err=True)
    return typer.Exit(code)


def stop(number: int, frame: Any) -> None:
    """Take a request to end for Ctrl-C."""
    raise KeyboardInterrupt


def noted() -> Any:
    """Return a function that prints each different warning once, as a note."""
    seen = set()

    def show(message: Any, *args: Any, **kwargs: Any) -> None:
        text = " ".join(str(message).split())
        if text not in seen:
            seen.add(text)
            typer.echo(f"note: {text}", err=True)

    return show
