"""Making the libraries of compiled functions: numba's IR once, then objects for each target, then the linker.

    functions ─numba─▶ IR, the same everywhere ─LLVM─▶ an object for each level of a target ─zig─▶ its library

Needs the packages of the dependency group `build`:

    python -m summaries.native.building [--all] [--check]

The same sources and packages give the same bytes.
"""

from __future__ import annotations

import argparse
import ast
import gc
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from importlib import import_module
from importlib.metadata import version
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from summaries.native.targets import DIRECTORY, MARK, TARGETS, built_from, host, seal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from summaries.native.targets import Level, Target

__all__ = ["build", "modules", "sources", "stale"]

ROOT = Path(__file__).parents[2]
_PARTS = 4  # of the functions, compiled side by side
_PACKAGES = ("numba", "llvmlite", "ziglang")
_HERE = Path(__file__).parent
_RUNTIME = "runtime.c"


def main() -> int:
    """Build what is not up to date; the exit status is 1 if something is not, and was only to be checked."""
    parser = argparse.ArgumentParser(prog="python -m summaries.native.building")
    parser.add_argument("--all", action="store_true", help="for every system, not only for this one")
    parser.add_argument("--check", action="store_true", help="build nothing, and say what is not up to date")
    parser.add_argument("--output", default=DIRECTORY, metavar="DIRECTORY", help="where to write the libraries")
    arguments = parser.parse_args()
    targets = stale(arguments.output, everywhere=arguments.all)
    if arguments.check:
        for target in targets:
            print(f"{target.file} is missing, or was made of other sources")
        return bool(targets)
    if targets:
        build(targets, arguments.output)
    elif own := host():
        os.utime(os.path.join(arguments.output, own.file))  # newer than its sources, so that nobody compares them again
    return 0


def stale(directory: str = DIRECTORY, *, everywhere: bool = False) -> list[Target]:
    """The targets whose libraries are missing, or were made of other sources: this system's, or of all systems.

    Needs nothing but the sources and the libraries.
    """
    own = host()
    wanted = list(TARGETS.values()) if everywhere else [own] if own else []
    found = {target: built_from(os.path.join(directory, target.file)) for target in wanted}
    return [target for target, made_of in found.items() if made_of is None or made_of.split()[0] != sources()]


