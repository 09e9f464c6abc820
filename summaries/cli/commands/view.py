"""`gradledger view`: the page of findings, layers and curves, at an address of this machine."""

from __future__ import annotations

import click

from summaries.cli.arguments.candidates import complete_runs
from summaries.cli.arguments.options import new_command


@new_command(
    section="Look",
    summary="Open a page with every run, every tag and every finding.",
    help="Open a page with the runs below PLACES (default: the current directory): directories of runs, or addresses "
    "such as s3://bucket/runs. It shows all curves, and what the audit finds; it follows runs that grow. The page is "
    "served by this machine alone, to whoever has its link. Ctrl-C ends it.",
    examples=["gradledger view runs", "gradledger view --no-browser --port 6007 runs s3://bucket/runs"],
    status="0 when it is interrupted, 2 if a place does not exist or the port is taken.",
)
@click.argument("places", nargs=-1, shell_complete=complete_runs)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Where to listen (default: a free port)."
)
@click.option("--no-browser", is_flag=True, help="Print the link, and open no browser.")
@click.option(
    "--memory",
    type=click.IntRange(1),
    default=1024,
    metavar="MB",
    help="Memory for the columns of runs (default: 1024).",
)
@click.option("--config", type=click.Path(), metavar="FILE", help="A TOML file, as for audit.")
def command(*, places: tuple[str, ...], port: int, no_browser: bool, memory: int, config: str | None) -> int:
    """Serve the page until interrupted; returns 0.

    Raises:
        ImportError: werkzeug is not installed.
        OSError: a place does not exist, or nothing can listen at the port.
        ValueError: the configuration is invalid.
    """
    import webbrowser

    from summaries.integrations.viewer import Viewer

    viewer = Viewer(places or (".",), port=port, config=config, most_bytes=memory << 20)
    click.echo(f"{viewer.address}\nCtrl-C ends it.")
    if not no_browser:
        webbrowser.open(viewer.address)
    try:
        viewer.run()
    except KeyboardInterrupt:
        pass
    finally:
        viewer.close()
    return 0
