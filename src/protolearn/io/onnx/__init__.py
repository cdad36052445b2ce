"""Models as ONNX graphs, which run without Python."""

from typing import Any

from .export import register_converters, to_onnx

__all__ = ["Parts", "onnx_distance", "register_converters", "to_onnx"]


def __getattr__(name: str) -> Any:
    """Return what needs onnx itself, which is imported only then."""
    if name in ("Parts", "onnx_distance"):
        from . import distances

        return getattr(distances, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
