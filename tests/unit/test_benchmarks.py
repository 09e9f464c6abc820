"""What is computed of benchmarks' figures: exponents, ratios, README's table; and that contenders take turns."""

import functools
import time

import numpy as np
import pytest
from benchmarks import peers, table
from benchmarks.figures import Figure
from benchmarks.growth import Growth, exponent, interval, rising
from benchmarks.peers import Contender, compare, take_turns
from benchmarks.readme_table import NONE, TIMES, rendered, with_table

RESULTS = {
    "quick": False,
    "machine": {
        "processor": "A processor", "cores": "2", "memory": "24 GiB", "system": "An OS 12", "Python": "3.11.7",
        "numpy": "2.4.6", "torch": "2.13.0", "tensorboardX": "2.6.5", "tbparse": "0.0.9", "wandb": "0.31.0",
    },
    "figures": [
        {"what": "a scalar", "unit": "µs", "ours": 0.3612, "ratios": {"torch": 59.61, "wandb": 5.249}, "was": 0.4,
         "left_out": {}, "job": "log a scalar"},
        {"what": "a run", "unit": "s", "ours": 12.4, "ratios": {"tbparse": 1234.5, "other": 2.0}, "was": None,
         "left_out": {"another": "another is not installed"}, "job": "read a run"},
        {"what": "a secret", "unit": "s", "ours": 1.0, "ratios": {}, "was": None, "left_out": {}, "job": ""},
    ],
    "growths": [{"cost": "reading", "of": "points", "exponent": 1.2, "interval": [1.1, 1.3], "note": ""}],
    "left_out": ["bench_x: moto is not installed"],
}  # fmt: skip


@pytest.mark.parametrize("power", [0.5, 1.0, 1.2])
@pytest.mark.parametrize("fixed", [0.0, 3.0])
def test_a_fixed_cost_does_not_hide_the_exponent(power, fixed):
    sizes = rising(640)
    assert sizes == (10, 40, 160, 640)
    taken = fixed + np.array(sizes) ** power / 10**power  # at the smallest size, most is the fixed cost
    assert exponent(sizes, tuple(taken)) == pytest.approx(power, abs=1e-9)


def test_a_fixed_cost_is_never_negative():
    """Else a size that is cheaper than the line foretells would make the exponent too small."""
    assert exponent((1, 4, 16, 64), (0.5, 3.9, 16.0, 64.0)) == pytest.approx(1.16, abs=0.05)


def test_a_growth_above_the_line_must_be_explained():
    title, line = Growth("reading", "bytes", (1, 4, 16, 64), (0.001, 0.016, 0.256, 4.096)).lines()
    assert title == "reading, growth with bytes"
    assert " ".join(line.split()) == (
        "exponent 2.00 1.99 to 2.03 1: 1 ms, 4: 16 ms, 16: 256 ms, 64: 4.1e+03 ms above 1.05: unexplained"
    )


def test_noise_is_not_explained():
    """3.0, 2.8 and 2.9 µs a tensor: the curve that fits best is steep, and a line fits as well."""
    measured = Growth("a step", "tensors", (400, 1600, 6400), (1.2e-3, 4.48e-3, 18.56e-3), note="caches")
    low, high = measured.interval
    assert low < 1 < measured.exponent < high
    assert "above" not in measured.lines()[1]


def test_the_interval_holds_the_exponent_of_noisy_times():
    chance, sizes = np.random.default_rng(0), rising(6400)
    for power in np.repeat([0.8, 1.0, 1.3], 8):  # 24 fits, each at 601 exponents
        taken = (1 + np.array(sizes) ** power / 50) * (1 + 0.02 * chance.standard_normal(len(sizes)))
        low, high = interval(sizes, tuple(taken))
        assert low <= power <= high


def test_contenders_take_turns_in_processes_of_their_own():
    slow, fast = Contender(functools.partial, (time.sleep, 0.02), "json"), Contender(functools.partial, (time.sleep, 0))
    broken, absent = Contender(functools.partial, (int, "x"), "json"), Contender(functools.partial, (), "no_such_peer")
    contenders = {"gradledger": fast, "slow": slow, "broken": broken, "absent": absent}
    try:
        outcome = take_turns(contenders, seconds=0.1)
        figure = compare("sleep", "MB/s", {"gradledger": fast, "slow": slow}, per=2.0, seconds=0.0, job="sleep")
    finally:
        peers.stop()
    assert outcome.left_out == {
        "broken": "ValueError: invalid literal for int() with base 10: 'x'",
        "absent": "no_such_peer is not installed",
    }
    assert list(outcome.rounds) == ["gradledger", "slow"]
    assert outcome.least()["slow"] >= 0.02
    assert outcome.least()["gradledger"] < outcome.typical()["slow"]
    assert figure.peers["slow"] <= 100  # 2 MB in 0.02 s at least
    assert figure.ratios()["slow"] == figure.ours / figure.peers["slow"]


