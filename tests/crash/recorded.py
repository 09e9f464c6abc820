"""System calls of a process, as strace records them: what it did to the files below a directory, in order."""

import re
import shutil
import subprocess
from typing import NamedTuple

__all__ = ["Call", "record", "strace"]

TRACED = (
    "open,openat,creat,close,dup,dup2,dup3,fcntl,read,lseek,write,pwrite64,writev,pwritev,ftruncate,truncate,fallocate,"
    "rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,link,linkat,symlink,symlinkat,fsync,fdatasync,"
    "sync_file_range,sync,syncfs,sendfile,copy_file_range,mmap"
)
_LINE = re.compile(r"(\d+) +(?:<\.\.\. )?(\w+)(?: resumed>|\()(.*)$", re.DOTALL)
_STRING = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?')


class Call(NamedTuple):
    """One system call that succeeded.

    Attributes:
        name: its name.
        strings: the strings and buffers among its arguments, as bytes.
        rest: the arguments, with `S` in place of these.
        result: what it returned.
    """

    name: str
    strings: tuple[bytes, ...]
    rest: tuple[str, ...]
    result: int


def strace():
    """The path of strace; None if it is not there, or may not trace."""
    found = shutil.which("strace")
    if found and subprocess.run([found, "-o", "/dev/null", "true"], capture_output=True, check=False).returncode == 0:
        return found
    return None


def record(command, trace, **options):
    """Run a command and return its system calls, in the order in which they ended.

    Args:
        command: the command.
        trace: where the trace is written.
        options: those of subprocess.run.
    """
    line = [
        strace(),
        "-f",
        "-xx",
        "-s",
        "100000000",
        "-e",
        f"trace={TRACED}",
        "-e",
        "signal=none",
        "-o",
        trace,
        *command,
    ]
    subprocess.run(line, check=True, capture_output=True, **options)
    with open(trace, encoding="ascii") as file:
        return list(_calls(file))


def _calls(lines):
    begun = {}
    for line in lines:
        found = _LINE.match(line.rstrip("\n"))
        if found is None:
            continue  # an exit
        process, name, rest = found.groups()
        if rest.endswith("<unfinished ...>"):
            begun[process, name] = rest.removesuffix("<unfinished ...>")
            continue
        if " resumed>" in line[: found.end(2) + 10]:
            rest = begun.pop((process, name), "") + rest
        arguments, _, result = rest.rpartition(" = ")
        number = re.match(r"-?\d+", result)
        if number is None or number[0].startswith("-"):
            continue
        if name == "read":  # imports read megabytes, and nobody asks what
            yield Call(name, (), (arguments.partition(",")[0],), int(number[0]))
            continue
        strings = tuple(bytes.fromhex(string.replace("\\x", "")) for string, _ in _STRING.findall(arguments))
        plain = _STRING.sub("S", arguments).strip().removesuffix(")")
        yield Call(name, strings, tuple(part.strip() for part in plain.split(",")), int(number[0]))
