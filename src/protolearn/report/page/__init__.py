"""Pages: the report of a model, and the lecture on which to watch models learn."""

from .document import write
from .lecture import write_lecture

__all__ = ["write", "write_lecture"]
