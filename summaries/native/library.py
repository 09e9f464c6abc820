"""Libraries of compiled functions: loaded as machine code, or compiled first if there is none for this machine.

Loading takes llvmlite only, a fifth of the time of importing numba, and unpickles nothing. A library's file is named
after its level of processor and a hash of all that it is made of, so that it is never stale:

    SHA-256 of the rest | an object file, as a linker takes it
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
from errno import EACCES
from functools import cache, cached_property
from importlib.util import find_spec
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from summaries.native import place
from summaries.native.announcing import announce
from summaries.native.calls import Function
from summaries.native.target import host, target_machine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Kept", "Library", "function", "has_compiler", "is_available", "use"]

_logger = logging.getLogger("summaries")
_PACKAGE = os.path.dirname(os.path.dirname(__file__))
_OWN_SOURCES = ("native/building.py", "native/calls.py", "native/target.py")
_DIGEST_BYTES = 32
_loading = threading.RLock()
if hasattr(os, "register_at_fork"):  # a child inherits locks as they are: so numba's are free, too
    os.register_at_fork(before=_loading.acquire, after_in_parent=_loading.release, after_in_child=_loading.release)


class Kept(NamedTuple):
    """A library's file: its path, its size in bytes, and whether it was compiled now."""

    path: str
    size: int
    is_new: bool


class Library:
    """Functions that are compiled together.

    Args:
        name: its name, for files.
        title: what it is, for messages: "the scanner of event files".
        module: the module that defines the functions, which is imported only to compile them.
        functions: the types of the arguments of each function: `INTEGER`, an `Array`, or a named tuple of types.
        sources: the files that the code is made of, by their paths from this package: if one changes, it is compiled
            again.
    """

    def __init__(
        self, name: str, title: str, module: str, functions: Mapping[str, tuple[Any, ...]], sources: Sequence[str]
    ) -> None:
        self.name = name
        self.title = title
        self.module = module
        self.types = functions
        self.sources = tuple(sources)
        self._functions: dict[str, Function] = {}
        self._failed = False
        self._look_again = 0.0
        self._compiler: threading.Thread | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether the functions can be called at once."""
        return bool(self._functions)

    def is_kept(self) -> bool:
        """Whether the library's file is there and whole, so that nothing is compiled; looks once a second at most."""
        now = monotonic()
        if now < self._look_again:
            return False
        self._look_again = now + 1.0
        directory = place.code_directory()
        try:
            names = os.listdir(directory)
            # Without any, llvmlite need not be loaded to know which.
            found = any(name.startswith(f"{self.name}-") for name in names) and self.file_name in names
        except (OSError, ImportError):  # no directory; or no llvmlite, which is said when it is needed
            return False
        if found and _read(os.path.join(directory, self.file_name)) is not None:
            self._look_again = 0.0
            return True
        return False

    def keep(self) -> Kept:
        """Compile the library unless its file is there.

        Raises:
            ImportError: numba is missing.
            OSError: the file cannot be written.
        """
        path, data, is_new = self._found_or_made()
        if os.path.dirname(path) != place.code_directory():
            raise PermissionError(EACCES, "compiled code cannot be kept there", place.code_directory())
        if not os.path.exists(path):
            place.write(path, _with_digest(data))
        return Kept(path, os.path.getsize(path), is_new)

    @cached_property
    def file_name(self) -> str:
        """The name of the library's file for this machine."""
        digest = hashlib.sha256(_versions())
        for source in (*_OWN_SOURCES, *self.sources):
            with open(os.path.join(_PACKAGE, source), "rb") as file:
                digest.update(hashlib.sha256(file.read()).digest())
        return f"{self.name}-{host().cpu}-{digest.hexdigest()[:16]}.o"

    def functions(self) -> Mapping[str, Function]:
        """The functions by name, loaded or compiled if they are not loaded yet.

        Raises:
            ImportError: numba is missing.
            Exception: numba cannot compile here.
        """
        if not self._functions:
            with _loading:
                if not self._functions:
                    _, data, _ = self._found_or_made()
                    self._functions = _linked(data, list(self.types))
        return self._functions

    def can_be_called(self) -> bool:
        """Whether `functions` works; loads or compiles them. A failure is logged once."""
        if self.is_loaded:
            return True
        if self._failed or not has_compiler():
            return False
        try:
            self.functions()
        except Exception as error:  # noqa: BLE001 - whatever goes wrong in numba, there is a plain path
            self._failed = True
            _logger.warning("%s cannot be compiled here, so plain Python does its work: %s", self.title, error)
        return self.is_loaded

    def will_be_called(self, *, may_compile: bool = True) -> bool:
        """As `can_be_called`, but if the library is not kept, a thread compiles it, and the answer is no until then."""
        if self.is_loaded or self._failed or not has_compiler():
            return self.is_loaded
        if self._compiler is None and self.is_kept():
            return self.can_be_called()
        if may_compile and self._compiler is None:
            self._compiler = threading.Thread(target=self.can_be_called, name=f"gradledger-compiles-{self.name}")
            try:
                self._compiler.start()
            except RuntimeError:  # the process is ending
                return False
        return False

    def _found_or_made(self) -> tuple[str, bytes, bool]:
        """The path of the library's file, its object code, and whether that was compiled now."""
        name = self.file_name
        path = os.path.join(place.code_directory(), name)
        data = _read(path)
        if data is not None:
            return path, data, False
        if place.is_trusted(os.path.dirname(path)) and os.path.exists(path):
            _logger.warning("%s is damaged", path)
        directory = place.writable_directory()
        path = os.path.join(directory, name)
        with place.alone(os.path.join(directory, f"{self.name}.lock")):
            data = _read(path)  # another process may have made it meanwhile
            return (path, self._compile(path), True) if data is None else (path, data, False)

    def _compile(self, path: str) -> bytes:
        from summaries.native.building import build  # noqa: PLC0415 - needs numba, and takes long to import

        announce(self.title, _logger)
        start = perf_counter()
        data = build(self.module, list(self.types))
        try:
            place.write(path, _with_digest(data))
        except OSError as error:
            _logger.warning("%s was compiled, and cannot be kept: %s", self.title, error)
        _logger.debug("compiled %s in %.2f s", self.title, perf_counter() - start)
        return data


