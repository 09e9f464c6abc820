"""The states that a disk may be in after a loss of power, at any moment of a recorded run.

A file has the bytes that the process wrote, and those that are durable: what it had when it was last synced. A
directory has names; each call that changes names is pending until it is durable. Three models of when that is:

    strict     POSIX: a file's bytes by fsync of the file, a name by fsync of its directory; any others, in any order
    ordered    a journal: names in the order of the calls; each fsync makes all names durable, and the file's bytes
    parents    as strict, but an fsync of a file makes its own name and those of its directories durable, too

What is not durable may be lost, kept, or torn: bytes at sectors of 512 bytes, with zeros or nothing in their place; the
size and the names may be there before the bytes.
"""

import os
import zlib

__all__ = ["MODELS", "SECTOR", "Disk", "states"]

MODELS = ("strict", "ordered", "parents")
SECTOR = 512
_MIXED = 14
_MOST_ALONE = 12  # pending changes of names that are left out one by one


class _File:
    def __init__(self):
        self.data, self.durable = bytearray(), b""
        self._last, self._torn = None, []

    def torn(self):
        """What it may be, torn in each of the ways, worked out once for what it holds."""
        now = (self.durable, bytes(self.data))
        if now != self._last:
            self._last = now
            self._torn = [tear(*now) for tear in _TORN]
        return self._torn


class _Directory:
    pass


