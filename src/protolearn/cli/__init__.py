"""The ``protolearn`` command."""

from .commands import app

__all__ = ["app"]
