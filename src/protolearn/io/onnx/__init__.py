"""Models as ONNX graphs, which run without Python."""

from .export import register_converters, to_onnx

__all__ = ["register_converters", "to_onnx"]