class Disk:
    """What a process does to the files below a directory.

    Args:
        root: the directory, which is there already and durable.
        model: of `MODELS`.
    """

    def __init__(self, root, model):
        self.root, self.model = os.fsencode(root), model
        self.top = _Directory()
        self.entries = {}  # (directory, name) → file or directory, as the process sees it
        self.durable_entries = {}
        self.pending = []  # [(directory, name, what it becomes or None), …] of each call that changed names
        self._descriptors = {}  # descriptor → [what, offset, whether it appends]
        self.mark = 0
        self._cwd = self.root

    def apply(self, call):
        """Do what a call did; return whether the state after a crash may be another one now."""
        does = getattr(self, f"_{call.name}", None)
        return does(call) if does is not None else False

    # Names.

    def _find(self, path):
        """(directory, name, what is there) of a path below the root; None if it is elsewhere."""
        path = os.path.normpath(path if path.startswith(b"/") else os.path.join(self._cwd, path))
        if path == self.root:
            return None, b"", self.top
        if not path.startswith(self.root + b"/"):
            return None
        *above, name = path[len(self.root) + 1 :].split(b"/")
        at = self.top
        for part in above:
            at = self.entries.get((at, part))
            if at is None:
                return None
        return at, name, self.entries.get((at, name))

    def _set(self, *changes):
        for directory, name, what in changes:
            if what is None:
                self.entries.pop((directory, name), None)
            else:
                self.entries[directory, name] = what
        self.pending.append(changes)
        return True

    # Calls. Those with "at" take a descriptor before a path, which is always AT_FDCWD here, or the path is absolute.

    def _openat(self, call):
        found = self._find(call.strings[0])
        flags = " ".join(call.rest)
        if found is None:
            self._descriptors.pop(call.result, None)
            return False
        directory, name, what = found
        changed = False
        if what is None:
            what = _File()
            changed = self._set((directory, name, what))
        elif "O_TRUNC" in flags and isinstance(what, _File) and what.data:
            del what.data[:]
            changed = True
        self._descriptors[call.result] = [what, 0, "O_APPEND" in flags]
        return changed

    _open = _creat = _openat

    def _close(self, call):
        self._descriptors.pop(int(call.rest[0]), None)
        return False

    def _dup(self, call):
        old = int(call.rest[0])
        if old in self._descriptors:
            self._descriptors[call.result] = self._descriptors[old]
        return False

    _dup2 = _dup3 = _dup

    def _fcntl(self, call):
        return self._dup(call) if call.rest[1].startswith("F_DUPFD") else False

    def _read(self, call):
        if (opened := self._descriptors.get(int(call.rest[0]))) is not None:
            opened[1] += call.result
        return False

    def _lseek(self, call):
        if (opened := self._descriptors.get(int(call.rest[0]))) is not None:
            opened[1] = call.result
        return False

    def _write(self, call):
        number = int(call.rest[0])
        data = b"".join(call.strings)[: call.result]
        if number == 1 and data.startswith(b"MARK "):
            self.mark = int(data.split()[1])
            return True
        if number not in self._descriptors:
            return False
        opened = self._descriptors[number]
        if opened[2]:
            opened[1] = len(opened[0].data)
        self._put(opened[0], opened[1], data)
        opened[1] += len(data)
        return True

    _writev = _write

    def _pwrite64(self, call):
        number = int(call.rest[0])
        if number not in self._descriptors:
            return False
        self._put(self._descriptors[number][0], int(call.rest[3]), call.strings[0][: call.result])
        return True

    def _put(self, file, offset, data):
        if offset > len(file.data):
            file.data.extend(bytes(offset - len(file.data)))
        file.data[offset : offset + len(data)] = data

    def _ftruncate(self, call):
        number = int(call.rest[0])
        if number not in self._descriptors:
            return False
        self._cut(self._descriptors[number][0], int(call.rest[1]))
        return True

    def _truncate(self, call):
        found = self._find(call.strings[0])
        if found is None:
            return False
        self._cut(found[2], int(call.rest[1]))
        return True

    def _cut(self, file, size):
        del file.data[size:]
        file.data.extend(bytes(size - len(file.data)))

    def _sendfile(self, call):
        assert int(call.rest[0]) not in self._descriptors, "sendfile is not followed"
        return False

    def _copy_file_range(self, call):
        assert int(call.rest[2]) not in self._descriptors, "copy_file_range is not followed"
        return False

    def _mmap(self, call):
        shared = "PROT_WRITE" in call.rest[2] and "MAP_SHARED" in call.rest[3]
        assert not (shared and int(call.rest[4]) in self._descriptors), "mapped writes are not followed"
        return False

    def _fallocate(self, call):
        assert int(call.rest[0]) not in self._descriptors, "fallocate is not followed"
        return False

    def _mkdir(self, call):
        found = self._find(call.strings[0])
        return found is not None and self._set((found[0], found[1], _Directory()))

    _mkdirat = _mkdir

    def _unlink(self, call):
        found = self._found_from(call)
        return found is not None and self._set((found[0], found[1], None))

    _rmdir = _unlinkat = _unlink

    def _found_from(self, call):
        """What a call is about whose path may be relative to a directory that is open, as in shutil.rmtree."""
        path, first = call.strings[-1], call.rest[0]
        if path.startswith(b"/") or not first.isdecimal():
            return self._find(path)
        if int(first) not in self._descriptors:
            return None
        directory = self._descriptors[int(first)][0]
        return directory, path, self.entries.get((directory, path))

    def _rename(self, call):
        old, new = map(self._find, call.strings)
        if old is None or new is None:
            assert old is new, "a file moves into the directory, or out of it"
            return False
        return self._set((old[0], old[1], None), (new[0], new[1], old[2]))

    _renameat = _renameat2 = _rename

    def _link(self, call):
        old, new = map(self._find, call.strings)
        return new is not None and self._set((new[0], new[1], old[2]))

    # What is durable.

    def _fsync(self, call):
        opened = self._descriptors.get(int(call.rest[0]))
        if opened is None:
            return False
        what = opened[0]
        if isinstance(what, _File):
            what.durable = bytes(what.data)
        if self.model == "ordered":
            self._settle(lambda _change: True)
        elif isinstance(what, _Directory):
            self._settle(lambda change: change[0] is what)
        elif self.model == "parents":
            self._settle_names_of(what)
        return True

    _fdatasync = _fsync

    def _sync(self, _call):
        for what in [*self.entries.values(), *(opened[0] for opened in self._descriptors.values())]:
            if isinstance(what, _File):
                what.durable = bytes(what.data)
        self._settle(lambda _change: True)
        return True

    def _settle_names_of(self, what):
        while what is not self.top:
            own = {(directory, name) for (directory, name), entry in self.entries.items() if entry is what}
            self._settle(lambda change, own=own: (change[0], change[1]) in own)
            if not own:
                return
            what = next(iter(own))[0]

    def _settle(self, is_durable):
        """Make those pending calls durable of which a change is; a rename is one change."""
        left = []
        for changes in self.pending:
            if any(map(is_durable, changes[-1:])):
                self._note(self.durable_entries, changes)
            else:
                left.append(changes)
        self.pending = left

    def _note(self, entries, changes):
        for directory, name, what in changes:
            if what is None:
                entries.pop((directory, name), None)
            else:
                entries[directory, name] = what

    # After a crash.

    def trees(self):
        """Yield the states that may be found if the power is lost now: path → bytes, or None for a directory."""
        for kept in self._kept():
            entries = dict(self.durable_entries)
            for changes in kept:
                self._note(entries, changes)
            paths = self._paths(entries)
            for torn in range(len(_TORN)):
                yield {path: what and what[torn] for path, what in paths.items()}
            for seed in range(_MIXED):  # each file in a way of its own
                yield {p: what and what[zlib.crc32(p.encode(), seed) % len(_TORN)] for p, what in paths.items()}

    def _kept(self):
        """Yield which pending changes of names are kept."""
        pending = self.pending
        if self.model == "ordered":
            yield from (pending[:end] for end in range(len(pending) + 1))
            return
        yield pending
        yield []
        for alone in range(max(0, len(pending) - _MOST_ALONE), len(pending)):
            yield pending[:alone] + pending[alone + 1 :]
            yield [pending[alone]]

    def _paths(self, entries):
        """Path → the ways in which a file may be torn, or None for a directory, which is before what is in it."""
        paths = {}
        below = {}
        for (directory, name), what in entries.items():
            below.setdefault(directory, []).append((name, what))
        left = [(self.top, "")]
        for directory, path in left:
            for name, what in below.get(directory, ()):
                place = f"{path}/{os.fsdecode(name)}"
                if isinstance(what, _Directory):
                    paths[place] = None
                    left.append((what, place))
                else:
                    paths[place] = what.torn()
        return paths


