"""`gradledger drop`: runs without some of their tags."""

from __future__ import annotations

from typing import Any

from summaries import tools
from summaries.cli.arguments.options import new_command, tags_option_with
from summaries.cli.arguments.rewriting import STATUS, rewriting, rewriting_options


@new_command(
    section="Reshape",
    summary="Write runs without some of their tags.",
    help="Write the run PLACE, or all runs below it, without some of their tags. Everything else stays as it is.",
    examples=[
        "gradledger drop runs/a -o small --tags 'gradients/*'",
        "gradledger drop runs -o cleaned --tags 'grad*' --runs 'a*'",
    ],
    status=STATUS,
)
@tags_option_with("Tags to drop, such as 'grad*'; may be repeated.", required=True)
@rewriting_options
@rewriting
def command(**options: Any) -> tools.Rewritten:
    """Drop tags."""
    return tools.drop(**options)
