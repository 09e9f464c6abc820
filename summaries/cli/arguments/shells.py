"""Completion of words with spaces, colons and equals signs, which click's own scripts take apart.

bash cuts words at colons and equals signs, also in the middle of `lr=0.1/seed=0`, and wants only what comes after the
last cut; and it inserts what it gets as it is, so that special characters must be escaped. So the script hands over the
line as it was typed, and this module finds the words in it. zsh and fish replace the whole word, also `--tags=` before
a tag. click's script for fish ends names and explanations at a comma.
"""

from __future__ import annotations

import os
import re

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)

__all__ = ["Bash", "Fish", "Zsh", "words_of"]

_SCRIPT = """\
%(complete_func)s() {
    local answer
    COMPREPLY=()
    while IFS= read -r answer; do
        case "${answer%%%%,*}" in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("${answer#*,}") ;;
        esac
    done < <(GRADLEDGER_LINE="${COMP_LINE:0:COMP_POINT}" GRADLEDGER_BREAKS="$COMP_WORDBREAKS" \\
        %(complete_var)s=bash_complete "$1" 2> /dev/null)
}
complete -o nosort -F %(complete_func)s %(prog_name)s 2> /dev/null || complete -F %(complete_func)s %(prog_name)s
"""
_FISH_SCRIPT = """\
function %(complete_func)s
    set -l line (commandline --current-process --cut-at-cursor | string collect)
    for answer in (env GRADLEDGER_LINE="$line" %(complete_var)s=fish_complete %(prog_name)s 2> /dev/null)
        set -l parts (string split --max 1 , -- $answer)
        switch $parts[1]
            case dir
                __fish_complete_directories $parts[2]
            case file
                __fish_complete_path $parts[2]
            case plain
                printf '%%s\\n' $parts[2]
        end
    end
end
complete --no-files --keep-order --command %(prog_name)s --arguments "(%(complete_func)s)"
"""
_SPECIAL = re.compile(r"([^\w@%+=:,./-])")
_ASSIGNMENT = re.compile(r"\w+=")


def words_of(line: str) -> tuple[list[str], str]:
    r"""Split a line that ends where the cursor is, as a shell does.

    Returns:
        The words, the last of which is being typed (it may be empty); and the quote that is open in it, or "".

    >>> words_of(r'gradledger ls my\ run "lr = 0')
    (['gradledger', 'ls', 'my run', 'lr = 0'], '"')
    """
    words, quote, between = [""], "", False
    characters = iter(line)
    for character in characters:
        if not quote and character in " \t\n":
            between = True
            continue
        if between:
            words.append("")
            between = False
        if character == "\\" and quote != "'":
            words[-1] += next(characters, "")
        elif character == quote:
            quote = ""
        elif not quote and character in "'\"":
            quote = character
        else:
            words[-1] += character
    return [*words, ""] if between else words, quote


def _typed_words() -> tuple[list[str], str]:
    """The words of the line that the script hands over, from the command on; and the open quote."""
    words, quote = words_of(os.environ.get("GRADLEDGER_LINE", "").lstrip())
    while len(words) > 1 and _ASSIGNMENT.match(words[0]):  # variables that are set for the command
        words.pop(0)
    return words, quote


class Bash(BashComplete):
    """Completion in bash, by the line as it was typed."""

    source_template = _SCRIPT
    _cut = 0
    _quote = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one that is being typed, and that one."""
        words, self._quote = _typed_words()
        typed = words[-1]
        value = typed.partition("=")[2] if typed.startswith("-") and "=" in typed else typed
        breaks = [character for character in ":=" if character in os.environ.get("GRADLEDGER_BREAKS", ":=")]
        self._cut = 0 if self._quote else max((value.rfind(character) + 1 for character in breaks), default=0)
        return words[1:-1], typed

    def format_completion(self, item: CompletionItem) -> str:
        """What bash inserts after its last cut."""
        rest = item.value[self._cut :]
        inserted = rest if self._quote else _SPECIAL.sub(r"\\\1", rest)
        return f"{item.type},{inserted}"


class _KeepsOption(ShellComplete):
    """Of a shell that replaces the whole word: the option before an equals sign stays."""

    _option = ""

    def format_completion(self, item: CompletionItem) -> str:
        """What the shell inserts for the word; files, it finds itself."""
        option = self._option if item.type == "plain" else ""
        return super().format_completion(CompletionItem(option + item.value, item.type, item.help))


class Zsh(_KeepsOption, ZshComplete):
    """Completion in zsh."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one that is being typed, and that one."""
        words, typed = super().get_completion_args()
        self._option = _option_of(typed)
        return words, typed


class Fish(_KeepsOption, FishComplete):
    """Completion in fish, by the line as it was typed."""

    source_template = _FISH_SCRIPT

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one that is being typed, and that one."""
        words, _ = _typed_words()
        self._option = _option_of(words[-1])
        return words[1:-1], words[-1]


def _option_of(typed: str) -> str:
    """What stands before the value in `--tags=value`, with the equals sign; "" if there is no option.

    >>> _option_of("--tags=lo"), _option_of("lr=0.")
    ('--tags=', '')
    """
    option, separator, _ = typed.partition("=")
    return option + separator if separator and typed.startswith("-") else ""


for _shell in (Bash, Fish, Zsh):
    add_completion_class(_shell)
