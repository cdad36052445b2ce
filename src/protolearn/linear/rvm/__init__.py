"""The relevance vector machine."""

from .machine import RVM

__all__ = ["RVM"]
