"""`gradledger keep`: runs with only some of their tags."""

from __future__ import annotations

from typing import Any

import click

from summaries import tools
from summaries.cli.arguments.options import new_command, tags_option
from summaries.cli.arguments.rewriting import STATUS, rewriting, rewriting_options


@new_command(
    section="Reshape",
    summary="Write runs with only some of their tags.",
    help="Write the run PLACE, or all runs below it, with only some of their tags, or only some of the runs. Graphs, "
    "session logs and hyperparameters stay as well.",
    examples=[
        "gradledger keep runs/a -o small --tags 'loss*' --tags accuracy",
        "gradledger keep runs -o best --runs 'a/*'",
    ],
    status=STATUS,
)
@tags_option
@rewriting_options
@rewriting
def command(**options: Any) -> tools.Rewritten:
    """Keep tags."""
    if options["tags"] is None and options["runs"] is None:
        raise click.UsageError("Say what to keep: --tags PATTERN, or --runs PATTERN.")
    return tools.keep(**options)
