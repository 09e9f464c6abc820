"""Where TensorBoard finds our page. Nothing of ours is imported before it is opened, and no error of ours gets out.

An entry point that cannot be imported stops TensorBoard for everybody; and whatever it imports, every start waits for.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from tensorboard.plugins import base_plugin

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

    WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

__all__ = ["GradledgerLoader", "GradledgerPlugin"]

NAME = "gradledger"
ENTRY = "/page/plugin.js"


class GradledgerLoader(base_plugin.TBLoader):  # type: ignore[misc]
    """Makes the plugin when TensorBoard starts."""

    def define_flags(self, parser: argparse.ArgumentParser) -> None:
        """Add our flags to TensorBoard's."""
        group = parser.add_argument_group("gradledger plugin")
        group.add_argument(
            "--gradledger_memory_mb",
            metavar="MB",
            type=int,
            default=1024,
            help="How much memory the scalars that gradledger's page shows may take, in megabytes. Runs that were not "
            "looked at for the longest time are let go of first, and read again when they are opened.",
        )
        group.add_argument(
            "--gradledger_config",
            metavar="PATH",
            type=str,
            default="",
            help="The TOML file that says what gradledger's audit looks for; as in `gradledger audit --config`.",
        )

        group.add_argument(
            "--gradledger_hosts",
            metavar="NAMES",
            type=str,
            default="",
            help="Under which names, between commas, a proxy on this machine makes TensorBoard known. Without "
            "--bind_all or --host, our page is only given to browsers that ask localhost.",
        )

    def load(self, context: base_plugin.TBContext) -> GradledgerPlugin:
        """Make the plugin."""
        return GradledgerPlugin(context)


class GradledgerPlugin(base_plugin.TBPlugin):  # type: ignore[misc]
    """The plugin: an address for each of its files and data, behind which nothing is imported until it is asked for."""

    plugin_name = NAME

    def __init__(self, context: base_plugin.TBContext) -> None:
        self._flags = context.flags
        self._logdir = context.logdir or ""
        self._lock = threading.Lock()
        self._app: WsgiApp | None = None

    def get_plugin_apps(self) -> dict[str, WsgiApp]:
        """The addresses; which files and data there are below them, the application knows."""
        return {ENTRY: self._answer, "/page/*": self._answer, "/data/*": self._answer}

    def is_active(self) -> bool:
        """Whether there is anything to read; TensorBoard waits for this."""
        return bool(self._logdir or getattr(self._flags, "logdir_spec", ""))

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        """Where the page begins; it reloads its data by itself."""
        return base_plugin.FrontendMetadata(es_module_path=ENTRY, tab_name=NAME, disable_reload=True)

    def _answer(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        try:
            return self._application()(environ, start_response)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with us, TensorBoard goes on
            return _failed(error, start_response)

    def _application(self) -> WsgiApp:
        with self._lock:
            if self._app is None:
                from summaries.integrations.tensorboard.application import application  # noqa: PLC0415 - see above

                self._app = application(self._logdir, self._flags)
            return self._app


def _failed(error: Exception, start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Say on the page, not only in a log, why there is none: as a script, because a script was asked for."""
    import json  # noqa: PLC0415 - see above

    said = json.dumps(f"gradledger cannot show its page: {type(error).__name__}: {error}").replace("<", "\\u003c")
    script = f"export function render() {{ document.body.textContent = {said}; }}".encode("ascii")
    head = [("Content-Type", "text/javascript; charset=utf-8"), ("X-Content-Type-Options", "nosniff")]
    start_response("200 OK", [*head, ("Cache-Control", "no-store"), ("Content-Length", str(len(script)))])
    return [script]
