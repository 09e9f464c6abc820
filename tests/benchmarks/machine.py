"""The machine that figures were measured on, as far as they depend on it: nothing tells which machine it was."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

LIBRARIES = (
    "numpy", "numba", "protobuf", "torch", "tensorboardX", "tensorboard", "tensorboard-data-server", "tensorflow-cpu",
    "tensorflow", "tbparse", "pandas", "wandb", "autograd", "distributed", "s3fs", "moto",
)  # fmt: skip


def description() -> dict[str, str]:
    """What it is, and the versions of the libraries that are installed, by name."""
    found = {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": _system(),
        "Python": platform.python_version(),
    }
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found


def in_words(machine: dict[str, str]) -> str:
    """The machine in one line, without the libraries but the ones that compute."""
    computing = [f"{name} {machine[name]}" for name in ("Python", "numpy", "numba") if name in machine]
    return ", ".join(
        (machine["processor"], f"{machine['cores']} cores", machine["memory"], machine["system"], *computing)
    )


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            lines = (line.partition(":") for line in file)
            fields = {name.strip(): value.strip() for name, _, value in lines}
    except OSError:  # not Linux
        fields = {}
    return fields.get("model name") or platform.processor() or platform.machine()


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return f"{platform.system()} {platform.release()}"