def test_ours_that_fails_is_told():
    try:
        with pytest.raises(peers.PeerError, match="ValueError: invalid literal"):
            take_turns({"gradledger": Contender(functools.partial, (int, "x"))}, 0.0)
    finally:
        peers.stop()
    with pytest.raises(peers.NotInstalledError, match=r"^no_such_peer is not installed$"):
        take_turns({"gradledger": Contender(functools.partial, (), "no_such_peer")})


def test_a_figure_says_who_was_left_out():
    figure = Figure("x", "s", 2.0, {"slow": 5.0}, was=2.5, wanted="1", notes=("a note",), left_out={"y": "too old"})
    assert figure.lines() == [
        "x, s",
        "  gradledger                         2.000   was 2.5, wanted 1, a note",
        "  slow                               5.000       2.50 x ours",
        "  y is left out: too old",
    ]


def test_the_table_has_every_figure():
    assert [" ".join(line.split()) for line in table.lines(RESULTS)] == [
        "ours unit was times better than",
        "a scalar 0.3612 µs 0.4 torch 59.6, wandb 5.25",
        "a run 12.4 s tbparse 1.23e+03, other 2, (another: another is not installed)",
        "a secret 1 s",
        "exponent of",
        "reading 1.20 points, 1.10 to 1.30 above 1.05: unexplained",
        "left out: bench_x: moto is not installed",
    ]


def test_readme_has_what_was_measured():
    assert rendered(RESULTS).replace(NONE, "none").replace(TIMES, "x") == (
        "| | gradledger | torch's writer | tensorboardX | tbparse | W&B, offline |\n"
        "|---|--:|--:|--:|--:|--:|\n"
        "| log a scalar | 0.36 µs | 60 x | none | none | 5.2 x |\n"
        "| read a run | 12 s | none | none | 1,200 x | none |\n"
        "\n"
        "How many times as long as gradledger each takes, and none where it does not do that. Measured by\n"
        "`make bench` with torch 2.13.0, tensorboardX 2.6.5, tbparse 0.0.9, wandb 0.31.0 on A processor, 2 cores, "
        "24 GiB, An OS 12, Python 3.11.7, numpy 2.4.6."
    )


def test_readme_is_not_written_of_half_a_measurement():
    with pytest.raises(
        ValueError, match=r"^README's table is of the whole benchmark, got a quick one: run `make bench`$"
    ):
        rendered(RESULTS | {"quick": True})
    unmeasured = [figure | {"left_out": {"wandb": "wandb is not installed"}} for figure in RESULTS["figures"]]
    with pytest.raises(ValueError, match=r"^a scalar: wandb was not measured: wandb is not installed$"):
        rendered(RESULTS | {"figures": unmeasured})


def test_the_table_has_its_place():
    readme = "a\n<!-- benchmarks -->\nold\n<!-- end of benchmarks -->\nb\n"
    assert with_table(readme, r"new \1") == "a\n<!-- benchmarks -->\nnew \\1\n<!-- end of benchmarks -->\nb\n"
    message = r"^README.md must have one '<!-- benchmarks -->' and one '<!-- end of benchmarks -->' after it$"
    with pytest.raises(ValueError, match=message):
        with_table("a\n<!-- end of benchmarks -->\n<!-- benchmarks -->\n", "new")


def test_two_pages_are_compared_and_one_that_gives_up_is_told():
    view = pytest.importorskip("benchmarks.bench_view", reason="needs Playwright", exc_type=ImportError)
    seconds = {"gradledger": iter((3.0, 1.0, 2.0)), "TensorBoard": iter((9.0, 8.0, 7.0))}

    def look(kind):
        yield "drawn", next(seconds[kind.name])
        if kind.name == "TensorBoard":
            raise view.GaveUp("given up after 60 s")
        yield "memory, MB", 5.0

    found = list(view.compared("runs: ", "s", look, {"drawn": "1 s"}, rounds=3))
    assert [(one.what, one.unit, one.ours, one.peers, one.wanted) for one in found] == [
        ("runs: drawn", "s", 2.0, {"TensorBoard": 8.0}, "1 s"),
        ("runs: memory", "MB", 5.0, {}, ""),
    ]
    assert found[0].notes[0] == "1 to 3"
    assert "TensorBoard given up after 60 s after this" in found[0].notes
    assert found[1].left_out == {"TensorBoard": "given up"}
    without = {"memory, MB": "it has none", "TensorBoard": "it does not do that"}
    seconds = {"gradledger": iter((3.0,))}
    (drawn, memory) = view.compared("runs: ", "s", look, {}, without, rounds=1)
    assert drawn.left_out == {"TensorBoard": "it does not do that"}
    assert memory.left_out == {"TensorBoard": "it has none"}
