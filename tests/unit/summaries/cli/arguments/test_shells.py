"""How words of a line are found, and what is given back to a shell."""

import pytest
from click.shell_completion import CompletionItem

from summaries.cli.arguments.shells import Bash, Fish, Zsh, words_of
from summaries.cli.commands.completion import COMPLETE
from summaries.cli.program import program

LINES = {
    "gradledger ": (["gradledger", ""], ""),
    "gradledger  ls   ru": (["gradledger", "ls", "ru"], ""),
    r"g my\ run": (["g", "my run"], ""),
    'g "my run': (["g", "my run"], '"'),
    "g 'my run' x": (["g", "my run", "x"], ""),
    "g 'a\\b": (["g", "a\\b"], "'"),
    'g "a\\"b': (["g", 'a"b'], '"'),
    'g a"b c"d': (["g", "ab cd"], ""),
    "g a\\": (["g", "a"], ""),
    "": ([""], ""),
}


@pytest.mark.parametrize(("line", "expected"), LINES.items())
def test_words(line, expected):
    assert words_of(line) == expected


BASH = {  # the line, a candidate → what bash inserts after its last cut
    "a word": ("g ls ru", "runs/a", "runs/a"),
    "special characters": ("g ls ru", "runs/a b'$c", r"runs/a\ b\'\$c"),
    "in quotes": ('g ls "ru', "runs/a b", "runs/a b"),
    "after an equals sign": ("g ls lr=0.", "lr=0.1/seed=0", "0.1/seed=0"),
    "after a colon": ("g ls a:b", "a:bc", "bc"),
    "an option": ("g show x --tags=lo", "loss", "loss"),
    "an option, and a colon": ("g show x --tags=w:", "w:0", "0"),
    "an equals sign in quotes": ('g ls "lr=0.', "lr=0.1", "lr=0.1"),
}


@pytest.mark.parametrize(("line", "candidate", "inserted"), BASH.values(), ids=BASH)
def test_bash(line, candidate, inserted, monkeypatch):
    monkeypatch.setenv("GRADLEDGER_LINE", line)
    monkeypatch.setenv("GRADLEDGER_BREAKS", " \t\n\"'><=;|&(:")
    shell = Bash(program, {}, "gradledger", COMPLETE)
    shell.get_completion_args()
    assert shell.format_completion(CompletionItem(candidate)) == f"plain,{inserted}"


def test_bash_without_cuts_at_equals_signs(monkeypatch):
    monkeypatch.setenv("GRADLEDGER_LINE", "g ls lr=0.")
    monkeypatch.setenv("GRADLEDGER_BREAKS", " \t\n")
    shell = Bash(program, {}, "gradledger", COMPLETE)
    assert shell.get_completion_args() == (["ls"], "lr=0.")
    assert shell.format_completion(CompletionItem("lr=0.1")) == "plain,lr=0.1"


@pytest.mark.parametrize("before", ["NO_COLOR=1 ", "  "])
def test_what_is_before_the_command(before, monkeypatch):
    monkeypatch.setenv("GRADLEDGER_LINE", f"{before}gradledger ls ru")
    assert Bash(program, {}, "gradledger", COMPLETE).get_completion_args() == (["ls"], "ru")


@pytest.mark.parametrize(("typed", "inserted"), [("--tags=lo", "--tags=loss"), ("lo", "loss")])
def test_zsh_keeps_the_option(typed, inserted, monkeypatch):
    monkeypatch.setenv("COMP_WORDS", f"gradledger show runs {typed}")
    monkeypatch.setenv("COMP_CWORD", "3")
    shell = Zsh(program, {}, "gradledger", COMPLETE)
    shell.get_completion_args()
    assert shell.format_completion(CompletionItem("loss")).split("\n")[:2] == ["plain", inserted]


@pytest.mark.parametrize(
    ("line", "words", "inserted"),
    [
        ("g show x --tags=lo", ["show", "x"], "plain,--tags=a,b\thelp, and more"),
        ("X=1 g ls lr=0.", ["ls"], "plain,a,b\thelp, and more"),
    ],
)
def test_fish(line, words, inserted, monkeypatch):
    monkeypatch.setenv("GRADLEDGER_LINE", line)
    shell = Fish(program, {}, "gradledger", COMPLETE)
    assert shell.get_completion_args() == (words, line.split()[-1])
    assert shell.format_completion(CompletionItem("a,b", help="help, and more")) == inserted
    assert shell.format_completion(CompletionItem("no", type="file")) == "file,no"
