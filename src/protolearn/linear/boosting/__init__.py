"""Boosted prototypes."""

from .boosted import BoostedPrototypes

__all__ = ["BoostedPrototypes"]
