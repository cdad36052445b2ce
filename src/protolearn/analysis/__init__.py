"""What a fitted model knows about its predictions."""

from .margins import hypothesis_margin

__all__ = ["hypothesis_margin"]
