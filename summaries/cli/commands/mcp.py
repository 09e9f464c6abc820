"""`gradledger mcp`: answers about runs for a program, over the Model Context Protocol."""

from __future__ import annotations

import signal
import sys

import click

from summaries.cli.arguments.candidates import complete_runs
from summaries.cli.arguments.options import new_command


@new_command(
    section="Look",
    summary="Answer an assistant's questions about runs (MCP).",
    help="Answer questions about the runs below PLACES (default: the current directory), over the Model Context "
    "Protocol on standard input and output: list, describe and compare runs, findings with their evidence, curves, "
    "images. It is for a program that starts it. It only reads, and only below PLACES.",
    examples=["gradledger mcp runs", "gradledger mcp runs s3://bucket/runs"],
    status="0 when the program that started it has ended, 2 if a place does not exist.",
)
@click.argument("places", nargs=-1, shell_complete=complete_runs)
@click.option("--config", type=click.Path(), metavar="FILE", help="A TOML file, as for audit.")
def command(*, places: tuple[str, ...], config: str | None) -> int:
    """Answer until standard input ends; returns 0.

    Raises:
        ImportError: the protocol's SDK is not installed.
        OSError: a place does not exist.
        ValueError: the configuration is invalid.
    """
    from summaries.integrations.mcp.server import server_of

    if sys.stdin.isatty():  # somebody has typed it, and nothing would be lost; the SDK would wait for the end of a line
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        click.echo("Waiting for a program's questions on standard input. Ctrl-C ends this.", err=True)
    server_of(places or (".",), config=config).run()
    return 0
