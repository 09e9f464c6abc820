"""Sphinx's configuration: `make docs` builds the site into build/docs."""

import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

from summaries.version import VERSION  # noqa: E402 - it need not be installed

_pyproject = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))
_project = _pyproject["project"]
_unchecked = [override["module"] for override in _pyproject["tool"]["mypy"]["overrides"]]
_frameworks = next(modules for modules in _unchecked if "torch.*" in modules)

project = _project["name"]
author = copyright = "The gradledger developers"  # noqa: A001 - Sphinx's name for it
version = release = VERSION

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "docstrings",
    "public_names",
    "rule_pages",
    "notebooks",
]
exclude_patterns = ["_ext"]
nitpicky = True

myst_heading_anchors = 3  # a link may end in #a-heading
myst_links_external_new_tab = False
suppress_warnings = ["myst.header"]  # the pages of rules have a title and second-level headings only

smartquotes_action = "qe"  # not the "D": it made one dash of the two before an option

default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_mock_imports = [module.removesuffix(".*") for module in _frameworks]
maximum_signature_line_length = 100
python_use_unqualified_type_names = True
napoleon_use_rtype = False
napoleon_use_ivar = True  # a class's attributes are a list, not entries of their own

toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"gradledger {release}"
html_copy_source = False
html_static_path = ["_static"]
html_js_files = ["symptoms.js"]
html_css_files = ["site.css"]
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
