"""Alerts: a finding as a message to a URL, in the shape that its service expects, and as a command to run.

    generic    {"text", "tool", "finding": as in the JSON report}
    slack      {"text"}: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
    discord    {"content"}: https://discord.com/developers/docs/resources/webhook#execute-webhook

The host says which shape; `slack+https://…` and `discord+https://…` say it for services that understand the same.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import summaries
from summaries.auditing.report.json import finding_as_dict
from summaries.auditing.report.text import steps_text
from summaries.presenting.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from summaries.auditing.findings import Finding

__all__ = ["AlertError", "by_command", "by_url", "message"]

_POST_SECS = 10.0
_COMMAND_SECS = 60.0
_DISCORD_CHARACTERS = 2000
_HOSTS = {"hooks.slack.com": "slack", "discord.com": "discord", "discordapp.com": "discord"}


class AlertError(Exception):
    """An alert could not be given. The message names the host or the program, but no secret part of an address."""


def by_url(address: str) -> Callable[[Finding], None]:
    """A function that posts a finding to a URL.

    Args:
        address: an http or https URL, perhaps after `slack+`, `discord+` or `json+`.

    Returns:
        The function; it raises AlertError if the post fails, or takes more than ten seconds.

    Raises:
        ValueError: the address is no such URL.
    """
    shape, _, url = address.partition("+")
    if shape not in _SHAPES:
        shape, url = "", address
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError(f"--notify must be an http or https URL, got {address!r}")
    shaped = _SHAPES[shape or _HOSTS.get(parts.hostname, "json")]

    from urllib.request import Request, urlopen  # noqa: PLC0415 - importing it takes ten milliseconds

    def post(finding: Finding) -> None:
        data = json.dumps(shaped(finding), allow_nan=False).encode()
        headers = {"Content-Type": "application/json", "User-Agent": f"gradledger/{summaries.__version__}"}
        request = Request(url, data, headers)  # noqa: S310 - the scheme was checked
        try:
            with urlopen(request, timeout=_POST_SECS):  # noqa: S310 - the scheme was checked
                pass
        except (OSError, ValueError) as error:  # URLError and HTTPError are OSErrors
            raise AlertError(f"cannot notify {parts.hostname}: {error}") from error

    return post


def by_command(command: str) -> Callable[[Finding], None]:
    """A function that runs a command for a finding, without a shell.

    The command gets the finding as JSON on standard input, and its parts as the environment variables GRADLEDGER_CODE,
    _NAME, _SEVERITY, _RUN, _TAG and _MESSAGE. Nothing of a finding becomes a part of the command itself.

    Args:
        command: a program and its arguments, quoted as for a shell.

    Returns:
        The function; it raises AlertError if the command fails, or takes more than a minute.

    Raises:
        ValueError: the command is empty, or its quotes are not closed.
    """
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"--exec must be a command, got {command!r}: {error}") from None
    if not arguments:
        raise ValueError(f"--exec must be a command, got {command!r}")

    def run(finding: Finding) -> None:
        values = {name: str(getattr(finding, name)) for name in ("code", "name", "run", "tag", "message")}
        values["severity"] = finding.severity.name.lower()
        environment = {f"GRADLEDGER_{name.upper()}": printable(value) for name, value in values.items()}
        try:
            subprocess.run(  # noqa: S603 - the user's own command
                arguments,
                input=json.dumps(finding_as_dict(finding), allow_nan=False),
                text=True,
                env=os.environ | environment,
                timeout=_COMMAND_SECS,
                check=True,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise AlertError(f"cannot run {arguments[0]}: {error}") from error

    return run


def message(finding: Finding) -> str:
    """A finding in two lines.

    >>> from summaries.auditing.findings import Finding, Severity
    >>> print(message(Finding("GL301", "non-finite-loss", Severity.ERROR, "a", "loss", (7, 9), "loss is nan")))
    error GL301 non-finite-loss in a, steps 7 to 9
    loss is nan
    """
    where = ", ".join(filter(None, (printable(finding.run), steps_text(finding))))
    return f"{finding.severity.name.lower()} {finding.code} {finding.name} in {where}\n{printable(finding.message)}"


def _generic(finding: Finding) -> dict[str, Any]:
    tool = {"name": "gradledger", "version": summaries.__version__}
    return {"text": message(finding), "tool": tool, "finding": finding_as_dict(finding)}


def _slack(finding: Finding) -> dict[str, Any]:
    text = message(finding).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")  # what else has a meaning
    return {"text": text}


def _discord(finding: Finding) -> dict[str, Any]:
    # No part of a name may call people: @everyone is just text.
    return {"content": message(finding)[:_DISCORD_CHARACTERS], "allowed_mentions": {"parse": []}}


_SHAPES: dict[str, Callable[[Finding], dict[str, Any]]] = {"json": _generic, "slack": _slack, "discord": _discord}
