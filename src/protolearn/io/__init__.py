"""Models in files: read without running anything of the file, or run without Python."""

from .exports import document_of as document_of
from .exports import export, javascript_module
from .file import ModelFile, ModelFileError
from .onnx import register_converters, to_onnx
from .saving import describe, load, save

__all__ = [
    "ModelFile",
    "ModelFileError",
    "describe",
    "export",
    "javascript_module",
    "load",
    "register_converters",
    "save",
    "to_onnx",
]
