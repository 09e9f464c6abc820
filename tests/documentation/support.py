"""The table of docs/support.md: which releases of what we stand on are supported, from the files that decide it.

PYTHONPATH=tests python -m documentation.support    write it
"""

import re
import tomllib

from helpers import ROOT

PAGE = ROOT / "docs/support.md"
_TABLE = re.compile(r"(<!-- the table is written by tests/documentation/support.py -->\n).*?(\n\n)", re.DOTALL)
_EXTRAS = ("tensorboard", "export", "images", "checkpoint", "onnx", "numba", "remote")
_PLAIN = "`make package`"


def rows():
    """(package, oldest, newest, by what it is proven) of each."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pins = re.findall(r"^([\w-]+)==([\w.]+)", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    newest = dict(pins)
    pythons = re.findall(r"Python :: (3\.\d+)", "\n".join(project["project"]["classifiers"]))
    yield (
        "Python (CPython)",
        pythons[0],
        pythons[-1],
        "`make test` on 3.11; the workflow, each on Linux, macOS and Windows",
    )
    for line in project["project"]["dependencies"]:
        yield *bounds(line, newest), f"{_PLAIN}, the oldest and the newest"
    for extra in _EXTRAS:
        for line in project["project"]["optional-dependencies"][extra]:
            how = "`make plugin`, both" if extra == "tensorboard" else "`make test`, the newest"
            yield *bounds(line, newest), how
    for name in ("torch", "jax", "optax", "keras", "transformers", "lightning", "accelerate", "pytorch-ignite"):
        yield name, newest[name], newest[name], "`make frameworks`"


def bounds(line, newest):
    """(package, oldest, newest) of a requirement."""
    name, oldest = re.match(r"([\w-]+)>=([\w.]+)", line).groups()
    return name, oldest, newest[name]


def table():
    """The table."""
    lines = ["| | oldest | newest tested | proven by |", "| --- | --- | --- | --- |"]
    lines += [f"| {' | '.join(row)} |" for row in rows()]
    return "\n".join(lines)


def written(page):
    """The page with the table as it should be."""
    return _TABLE.sub(lambda found: found[1] + table() + found[2], page)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
