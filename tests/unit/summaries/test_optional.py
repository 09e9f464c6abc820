"""What an extra brings: imported, or missed with the name of the extra."""

import math

import pytest

from summaries.optional import needs


def test_a_module_that_is_there():
    assert needs("math", "images") is math


@pytest.mark.parametrize("module", ["no_such_package", "no_such_package.part"])
def test_a_module_that_is_missing(module):
    with pytest.raises(ImportError) as raised:
        needs(module, "images")
    assert str(raised.value) == "this needs no_such_package: pip install 'gradledger[images]'"
    assert raised.value.name == "no_such_package"


def test_a_module_that_is_there_and_misses_another(tmp_path, monkeypatch):
    (tmp_path / "half_installed.py").write_text("import no_such_package")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'no_such_package'$"):
        needs("half_installed", "images")
