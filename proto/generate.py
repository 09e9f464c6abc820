"""Turn `proto/*.proto` into the Python of `summaries/wire/pb/`.

    python proto/generate.py           write the files that have changed
    python proto/generate.py --check   write nothing; list stale files, and exit 1 if there are any
    python proto/generate.py --digest  the same without the compiler, by the recorded digests

The compiler is protoc, as bundled in grpcio-tools at the one version below. That package requires protobuf <7
and grpcio; protoc needs neither. So it is not a dependency of ours: its wheel alone is unpacked, once, into
`.protoc/`, and from then on nothing here needs a network. A digest can be forged; a fresh compilation cannot.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

GRPCIO_TOOLS = "1.80.0"
GENCODE = "6.31.1"  # the version of its generated code; protobuf runtimes from this one to 7.x accept it

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "summaries/wire/pb"  # the output's place, and the sources' as far as protoc knows
DIGESTS = "proto/digests.txt"
TOOLS = ROOT / ".protoc" / f"grpcio_tools-{GRPCIO_TOOLS}-{sys.implementation.cache_tag}"


def main() -> int:
    """Write the generated files or check them; return the exit status."""
    parser = argparse.ArgumentParser(description="Turn proto/*.proto into Python.")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="list stale files; exit 1 if there are any")
    mode.add_argument("--digest", action="store_true", help="as --check, without the compiler")
    args = parser.parse_args()

    if args.digest:
        return report(changed_since(read(ROOT / DIGESTS)))
    wanted = generate()
    stale = differing(wanted)
    if args.check:
        return report(stale)
    for path in stale:
        write(path, wanted.get(path))
    return 0


def report(stale: list[str]) -> int:
    """Print the stale files and how to update them; return the exit status."""
    for path in stale:
        print(f"stale: {path}")
    if stale:
        print("to update them: python proto/generate.py")
    return 1 if stale else 0


def generate() -> dict[str, str]:
    """Return path → text of every generated file, including the digests."""
    if not TOOLS.is_dir():
        install()
    with tempfile.TemporaryDirectory() as out:
        compile_into(out)
        made = {path.relative_to(out).as_posix(): read(path) for path in Path(out).rglob("*_pb2.py*")}
    made |= {path: completed(text) for path, text in made.items() if path.endswith(".pyi")}
    version = f"# Protobuf Python Version: {GENCODE}\n"
    wrong = [path for path, text in made.items() if path.endswith(".py") and version not in text]
    if wrong:
        sys.exit(f"the generated code's version must be {GENCODE}, got another in {wrong[0]}")
    return made | {DIGESTS: digests(sources() | made)}


def completed(stub: str) -> str:
    """Return the text of a stub with what protoc leaves out, for strict type checkers and for editors.

    A mapping's parameters, the defaults of fields, and a docstring of every class: the messages are TensorFlow's, and
    are explained there.
    """
    stub = stub.replace(": bool = ...", ": _Optional[bool] = ...")
    stub = stub.replace("] = ...", "] = None")  # which leaves a field unset
    stub = re.sub(r"_Mapping\b(?=[\],])", "_Mapping[str, _Any]", stub)
    if "_Any]" in stub:
        stub = stub.replace("from typing import ", "from typing import Any as _Any, ", 1)
    return re.sub(r"^( *)class (\w+)\((int)?.*\n", _with_docstring, stub, flags=re.MULTILINE)


def _with_docstring(line: re.Match[str]) -> str:
    indent, name, is_enum = line.groups()
    what = "The values of the enum" if is_enum else "The message"
    return f'{line[0]}{indent}    """{what} {name} of TensorBoard\'s format."""\n'


def differing(wanted: dict[str, str]) -> list[str]:
    """Return the paths whose file is absent, different, or left over from a deleted source."""
    found = on_disk(f"{PACKAGE}/*_pb2.py*") | on_disk(DIGESTS)
    return sorted(path for path in wanted.keys() | found.keys() if wanted.get(path) != found.get(path))


def changed_since(recorded: str) -> list[str]:
    """Return the paths of sources and generated files that differ from the digests in `recorded`."""
    now = digests(sources() | on_disk(f"{PACKAGE}/*_pb2.py*"))
    return sorted({line.split(maxsplit=1)[-1] for line in set(now.splitlines()) ^ set(recorded.splitlines())})


def digests(files: dict[str, str]) -> str:
    """Return the text of the digest file, in the format of `sha256sum --check`."""
    lines = [f"{hashlib.sha256(files[path].encode()).hexdigest()}  {path}\n" for path in sorted(files)]
    return f"# by grpcio-tools {GRPCIO_TOOLS}\n" + "".join(lines)


def sources() -> dict[str, str]:
    """Return path → text of the .proto files."""
    return on_disk("proto/*.proto")


def on_disk(pattern: str) -> dict[str, str]:
    """Return path → text of the files that match `pattern`; paths are relative to the root."""
    return {path.relative_to(ROOT).as_posix(): read(path) for path in ROOT.glob(pattern)}


def read(path: Path) -> str:
    """Return a file's text with every line ending as a line feed, or nothing if there is no such file."""
    return path.read_text(encoding="utf-8") if path.exists() else ""


def write(path: str, text: str | None) -> None:
    """Write one file, or delete it if `text` is None, and print which."""
    if text is None:
        (ROOT / path).unlink()
        print(f"deleted {path}")
    else:
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text, encoding="utf-8", newline="\n")
        print(f"wrote {path}")


def compile_into(out: str) -> None:
    """Run protoc over all sources."""
    well_known = TOOLS / "grpc_tools" / "_proto"  # google/protobuf/struct.proto
    paths = [f"-I{PACKAGE}={ROOT / 'proto'}", f"-I{well_known}"]
    names = [f"{PACKAGE}/{Path(path).name}" for path in sorted(sources())]
    into = [f"--python_out={out}", f"--pyi_out={out}"]
    protoc = [sys.executable, "-m", "grpc_tools.protoc"]
    run([*protoc, *paths, *into, *names], env=os.environ | {"PYTHONPATH": str(TOOLS)})


def install() -> None:
    """Unpack the wheel that holds protoc, without its dependencies."""
    pip = [sys.executable, "-m", "pip"] if importlib.util.find_spec("pip") else ["uv", "pip"]
    TOOLS.parent.mkdir(exist_ok=True)
    (TOOLS.parent / ".gitignore").write_text("*\n")
    with tempfile.TemporaryDirectory(dir=TOOLS.parent) as beside:
        unpacked = Path(beside, "tools")  # a directory that pip makes: only its owner may enter a temporary one
        wheel = ["--no-deps", "--only-binary=:all:", f"--target={unpacked}", f"grpcio-tools=={GRPCIO_TOOLS}"]
        run([*pip, "install", "--quiet", *wheel])
        unpacked.rename(TOOLS)


def run(command: list[str], env: dict[str, str] | None = None) -> None:
    """Run a command; if it fails, exit with its status. Its output is already on the screen."""
    status = subprocess.run(command, env=env, check=False).returncode
    if status:
        sys.exit(status)


if __name__ == "__main__":
    sys.exit(main())
