"""What `uv build` makes of the tree, and what is wrong with it."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from readme_renderer import markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
MOST_BYTES = {".whl": 4_000_000, ".gz": 6_000_000}
"""A little more than there is today: who doubles the download does it on purpose."""

FOREIGN = re.compile(r"^[a-z]+/.*(/lib/[^/]+\.(so|dylib|dll)$|/uplot/|_pb2\.py$|\.npz$)")
"""What nobody wrote here by hand."""


def tool(*arguments: object, **options: object) -> str:
    """Run a program of this environment to its end; return its output."""
    program, *rest = map(str, arguments)
    path = Path(sysconfig.get_path("scripts"), program)
    done = subprocess.run([path, *rest], stdout=subprocess.PIPE, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"{program} {' '.join(rest)}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def build(directory: Path, scratch: Path) -> tuple[Path, Path]:
    """Make the source distribution, and the wheel from it; return the wheel, and where the former is unpacked."""
    command = ["uv", "build", "--quiet", "--build-constraint", ROOT / "constraints.txt", "--out-dir", directory]
    tool(*command, "--sdist", ROOT)
    (archive,) = directory.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(scratch, filter="data")
    (unpacked,) = scratch.iterdir()
    complaints = list(other_files(unpacked))
    libraries = "summaries/native/lib"  # they take minutes; if they are of other sources, they are built again
    shutil.copytree(ROOT / libraries, unpacked / libraries)
    tool(*command, "--wheel", unpacked)
    (wheel,) = directory.glob("*.whl")
    tool(*command[:-1], scratch / "again", "--wheel", unpacked)
    print(tool("twine", "check", "--strict", wheel, archive).strip())
    print(tool("check-wheel-contents", "--config", unpacked / "pyproject.toml", wheel).strip())
    again = scratch / "again" / wheel.name
    complaints += [*too_large(wheel, archive), *relative_addresses(wheel), *wrong_bill(wheel), *another(wheel, again)]
    if complaints:
        sys.exit("\n".join(complaints))
    return wheel, unpacked


def too_large(*paths: Path) -> Iterator[str]:
    """Print the sizes; complain of those that are beyond what they may be."""
    for path in paths:
        size = path.stat().st_size
        print(f"{path.name}: {size / 1e6:.2f} MB")
        if size > (most := MOST_BYTES[path.suffix]):
            yield f"{path.name} has {size} bytes, at most {most} are expected"


def relative_addresses(wheel: Path) -> Iterator[str]:
    """Complain of what the package index would look for beside the README, where nothing is."""
    with zipfile.ZipFile(wheel) as file:
        (name,) = [name for name in file.namelist() if name.endswith(".dist-info/METADATA")]
        page = markdown.render(message_from_bytes(file.read(name)).get_payload(decode=True).decode())
    for address in re.findall(r'(?:src|srcset|href)="([^"]*)"', page):
        if not address.startswith(("https://", "#")):
            yield f"the README on the package index has a relative address: {address}"


def another(wheel: Path, again: Path) -> Iterator[str]:
    """Complain if the wheel has other bytes when it is built again."""
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (wheel, again)]
    print(f"sha256 {digests[0]}  {wheel.name}")
    if digests[0] != digests[1]:
        yield f"built again, {wheel.name} has other bytes: {digests[1]}"


def wrong_bill(wheel: Path) -> Iterator[str]:
    """Complain of a bill of materials that is not CycloneDX, or does not say what is in the wheel."""
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        (name,) = [name for name in names if name.endswith(".dist-info/sboms/gradledger.cdx.json")]
        text = file.read(name).decode()
        if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
            yield f"{name} is not CycloneDX 1.6: {error}"
        digests = dict(files_of(json.loads(text)["components"]))
        for path, digest in digests.items():
            if hashlib.sha256(file.read(path)).hexdigest() != digest:
                yield f"{name} has another digest of {path} than the wheel"
    for path in names:
        if FOREIGN.search(path) and path not in digests:
            yield f"{name} does not name {path}"


def files_of(components: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """(path, sha256) of each file that a bill of materials names."""
    for component in components:
        if component["type"] == "file":
            yield component["name"], component["hashes"][0]["content"]
        yield from files_of(component.get("components", []))


def other_files(unpacked: Path) -> Iterator[str]:
    """Complain if the source distribution is not what is under version control (without git: nothing to compare)."""
    if not (ROOT / ".git").exists():
        return
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    there = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()} - {"PKG-INFO"}
    for name in sorted(there ^ set(listed.splitlines())):
        yield f"{name} is {'not under version control' if name in there else 'not in the source distribution'}"