def _with_digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest() + data


def _read(path: str) -> bytes | None:
    """The object code in a file; None if there is none, or it is damaged, or others may have written it."""
    if not place.is_trusted(os.path.dirname(path)):
        return None
    try:
        with open(path, "rb") as file:
            # The directory may have been replaced since it was looked at.
            if not place.is_ours(os.fstat(file.fileno())):
                return None
            data = file.read()
    except OSError:
        return None
    code = data[_DIGEST_BYTES:]
    return code if _with_digest(code) == data else None


_engines: list[Any] = []  # which own the code, for as long as the process lives


def _linked(data: bytes, names: Sequence[str]) -> dict[str, Function]:
    from llvmlite import binding  # noqa: PLC0415

    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), target_machine())
    engine.add_object_file(binding.ObjectFileRef.from_data(data))
    engine.finalize_object()
    _engines.append(engine)
    return {name: Function(name, engine.get_function_address(f"gradledger_{name}")) for name in names}


@cache
def has_compiler() -> bool:
    """Whether numba is installed; it is not imported."""
    return find_spec("numba") is not None


@cache
def _versions() -> bytes:
    """What decides what numba makes of a source: its version, LLVM's, the processor, and whether bounds are checked."""
    import llvmlite  # noqa: PLC0415

    found = find_spec("numba")
    folder = os.path.dirname(found.origin) if found is not None and found.origin else ""
    try:
        with open(os.path.join(folder, "_version.py"), encoding="utf-8") as file:  # importing numba takes long
            numba = file.read()
    except OSError:
        from importlib.metadata import version  # noqa: PLC0415 - rarely needed, and slow to import

        numba = version("numba")
    checked = os.environ.get("NUMBA_BOUNDSCHECK", "")
    return repr((numba, llvmlite.__version__, host(), checked)).encode()


# A stand-in for the library that comes with the package.
_forced: list[str | None] = [None]


@cache
def _counter() -> Library:
    from summaries.kinds.tally import ARGUMENTS  # noqa: PLC0415

    sources = ("kinds/compiled/tally.py", "kinds/tally.py", "kinds/tensorflow_bins.py", "kinds/sums.py")
    return Library("counter", "the counter of histograms", "summaries.kinds.compiled.tally", ARGUMENTS, sources)


@cache
def _works() -> bool:
    return os.environ.get("GRADLEDGER_KERNELS") != "plain" and _counter().can_be_called()


def is_available() -> bool:
    """Whether there is a library."""
    return _forced[0] == "compiled" or (_forced[0] is None and _works())


def function(name: str) -> Function:
    """A function."""
    return _counter().functions()[name]


def use(path: str | None) -> None:
    """For tests: plain, compiled or None."""
    _forced[0] = path
