"""Configuration of Sphinx."""

from importlib.metadata import version as installed_version

project = "protolearn"
author = "The protolearn developers"
version = release = installed_version("protolearn")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
]
exclude_patterns = ["_build", "automatic_table.md", "defaults_table.md"]
templates_path = ["templates"]
html_theme = "furo"
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
nitpicky = False
