"""Models in files: written at once, read without running anything of the file."""

from .errors import ModelFileError
from .file import ModelFile
from .saving import describe, load, save

__all__ = ["ModelFile", "ModelFileError", "describe", "load", "save"]
