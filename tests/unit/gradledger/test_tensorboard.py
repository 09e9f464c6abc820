"""TensorBoard's entry point: it imports nothing of ours, and nothing of ours can stop TensorBoard."""

import json
import subprocess
import sys
from importlib.metadata import entry_points
from types import SimpleNamespace

import pytest
from helpers import ROOT, run

pytest.importorskip("tensorboard", reason="the extra `tensorboard` is not installed")

PLUGIN = "gradledger.tensorboard:GradledgerLoader"


def plugin(**context):
    from gradledger.tensorboard import GradledgerLoader

    given = {"logdir": "", "flags": None, **context}
    return GradledgerLoader().load(SimpleNamespace(**given))


def test_tensorboard_finds_it():
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'[project.entry-points.tensorboard_plugins]\ngradledger = "{PLUGIN}"\n' in declared
    installed = [one.value for one in entry_points(group="tensorboard_plugins") if one.name == "gradledger"]
    assert installed in ([PLUGIN], [])  # [] where the project was installed before it had a plugin


def test_it_imports_nothing_of_ours():
    ours = run("-c", "import gradledger.tensorboard, sys; print({'summaries', 'optim', 'numba'} & {*sys.modules})")
    assert ours == "set()\n"


def test_flags():
    import argparse

    from gradledger.tensorboard import GradledgerLoader

    parser = argparse.ArgumentParser()
    GradledgerLoader().define_flags(parser)
    flags = parser.parse_args([])
    assert (flags.gradledger_memory_mb, flags.gradledger_config) == (1024, "")


@pytest.mark.parametrize(
    ("context", "active"),
    [
        ({"logdir": "runs"}, True),
        ({"flags": SimpleNamespace(logdir_spec="a:runs")}, True),
        ({}, False),
        ({"logdir": None, "flags": SimpleNamespace(logdir_spec="")}, False),
    ],
)
def test_it_is_there_when_there_is_a_place(context, active):
    assert plugin(**context).is_active() is active


def test_its_face():
    one = plugin(logdir="runs")
    metadata = one.frontend_metadata()
    assert (metadata.es_module_path, metadata.tab_name) == ("/page/plugin.js", "gradledger")
    assert metadata.es_module_path in one.get_plugin_apps()


BROKEN = """
import json, sys
sys.modules["summaries"] = None  # importing it fails
from types import SimpleNamespace
from gradledger.tensorboard import GradledgerLoader
plugin = GradledgerLoader().load(SimpleNamespace(logdir="runs", flags=None))
told = {}
environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/data/plugin/gradledger/page/plugin.js"}
answer = plugin.get_plugin_apps()["/page/plugin.js"](environ, lambda status, head: told.update(status=status))
print(json.dumps([told["status"], b"".join(answer).decode(), plugin.is_active()]))
"""


def test_what_is_broken_is_said_on_the_page():
    done = subprocess.run([sys.executable, "-c", BROKEN], capture_output=True, text=True, check=True, cwd=ROOT)
    status, script, active = json.loads(done.stdout)
    assert status == "200 OK"
    assert script.startswith(
        'export function render() { document.body.textContent = "gradledger cannot show its page: '
    )
    assert "ModuleNotFoundError" in script
    assert active is True
