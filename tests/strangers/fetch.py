"""Fetch the runs of strangers from where they were published: `PYTHONPATH=tests python -m strangers.fetch DIRECTORY`.

`sources.json` lists each run: the repository and the folder, the files with their SHA-256, and the labels. What has the
right checksum is kept, beside the labels, in a form that `GRADLEDGER_STRANGERS=DIRECTORY` finds. Commits are not known:
the newest one is asked for, and a file that has changed since, or is gone, is told and left out.
"""

import hashlib
import json
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

SOURCES = Path(__file__).with_name("sources.json")
PUBLISHED = "https://raw.githubusercontent.com"


def address(source, name, base=PUBLISHED):
    """Where a file of a run lies, in the newest commit: `source` is owner/repository/folder."""
    owner, repository, *folder = source.split("/")
    return "/".join([base, *map(urllib.parse.quote, (owner, repository, "HEAD", *folder, name))])


def fetch(directory, sources, base=PUBLISHED):
    """Fetch what is not there yet; yields the name of a run, and what went wrong, "" if nothing did."""
    for run, one in sources.items():
        problems = [_fetched(directory / run / name, address(one["source"], name, base), digest)
                    for name, digest in one["files"].items()]  # fmt: skip
        yield run, "; ".join(filter(None, problems))
    labels = {run: one for run, one in sources.items() if (directory / run).is_dir()}
    (directory / "LABELS.json").write_text(json.dumps(labels, indent=1), encoding="utf-8")


def _fetched(path, url, digest):
    if path.exists():
        return ""
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310 - an address of ours
            content = answer.read()
    except (urllib.error.URLError, TimeoutError) as error:
        return f"{url}: {error}"
    found = hashlib.sha256(content).hexdigest()
    if found != digest:
        return f"{url}: another file by now, with SHA-256 {found[:12]}…, want {digest[:12]}…"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return ""


def main(directory):
    """Fetch all; the exit status is 1 if something could not be had."""
    directory.mkdir(parents=True, exist_ok=True)
    failed = 0
    for run, problem in fetch(directory, json.loads(SOURCES.read_text(encoding="utf-8"))):
        failed += bool(problem)
        print(f"{run}: {problem or 'here'}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