@cache
def modules() -> tuple[str, ...]:
    """The modules with functions to compile, as pyproject.toml names them."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        wheel = tomllib.load(file)["tool"]["hatch"]["build"]["targets"]["wheel"]
    return tuple(wheel["hooks"]["custom"]["modules"])


@cache
def sources() -> str:
    """A digest of all that the libraries are made of: the modules, and what they import of ours."""
    digest = hashlib.sha256()
    for path in sorted({*_closure(modules()), *_HERE.glob("*.*")}):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _closure(names: Sequence[str]) -> set[Path]:
    """The files of modules and of all of ours that they import when they are loaded."""
    found, waiting = set[Path](), list(names)
    while waiting:
        path = ROOT.joinpath(*waiting.pop().split(".")).with_suffix(".py")
        if path in found or not path.exists():
            continue
        found.add(path)
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                waiting += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return found


def build(targets: Sequence[Target], directory: str) -> None:
    """Compile all functions for these targets, and write the libraries.

    Raises:
        ImportError: a package of the group `build` is missing.
        subprocess.CalledProcessError: the linker failed.
    """
    made_of = " ".join([sources(), *(f"{name}-{version(name)}" for name in _PACKAGES)])
    os.makedirs(directory, exist_ok=True)
    for each in targets:
        print(f"building {each.file}", flush=True)
    # A process for each task, in which nothing was compiled before: so the number of processors makes no difference.
    with ProcessPoolExecutor(mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        parts = list(pool.map(_part, range(_PARTS)))
        levels = [(target, level) for target in targets for level in target.levels]
        objects = list(pool.map(partial(_object, parts), *zip(*levels, strict=True)))
    for each in targets:
        code = {level.name: code for (target, level), code in zip(levels, objects, strict=True) if target == each}
        _link(each, code, made_of, directory)


class _Part(NamedTuple):
    text: str  # LLVM's IR, not optimised: of these functions, and of what they call, which is there once
    functions: list[tuple[str, str, tuple[str, ...]]]  # the name in the text, our name, the processor's levels


def _part(part: int) -> _Part:
    """A part of all functions. To be called in a process of its own."""
    os.environ.update(NUMBA_OPT="0", NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="", NUMBA_DISABLE_JIT="0")
    from llvmlite import binding  # noqa: PLC0415 - only to build
    from numba import types  # noqa: PLC0415

    from summaries.native.source import CRC32C  # noqa: PLC0415

    gc.disable()  # a tenth of the time; there is memory enough
    for step in CRC32C:
        binding.add_symbol(step, 1)  # it is never called here
    whole, found = binding.parse_assembly(""), []
    for name, function, levels in [*chain.from_iterable(map(_exports, modules()))][part::_PARTS]:
        function.compile((types.CPointer(types.int64),))
        (code,) = function.overloads.values()
        whole.link_in(binding.parse_assembly(code.library.get_llvm_str()))
        found.append((code.fndesc.llvm_func_name, name, levels))
    return _Part(str(whole), found)


def _exports(module: str) -> Iterator[tuple[str, Any, tuple[str, ...]]]:
    """The functions of a module, each with its name and the levels that it is made for."""
    source = import_module(module)
    variants: dict[str, dict[str, Any]] = getattr(source, "VARIANTS", {})
    for name, function in source.EXPORTS.items():
        yield name, function, tuple(level for level in source.LEVELS if name not in variants.get(level, ()))
    for level, functions in variants.items():
        yield from ((name, function, (level,)) for name, function in functions.items())


def _object(parts: Sequence[_Part], target: Target, level: Level) -> bytes:
    """The object code for a level of a target; only its functions can be seen from outside."""
    crc32c = _HERE.joinpath("crc32c_x86.ll" if target.triple.startswith("x86") else "crc32c_arm.ll").read_text("utf-8")
    machine, exported = _machine(target, level), set[str]()
    whole = _parsed(crc32c, machine)
    for part in parts:
        module = _parsed(part.text, machine)
        for name, ours, levels in part.functions:
            if level.name in levels:
                module.get_function(name).name = f"gradledger_{ours}_{level.name}"
                exported.add(f"gradledger_{ours}_{level.name}")
        _hide(module, exported)  # before it is linked: others may have a function of the same name, and another meaning
        whole.link_in(module)
    _hide(whole, exported)
    for name in exported if "windows" in target.triple else ():
        whole.get_function(name).storage_class = "dllexport"
    _optimise(whole, machine)
    whole.verify()
    code: bytes = machine.emit_object(whole)
    return code


def _hide(module: Any, exported: set[str]) -> None:
    """Let nothing of a module be seen from outside but these symbols."""
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration:
            each.linkage = "external" if each.name in exported else "internal"


def _machine(target: Target, level: Level) -> Any:
    from llvmlite import binding  # noqa: PLC0415 - only to build

    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    described = binding.Target.from_triple(target.triple)
    return described.create_target_machine(level.cpu, level.features, opt=3, reloc="pic", codemodel="default")


def _parsed(text: str, machine: Any) -> Any:
    """IR as a module for a machine, whatever it was made for."""
    from llvmlite import binding  # noqa: PLC0415

    text = re.sub(r'^target (datalayout|triple) = ".*"$', "", text, flags=re.MULTILINE)
    module = binding.parse_assembly(text)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    return module


def _optimise(module: Any, machine: Any) -> None:
    from llvmlite import binding  # noqa: PLC0415

    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = True
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def _link(target: Target, objects: Mapping[str, bytes], made_of: str, directory: str) -> None:
    """Link objects, and what all levels share, to a library without a trace of when and where it was made."""
    compiler = [sys.executable, "-m", "ziglang", "cc", "-target", target.linker]
    made_of = f'-DBUILT_FROM="{MARK}{made_of}"'
    options = ["-shared", "-s", "-O2", "-ffreestanding", made_of, *_LINKER[target.triple.split("-")[2]]]
    files = {_RUNTIME: (_HERE / _RUNTIME).read_bytes()} | {f"{name}.o": code for name, code in objects.items()}
    with tempfile.TemporaryDirectory() as temporary:
        for name, data in files.items():
            Path(temporary, name).write_bytes(data)
        command = [*compiler, *options, "-o", target.file, *files]
        subprocess.run(command, cwd=temporary, env=_with_cache(temporary), check=True)  # noqa: S603
        path, data = os.path.join(directory, target.file), Path(temporary, target.file).read_bytes()
        Path(f"{path}.new").write_bytes(data + seal(data) if target.linker.split("-")[1] == "linux" else data)
        os.replace(f"{path}.new", path)  # processes go on with the file that they have loaded


def _with_cache(temporary: str) -> dict[str, str]:
    """The environment, with a cache that the linker can write: it hangs where it cannot write its usual one."""
    usual = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or os.path.expanduser("~/.cache")
    cache = os.path.join(usual, "zig")
    try:
        os.makedirs(cache, exist_ok=True)
        tempfile.TemporaryFile(dir=cache).close()
    except OSError:
        cache = os.path.join(temporary, "cache")
    return {**os.environ, "ZIG_GLOBAL_CACHE_DIR": cache}


_LINKER = {
    "linux": ("-nostdlib", "-Wl,--build-id=none", "-Wl,-z,noexecstack", "-Wl,--gc-sections"),
    "darwin": ("-Wl,-install_name,@rpath/libgradledger.dylib",),
    "windows": ("-nostdlib", "-Wl,--entry=gradledger_entry"),
}


if __name__ == "__main__":
    sys.exit(main())
