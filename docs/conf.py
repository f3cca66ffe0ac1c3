"""How Sphinx builds the site: `make docs`.

The repository itself is the source folder, so a link between two files works on the site exactly
where it works in the repository.  A link to a file that is not a page becomes a download.
"""

import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

import smgrnn
from smgrnn.config import Settings

sys.path.append(str(Path(__file__).parent))

project = "smgrnn"
author = "The smgrnn developers"
version = release = smgrnn.__version__

root_doc = "docs/index"
include_patterns = ["docs/**", "benchmarks/*.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
exclude_patterns = [".*", "build", "runs", "report", "results", "src", "tests"]
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "command_line",
]

myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # a generated report may skip a level of headings
default_role = "py:obj"  # `Name` in a docstring is a link where it is documented, code elsewhere
highlight_language = "text"
add_module_names = False

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"smgrnn {version}"
html_logo = html_favicon = "site/logo.svg"
html_extra_path = ["site/index.html"]
html_static_path = ["site/pictures.css"]
html_css_files = ["pictures.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5fa8", "color-brand-content": "#1f5fa8"},
    "dark_css_variables": {"color-brand-primary": "#7fb2e5", "color-brand-content": "#7fb2e5"},
}

SHORT_TYPES = {
    r"Annotated\[(int|float), Within\('(.*?)'\)\]": r"\1 in \2",
    r"ndarray\[tuple\[Any, \.\.\.\], dtype\[(\w+)\]\]": r"NDArray[\1]",
}


def _without_signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, given: str | None, returns: str
) -> tuple[str, str] | None:
    """Leave out the signature of settings: each keyword is a field below, with type and default."""
    return ("", returns) if what == "class" and issubclass(obj, Settings) else None


def _keep_colons(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Start with an empty comment: Napoleon takes what precedes a colon in line one for a type."""
    if what in ("attribute", "property"):
        lines[:0] = ["..", ""]


def _shorten_types(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Write types in signatures as the source does, with ranges in the notation of mathematics."""
    for kind in (addnodes.desc_annotation, addnodes.desc_parameter, addnodes.desc_returns):
        for node in list(doctree.findall(kind)):
            text = node.astext()
            for pattern, short in SHORT_TYPES.items():
                text = re.sub(pattern, short, text)
            if text != node.astext():
                node.children = []
                node += nodes.Text(text)


def _mark_as_generated(app: Sphinx, page: str, source: list[str]) -> None:
    """Keep generated reports out of the navigation; other pages link to them."""
    if page.startswith("docs/results/"):
        source[0] = f"---\norphan: true\n---\n{source[0]}"


def setup(app: Sphinx) -> None:
    """Register what this file adds to Sphinx."""
    app.connect("source-read", _mark_as_generated)
    app.connect("autodoc-process-signature", _without_signature)
    app.connect("autodoc-process-docstring", _keep_colons, priority=400)
    app.connect("doctree-resolved", _shorten_types)
