"""The blocks of the documentation that need a framework run, and print what their page shows."""

from importlib.util import find_spec

import pytest
from documented_pages import FRAMEWORKS, pages, prepare, run_page, variants

PAGES = pages()
VARIANTS = [
    (name, modules) for name, page in PAGES.items() for modules in variants(page) if FRAMEWORKS.intersection(modules)
]
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize(
    ("name", "modules"), VARIANTS, ids=lambda value: value if isinstance(value, str) else "+".join(value)
)
def test_what_a_page_shows(name, modules, tmp_path, monkeypatch):
    if missing := [module for module in modules if find_spec(module) is None]:
        pytest.skip(f"docs/{name} needs {' and '.join(missing)}, which is not installed: make frameworks")
    prepare(monkeypatch, tmp_path)
    run_page(PAGES[name], modules)
