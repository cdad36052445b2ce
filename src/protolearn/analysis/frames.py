"""Tables of results as data frames."""

from __future__ import annotations

from typing import Any


def import_pandas() -> Any:
    """Import pandas."""
    try:
        import pandas as pd  # type: ignore[import-untyped]
    except ImportError as error:
        raise ImportError("to_frame needs pandas: pip install pandas.") from error
    return pd
