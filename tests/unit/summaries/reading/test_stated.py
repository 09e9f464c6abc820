"""What runs state of their hyperparameters, and where."""

import glob
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from summaries import SummaryWriter, read_run
from summaries.reading.stated import beside, configuration, from_name, parsed, stated


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("lr=0.1_bs=32", {"lr": 0.1, "bs": 32}),
        ("sweep/learning_rate=1e-3-batch_size=32", {"learning_rate": 0.001, "batch_size": 32}),
        ("lr=-0.5,act=relu,bias=True", {"lr": -0.5, "act": "relu", "bias": True}),
        ("a/model.dim=8/seed=1", {"model.dim": 8, "seed": 1}),
        ("opt=adam_w_lr=0.1", {"opt": "adam", "w_lr": 0.1}),
        ("version_3", {}),
        ("lr=0.1_2", {"lr": "0.1_2"}),  # Python takes it for 0.12
        ("lr=0.1,6df98", {"lr": 0.1}),
        (".", {}),
    ],
)
def test_from_names(name, found):
    assert from_name(name) == found


def write(path, text=None, tag="config", hparams=None, files=()):
    """A run with these texts and files."""
    with SummaryWriter(str(path)) as writer:
        writer.add_scalar("loss", 1.0, 0)
        if text is not None:
            writer.add_text(tag, text, 0)
        if hparams is not None:
            from summaries import hparams as summary

            writer.add_summary(summary(hparams, {}), 0)
    for name, content in dict(files).items():
        file = path / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_run(str(path))


def test_each_source_is_named_and_the_first_that_states_a_value_stands(tmp_path):
    run = write(
        tmp_path,
        json.dumps({"lr": 3, "text": 1}),
        hparams={"lr": 2.0, "board": True},
        files={
            "hparams.yaml": "lr: 4\nyaml: 1e-3\nboard: false\n",
            "args.json": json.dumps({"yaml": 5, "args": None, "betas": [0.9, 0.99]}),
            ".hydra/config.yaml": "optimizer:\n  lr: 6\n",
        },
    )
    found = stated("a/lr=1_seed=3", run)
    assert {name: tuple(value) for name, value in found.items()} == {
        "lr": (2.0, "hparams"),
        "seed": (3.0, "name"),
        "board": (True, "hparams"),
        "text": (1.0, "config"),
        "yaml": (0.001, "hparams.yaml"),
        "betas": ("[0.9, 0.99]", "args.json"),
        "optimizer.lr": (6.0, ".hydra/config.yaml"),
    }


def test_runs_are_grouped_by_what_was_stated_on_purpose_and_by_what_is_asked_for(tmp_path):
    run = write(tmp_path, hparams={"lr": 2.0}, files={"hparams.yaml": "lr: 4\nwd: 0.1\noutput: /a\n"})
    assert configuration("seed=1", run) == {"lr": 2.0, "seed": 1.0}
    assert configuration("seed=1", run, ["wd", "lr", "no"]) == {"lr": 2.0, "seed": 1.0, "wd": 0.1}


@pytest.mark.parametrize("content", [b"\xff\xfe: 1", b"{" * 100_000, b'{"a": ', b"", b"- 1\n- 2\n", b": :\n\t- x"])
def test_a_file_that_is_no_configuration_states_nothing(tmp_path, content):
    run = write(tmp_path, files={"args.json": content, "hparams.yaml": content})
    assert stated(".", run) == {}


@pytest.mark.only_on_disks(reason="a link")
@pytest.mark.parametrize("link", ["args.json", ".hydra"])
def test_a_link_states_nothing(tmp_path, monkeypatch, link):
    """Who unpacks a run from elsewhere would show his own files in its hyperparameters."""
    (tmp_path / "mine").mkdir()
    for name in ("mine/args.json", "mine/config.yaml"):
        (tmp_path / name).write_text('{"auth": "secret"}')
    run = write(tmp_path / "run")
    (tmp_path / "run" / link).symlink_to(tmp_path / ("mine" if link == ".hydra" else "mine/args.json"))
    monkeypatch.chdir(tmp_path / "run")
    (name,) = glob.glob("*tfevents*")
    for read in (run, read_run("."), read_run(name)):
        assert stated("", read) == {}
    assert beside(str(tmp_path / "run")) == beside("") == {}


def test_a_directory_with_the_name_of_a_file_states_nothing(tmp_path):
    (tmp_path / "opt.yaml").mkdir()
    assert stated(".", write(tmp_path)) == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("|param|value|\n|-|-|\n|lr|0.1|\n|env|CartPole|", {"lr": 0.1, "env": "CartPole"}),
        ("```yaml\nlr: 0.1\n```", {"lr": 0.1}),
        ("a: \"x # y\"  # z\nb: it # c\nc: '0.1'", {"a": "x # y", "b": "it", "c": "0.1"}),
        ("a:\n- 1\n- b: 2\n  c: 3\nd: 4", {"d": 4}),
        ("a: |\n  b: 1\n\n  c: 2\nd: 3", {"d": 3}),
        ("a: !!python/object:os.system\n  b: 1\nc: *x\nd: null\ne: ~\nf: {g: 1}", {}),
        ("a: -.inf\nb: http://x:1/y", {"a": -math.inf, "b": "http://x:1/y"}),
        (json.dumps({"a": 10**400}), {"a": str(10**400)}),
        ("see the paper", {}),
    ],
)
def test_texts(text, found):
    assert parsed(text) == found


TREES = st.recursive(
    st.booleans()
    | st.floats(allow_nan=False)
    | st.integers(-(10**9), 10**9)
    | st.text("ab #:'\"[]{}!-.0e", max_size=8),
    lambda inner: st.dictionaries(st.text("abc_1", min_size=1, max_size=4), inner, min_size=1, max_size=4),
    max_leaves=12,
)


def flat(tree, prefix=""):
    for key, value in tree.items():
        name = f"{prefix}.{key}" if prefix else str(key)
        if isinstance(value, dict):
            yield from flat(value, name)
        else:
            yield name, value


def is_number(text):
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


@given(st.dictionaries(st.text("abc_", min_size=1, max_size=4), TREES, max_size=4))
def test_what_a_yaml_library_writes_is_read_back_or_left_out(tree):
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    want = dict(flat(tree))
    found = parsed(yaml.safe_dump(tree))
    # The library takes 1e-3 and -.0 for text, but writes them as a person would write a number.
    for name, value in want.items():
        if isinstance(value, str) and yaml.safe_dump(value)[0] not in "'\"" and is_number(value):
            want[name] = float(value)
    assert found.keys() <= {str(key) for key in want}
    for name, value in found.items():
        assert value == (want[name] if isinstance(want[name], (str, bool)) else float(want[name]))
    left_out = [want[name] for name in want if name not in found]
    assert all(isinstance(value, str) for value in left_out)


@given(st.text(max_size=60) | st.text("ab:-#'\"{}[]|> \n", max_size=60))
def test_no_text_raises(text):
    parsed(text)


@pytest.mark.parametrize("number", [2**53 + 1, -(2**63) - 1, 10**400])
def test_an_integer_that_a_float_cannot_hold_stays_as_it_is(number):
    text = str(number)
    assert (
        parsed(json.dumps({"seed": number})) == parsed(f"seed: {text}") == from_name(f"seed={text}") == {"seed": text}
    )
    assert parsed(json.dumps({"seed": 2**53})) == {"seed": 2.0**53}
