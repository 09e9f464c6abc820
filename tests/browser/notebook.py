"""JupyterLab as a process, and one of its notebooks as a page: its cells are run, and what they show is looked at."""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import contextmanager
from urllib.request import urlopen

import numpy as np
from browser.dashboard import TIMEOUT, until
from PIL import Image
from processes.servers import running

THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
_QUIET = {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True}


def write_notebook(path, cells):
    """A notebook with these cells, none of which was run."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    code = [
        {
            "cell_type": "code",
            "id": f"cell-{number}",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": cell,
        }
        for number, cell in enumerate(cells)
    ]
    notebook = {"cells": code, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(notebook), encoding="utf-8")


@contextmanager
def serve_lab(directory, home, theme):
    """The address of a JupyterLab for the notebooks in a directory; its settings are in `home`."""
    settings = home / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    for name, values in {"themes": {"theme": THEMES[theme]}, "notification": _QUIET}.items():
        (settings / f"{name}.jupyterlab-settings").write_text(json.dumps(values), encoding="utf-8")
    places = {"JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data"}
    places |= {"JUPYTER_RUNTIME_DIR": "runtime", "IPYTHONDIR": "ipython", "JUPYTERLAB_WORKSPACES_DIR": "workspaces"}
    environment = os.environ | {name: str(home / part) for name, part in places.items()}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0"]
    command += ["--ServerApp.port_retries=0", "--IdentityProvider.token=", f"--ServerApp.root_dir={directory}"]
    with running(command, home / "log", env=environment) as (process, address):
        started = until(lambda: process.poll() is not None or _answers(address)) and process.poll() is None
        assert started, (home / "log").read_text(encoding="utf-8")
        yield address


def _answers(address):
    try:
        with urlopen(f"{address}/api/status", timeout=TIMEOUT) as answer:  # noqa: S310 - our own server's address
            return answer.status == 200
    except OSError:
        return False


def _is_connected(address):
    """Whether the page of the only notebook has its kernel. Cells that are run before that are dropped."""
    with urlopen(f"{address}/api/sessions", timeout=TIMEOUT) as answer:  # noqa: S310 - our own server's address
        return any(session["kernel"]["connections"] for session in json.load(answer))


class Notebook:
    """A notebook in JupyterLab, all of whose cells were run."""

    def __init__(self, page, address, name, cells, theme):
        self.page = page
        self.theme = theme
        self.errors = []
        page.set_default_timeout(TIMEOUT * 1000)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(f"{address}/lab/tree/{name}")
        page.locator(".jp-Cell").nth(cells - 1).wait_for(state="attached")
        pause = lambda seconds: page.wait_for_timeout(1000 * seconds)  # noqa: E731 - the page goes on meanwhile
        assert until(lambda: _is_connected(address), pause)
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        done = page.locator(".jp-InputPrompt", has_text=f"[{cells}]:")
        failed = page.locator('[data-mime-type="application/vnd.jupyter.error"]')
        prompts = page.locator(".jp-InputPrompt")
        assert until(lambda: done.count() or failed.count(), pause), prompts.all_inner_texts()
        assert failed.all_inner_texts() == []

    def output(self, number):
        """What a cell shows, scrolled to, so that it is drawn."""
        cell = self.page.locator(".jp-Notebook .jp-Cell").nth(number)
        cell.scroll_into_view_if_needed()
        return cell.locator(".jp-Cell-outputArea")

    @staticmethod
    def brightness(element):
        """The mean of what an element shows, from 0 to 255."""
        return float(np.asarray(Image.open(io.BytesIO(element.screenshot())).convert("L")).mean())
