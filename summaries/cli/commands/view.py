"""`gradledger view`: the page of findings, layers and curves, at an address of this machine."""

from __future__ import annotations

from typing import Any

import click

from summaries.cli.arguments.candidates import complete_runs
from summaries.cli.arguments.options import new_command, output_option_with, runs_option, tags_option


@new_command(
    section="Look",
    summary="Open a page with every run, every tag and every finding.",
    help="Open a page with the runs below PLACES (default: the current directory): directories of runs, or addresses "
    "such as s3://bucket/runs. It shows all curves, and what the audit finds; it follows runs that grow. The page is "
    "served by this machine alone, to whoever has its link. Ctrl-C ends it. With --output, it becomes a file with the "
    "runs in it, which needs no server and no network.",
    examples=[
        "gradledger view runs",
        "gradledger view --no-browser --port 6007 runs s3://bucket/runs",
        "gradledger view runs --tags '*loss*' --output page.html",
    ],
    status="0 when it is interrupted, or the file is written; 2 if a place does not exist or the port is taken.",
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
@output_option_with("Serve nothing: write the page to this file; - is standard output.")
@runs_option
@tags_option
@click.option(
    "--points",
    type=click.IntRange(1),
    metavar="N",
    help="How many points the file has, about (default: 2,000,000); longer curves are thinned, and keep extremes.",
)
@click.option(
    "--media",
    type=click.IntRange(0),
    metavar="MB",
    help="How much of images, sounds, texts and histograms the file has (default: 10): the last values first.",
)
def command(
    *,
    places: tuple[str, ...],
    output: str | None,
    runs: tuple[str, ...] | None,
    tags: tuple[str, ...] | None,
    points: int | None,
    media: int | None,
    **serving: Any,
) -> int:
    """Serve the page until interrupted, or write it; returns 0.

    Raises:
        ImportError: werkzeug is not installed.
        LookupError: there are no event files, or a pattern matches nothing.
        OSError: a place does not exist, or nothing can listen at the port; or the file cannot be written.
        ValueError: the configuration is invalid, or two options do not go together.
    """
    if output is None:
        if runs or tags or points or media is not None:
            raise ValueError("--runs, --tags, --points and --media choose what is in a file: add --output FILE")
        return _serve(places or (".",), **serving)
    if serving["port"] or serving["no_browser"]:
        raise ValueError("--port and --no-browser are for the server: leave them out with --output")
    from summaries.cli.views.output import opened
    from summaries.integrations.saved import MOST_MEDIA_BYTES, MOST_POINTS, saved_page

    with opened(output, "html", {}) as file:
        chosen = {"runs": runs, "tags": tags, "config": serving["config"], "most_points": points or MOST_POINTS}
        most = MOST_MEDIA_BYTES if media is None else 1_000_000 * media
        file.write(saved_page(places or (".",), most_media_bytes=most, **chosen))
    return 0


def _serve(places: tuple[str, ...], *, port: int, no_browser: bool, memory: int, config: str | None) -> int:
    import webbrowser

    from summaries.integrations.viewer import Viewer

    viewer = Viewer(places, port=port, config=config, most_bytes=memory << 20)
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
