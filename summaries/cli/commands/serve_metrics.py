"""`gradledger serve-metrics`: what runs say now, for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from summaries.cli.arguments.candidates import complete_runs
from summaries.cli.arguments.options import new_command, tags_option_with

if TYPE_CHECKING:
    from summaries.patterns import Patterns


@new_command(
    section="Look",
    summary="Serve last values, rates and verdicts of runs to Prometheus.",
    help="Serve what the runs below PLACES (default: the current directory) say now, in Prometheus' text format: last "
    "values, steps a second, the time of the last event, and what the audit finds. Runs that grow are followed. It is "
    "served to this machine alone, unless --host names another address to listen at. Ctrl-C ends it.",
    examples=[
        "gradledger serve-metrics runs",
        "gradledger serve-metrics runs s3://bucket/runs --port 9105 --tags '*loss*' --tags gradients/global_norm",
    ],
    status="0 when it is interrupted, 2 if a place does not exist or the port is taken.",
)
@click.argument("places", nargs=-1, shell_complete=complete_runs)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Where to listen (default: a free port)."
)
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="At which address of this machine to listen.")
@tags_option_with("Only last values of tags that match, such as '*loss*'; may be repeated.")
@click.option("--config", type=click.Path(), metavar="FILE", help="A TOML file, as for audit.")
def command(*, places: tuple[str, ...], port: int, host: str, tags: Patterns, config: str | None) -> int:
    """Serve the metrics until interrupted; returns 0.

    Raises:
        OSError: a place does not exist, or nothing can listen at the port.
        ValueError: the configuration is invalid.
    """
    from summaries.integrations.metrics import MetricsServer

    server = MetricsServer(places or (".",), host=host, port=port, tags=tags, config=config)
    click.echo(f"{server.address}\nCtrl-C ends it.")
    try:
        server.run()
    except KeyboardInterrupt:
        pass
    finally:
        server.close()
    return 0
