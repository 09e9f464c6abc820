"""Packages whose names are imported when they are first asked for."""

import sys
import types

import pytest

from summaries.lazy import lazy, load


@pytest.fixture
def package(monkeypatch, tmp_path):
    """A lazy package with a function of its module `verbs`, and a module that is found by its name."""
    directory = tmp_path / "lazily"
    directory.mkdir()
    (directory / "__init__.py").write_text(
        "from summaries.lazy import lazy\n"
        "__all__, __getattr__, __dir__ = lazy(__name__, {'': 'nouns', 'verbs': 'go Come'})\n"
    )
    (directory / "verbs.py").write_text("class Come: pass\ndef go(): pass\n")
    (directory / "nouns.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    yield __import__("lazily")
    for name in [name for name in sys.modules if name.partition(".")[0] == "lazily"]:
        del sys.modules[name]


def test_a_name_is_imported_when_it_is_asked_for(package):
    assert "lazily.verbs" not in sys.modules
    assert package.go is sys.modules["lazily.verbs"].go
    assert vars(package)["go"] is package.go  # the next time, nobody asks
    assert "lazily.nouns" not in sys.modules
    assert isinstance(package.nouns, types.ModuleType)


def test_all_and_dir(package):
    assert package.__all__ == ["Come", "go"]
    assert {"Come", "__version__", "go", "nouns"} <= set(dir(package))
    assert "lazily.verbs" not in sys.modules


def test_an_unknown_name_suggests_one_that_is_there(package):
    with pytest.raises(AttributeError, match=r"^module 'lazily' has no attribute 'comes'$") as raised:
        package.comes  # noqa: B018 - it is what raises
    assert (raised.value.name, raised.value.obj) == ("comes", package)


def test_a_name_that_is_elsewhere():
    names, find, _ = lazy("summaries", {"errors": "Fault"}, {"Failure": ": it is in auditing"})
    with pytest.raises(AttributeError, match=r"^module 'summaries' has no attribute 'Failure': it is in auditing$"):
        find("Failure")
    assert names == ["Fault"]


def test_all_at_once(package):
    load(package)
    assert {"Come", "go", "nouns"} <= set(vars(package))
    assert "__version__" not in vars(package)


def test_a_missing_module_says_so():
    _, find, _ = lazy("summaries", {"no.such.module": "Thing"})
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'summaries\.no'"):
        find("Thing")
