"""The libraries of all systems: run where an emulator can, and compared word by word with this machine's; looked into.

A recording of calls on this machine, over golden files and random numbers, is played to each library by `driver`.
"""

import os
import shutil
import subprocess
import sys
from itertools import chain, product
from pathlib import Path

import numpy as np
import pytest
from macholib.mach_o import LC_CODE_SIGNATURE, LC_LOAD_DYLIB
from macholib.MachO import MachO
from macholib.SymbolTable import SymbolTable

from optim.kernels.codegen import DTYPES, SHIPPED, kernel_name
from optim.kernels.compiled import ENGINE
from optim.kernels.stats import ARRAY_WIDTH, stats_width
from optim.kernels.tasks import cut, table
from package.libraries import MADE_ON_ONE
from package.recorded import recording
from summaries import read_run
from summaries.kinds.sums import BLOCK
from summaries.kinds.tensorflow_bins import BINS, places
from summaries.native.building import stale
from summaries.native.calls import Call, address
from summaries.native.library import _library, function
from summaries.native.targets import DIRECTORY, TARGETS, host
from summaries.wire.compiled.scanner import Scanner, whole_records
from summaries.wire.compiled.state import UNUSUAL
from summaries.wire.index import Rows, Tags
from summaries.wire.layout import CLASS_SCALAR, EVENT, VALUE
from summaries.wire.records import MAX_RECORD_BYTES

HERE = Path(__file__).parent
GOLDEN = sorted(path for path in HERE.parent.glob("golden/**/*tfevents*") if path.stat().st_size < 1 << 16)
CAPACITY = 2000  # rows, more than any of them has
EMULATORS = {
    "linux-x86_64.so": ([], ["v2", "v3", "v4"]),
    "linux-aarch64.so": (["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"], ["v8"]),
    "windows-x86_64.dll": (["wine"], ["v2", "v3", "v4"]),
}
"""File of a library → what runs its system's programs, and the levels of its processor."""

LEVELS_HERE = _library()[1]  # emulators run x86-64 on this processor
ALWAYS_THERE = {"_bzero", "_memcpy", "_memset", "dyld_stub_binder"}  # in libSystem


def test_all_are_built():
    assert stale(everywhere=True) == []


def test_whoever_builds_gets_the_same_bytes():
    """On one processor as on several."""
    file = host().file
    assert (MADE_ON_ONE / file).read_bytes() == Path(DIRECTORY, file).read_bytes()


@pytest.fixture(scope="session")
def recorded():
    with recording() as calls:
        read_golden_files(calls)
        count_random_numbers(calls)
        step_optimizers(calls)
    assert {"frames", "scan", "scatter", "tally_float32", "tally_float64"} <= set(calls.names)
    return calls


def read_golden_files(calls):
    for path in GOLDEN:
        data = np.frombuffer(path.read_bytes(), np.uint8)
        with pytest.MonkeyPatch.context() as reader:  # each call is recorded with its whole buffers
            reader.setattr("summaries.reading.reader._BUFFER_BYTES", 1 << 16)
            reader.setattr("summaries.reading.reader.CAPACITY", CAPACITY)
            names = read_run(path).tags  # tags that are new to the table
        for with_events in (0, 500):
            rows = Rows(Tags(), np.zeros(with_events, EVENT), np.zeros(CAPACITY, VALUE))
            for number, tag in enumerate([*names, *map(str, range(20))]):  # the table grows, too
                rows.tags.number(tag)
                if with_events:
                    rows.tags.classes[number] = CLASS_SCALAR
                    rows.tags.described.append(number)
            scanner = Scanner(rows.tags)
            while scanner.scan(data, len(data), 0, rows) == UNUSUAL:
                rows.cursor[0] += record_at(data, rows.cursor[0])
            count = int(rows.cursor[2])
            if count:
                append(calls, rows.values[:count].copy(), len(rows.tags.names))
        whole_records(path.read_bytes(), 0, MAX_RECORD_BYTES)


def append(calls, values, tags):
    """Append scalars to columns of different length: one of them is full before the end."""
    columns = [np.zeros((3, 2 + tag)) for tag in range(tags)]
    rows = [(0, 2 + tag, 0, *(address(column) for column in own)) for tag, own in enumerate(columns)]
    call = Call(function("scatter"), (values, 0, np.array(rows, np.int64)))
    calls.call(call, [column for own in columns for column in own])


def record_at(data, offset):
    """The size of the record there, in bytes."""
    return 16 + int(data[offset : offset + 8].view(np.int64)[0])


