"""What is wrong with a file, or with a model that is to be saved."""

from __future__ import annotations


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
