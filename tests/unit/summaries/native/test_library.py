"""Compiled code is kept, loaded without numba, compiled once by several processes, and never stale or damaged."""

import ast
import os
import signal
import subprocess
import sys

import pytest
from helpers import ROOT
from summed_library import COMPILING, SOURCE, check, summed_library

pytest.importorskip("numba", reason="the extra `fast`")

from summaries.kinds.tally import COUNTER
from summaries.native import building, place
from summaries.native import library as native_library
from summaries.wire.compiled.state import INDEXER, SCANNER


@pytest.fixture
def library(tmp_path, monkeypatch):
    """() → a library in an empty cache directory, as a new process has it."""
    monkeypatch.setenv("GRADLEDGER_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path))
    source = tmp_path / "summed.py"
    source.write_text(SOURCE)

    def make():
        sys.modules.pop("summed", None)
        return summed_library(source)

    yield make
    sys.modules.pop("summed", None)


def kept(tmp_path):
    (path,) = tmp_path.glob("cache/compiled/sum-*.o")
    return path


def test_it_is_compiled_once(library, tmp_path, caplog):
    assert not library().is_kept()
    check(library())
    assert caplog.messages == [COMPILING]
    assert library().is_kept()
    caplog.clear()
    again = library()
    assert not again.is_loaded
    check(again)
    assert again.is_loaded
    assert again.keep() == (str(kept(tmp_path)), kept(tmp_path).stat().st_size, False)
    assert caplog.messages == []


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-9], lambda data: data[:20], lambda _: b"", lambda data: data[:-1] + b"?"]
)
def test_a_damaged_file_is_compiled_again(library, tmp_path, caplog, damage):
    path = library().keep().path
    data = kept(tmp_path).read_bytes()
    kept(tmp_path).write_bytes(damage(data))
    caplog.clear()
    check(library())
    assert caplog.messages == [f"{path} is damaged", COMPILING]
    caplog.clear()
    check(library())
    assert caplog.messages == []


def test_nobody_waits_for_a_damaged_file_who_would_not_compile(library, tmp_path, caplog):
    path = library().keep().path
    kept(tmp_path).write_bytes(b"damaged")
    caplog.clear()
    again = library()
    assert not again.is_kept()
    assert not again.will_be_called()
    again._compiler.join()
    assert again.will_be_called()
    assert library().is_kept()
    assert caplog.messages == [f"{path} is damaged", COMPILING]


def test_a_changed_source_is_compiled_again(library, tmp_path):
    before = library().keep().path
    (tmp_path / "summed.py").write_text(SOURCE + "\n# changed")
    assert not library().is_kept()
    after, _, is_new = library().keep()
    assert is_new
    assert os.path.dirname(after) == os.path.dirname(before)
    assert after != before


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no such modes here")
def test_what_others_may_have_written_is_not_run(library, tmp_path, caplog):
    library().keep()
    kept(tmp_path).parent.chmod(0o777)
    place._usable.cache_clear()  # as a new process
    caplog.clear()
    check(library())
    assert caplog.messages == [
        f"compiled code cannot be kept in {kept(tmp_path).parent}, so each process compiles for itself",
        COMPILING,
    ]
    with pytest.raises(PermissionError, match="compiled code cannot be kept there"):
        library().keep()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no such modes here")
def test_a_file_that_others_may_have_written_is_not_run(library, tmp_path, caplog):
    library().keep()
    kept(tmp_path).chmod(0o666)
    caplog.clear()
    check(library())
    assert caplog.messages == [f"{kept(tmp_path)} is damaged", COMPILING]
    assert kept(tmp_path).stat().st_mode & 0o777 == 0o644


def test_without_llvmlite_there_is_a_plain_path(library, monkeypatch, caplog):
    library().keep()
    caplog.clear()
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    monkeypatch.setattr(native_library, "_versions", native_library._versions.__wrapped__)
    broken = library()
    assert not broken.is_kept()
    assert not broken.can_be_called()
    assert caplog.messages == [
        "the sum cannot be compiled here, so plain Python does its work: import of llvmlite halted; None in sys.modules"
    ]


def test_a_directory_that_is_only_read_will_do(library, monkeypatch, caplog):
    library().keep()
    caplog.clear()
    monkeypatch.setattr(os, "access", lambda *_: False)
    check(library())
    assert caplog.messages == []


def test_what_cannot_be_compiled_is_said_once(library, monkeypatch, caplog):
    monkeypatch.setattr(building, "build", lambda *_: 1 / 0)
    broken = library()
    assert [broken.can_be_called() for _ in range(2)] == [False, False]
    assert caplog.messages == [
        COMPILING, "the sum cannot be compiled here, so plain Python does its work: division by zero"
    ]  # fmt: skip


def test_a_thread_compiles_meanwhile(library):
    slow = library()
    assert not slow.will_be_called()
    slow._compiler.join()
    assert slow.will_be_called()
    check(slow)
    assert library().will_be_called()  # what is kept is loaded at once


PROGRAM = """
import logging, sys
logging.basicConfig(format="%(message)s", stream=sys.stdout)
sys.path[:0] = sys.argv[1:]
from summed_library import check, summed_library
check(summed_library(sys.argv[1] + "/summed.py"))
"""


def start(tmp_path):
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), str(ROOT / "tests")]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_processes_compile_once(library, tmp_path):
    several = [start(tmp_path) for _ in range(2)]
    said = [process.communicate()[0].splitlines() for process in several]
    assert [process.returncode for process in several] == [0, 0]
    assert sorted(said) == [[], [COMPILING]]
    check(library())


def test_a_process_is_killed_while_it_compiles(library, tmp_path, caplog):
    (tmp_path / "summed.py").write_text("print('here', flush=True)\nimport time\ntime.sleep(600)")
    with start(tmp_path) as process:
        assert [process.stdout.readline() for _ in range(2)] == [f"{COMPILING}\n", "here\n"]
        process.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
    (tmp_path / "summed.py").write_text(SOURCE)
    check(library())
    assert caplog.messages == [COMPILING]


LOADED = """
import sys
from summaries import read_run
read_run(sys.argv[1], fast=True)
assert "llvmlite" in sys.modules
assert "numba" not in sys.modules
"""


def test_loading_takes_no_numba(tmp_path):
    SCANNER.keep()
    (tmp_path / "a.tfevents").touch()
    subprocess.run([sys.executable, "-c", LOADED, tmp_path], check=True)


@pytest.mark.parametrize("library", [SCANNER, INDEXER, COUNTER], ids=lambda library: library.name)
def test_sources_are_all_that_is_compiled(library):
    """What a module in numba's Python imports of this package is compiled with it."""
    assert f"{library.module.replace('.', '/')}.py".removeprefix("summaries/") in library.sources
    for source in library.sources:
        if "/compiled/" not in source:
            continue
        tree = ast.parse((ROOT / "summaries" / source).read_text())
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.ImportFrom)
                and node.module.startswith("summaries.")
                and "native" not in node.module
            ):
                folder = node.module.removeprefix("summaries.").replace(".", "/")
                names = {f"{folder}/{alias.name}.py" for alias in node.names} | {f"{folder}.py"}
                assert names & set(library.sources), f"{source} imports {names}"
