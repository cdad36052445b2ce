"""The report: one page that tells what a model has learned, how good it is, and where to look."""

from .document import write

__all__ = ["write"]
