"""Suites that others wrote, run with our writer in the place of the one that they were written for.

Source distributions hold them, or a commit of a repository; they are fetched into a directory that is no part of ours.
Of repositories of gigabytes only the files that are needed are fetched, one by one.

A suite runs twice, with the original writer and with ours. What counts are the tests that make a writer.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import pytest

__all__ = ["SUITES", "Suite", "fetch", "outcomes"]

REPORT = "CONFORMANCE_REPORT"
COMMIT = "https://codeload.github.com/{}/tar.gz/{}"
FILE = "https://raw.githubusercontent.com/{}/{}/{}"


class Suite(NamedTuple):
    """Tests of a package.

    Attributes:
        package: its name.
        libraries: whose writers they make.
        folder: where they are run.
        files: the files whose tests are run, as patterns in that folder.
        tests: how many make a writer and pass with the original.
        reasons: those that do not pass with ours → why.
        repository: where they lie, as owner/name, if its source distribution has none.
        commit: the commit that fits the release.
        inside: the folder of the source that holds the tests: "tests" where they lie apart from the package, else the
            package's own, over which what is installed is laid, since the source lacks what a build generates.
        is_huge: whether the repository is one of gigabytes, of which only `files` are fetched, one by one; a file may
            name a commit of its own, path@commit.
        part: which part of the package they test, where there are several.
    """

    package: str
    libraries: tuple[str, ...]
    folder: str
    files: tuple[str, ...]
    tests: int
    reasons: dict[str, str] = {}  # noqa: RUF012 - nothing changes it
    repository: str = ""
    commit: str = ""
    inside: str = "tests"
    is_huge: bool = False
    part: str = ""

    @property
    def name(self) -> str:
        """The package, and the part of it."""
        return f"{self.package} {self.part}".strip()


_PLACE = "the first set of hyperparameters goes to the run itself, not to a run below it"
_FLOAT64 = "pictures of float64 are scaled as they are, as tensorboardX does, not as float32: bytes differ by one"
_READ = "test_summary_reader/test_{}"

_WRITER = "tensorflow/python/summary/writer/writer_test.py::{}FileWriterTestCase::test{}"
_ACCUMULATOR = "tensorboard/backend/event_processing/{}event_accumulator_test.py::MockingEventAccumulatorTest::test{}"
_SINKS = [
    *(_ACCUMULATOR.format("", f"TFSummary{kind}") for kind in ("Image", "Scalar", "Tensor")),
    *(_ACCUMULATOR.format("plugin_", f"NewStyle{kind}Summary") for kind in ("Audio", "Image", "Scalar")),
    *(
        _ACCUMULATOR.format("plugin_", f"TFSummaryTensor{of}")
        for of in (
            "",
            "_SizeGuidance_DefaultToTensorGuidance",
            "_SizeGuidance_IgnoreIrrelevantGuidances",
            "_SizeGuidance_UseLargeSingularPluginGuidance",
            "_SizeGuidance_UseSmallSingularPluginGuidance",
        )
    ),
]

_CLIP = "tensorflow/python/kernel_tests/math_ops/clip_ops_test.py"
_OF_TRAINING = (
    f"{_CLIP}@37b680c93bb61bcb9105edc577aafe9f3c312cee",
    *(
        f"tensorflow/python/training/{of}_test.py@{commit}"
        for of, commit in (
            ("adadelta", "28e1ce04e5d2ae7d98f0fb81431e0ba811eae927"),
            ("adagrad", "c7ffe90138b2a238b8dd80da9aed0922208f4ccc"),
            ("adam", "79b8771f19c4c916ad82994e3ee104f7d6c3c9bd"),
            ("coordinator", "168ac51ec34af1bd261a7b09ad70b248d66cbe5b"),
            ("ftrl", "f72ccf801236361a6c80e1098675182048cc76d7"),
            ("gradient_descent", "168ac51ec34af1bd261a7b09ad70b248d66cbe5b"),
            ("learning_rate_decay", "4bb4bfce6fddcad5fd25736b8c051e547eb159bf"),
            ("momentum", "36c0475865ec103b5a3c2de4a69b17eddf7a9903"),
            ("moving_averages", "4bb4bfce6fddcad5fd25736b8c051e547eb159bf"),
            ("proximal_adagrad", "d1e959e97dd4a810988027c07714fbbabecacba3"),
            ("proximal_gradient_descent", "38fefe8d27a23093969b84e9ec9817af34ab71b4"),
            ("rmsprop", "c4977ca4ddbf06a175c83d6fa5d778645b38c17e"),
        )
    ),
)

SUITES = [
    Suite(
        "tensorboardX",
        ("tensorboardX",),
        ".",
        ("tests/test_*.py", "tests/*_test.py"),
        27,
        {
            "tests/test_multiprocess_write.py::GlobalWriterTest::test_writer": (
                "each forked process writes a file of its own in the run's directory; the test reads the first alone"
            ),
            "tests/test_writer.py::WriterTest::test_writer_with_default_metadata": (
                "the test replaces a method inside tensorboardX"
            ),
        },
    ),
    Suite("pytorch-ignite", ("torch", "tensorboardX"), ".", ("tests/ignite/handlers/test_tensorboard_logger.py",), 5),
    Suite(
        "stable-baselines3",
        ("torch",),
        ".",
        ("tests/test_logger.py", "tests/test_tensorboard.py"),
        19,
        {"tests/test_logger.py::test_report_video_to_tensorboard": "videos need no moviepy, for whose name it waits"},
    ),
    Suite(
        "lightning",
        ("torch", "tensorboardX"),
        "tests",
        ("tests_pytorch/loggers/test_tensorboard.py",),
        15,
        repository="Lightning-AI/pytorch-lightning",
        commit="908dc9e49288fbb105db0c859cb2a43f1be84fa9",
    ),
    Suite(
        "tbparse",
        ("torch", "tensorboardX"),
        "tests",
        (_READ.format("*.py"),),
        53,
        {
            **dict.fromkeys(
                (_READ.format(f"audio{of}.py::test_tensorboardX") for of in ("", "_2_channels")),
                "samples are truncated to 16 bits, as in torch, not rounded: they differ by one in 32767 at most",
            ),
            **dict.fromkeys(
                (
                    *(
                        _READ.format(f"hparams.py::test_{of}")
                        for of in ("event_file_raw", "event_file", "run_dir", "log_dir")
                    ),
                    _READ.format("hparams_torch_sample.py::test_log_dir"),
                ),
                _PLACE,
            ),
            **dict.fromkeys(
                (_READ.format(f"{of}.py::test_tensorboardX") for of in ("hparams", "scalar")),
                "tags are kept; tensorboardX replaces what is no letter, digit, - / . or _ in them",
            ),
            **dict.fromkeys(
                (
                    _READ.format("image.py::test_event_file_raw"),
                    *(
                        _READ.format(f"image{of}.py::test_log_dir")
                        for of in ("", "_torch_sample", "s", "s_torch_sample")
                    ),
                ),
                _FLOAT64,
            ),
            _READ.format("scalars_torch_sample.py::test_tensorboardX"): (
                "a curve's run is named <main_tag>_<name>, as torch does; tensorboardX nests them"
            ),
        },
        repository="j3soon/tbparse",
        commit="83fdea04ada41db9b0606683d76da9e0d946e659",
    ),
    Suite(
        "torch",
        ("torch",),
        ".",
        ("test/test_tensorboard.py",),
        14,
        repository="pytorch/pytorch",
        commit="017943b70f6920c395e3b6dac100e2cd7ecfa92a",
        is_huge=True,
    ),
    Suite(
        "tensorflow-cpu",
        ("TF1",),
        ".",
        ("tensorflow/python/summary/writer/writer_test.py",),
        38,
        {
            **dict.fromkeys(
                (_WRITER.format(of, "NeitherGraphNorGraphDef") for of in ("", "SessionBased")),
                "a second argument that is text is the comment, as torch has it, and no wrong graph",
            ),
            **dict.fromkeys(
                (_WRITER.format(of, "UseAfterClose") for of in ("", "SessionBased")),
                "a closed writer that is used again goes on in a new file, as torch's does, and does not warn",
            ),
            **dict.fromkeys(
                (
                    _WRITER.format("", f"WriterException_raisedFrom{of}")
                    for of in ("AddEvent", "Close", "Flush", "PendingAddEvent")
                ),
                "the test puts a sink of its own into the thread of TensorFlow's writer",
            ),
            _WRITER.format("SessionBased", "Sharing_withExplicitSummaryFileWriters"): (
                "TensorFlow 2's writer in the same session has a file of its own"
            ),
        },
        repository="tensorflow/tensorflow",
        commit="0304934138cbfabd338ec432a630a9c3c1191564",
        is_huge=True,
    ),
    Suite(
        "tensorflow-cpu",
        ("TF1-training",),
        ".",
        _OF_TRAINING,
        149,
        {
            **dict.fromkeys(
                (f"{_CLIP}::ClipTest::test{of}" for of in ("ClipByNormGradientZeros", "ClipByValueGradient")),
                "the test takes the gradient of what is clipped, through a graph of TensorFlow's",
            ),
            "tensorflow/python/training/learning_rate_decay_test.py::LRDecayTest::testPiecewiseConstantEdgeCases": (
                "rates may be integers and floats in one list"
            ),
        },
        repository="tensorflow/tensorflow",
        is_huge=True,
        part="training",
    ),
    Suite(
        "tensorboard",
        ("TF1",),
        ".",
        ("tensorboard/backend/event_processing/*_test.py", "tensorboard/plugins/*/*_plugin_test.py"),
        80,
        dict.fromkeys(_SINKS, "the test puts a sink of its own in the place of the attribute `event_writer`"),
        repository="tensorflow/tensorboard",
        commit="6a3f1c91932a2987d5604e56faa0b22cc661a0a4",
        inside="tensorboard",
    ),
]


def fetch(suite: Suite, directory: Path) -> Path:
    """Fetch the tests of the installed package once, and return the folder in which they are run.

    Raises:
        OSError: the repository cannot be reached.
    """
    name = f"{suite.name.replace(' ', '-')}-{suite.commit or version(suite.package)}"
    if not (directory / name).exists():
        with tempfile.TemporaryDirectory(dir=directory) as scratch:  # what is interrupted is begun anew
            whole = Path(scratch, name)
            if suite.is_huge:
                for file in suite.files:
                    path, _, commit = file.partition("@")
                    (whole / path).parent.mkdir(parents=True, exist_ok=True)
                    _download(FILE.format(suite.repository, commit or suite.commit, path), whole / path)
            else:
                _extract(suite, Path(scratch), whole)
            if suite.inside == suite.package:
                installed = Path(importlib.import_module(suite.package).__file__).parent
                shutil.copytree(installed, whole / suite.inside, dirs_exist_ok=True)
            whole.rename(directory / name)
    return directory / name / suite.folder


def _extract(suite: Suite, scratch: Path, whole: Path) -> None:
    archive = scratch / "source.tar.gz"
    if suite.repository:
        _download(COMMIT.format(suite.repository, suite.commit), archive)
    else:
        wanted = ["--no-deps", "--no-binary", ":all:", f"{suite.package}=={version(suite.package)}"]
        command = [sys.executable, "-m", "pip", "download", "--quiet", *wanted, "--dest", str(scratch)]
        subprocess.run(command, check=True)
        (archive,) = scratch.glob("*.tar.gz")
    with tarfile.open(archive) as source:
        inside = [member for member in source.getmembers() if f"/{suite.inside}/" in member.name]
        for member in inside:
            member.name = member.name.partition("/")[2]
        source.extractall(whole, inside, filter="data")


def _download(url: str, path: Path) -> None:
    with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310 - an address of ours
        path.write_bytes(answer.read())


def outcomes(suite: Suite, folder: Path, writer: str, report: Path) -> dict[str, tuple[str, bool]]:
    """Test → its outcome, and whether it made a writer."""
    paths = os.pathsep.join(map(str, (Path(__file__).parents[2], Path(__file__).parents[1], folder)))
    chosen = {"CONFORMANCE_WRITER": writer, "CONFORMANCE_LIBRARIES": " ".join(suite.libraries)}
    environment = os.environ | {"PYTHONPATH": paths, REPORT: str(report), **chosen}
    options = f"-q -c {os.devnull} --rootdir . -W ignore -p conformance.suites -p no:cacheprovider"
    patterns = [file.partition("@")[0] for file in suite.files]
    files = sorted(str(path.relative_to(folder)) for pattern in patterns for path in folder.glob(pattern))
    command = [sys.executable, "-m", "pytest", *options.split(), "--continue-on-collection-errors", *files]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert report.exists(), done.stdout + done.stderr
    return json.loads(report.read_text(encoding="utf-8"))


# The plugin, in the process that runs the suite.

_made: list[int] = [0]
_seen: dict[str, tuple[str, bool]] = {}


def _count(holder: object, name: str) -> None:
    """Count the calls of what is put in the place of the original there, a class or a function."""
    called = getattr(holder, name)
    if isinstance(called, type):
        holder, name, called = called, "__init__", called.__init__

    @functools.wraps(called)
    def counting(*arguments: object, **options: object) -> object:
        _made[0] += 1
        return called(*arguments, **options)

    setattr(holder, name, counting)


def pytest_configure() -> None:
    """Put ours in the originals' place before a test can import them."""
    if REPORT not in os.environ:
        return
    from conformance.clients.run import PLACES, holder_of, substitute

    libraries = os.environ["CONFORMANCE_LIBRARIES"].split()
    is_ours = os.environ["CONFORMANCE_WRITER"] == "ours"
    if any(library.startswith("TF1") for library in libraries):  # whose tests are programs with flags
        from absl import flags

        flags.FLAGS.mark_as_parsed()
    if "TF1-training" in libraries:
        from conformance import in_tensorflow

        in_tensorflow.as_in_tf1()
        if is_ours:
            in_tensorflow.substitute()
        for place, name in in_tensorflow.PLACES:
            _count(holder_of(place), name)
        return
    for library in libraries:
        if is_ours:
            substitute(library)
        for place, name in {getattr(holder_of(place), name): (place, name) for place, name in PLACES[library]}.values():
            _count(holder_of(place), name)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> object:
    """Note whether a test makes a writer."""
    before = _made[0]
    done = yield
    outcome, _ = _seen.get(item.nodeid, ("passed", False))
    _seen[item.nodeid] = outcome, _made[0] > before
    return done


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test's outcome, which is that of its first phase that did not pass."""
    outcome, made = _seen.get(report.nodeid, ("passed", False))
    _seen[report.nodeid] = outcome if outcome != "passed" else report.outcome, made


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Files that cannot be imported, for want of a library, count as skipped."""
    if report.failed:
        _seen[report.nodeid] = "skipped", False


def pytest_sessionfinish() -> None:
    """Write what was seen."""
    if REPORT in os.environ:
        Path(os.environ[REPORT]).write_text(json.dumps(_seen), encoding="utf-8")
