"""What mended each finding of an attack, as lines that undo it: each gives the attacker back what he had found."""

from __future__ import annotations

from typing import NamedTuple


class Edit(NamedTuple):
    """A piece of a file that occurs in it once, and what is put in its place."""

    path: str
    mended: str
    undone: str


class Undone(NamedTuple):
    """A mend that is taken back."""

    what: str
    edits: tuple[Edit, ...]


STORAGE, WRITING, TOOLS = "summaries/storage", "summaries/writing", "summaries/tools"
DURABLE, LOCAL, REMOTE = f"{STORAGE}/durable.py", f"{STORAGE}/local.py", f"{STORAGE}/remote.py"
CREDENTIALS, CACHE, PLAIN = f"{STORAGE}/credentials.py", f"{STORAGE}/cache.py", f"{STORAGE}/plain.py"
RUN_FILE, QUEUE = f"{WRITING}/run_file.py", f"{WRITING}/event_queue.py"
SCRATCH = "        scratch = tempfile.mkdtemp(prefix=_PREFIX, suffix=_SUFFIX, dir=beside)\n"


def undo(what: str, path: str, *pieces: str | Edit) -> Undone:
    """A mend: pieces of a file, each before what is put in its place; then edits of other files."""
    texts = [piece for piece in pieces if isinstance(piece, str)]
    own = (Edit(path, *pair) for pair in zip(texts[::2], texts[1::2], strict=True))
    return Undone(what, (*own, *(piece for piece in pieces if isinstance(piece, Edit))))


