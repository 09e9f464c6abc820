"""`gradledger top`: runs in the terminal, while they train."""

from __future__ import annotations

import click

from summaries.cli.arguments.candidates import complete_runs
from summaries.cli.arguments.options import new_command


@new_command(
    section="Look",
    summary="Watch runs in the terminal: curves, layers, findings.",
    help="Watch the runs below PLACES (default: the current directory) in the terminal: all runs with their verdicts, "
    "and of the chosen one a curve, its layers over steps, and what the audit finds. It follows runs that grow, and "
    "needs about a twentieth of a processor.",
    examples=["gradledger top runs", "gradledger top runs s3://bucket/runs"],
    status="0 when a key or Ctrl-C ends it, 2 if a place does not exist, or there is no terminal.",
)
@click.argument("places", nargs=-1, shell_complete=complete_runs)
@click.option(
    "--memory",
    type=click.IntRange(1),
    default=1024,
    metavar="MB",
    help="Memory for the columns of runs (default: 1024).",
)
@click.option("--config", type=click.Path(), metavar="FILE", help="A TOML file, as for audit.")
def command(*, places: tuple[str, ...], config: str | None, memory: int) -> int:
    """Show the page until it is ended; returns 0, or 2 if the terminal has gone.

    Raises:
        OSError: a place does not exist, or there is no terminal.
        ValueError: the configuration is invalid.
    """
    from summaries.cli.views.top import watch_runs

    try:
        return watch_runs(places or (".",), config=config, memory=memory)
    except KeyboardInterrupt:
        return 0
