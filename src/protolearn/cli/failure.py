"""How a command ends when it cannot do what it was asked to."""

from __future__ import annotations

BAD_INPUT = 2
"""Exit code of bad usage and of bad data."""

FAILED = 1
"""Exit code of work that could not be finished."""


class Failure(Exception):
    """The reason why a command ends, in a sentence and without a traceback.

    Parameters
    ----------
    message : str
        What was given, what was expected, what to do.
    code : int, default=2
        The exit code.
    """

    def __init__(self, message: str, code: int = BAD_INPUT):
        super().__init__(message)
        self.code = code
