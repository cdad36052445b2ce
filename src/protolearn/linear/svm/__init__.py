"""Support vector machines, and their regularisation path."""

from .machines import HardMarginSVM, SoftMarginSVM
from .path import regularization_path

__all__ = ["HardMarginSVM", "SoftMarginSVM", "regularization_path"]
