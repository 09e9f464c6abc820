"""A program in a terminal of its own: what it shows on its screen, which keys it gets, and how large it is."""

import os
import re
import select
import signal
import struct
import subprocess
import sys
import time
import unicodedata
from contextlib import contextmanager, suppress

TIMEOUT = 120  # seconds
_SEQUENCE = re.compile(r"\x1b\[([?<=>]?)([0-9;]*)([A-Za-z])|\x1b([^\[])")
_CANCELLED = re.compile(r"\x1b\[[?<=>]?[0-9;]*(?=\x1b)")  # of a frame that a signal has ended: the next one begins anew


class Terminal:
    """The program's side is a pseudo-terminal; this one keeps the screen.

    It knows the sequences that rich writes, and refuses others: a name of a run must not be able to send any.
    """

    def __init__(self, process, master, columns, lines):
        self.process, self.master = process, master
        self.seen = ""
        self._rest = b""
        self.resize(columns, lines)

    def resize(self, columns, lines):
        import fcntl
        import termios

        self.columns, self.lines = columns, lines
        self.screen = [[" "] * columns for _ in range(lines)]
        self.row = self.column = 0
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def type(self, keys):
        os.write(self.master, keys.encode())

    @property
    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.screen)

    def shows(self, *texts, without=(), timeout=TIMEOUT):
        """Wait until the screen has all of these texts, and none of those."""
        deadline = time.monotonic() + timeout
        while True:
            if all(text in self.text for text in texts) and not any(text in self.text for text in without):
                return self.text
            if time.monotonic() > deadline or (not self.read() and self.process.poll() is not None):
                raise AssertionError(f"wanted {texts} without {without}, and the screen is:\n{self.text}")

    def ended(self):
        """The exit status, once the program has ended."""
        deadline = time.monotonic() + TIMEOUT
        while self.process.poll() is None and time.monotonic() < deadline:
            self.read()
        while self.read():
            pass
        return self.process.wait(1)

    def read(self):
        """Take what the program has written; False if that was nothing, for a twentieth of a second."""
        if not select.select([self.master], [], [], 0.05)[0]:
            return False
        with suppress(OSError):  # the program has ended
            data = self._rest + os.read(self.master, 1 << 16)
            cut = data.rfind(b"\x1b", max(len(data) - 40, 0))  # a sequence may be cut in two
            cut = len(data) if cut < 0 or _whole(data[cut:]) else cut
            text = data[:cut]
            while text and text[-1] >= 0x80:
                try:
                    text.decode()
                    break
                except UnicodeDecodeError:
                    cut -= 1
                    text = data[:cut]
            self._rest = data[cut:]
            self._take(text.decode(errors="replace"))  # a signal may end a write amid a character
            return bool(data)
        return False

    def _take(self, text):
        self.seen += text
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                if cancelled := _CANCELLED.match(text, at):
                    at = cancelled.end()
                    continue
                match = _SEQUENCE.match(text, at)
                assert match, f"a sequence that nobody here writes: {text[at : at + 20]!r}"
                self._obey(*match.groups())
                at = match.end()
                continue
            self._show(text[at])
            at += 1

    def _obey(self, private, numbers, letter, single):
        assert single is None, f"a sequence that nobody here writes: ESC {single}"
        if letter == "H":
            self.row = self.column = 0
        elif letter == "J" or numbers == "1049":  # the other screen, which was empty
            self.screen = [[" "] * self.columns for _ in range(self.lines)]
            self.row, self.column = (0, 0) if numbers == "1049" else (self.row, self.column)
        elif letter == "K":
            self.screen[self.row] = [" "] * self.columns
        elif letter == "A":
            self.row = max(self.row - int(numbers or 1), 0)
        else:
            assert (private, letter) in (("?", "h"), ("?", "l"), ("", "m")), f"got {private}{numbers}{letter}"

    def _show(self, character):
        if character == "\n":
            self.row = min(self.row + 1, self.lines - 1)
        elif character == "\r":
            self.column = 0
        else:
            assert character.isprintable(), f"a terminal would obey {character!r}"
            if self.column < self.columns:
                self.screen[self.row][self.column] = character
            self.column += 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _whole(data):
    return bool(_SEQUENCE.match(data.decode(errors="ignore")))


@contextmanager
def terminal(arguments, columns=100, lines=40, before=None, **environment):
    """`gradledger` with these arguments in a terminal of this size."""
    import pty

    master, slave = pty.openpty()

    def own():
        import fcntl
        import termios

        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        if before is not None:
            before()

    environ = os.environ | {"TERM": "xterm-256color", "PYTHONPATH": os.pathsep.join(sys.path), "LC_ALL": "C.UTF-8"}
    elsewhere = ("COLUMNS", "LINES", "PYTHONIOENCODING")  # of another terminal
    environ = {name: value for name, value in (environ | environment).items() if name not in elsewhere}
    process = subprocess.Popen(
        [sys.executable, "-m", "summaries", *arguments],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        preexec_fn=own,  # noqa: PLW1509 - the terminal has to be the process's own
        env=environ,
    )
    os.close(slave)
    shown = Terminal(process, master, columns, lines)
    try:
        yield shown
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()
        with suppress(OSError):
            os.close(master)
