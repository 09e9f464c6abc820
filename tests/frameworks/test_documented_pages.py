"""The blocks of the documentation that need a framework run, and print what their page shows."""

import pytest
from documentation.pages import FRAMEWORKS, pages, run_variant, variants

PAGES = pages()
VARIANTS = [
    (name, modules) for name, page in PAGES.items() for modules in variants(page) if FRAMEWORKS.intersection(modules)
]
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize(
    ("name", "modules"), VARIANTS, ids=lambda value: value if isinstance(value, str) else "+".join(value)
)
def test_what_a_page_shows(name, modules, tmp_path, monkeypatch):
    run_variant(name, modules, "make frameworks", monkeypatch, tmp_path)
