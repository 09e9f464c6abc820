"""Fetch uPlot into `summaries/auditing/report/page/uplot/`, from which the audit's page embeds it.

    python vendor/uplot.py           fetch the version below and write the files; needs npm
    python vendor/uplot.py --check   write nothing, fetch nothing: exit 1 unless the files are those of that version

Why uPlot (https://github.com/leeoniya/uPlot, MIT): it draws time series on a canvas, zooms by dragging and follows
the pointer at 100,000 points, in 50 kB and without dependencies; Grafana draws its time series with it, and its author
maintains it there. Plotly's smallest bundle is twenty times as large, Bokeh and Vega thirty; as Python packages they
would come with every installation of the extra, for one file of JavaScript. It has no heat map: ours is `heatmap.js`.

The minified file is the one that its author published, byte for byte. Its licence is next to it and in every page.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PACKAGE = "uplot@1.6.32"
FOLDER = Path(__file__).resolve().parent.parent / "summaries" / "auditing" / "report" / "page" / "uplot"
DIGESTS = {  # file in the package → sha256
    "dist/uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "dist/uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    "LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
}


def main() -> int:
    """Write or check the files; return the exit status."""
    parser = argparse.ArgumentParser(description="Fetch uPlot for the audit's page.")
    parser.add_argument("--check", action="store_true", help="exit 1 unless the files are those of the version")
    if parser.parse_args().check:
        return report({path: on_disk(path) for path in DIGESTS})
    fetched = fetch()
    if report(fetched):
        return 1
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path, data in fetched.items():
        (FOLDER / Path(path).name).write_bytes(data)
    return 0


def report(files: dict[str, bytes]) -> int:
    """Print the files that differ from the recorded digests; return the exit status."""
    found = {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}
    wrong = [path for path, digest in DIGESTS.items() if found[path] != digest]
    for path in wrong:
        print(f"{PACKAGE} {path}: sha256 must be {DIGESTS[path]}, got {found[path]}")
    return 1 if wrong else 0


def on_disk(path: str) -> bytes:
    """The bytes of our copy; empty if it does not exist."""
    copy = FOLDER / Path(path).name
    return copy.read_bytes() if copy.exists() else b""


def fetch() -> dict[str, bytes]:
    """Path → bytes of the files in npm's registry."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", PACKAGE, "--pack-destination", folder, "--silent"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (archive,) = Path(folder).glob("*.tgz")
        with tarfile.open(archive) as files:
            return {path: read(files, f"package/{path}") for path in DIGESTS}


def read(files: tarfile.TarFile, member: str) -> bytes:
    """The bytes of one member of the archive."""
    file = files.extractfile(member)
    if file is None:
        sys.exit(f"{PACKAGE}: {member} must be a file")
    with file:
        return file.read()


if __name__ == "__main__":
    sys.exit(main())
