"""What the wheel holds that nobody wrote here by hand: its bill of materials, in CycloneDX, as PEP 770 has it.

    python vendor/sbom.py    print it

What a wheel asks an installer for is in its metadata; here is only what lies inside. The same files give the same text.
Source: https://cyclonedx.org/docs/1.6/json/.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from summaries.native.targets import DIRECTORY, TARGETS, built_from  # noqa: E402 - it is not installed yet
from summaries.version import VERSION  # noqa: E402
from vendor import uplot  # noqa: E402

Component = dict[str, Any]


def bill() -> str:
    """The bill of materials of a wheel that is made of this tree."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    name, version = project["name"], VERSION
    itself = {
        "type": "library",
        "name": name,
        "version": version,
        "purl": f"pkg:pypi/{name}@{version}",
        "licenses": [{"expression": project["license"]}],
    }
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": itself},
        "components": [charts(), definitions(), digits(), *libraries()],
    }
    return json.dumps(document, indent=2) + "\n"


def charts() -> Component:
    """UPlot, which draws the curves of the pages."""
    name, version = uplot.PACKAGE.split("@")
    files = [uplot.FOLDER / Path(path).name for path in uplot.DIGESTS]
    return {
        "type": "library",
        "name": "uPlot",
        "version": version,
        "purl": f"pkg:npm/{name}@{version}",
        "licenses": [{"license": {"id": "MIT"}}],
        "components": [file_of(path) for path in files],
    }


def definitions() -> Component:
    """The definitions of messages from which `summaries/wire/pb` is generated."""
    return {
        "type": "library",
        "name": "TensorFlow's and TensorBoard's protocol buffers",
        "purl": "pkg:github/tensorflow/tensorboard",
        "licenses": [{"license": {"id": "Apache-2.0"}}],
        "components": [file_of(path) for path in sorted(ROOT.glob("summaries/wire/pb/*_pb2.py"))],
    }


def digits() -> Component:
    """What the demo reads."""
    return {
        "type": "data",
        "name": "Optical Recognition of Handwritten Digits",
        "licenses": [{"license": {"id": "CC-BY-4.0"}}],
        "externalReferences": [{"type": "website", "url": "https://doi.org/10.24432/C50P49"}],
        "components": [file_of(ROOT / "optim" / "demo" / "digits.npz")],
    }


def libraries() -> list[Component]:
    """The compiled code of each system, and by which packages it was made of our sources."""
    found = []
    for target in TARGETS.values():
        path = Path(DIRECTORY, target.file)
        sources, *tools = (built_from(str(path)) or "").split()
        found.append(
            {
                **file_of(path),
                "description": "gradledger's own functions, compiled",
                "properties": [
                    {"name": "gradledger:sources", "value": sources},
                    *(
                        {"name": "gradledger:made-with", "value": f"pkg:pypi/{'@'.join(tool.rsplit('-', 1))}"}
                        for tool in tools
                    ),
                ],
            }
        )
    return found


def file_of(path: Path) -> Component:
    """A file, by its path in the wheel."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return {
        "type": "file",
        "name": path.relative_to(ROOT).as_posix(),
        "hashes": [{"alg": "SHA-256", "content": digest}],
    }


if __name__ == "__main__":
    print(bill(), end="")
