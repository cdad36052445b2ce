"""Models in other languages: JSON, C, JavaScript and SQL, each with its reasons."""
from .model_document import document_of
__all__=["document_of"]
