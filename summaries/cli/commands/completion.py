"""`gradledger completion`: the script with which a shell asks for what it may complete."""

from __future__ import annotations

import click
from click.shell_completion import ShellComplete, get_completion_class

from summaries.cli.arguments.options import new_command

__all__ = ["COMPLETE", "command"]

COMPLETE = "_GRADLEDGER_COMPLETE"
"""The environment variable by which a shell asks for completions, as click names it."""


@new_command(
    section="Other",
    summary="Print a shell script that completes commands, runs and tags.",
    help="Print the script with which a shell completes commands, options, runs and tags.\n\n\b\n"
    'bash: add to ~/.bashrc:   eval "$(gradledger completion bash)"\n'
    'zsh:  add to ~/.zshrc:    eval "$(gradledger completion zsh)"   (after compinit)\n'
    "fish: run the example once.",
    examples=["gradledger completion fish > ~/.config/fish/completions/gradledger.fish"],
    status="0.",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> int:
    """Print the script."""
    from summaries.cli.arguments import shells  # noqa: F401 - it puts right what click does

    shell_class = get_completion_class(shell)
    assert shell_class is not None
    print(ShellComplete.source(shell_class(click.Command("gradledger"), {}, "gradledger", COMPLETE)))
    return 0
