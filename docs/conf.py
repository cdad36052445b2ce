"""Configuration of Sphinx."""

import shutil
from importlib.metadata import version as installed_version
from importlib.util import find_spec
from pathlib import Path

project = "protolearn"
author = "The protolearn developers"
copyright = author
version = release = installed_version("protolearn")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_build",
    "automatic_table.md",
    "defaults_table.md",
    "expectations_table.md",
    "judged_table.md",
    "gallery/*.ipynb",
    "mixed_table.md",
    "small_models_table.md",
]
suppress_warnings = ["toc.multiple_toc_parents"]  # the tutorial is also in the gallery
templates_path = ["templates"]
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
myst_enable_extensions = ["dollarmath", "colon_fence", "attrs_inline", "deflist"]
myst_heading_anchors = 3
nitpicky = False

# Formulas are shown without a network. The package brings a copy of MathJax; its own extension
# would copy all 24 MB of it.
mathjax_path = "mathjax/tex-chtml.js"
MATHJAX = Path(find_spec("sphinx-mathjax-offline").origin).parent / "static" / "mathjax"

html_theme = "furo"
html_title = f"protolearn {release}"
html_static_path = ["static"]
html_css_files = ["protolearn.css"]
html_show_copyright = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",  # all of them are run, unless plot_gallery is 0
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("protolearn", "protolearn_papers"),
    "backreferences_dir": "generated/backreferences",
    "abort_on_example_error": True,
    "capture_repr": ("_repr_html_",),  # frames, and nothing that is only a name and an address
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "matplotlib_animations": False,
    "thumbnail_size": (400, 280),
}


def short_navigation(app, pagename, templatename, context, doctree):
    """Open only the branch of this page beside it: to list everything takes half of the build."""
    if (toctree := context.get("toctree")) is not None:
        depth = 1 if pagename.startswith("generated/") else 2
        context["toctree"] = lambda **how: toctree(**how | {"collapse": True, "maxdepth": depth})


def copy_mathjax(app, error):
    """Put MathJax and its fonts beside the pages."""
    if error is None and app.builder.format == "html":
        there = Path(app.outdir) / "_static" / "mathjax"
        fonts = Path("output") / "chtml" / "fonts"
        shutil.copytree(MATHJAX / fonts, there / fonts, dirs_exist_ok=True)
        shutil.copy(MATHJAX / "tex-chtml.js", there)


def setup(app):
    """Connect what is above; the navigation is cut before the theme looks at it."""
    app.connect("html-page-context", short_navigation, priority=400)
    app.connect("build-finished", copy_mathjax)
