"""Whether what is public since the last release was removed or changed in a way that the change log does not name.

    python tests/interface.py       exit status 1 if a change is not named

griffe compares this tree with the last tag; before the first one, with the commit that added the last release's notes.
The public names are those of the API reference. `make types` runs it, in five seconds.
"""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from pathlib import Path

import griffe

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("summaries", "optim")
MADE_BY_US = ("optim.integrations.torch.GradientHook.__init__", "optim.integrations.optax.MeasuredGradients.__init__")
RELEASES = (
    ["git", "describe", "--tags", "--match", "v*", "--abbrev=0"],
    ["git", "log", "-1", "--format=%h", "--diff-filter=A", "--", "docs/releases"],
)


def main() -> int:
    """Print the changes that are not named; return the exit status."""
    release = last_release(ROOT)
    if release is None:
        print("there is no release to compare with: a checkout without its history")
        return 0
    news = (ROOT / "CHANGELOG.md").read_text("utf-8").partition("\n## 0.")[0]
    silent = [
        change for package in PACKAGES for change in changes(package, release, ROOT) if not is_named(change, news)
    ]
    print("\n".join(map(said, silent)) or f"every change of the public interface since {release} is in the change log")
    return 1 if silent else 0


def last_release(root: Path) -> str | None:
    """The commit of the last release, as git names it."""
    for command in RELEASES:
        found = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False).stdout.strip()
        if found:
            return found
    return None


def changes(package: str, release: str, root: Path) -> list[griffe.Breakage]:
    """What breaks a program that used the package's public names at the release."""
    logging.getLogger("griffe").setLevel(logging.ERROR)  # it mentions what it does not need
    before = griffe.load_git(package, ref=release, repo=root, resolve_aliases=True)
    now = griffe.load(package, search_paths=[root], resolve_aliases=True)
    modules = public_modules(root)
    return list(filter(matters, griffe.find_breaking_changes(interface(before, modules), interface(now, modules))))


def matters(change: griffe.Breakage) -> bool:
    """Whether a change can break a program that keeps to what is documented."""
    if change.kind is griffe.BreakageKind.CLASS_REMOVED_BASE:  # what a class has from its bases is compared by itself
        return False
    is_nameless = getattr(change.old_value, "kind", None) is griffe.ParameterKind.var_keyword  # `**options`
    is_generated = ".pb." in change.obj.path  # protobuf's own signatures differ from release to release
    return not (is_nameless or is_generated or name_of(change).startswith("_") or change.obj.path in MADE_BY_US)


def public_modules(root: Path) -> set[str]:
    """The modules that the API reference describes."""
    pages = "\n".join(page.read_text("utf-8") for page in (root / "docs" / "api").glob("*.rst"))
    return set(re.findall(r"(?:current|auto)module:: ([\w.]+)", pages))


def interface(package: griffe.Module, modules: set[str]) -> griffe.Module:
    """A module of nothing but a package's public names, wherever each is defined."""
    names = griffe.Module("public")
    for path in modules:
        name, _, rest = path.partition(".")
        if name != package.name or not has(package, rest):
            continue
        module = package[rest] if rest else package
        # A package that imports lazily computes its `__all__`, of all that it imports for type checkers.
        exported = module.exports or [name for name in module.members if not name.startswith("_")]
        for member in (module.members[name] for name in exported if name in module.members):
            if not leads_to_module(member):
                public = f"{path}.{member.name}"
                names.members[public] = griffe.Alias(
                    public, member.final_target if member.is_alias else member, parent=names
                )
    names.exports = list(names.members)
    return names


def has(package: griffe.Module, path: str) -> bool:
    """Whether a package has a module."""
    try:
        return bool(not path or package[path])
    except KeyError:
        return False


def leads_to_module(member: griffe.Object | griffe.Alias) -> bool:
    """Whether a name is that of a module: the API reference alone says whose names are public."""
    try:
        return member.is_module
    except griffe.AliasResolutionError:  # of another package
        return True


def is_named(change: griffe.Breakage, news: str) -> bool:
    """Whether the change log has the name of what was changed: of the parameter, if it is one."""
    return re.search(rf"\b{re.escape(name_of(change))}\b", news) is not None


def name_of(change: griffe.Breakage) -> str:
    """The last name of what was changed."""
    values = (change.old_value, change.new_value)
    return next(
        (value.name for value in values if isinstance(value, griffe.Parameter)), change.obj.path.rpartition(".")[2]
    )


def said(change: griffe.Breakage) -> str:
    """A line: which name, and what was changed of it."""
    return f"{change.obj.path.removeprefix('public.')}: {name_of(change)}: {change.kind.value.lower()}"


if __name__ == "__main__":
    sys.exit(main())