def count_random_numbers(calls):
    random = np.random.default_rng(0)
    for dtype in ("float32", "float64"):
        for size in (1, 3, 100, 5000):
            values = (random.normal(size=size) * 10.0 ** random.integers(-20, 20, size)).astype(dtype)
            counts, rows = np.zeros(BINS, np.int64), np.zeros((4, BINS), np.uint32)
            sums, extremes = np.zeros((-(-size // BLOCK), 2)), np.zeros(3, dtype)
            arguments = (values, counts, sums, places(np.dtype(dtype)).steps, rows, extremes)
            Call(function(f"tally_{dtype}"), arguments)()


def step_optimizers(calls):
    """A step of every kernel, over an array of several blocks and a short one."""
    random, sizes = np.random.default_rng(1), (5000, 17)
    parts = cut(sizes, 1)
    for rule, dtype, report in SHIPPED:
        # Gradients, variables, slots. What becomes NaN would differ in its sign, which means nothing.
        columns = [
            [random.uniform(1 if kind > 1 else -1, 1.5, size).astype(dtype) for size in sizes]
            for kind in range(2 + len(rule.slots))
        ]
        rows = table(parts, [ENGINE.addresses(column) for column in columns], np.dtype(dtype).itemsize)
        numbers = np.array([0.5, -0.4, 0.45, *[0.3] * len(rule.hyperparameters)])
        stats = np.zeros((parts.rows, stats_width(len(rule.slots)))) if report else np.zeros((0, 0))
        scratch = aligned(BLOCK + 64)
        call = Call(function(kernel_name(rule, dtype, report)), (rows, 0, len(rows), numbers, stats, address(scratch)))
        calls.call(call, [*chain.from_iterable(columns), scratch])
    for name, dtype in product(("norm", "gradients", "measure"), DTYPES):
        arrays = [random.normal(size=size).astype(dtype) for size in sizes]
        rows = table(parts, [ENGINE.addresses(arrays)], np.dtype(dtype).itemsize)
        stats = np.zeros((parts.rows, 1 if name == "norm" else ARRAY_WIDTH))
        calls.call(Call(function(f"{name}_{dtype}"), (rows, 0, len(rows), np.zeros(0), stats, 0)), arrays)


def aligned(size):
    """Numbers that begin where a cache line does, as they do in the driver's memory."""
    numbers = np.zeros(size + 8)
    begin = -address(numbers) % 64 // 8
    return numbers[begin : begin + size]


@pytest.fixture(params=EMULATORS)
def library(request):
    """A library whose system's programs can be run here."""
    emulator = EMULATORS[request.param][0]
    if emulator and not shutil.which(emulator[0]):
        assert not os.environ.get("CI"), f"{emulator[0]} must be installed"
        pytest.skip(f"{emulator[0]} is not installed: apt-get install qemu-user-static libc6-arm64-cross wine")
    return request.param


def test_every_word_is_this_machines(recorded, library, tmp_path):
    (target,) = (target for target in TARGETS.values() if target.file == library)
    emulator, levels = EMULATORS[library]
    program = tmp_path / ("driver.exe" if "windows" in library else "driver")
    zig, needed = [sys.executable, "-m", "ziglang"], []
    if "windows" in library:
        names = tmp_path / "libmsvcrt.a"
        describing = ["dlltool", "-m", "i386:x86-64", "-d", HERE / "driver" / "msvcrt.def", "-l", names]
        subprocess.run([*zig, *describing], check=True)
        needed = ["-ffreestanding", "-nostdlib", names, "-lkernel32", "-Wl,--entry=begin"]
    command = [*zig, "cc", "-target", target.linker, "-O1", "-o", program, HERE / "driver" / "driver.c", *needed]
    subprocess.run(command, check=True)
    code = Path(DIRECTORY, library).read_bytes()
    environment = os.environ | {"WINEDEBUG": "-all", "WINEPREFIX": str(tmp_path / "wine")}
    for level in levels:
        if target.triple.startswith("x86") and level not in LEVELS_HERE:
            continue
        called = [known(code, name, levels, level) for name in recorded.names]
        (tmp_path / "calls").write_bytes(recorded.calls(called))
        shutil.copy(Path(DIRECTORY, library), tmp_path)
        run = [
            *emulator,
            program.name if emulator == ["wine"] else f"./{program.name}",
            f"./{library}",
            "calls",
            "results",
        ]
        subprocess.run(run, cwd=tmp_path, env=environment, check=True, timeout=600)
        results, at = memoryview((tmp_path / "results").read_bytes()), 0
        for name, want, is_called in zip(recorded.names, recorded.results, called, strict=True):
            if not is_called:
                continue
            if results[at : at + len(want)] != want:  # pytest would take a minute to show the difference
                pytest.fail(f"{name} of {library} for {level} does something else than here")
            at += len(want)
        assert at == len(results)


def known(code, name, levels, level):
    """The best level up to this one that a library has a function for, which a processor of this level calls."""
    upto = levels[: levels.index(level) + 1]
    return next((each for each in reversed(upto) if f"gradledger_{name}_{each}\0".encode() in code), None)


@pytest.mark.parametrize(("file", "processor"), [("macos-arm64.dylib", 0x0100000C), ("macos-x86_64.dylib", 0x01000007)])
def test_the_libraries_for_macos_can_be_loaded(recorded, file, processor):
    """By their headers: for the processor, signed where that is needed, and complete but for the system's library."""
    header = MachO(os.path.join(DIRECTORY, file)).headers[0]
    assert header.header.cputype == processor
    assert header.filetype == "dylib"
    commands = [command for command, *_ in header.commands]
    loaded = [data.rstrip(b"\0").decode() for command, _, data in header.commands if command.cmd == LC_LOAD_DYLIB]
    assert loaded in (["/usr/lib/libSystem.B.dylib"], [])
    signed = any(command.cmd == LC_CODE_SIGNATURE for command in commands)
    assert signed or "arm64" not in file
    table = SymbolTable(MachO(os.path.join(DIRECTORY, file)))
    assert {name.decode() for _, name in table.undefsyms} <= ALWAYS_THERE
    exported = {name.decode() for _, name in table.extdefsyms}
    assert {f"_gradledger_{name}_{'v8' if 'arm64' in file else 'v3'}" for name in recorded.names} <= exported


@pytest.mark.parametrize("file", ["linux-x86_64.so", "linux-aarch64.so", "windows-x86_64.dll"])
def test_the_other_libraries_need_none(file):
    """So that they can be loaded with any C library, musl's too, and by any Windows."""
    found = subprocess.run(
        ["objdump", "-p", os.path.join(DIRECTORY, file)], capture_output=True, text=True, check=False
    )
    assert "NEEDED" not in found.stdout
    assert "DLL Name" not in found.stdout