UNDONE = {
    "F1": [
        undo(
            "a manifest may name any path",
            f"{TOOLS}/exporting/manifest.py",
            'if not all(map(_PART.fullmatch, tree["files"])):',
            "if False:",
        ),
    ],
    "F2": [
        undo(
            "between that the queue is shared and that it is sealed, a handler runs, which tries for ever",
            QUEUE,
            "self._seals.extend(map(np.ndarray.reshape, map(np.asarray, (self.rows,)), (0,)))",
            "shared = np.asarray(self.rows).reshape(0)\n            self._seals.append(shared)",
            Edit(RUN_FILE, "for _ in range(_MOST_TRIES):\n            if add():", "while True:\n            if add():"),
        ),
        undo(
            "… and which raises",
            QUEUE,
            "self._seals.extend(map(np.ndarray.reshape, map(np.asarray, (self.rows,)), (0,)))",
            "shared = np.asarray(self.rows).reshape(0)\n            self._seals.append(shared)",
        ),
    ],
    "F3": [
        undo(
            "repair and merge sync no contents",
            DURABLE,
            "    for folder, files in tree:\n",
            "    for folder, files in []:\n",
        ),
        undo(
            "nor that they have a new name",
            f"{STORAGE}/outputs.py",
            "        sync(os.path.dirname(final))\n    for directory in grown:",
            "    for directory in []:",
        ),
        undo("a table and a manifest are not synced", DURABLE, "                sync(new)\n", "                pass\n"),
        undo(
            "nor that they have a new name",
            DURABLE,
            "sync(os.path.dirname(path) or os.curdir)",
            "pass",
        ),
        undo(
            "the manifest is written in place",
            f"{STORAGE}/files.py",
            "whole = replaced(path) if is_replaceable(path) else nullcontext(path)",
            "whole = nullcontext(path)",
        ),
    ],
    "F4": [
        undo("the directories above are not looked at", DURABLE, "if at == os.path.dirname(at):", "if True:"),
        undo("nor whose the directory is", DURABLE, "if status.st_uid not in {0, os.getuid()}:", "if False:"),
        undo("nor who may write to it", DURABLE, "if is_shared and (", "if False and ("),
        undo(
            "a cache is used whoever may write to it",
            CACHE,
            "self._used = not (reason := untrusted(directory))",
            "self._used, reason = True, ''",
        ),
        undo(
            "an entry is used whoever wrote it",
            CACHE,
            "os.fstat(self.fileno()).st_uid != os.getuid()",
            "False",
        ),
        undo(
            "what was not sent is sent whoever wrote it",
            REMOTE,
            "if not os.path.isdir(directory) or untrusted(directory):",
            "if not os.path.isdir(directory):",
        ),
    ],
    "F5": [
        undo(
            "what was written is forgotten before it is synced",
            f"{WRITING}/current_file.py",
            "queue.write(self.file, keep=self._keep)",
            "queue.write(self.file)",
        ),
        undo(
            "a file whose fsync failed is taken for sound",
            f"{WRITING}/current_file.py",
            "            self._lost = error\n",
            "",
        ),
    ],
    "F6": [
        undo(
            "a fault that reaches the end of a long file is an error",
            "summaries/wire/records.py",
            "skipped = (end if header < 0 else header) - self._pos",
            "skipped = [reached for reached in (header,) if reached >= 0][0] - self._pos",
        ),
    ],
    "F7": [
        undo(
            "a request is waited for without end",
            f"{STORAGE}/deadlines.py",
            "thread.join(min(secs, threading.TIMEOUT_MAX))",
            "thread.join()",
        ),
        undo(
            "each request at the end has time of its own",
            f"{STORAGE}/deadlines.py",
            "return min(secs, max(0.0, _until[0] - time.monotonic())) if _until else secs",
            "return secs",
        ),
        undo(
            "what was not sent is lost",
            RUN_FILE,
            "kept = self._current.file.keep(self.queue.waiting())",
            "pass",
        ),
        undo("what was kept is not sent", REMOTE, "            self._send_unsent()\n", "            pass\n"),
    ],
    "F8": [
        undo(
            "with max_queue=0, too, what is logged waits for the thread",
            RUN_FILE,
            "self._at_once = not (max_queue and flusher.flush_secs)",
            "self._at_once = False",
        ),
    ],
    "F9": [
        undo(
            "compare prints the cells of its table as they are",
            "summaries/auditing/report/comparison.py",
            'Text(printable(cell)) for cell in (*values, *numbers, "seeds',
            'Text(cell) for cell in (*values, *numbers, "seeds',
        ),
        undo(
            "and its lines",
            "summaries/auditing/report/comparison.py",
            "print_broken(console, printable(line))",
            "print_broken(console, line)",
        ),
        undo(
            "control characters are printed as they are",
            "summaries/presenting/terminal.py",
            'return "".join(c if c.isprintable() else',
            'return "".join(c if True else',
        ),
    ],
    "F10": [
        undo(
            "what is at the path is written to, and a link is followed",
            LOCAL,
            "if _owned(status) != self._identity:\n                    raise",
            "if False:\n                    raise",
            "os.O_RDWR | os.O_APPEND | _BINARY | _NONBLOCK | _NOFOLLOW",
            "os.O_RDWR | os.O_APPEND | _BINARY | _NONBLOCK",
        ),
        undo(
            "a pipe is waited for",
            LOCAL,
            "os.O_RDWR | os.O_APPEND | _BINARY | _NONBLOCK | _NOFOLLOW",
            "os.O_WRONLY | os.O_APPEND | _BINARY | _NOFOLLOW",
        ),
    ],
    "F11": [
        undo(
            "the temporary name can be guessed, and is opened through a link",
            DURABLE,
            "new = os.path.join(scratch, os.path.basename(path))",
            'new = os.path.join(os.path.dirname(path), f"{_PREFIX}{os.getpid()}.0{_SUFFIX}")',
            "os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))",
            'open(new, "wb").close()',
        ),
        undo("others get into the scratch", DURABLE, SCRATCH, f"{SCRATCH}        os.chmod(scratch, 0o777)\n"),
    ],
    "F12": [
        undo(
            "whatever has the suffix is removed",
            CACHE,
            "if _NAME.fullmatch(item.name) and item.is_file(follow_symlinks=False):",
            'if item.name.endswith((".tmp", _SUFFIX)) and item.is_file():',
            "is_entry = entry.header() is not None",
            "is_entry = True",
        ),
        undo("and what has the name of an entry", CACHE, "is_entry = entry.header() is not None", "is_entry = True"),
        undo(
            "and what has the name of a scratch",
            DURABLE,
            "if _is_left(os.path.join(entry.path, _NOTE)):",
            "if True:",
        ),
    ],
    "F13": [
        undo(
            "names have nothing random",
            f"{STORAGE}/files.py",
            "event_file_name(secs, unique=True)",
            "event_file_name(secs)",
        ),
        undo(
            "an object of another's is replaced",
            REMOTE,
            'return {"mode": "create"} if "mode" in taken else {}',
            "return {}",
        ),
    ],
    "F14": [
        undo("a page offers it", "README.md", "# gradledger\n", "# gradledger\n\nCall `writer.flush(fsync=True)`.\n")
    ],
    "F15": [
        undo(
            "the names of new directories are not synced",
            LOCAL,
            "self._unsynced = [*make_directories(directory), directory]",
            "self._unsynced = [directory, *make_directories(directory)][:1]",
        ),
        undo(
            "nor those above a checkpoint",
            "optim/checkpoints/files.py",
            "for changed in (directory, *grown):",
            "for changed in (directory,):",
        ),
    ],
    "F16": [
        undo(
            "a leftover has the name of the next output",
            DURABLE,
            SCRATCH,
            '        scratch = os.path.join(beside, f"{_PREFIX}{os.getpid()}.0{_SUFFIX}")\n        os.mkdir(scratch)\n',
        ),
    ],
    "F17": [
        undo(
            "what is there is not compared",
            LOCAL,
            "done = size - start\n",
            "done = max(0, size - start)\n",
            "if not (0 <= done <= len(data) and _ends_in(data[:done] if done else self._end, fd, size)):",
            "if False:",
        ),
    ],
    "F18": [
        undo(
            "what failed is written by the next call",
            RUN_FILE,
            "self.queue.withdraw(self._current.file)",
            "pass",
        ),
    ],
    "F19": [
        undo(
            "links and pipes are listed, and opened",
            PLAIN,
            "if stat.S_ISREG(os.lstat(path).st_mode):",
            "if True:",
            'with open(_opened(path, below=True), encoding="utf-8-sig", errors="backslashreplace") as file:',
            'with open(path, encoding="utf-8-sig", errors="backslashreplace") as file:',
        ),
        undo(
            "a link that is put there after the listing is followed",
            PLAIN,
            "return descriptor(path, follow=not (below or place), place=place)",
            "return descriptor(path)",
        ),
        undo(
            "… and one in the place of a directory above",
            PLAIN,
            "return descriptor(path, follow=not (below or place), place=place)",
            "return descriptor(path, follow=not (below or place))",
        ),
    ],
    "F20": [
        undo(
            "account_key= and the like are shown",
            CREDENTIALS,
            r'r"(?i)\b([\w-]*(?:signature|credential|token|secret|passw(?:or)?d|passphrase|pwd|auth|key|sig)=)[^&\s]+"',
            r'r"(?i)\b([\w-]*(?:signature|credential|token|secret|password|accountkey|sig)=)[^&\s]+"',
        ),
        undo(
            "lists are not looked into",
            CREDENTIALS,
            "elif isinstance(value, (list, tuple, set, frozenset)):",
            "elif False:",
        ),
        undo(
            "bytes are not hidden", CREDENTIALS, "isinstance(value, (str, bytes, bytearray))", "isinstance(value, str)"
        ),
        undo(
            "options named pwd, auth or passphrase are not hidden",
            CREDENTIALS,
            'r"(?i)key|secret|token|passw(?:or)?d|passphrase|pwd|credential|signature|sas|connection_string|cookie|auth"',
            'r"(?i)key|secret|token|password|credential|signature|sas|connection_string"',
        ),
    ],
    "F21": [
        undo(
            "nobody writes what is logged when all was closed",
            RUN_FILE,
            "        if at_exit():\n",
            "        if False:\n",
        ),
        undo(
            "a writer that goes at the very end calls what is gone",
            RUN_FILE,
            'if self.__dict__.get("_begun") and not is_ending():',
            'if self.__dict__.get("_begun"):',
        ),
    ],
    "F22": [
        undo(
            "the file is made before the thread",
            RUN_FILE,
            "        self.flusher.add(self)  # first: if no thread can be started, no file is left behind\n",
            "",
            "                self._current.begin(self.queue, self.metadata)\n        except BaseException:\n"
            "            self.flusher.remove(self)\n",
            "                self._current.begin(self.queue, self.metadata)\n"
            "            self.flusher.add(self)\n        except BaseException:\n",
        ),
        undo(
            "runs without a name and with a dot become one",
            f"{TOOLS}/formats/tables.py",
            "        if len(self._top) > 1:\n",
            "        if False:\n",
        ),
        undo(
            "a link to nowhere ends the reading of the files beside it",
            "summaries/reading/run.py",
            "                return False\n",
            "                return True\n",
        ),
        undo(
            "the page answers whatever name it is asked by",
            "summaries/integrations/tensorboard/application.py",
            "if host and hosts is not None and name not in hosts:",
            "if False:",
        ),
        undo(
            "and pages of other sites",
            "summaries/integrations/tensorboard/application.py",
            'if origin and host and origin.rpartition("://")[2].lower() != host.lower():',
            "if False:",
        ),
    ],
    "first attack: a slot": [
        undo(
            "a read-only slot is written",
            "optim/optimizers/targets.py",
            "        if not array.flags.writeable:\n",
            "        if False:\n",
        ),
    ],
    "first attack: an optimizer": [
        undo(
            "a schedule is pickled with the function that it is made of",
            "optim/schedules/schedule.py",
            "        if self._made is None:\n            return object",
            "        if True:\n            return object",
        ),
    ],
}
