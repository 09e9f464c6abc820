"""The README's Python runs, block after block, as a reader would type it."""

import re
from pathlib import Path

README = Path(__file__).parent.parent.parent / "README.md"


def test_the_blocks_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) >= 3
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)  # noqa: S102 - our own
    assert "99 train/loss" in capsys.readouterr().out
