"""Models in files: read without running anything of the file, or run without Python."""

from .compression import compress
from .edits import EditsError, apply_edits, model_fingerprint
from .edits import WorkingModel as WorkingModel
from .edits import read_edits as read_edits
from .exports import LANGUAGES as LANGUAGES
from .exports import document_of as document_of
from .exports import engine_text as engine_text
from .exports import export, javascript_module
from .exports import exported_bytes as exported_bytes
from .exports.c_code import code_size as code_size
from .exports.fixed_point import FixedPointModel as FixedPointModel
from .exports.small_fixed_point import SmallFixedPointModel as SmallFixedPointModel
from .exports.sql_query import answer_columns as answer_columns
from .file import ModelFile, ModelFileError
from .onnx import register_converters, to_onnx
from .saving import describe, load, save

__all__ = [
    "EditsError",
    "ModelFile",
    "ModelFileError",
    "apply_edits",
    "compress",
    "describe",
    "export",
    "javascript_module",
    "load",
    "model_fingerprint",
    "register_converters",
    "save",
    "to_onnx",
]
