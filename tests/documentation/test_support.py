"""The page of supported versions says what the package's files say."""

from documentation.support import PAGE, written


def test_the_table_is_what_pyproject_and_constraints_say():
    page = PAGE.read_text(encoding="utf-8")
    assert page == written(page), "PYTHONPATH=tests python -m documentation.support"