def _is_synced(tear):
    return lambda durable, data: durable if durable == data else tear(durable, data)


def _first(share):
    """So much of what is new, to a sector's end."""

    def tear(durable, data):
        start = _same(durable, data)
        cut = (start + int((len(data) - start) * share)) // SECTOR * SECTOR
        return data[: max(cut, start)]

    return tear


def _same(durable, data):
    """How many bytes at the beginning are durable."""
    if data.startswith(durable):
        return len(durable)
    return next(
        (i for i, (a, b) in enumerate(zip(durable, data, strict=False)) if a != b), min(len(durable), len(data))
    )


def _zeros(durable, data):
    """The size is there, the bytes are not."""
    start = _same(durable, data)
    return data[:start] + bytes(len(data) - start)


def _holes(even):
    """Every other sector of what is new."""

    def tear(durable, data):
        start = _same(durable, data)
        parts = [data[:start]]
        for at in range(start // SECTOR * SECTOR, len(data), SECTOR):
            part = data[max(at, start) : at + SECTOR]
            parts.append(part if (at // SECTOR) % 2 == even else bytes(len(part)))
        return b"".join(parts)

    return tear


_TORN = [
    lambda _durable, data: data,
    lambda durable, _data: durable,
    *map(_is_synced, (*(_first(share / 8) for share in range(1, 8)), _zeros, _holes(0), _holes(1))),
]


def states(calls, root, model):
    """Yield (the last mark, tree) of each state after each call, those that differ.

    Args:
        calls: of a process.
        root: the directory that is looked at.
        model: of `MODELS`.
    """
    disk = Disk(root, model)
    seen = set()
    for call in calls:
        if not disk.apply(call):
            continue
        for tree in disk.trees():
            key = disk.mark, frozenset(tree.items())
            if key not in seen:
                seen.add(key)
                yield disk.mark, tree
