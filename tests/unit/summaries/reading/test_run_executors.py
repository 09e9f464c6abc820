"""read_logdir on executors: the same columns, in the same order."""

from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from summaries import SummaryWriter, read_logdir


@pytest.fixture
def runs(tmp_path):
    for name in ("b", "a", "a/c"):
        with SummaryWriter(tmp_path / name) as writer:
            for step in range(20 + len(name)):
                writer.add_scalar("loss", 1 / (1 + step), step)
                writer.add_text("note", name, step)
    return tmp_path


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_the_same_columns(runs, kind):
    here = read_logdir(runs)
    with kind(2) as executor:
        there = read_logdir(runs, executor=executor)
    assert list(there) == list(here) == ["a", "a/c", "b"]
    for name, run in here.items():
        assert there[name].scalars["loss"].value.tobytes() == run.scalars["loss"].value.tobytes()
        assert there[name].texts.keys() == run.texts.keys() == {"note/text_summary"}
        assert there[name].files == run.files


@pytest.mark.only_on_disks(reason="a link that cannot be followed")
def test_a_file_that_cannot_be_read(runs):
    (runs / "a" / "b.tfevents").symlink_to("long" * 100)
    with ThreadPoolExecutor(2) as executor, pytest.raises(OSError, match="name too long"):
        read_logdir(runs, executor=executor)


def test_a_worker_that_is_lost(runs):
    class Broken(Executor):
        def submit(self, fn, /, *args, **kwargs):
            raise BrokenExecutor("it is off.")

    with pytest.raises(ChildProcessError) as raised:
        read_logdir(runs / "b", executor=Broken())
    assert str(raised.value) == ".: its executor broke, and with it all that was left: it is off."
