"""What every test and every docstring's example may count on."""

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _names_in_doctests(doctest_namespace: dict[str, object]) -> None:
    doctest_namespace["np"] = np
