"""The protocol: `Answers` behind a server of the Model Context Protocol's own SDK, on standard input and output."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

import summaries
from summaries.auditing.config import as_config
from summaries.integrations.mcp.answers import Answers
from summaries.integrations.mcp.bounded import NOTE, shown
from summaries.integrations.tensorboard.library import Library
from summaries.integrations.tensorboard.places import existing_places
from summaries.optional import needs

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from summaries.auditing.config import Config

__all__ = ["server_of"]

_TOOLS = (
    "list_runs",
    "describe_run",
    "findings",
    "explain_rule",
    "compare_tag",
    "compare_sweep",
    "curve",
    "image",
)
_INSTRUCTIONS = (
    "Training runs in TensorBoard's event files: begin with list_runs. Answers are bounded; where one has `next`, give "
    f"it as the cursor to go on. {NOTE}"
)


def server_of(
    places: Sequence[str],
    *,
    config: Config | str | os.PathLike[str] | None = None,
    most_bytes: int = 1 << 30,
) -> Any:
    """A server that answers questions about the runs below some places, and about nothing else; it writes nothing.

    Args:
        places: directories of runs, or event files: local paths, or addresses that fsspec knows.
        config: what the audit looks for, as in `audit`.
        most_bytes: how much memory the columns of runs may take.

    Returns:
        An `mcp.server.mcpserver.MCPServer`; its `run()` answers on standard input and output until that ends.

    Raises:
        ImportError: the SDK is not installed.
        FileNotFoundError: a place does not exist.
        ConfigError: the configuration is invalid.
    """
    sdk = needs("mcp.server.mcpserver", "mcp")
    annotations = needs("mcp.types", "mcp").ToolAnnotations(read_only_hint=True, open_world_hint=False)
    named, audit = existing_places(places), as_config(config)
    library = Library(named, audit, most_bytes)
    answers = Answers(library, named, audit)
    server = sdk.MCPServer("gradledger", version=summaries.__version__, instructions=_INSTRUCTIONS, log_level="WARNING")
    for name in _TOOLS:
        tool = _tool(getattr(answers, name), sdk)
        server.add_tool(tool, name=name, annotations=annotations, structured_output=False)
    library.start()
    return server


def _tool(answer: Callable[..., Any], sdk: Any) -> Callable[..., Any]:
    """A method as a tool: with its arguments' types for the SDK to check, and errors that the program can read."""

    @functools.wraps(answer)
    def tool(**asked: Any) -> Any:
        try:
            told = answer(**asked)
        except (LookupError, ValueError, OSError, ImportError) as error:  # TimeoutError is an OSError
            text = error.args[0] if isinstance(error, KeyError) and error.args else error
            raise sdk.exceptions.ToolError(shown(str(text))) from error
        if isinstance(told, str):
            return told
        text, data, kind = told
        return [text, sdk.Image(data=data, format=kind)]

    vars(tool)["__signature__"] = inspect.signature(answer, eval_str=True).replace(return_annotation=Any)
    return tool
