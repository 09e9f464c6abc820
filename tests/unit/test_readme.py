"""The README's Python runs, block after block, as a reader would type it."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

README = Path(__file__).parent.parent.parent / "README.md"


@pytest.mark.skipif(
    not (find_spec("pandas") and find_spec("safetensors")),
    reason="the extras `export` and `checkpoint` are not installed",
)
def test_the_blocks_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) >= 3
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)  # noqa: S102 - our own
    assert (tmp_path / "loss.png").stat().st_size > 1000
    norm, *_ = capsys.readouterr().out.split()
    assert 0 < float(norm) < 1
