"""Saver: what comes back, what does not fit, names, and how many checkpoints are kept."""

import json
import os

import numpy as np
import pytest

import optim
from optim import Saver, Variable, latest_checkpoint
from summaries import SummaryWriter, read_run

load_file = pytest.importorskip("safetensors.numpy", reason="the extra `checkpoint` is not installed").load_file


def model(dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    w = Variable(rng.standard_normal((3, 2)), name="layer/w", dtype=dtype)
    b = Variable(rng.standard_normal(2), name="layer/b", dtype=dtype)
    return w, b, Variable(0, trainable=False, name="global_step")


def train(optimizer, w, b, step, steps):
    for _ in range(steps):
        rng = np.random.default_rng(int(step))
        grads = [rng.standard_normal(v.shape).astype(v.dtype) for v in (w, b)]
        optimizer.apply_gradients(zip(grads, (w, b), strict=True), step)


OPTIMIZERS = {
    "GradientDescent": lambda: optim.GradientDescentOptimizer(0.1),
    "Momentum": lambda: optim.MomentumOptimizer(0.1, 0.9),
    "Nesterov": lambda: optim.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "Adagrad": lambda: optim.AdagradOptimizer(0.1),
    "Adadelta": lambda: optim.AdadeltaOptimizer(0.1),
    "Adam": lambda: optim.AdamOptimizer(0.1),
    "AdamW": lambda: optim.AdamWOptimizer(0.1),
    "NAdam": lambda: optim.NAdamOptimizer(0.1),
    "Lion": lambda: optim.LionOptimizer(0.1),
    "Ftrl": lambda: optim.FtrlOptimizer(0.1, accum_name="a"),
    "RMSProp": lambda: optim.RMSPropOptimizer(0.1, momentum=0.5),
    "RMSProp, centered": lambda: optim.RMSPropOptimizer(0.1, centered=True),
    "clipped by norm": lambda: optim.clip_gradients_by_norm(optim.AdamOptimizer(0.1), 1.0),
    "clipped by percentile": lambda: optim.clip_gradients_by_percentile(optim.MomentumOptimizer(0.1, 0.9), 30.0),
    "skipping": lambda: optim.skip_nonfinite_steps(
        optim.clip_gradients_by_percentile(optim.AdamOptimizer(0.1, name="A"))
    ),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_a_run_that_is_restored_goes_on_bit_for_bit(tmp_path, make, dtype):
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    w, b, step = model(dtype)
    optimizer = make()
    train(optimizer, w, b, step, 7)
    path = Saver([w, b, step, optimizer]).save(tmp_path / "model", step)
    train(optimizer, w, b, step, 5)

    other_w, other_b, other_step = model(dtype, seed=1)
    other = make()
    Saver([other_w, other_b, other_step, other]).restore(path)
    assert int(other_step) == 7
    train(other, other_w, other_b, other_step, 5)
    for one, same in zip([w, b, *optimizer.variables()], [other_w, other_b, *other.variables()], strict=True):
        assert one.name == same.name
        assert one.value.tobytes() == same.value.tobytes()
        assert one.dtype == same.dtype


def test_several_optimizers_and_dtypes_at_once(tmp_path):
    def begin():
        w, b, step = model()
        c = Variable([1.0], name="c", dtype=np.float64)
        first, second = optim.AdamOptimizer(0.1), optim.AdamOptimizer(0.1, name="Second")
        return [w, b, c, step, first, second]

    def go(parts, steps):
        w, b, c, step, first, second = parts
        train(first, w, b, step, steps)
        for _ in range(steps):
            second.apply_gradients([(np.ones(1), c), (np.ones((3, 2), np.float32), w)])

    parts = begin()
    go(parts, 3)
    path = Saver(parts).save(tmp_path / "m")
    go(parts, 2)
    again = begin()
    Saver(again).restore(path)
    go(again, 2)
    for one, same in zip(parts[:4], again[:4], strict=True):
        assert one.value.tobytes() == same.value.tobytes()
    assert again[5].update.steps == 5


def test_what_the_file_calls_things(tmp_path):
    w, b, step = model()
    optimizer = optim.AdamOptimizer(0.1)
    train(optimizer, w, b, step, 2)
    arrays = load_file(Saver([w, b, step, optimizer]).save(tmp_path / "model", step))
    slots = {f"layer/{name}{suffix}" for name in "wb" for suffix in ("", "/Adam", "/Adam_1")}
    powers = {f"Adam/beta{k}_power" for k in (1, 2)}
    assert set(arrays) == {"global_step", "Adam/steps"} | slots | powers
    assert arrays["layer/w"].tobytes() == w.value.tobytes()
    assert arrays["Adam/steps"] == 2


def test_restoring_an_earlier_checkpoint_takes_everything_back(tmp_path):
    """Also what has been made since: slots, the powers of Adam's betas."""
    w, b, step = model()
    optimizer = optim.AdamOptimizer(0.1)
    saver = Saver([w, b, step, optimizer])
    start = saver.save(tmp_path / "model", step)
    train(optimizer, w, b, step, 3)
    once = w.value.copy()
    m = optimizer.get_slot(w, "m")
    saver.restore(start)
    assert optimizer.get_slot(w, "m") is None
    assert optimizer.variables() == []
    train(optimizer, w, b, step, 3)
    assert w.value.tobytes() == once.tobytes()
    assert optimizer.get_slot(w, "m") is not m
    middle = saver.save(tmp_path / "model", step)
    m = optimizer.get_slot(w, "m")
    train(optimizer, w, b, step, 1)
    saver.restore(middle)
    assert optimizer.get_slot(w, "m") is m, "what is there is kept, and assigned"
    assert w.value.tobytes() == once.tobytes()


def test_variables_keep_their_arrays(tmp_path):
    array = np.arange(3.0)
    v = Variable.wrap(array, name="v")
    saver = Saver([v])
    path = saver.save(tmp_path / "m")
    array[:] = 0
    saver.restore(path)
    assert array.tolist() == [0, 1, 2]


LAYOUTS = {
    "no dimension": np.array(3.5),
    "empty": np.zeros((0, 3)),
    "strided": np.arange(10.0)[::2],
    "transposed": np.arange(6.0).reshape(2, 3).T,
    "backwards": np.arange(4.0)[::-1],
    "other byte order": np.arange(3.0).astype(">f4"),
    "not numbers": np.array([np.nan, -np.inf, -0.0, 5e-324]),
    "bool": np.array([True, False]),
    "uint8": np.arange(3, dtype=np.uint8),
    "int16": np.arange(3, dtype=np.int16),
}


@pytest.mark.parametrize("array", LAYOUTS.values(), ids=LAYOUTS)
def test_any_layout(tmp_path, array):
    v = Variable.wrap(array.copy(order="K") if array.base is None else array, name="v")
    saver = Saver([v])
    before = np.array(v.value)
    path = saver.save(tmp_path / "m")
    v.value[...] = 0
    saver.restore(path)
    assert np.asarray(v.value).tobytes() == before.tobytes()


def test_names_with_slashes_and_of_any_script(tmp_path):
    names = ["a/b/c", "Gewichte/größe", "重み", "with space", "😀", ".."]
    variables = [Variable([float(i)], name=name) for i, name in enumerate(names)]
    saver = Saver(variables)
    path = saver.save(tmp_path / os.fsdecode("größe-重み".encode()), 3)
    assert os.listdir(tmp_path) != []
    for variable in variables:
        variable.assign([-1.0])
    saver.restore(path)
    assert [float(v.value[0]) for v in variables] == [0, 1, 2, 3, 4, 5]


# Maps, and moving averages.


def test_a_map_loads_averages_into_the_variables_themselves(tmp_path):
    w, b, step = model()
    optimizer, ema = optim.MomentumOptimizer(0.1, 0.9), optim.ExponentialMovingAverage(0.5)
    for _ in range(3):
        train(optimizer, w, b, step, 1)
        ema.apply([w, b])
    path = Saver([w, b, step, optimizer, ema]).save(tmp_path / "model", step)
    averages = [ema.average(v).value.copy() for v in (w, b)]
    Saver(ema.variables_to_restore()).restore(path)
    assert [v.value.tobytes() for v in (w, b)] == [average.tobytes() for average in averages]

    other_w, other_b, other_step = model(seed=1)  # as in a process that only evaluates
    fresh = optim.ExponentialMovingAverage(0.5)
    Saver(fresh.variables_to_restore([other_w, other_b, other_step])).restore(path)
    assert [v.value.tobytes() for v in (other_w, other_b)] == [average.tobytes() for average in averages]
    assert int(other_step) == 3


def test_averages_go_on_too(tmp_path):
    w, ema = Variable([0.0], name="w"), optim.ExponentialMovingAverage(0.5)
    ema.apply([w])
    w.assign([4.0])
    path = Saver([w, ema]).save(tmp_path / "m")
    other, fresh = Variable([9.0], name="w"), optim.ExponentialMovingAverage(0.5)
    Saver([other, fresh]).restore(path)
    assert fresh.average(other).value.tolist() == [0.0]
    for v, e in ((w, ema), (other, fresh)):
        e.apply([v])
    assert fresh.average(other).value.tolist() == ema.average(w).value.tolist() == [2.0]


def test_averages_are_taken_back_and_missed(tmp_path):
    w, ema = Variable([1.0], name="w"), optim.ExponentialMovingAverage(0.5)
    saver = Saver([w, ema])
    before = saver.save(tmp_path / "m", 0)
    ema.apply([w])
    saver.restore(before)
    assert ema.average(w) is None
    without = Saver([w]).save(tmp_path / "without")
    with pytest.raises(ValueError, match=r"missing: 'ExponentialMovingAverage/updates'$"):
        saver.restore(without)


# What does not fit.


def test_everything_wrong_is_listed_in_one_error_and_nothing_is_changed(tmp_path):
    stored = [Variable(np.ones(3), name="a"), Variable(np.ones(2), name="b"), Variable([1.0], name="c")]
    stored += [Variable([7.0], name="fits"), Variable([7.0], name="d")]
    path = Saver(stored).save(tmp_path / "m")
    locked = Variable([0.0], name="d")
    locked.value.flags.writeable = False
    wanted = [Variable(np.zeros(4), name="a"), Variable(np.zeros(2, np.float32), name="b")]
    wanted += [Variable([0.0], name="fits"), Variable([0.0], name="x"), Variable([0.0], name="y"), locked]
    optimizer = optim.MomentumOptimizer(0.1, 0.9)
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole text is compared
        Saver([*wanted, optimizer]).restore(path)
    assert str(raised.value) == (
        f"{path!r} does not fit, and nothing was changed:\n"
        "  missing: 'Momentum/steps', 'x', 'y'\n"
        "  unexpected: 'c'; a Saver of a mapping, name → Variable, restores a part\n"
        "  'a' has shape (3,), expected (4,)\n"
        "  'b' is float64, expected float32\n"
        "  'd' belongs to a Variable whose array is read-only"
    )
    assert all(not v.value.any() for v in wanted)
    assert optimizer.variables() == []


def test_slots_that_do_not_fit_are_not_made(tmp_path):
    w, b, step = model()
    optimizer = optim.MomentumOptimizer(0.1, 0.9)
    train(optimizer, w, b, step, 1)
    path = Saver([w, b, step, optimizer]).save(tmp_path / "m")
    fresh, adam = optim.MomentumOptimizer(0.1, 0.9), optim.AdamOptimizer(0.1)
    with pytest.raises(ValueError, match=r"unexpected: 'layer/b', 'layer/b/Momentum'; a Saver"):
        Saver([w, step, fresh]).restore(path)
    assert fresh.variables() == []
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the text is compared
        Saver([w, b, step, adam]).restore(path)
    assert "missing: 'Adam/steps'" in str(raised.value)
    assert "unexpected: 'Momentum/steps', 'layer/b/Momentum', 'layer/w/Momentum'" in str(raised.value)
    assert adam.variables() == []


def test_half_of_an_optimizers_slots_is_an_error(tmp_path):
    w, _, step = model()
    optimizer = optim.AdamOptimizer(0.1)
    optimizer.apply_gradients([(np.ones((3, 2), np.float32), w)], step)
    picked = {"layer/w": w, "layer/w/Adam": optimizer.get_slot(w, "m"), "Adam/steps": Variable(1)}
    path = Saver(picked).save(tmp_path / "m")
    with pytest.raises(ValueError, match="missing: 'Adam/beta1_power', 'Adam/beta2_power', 'layer/w/A"):
        Saver([w, optim.AdamOptimizer(0.1)]).restore(path)


def test_an_optimizer_that_trains_what_is_not_saved(tmp_path):
    w, b, step = model()
    optimizer, ema = optim.GradientDescentOptimizer(0.1), optim.ExponentialMovingAverage(0.9)
    train(optimizer, w, b, step, 1)
    ema.apply([b])
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the text is compared
        Saver([w, step, optimizer]).save(tmp_path / "m")
    assert str(raised.value) == (
        "the optimizer 'GradientDescent' keeps state for variables that the Saver was not given: ['layer/b']"
    )
    with pytest.raises(ValueError, match="the moving average 'ExponentialMovingAverage' keeps state for variables"):
        Saver([w, step, ema]).save(tmp_path / "m")
    assert os.listdir(tmp_path) == []


NOTHING_TO_SAVE = {
    "var_list must hold Variables, optimizers and moving averages, or map names to Variables, got NoneType": None,
    "var_list must hold Variables, optimizers and moving averages, or map names to Variables, got Variable": Variable(
        [1.0]
    ),
    "var_list must hold Variables, optimizers and moving averages, or map names to Variables, got int: 3": [3],
    "var_list must hold Variables, optimizers and moving averages, or map names to Variables, got 'a': int": {"a": 3},
}


@pytest.mark.parametrize(("text", "var_list"), NOTHING_TO_SAVE.items(), ids=NOTHING_TO_SAVE)
def test_what_cannot_be_saved(text, var_list):
    with pytest.raises(TypeError) as raised:
        Saver(var_list)
    assert str(raised.value) == text


BAD = {
    "var_list must not be empty: there is nothing to save": lambda: Saver([]),
    "two Variables are named 'v': give them different names": lambda: Saver([Variable(1, name="v")] * 2),
    "max_to_keep must be at least 0, or None, got -1": lambda: Saver([Variable(1)], max_to_keep=-1),
    "keep_checkpoint_every_n_hours must be positive, got 0": lambda: Saver([Variable(1)], 5, 0),
    "a Variable must not be named '__metadata__': the file format reserves that name": lambda: Saver(
        [Variable(1, name="__metadata__")]
    ),
    "a Variable's name must be Unicode text without lone surrogates, got '\\ud800'": lambda: Saver(
        {"\ud800": Variable(1)}
    ),
    "two entries are named 'Adam/steps': give their owners different names": lambda: Saver(
        [optim.AdamOptimizer(), optim.AdamOptimizer()]
    ).save("nowhere/m"),
    "global_step must be at least 0, got -1": lambda: Saver([Variable(1)]).save("nowhere/m", -1),
    "save_path must be local, since checkpoints are moved into place; got 's3://b/m'": lambda: Saver(
        [Variable(1)]
    ).save("s3://b/m", 1),
    "save_path must be a checkpoint's path, got None: latest_checkpoint() found none": lambda: Saver(
        [Variable(1)]
    ).restore(None),
}


@pytest.mark.parametrize(("text", "call"), BAD.items(), ids=BAD)
def test_refused(text, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole text is compared
        call()
    assert str(raised.value) == text
    assert os.listdir(tmp_path) == []


def test_a_step_that_is_no_integer(tmp_path):
    with pytest.raises(TypeError) as raised:
        Saver([Variable(1)]).save(tmp_path / "m", 1.5)
    assert str(raised.value) == "global_step must be an integer or an integer Variable, got float: 1.5"


@pytest.mark.parametrize("dtype", [np.complex128, "U3", np.longdouble])
def test_dtypes_that_the_format_has_not(tmp_path, dtype):
    v = Variable(np.zeros(2, dtype), name="v")
    with pytest.raises(ValueError, match=rf"^'v' is {v.dtype}, which safetensors cannot store; it stores bool, int8, "):
        Saver([v]).save(tmp_path / "m")
    assert os.listdir(tmp_path) == []


# The writer.


def test_a_checkpoint_is_logged_behind_all_that_was_logged_before(tmp_path, monkeypatch):
    seen = []
    w, step = Variable([1.0], name="w"), Variable(20, trainable=False, name="step")
    with SummaryWriter(tmp_path / "run", flush_secs=1000) as writer:
        writer.add_scalar("loss", 0.5, 20)
        replace = os.replace

        def looking(source, target):
            if os.path.dirname(target) == str(tmp_path):  # and no file of numba's cache
                seen.append(len(read_run(tmp_path / "run").scalars))
            replace(source, target)

        monkeypatch.setattr(os, "replace", looking)
        path = Saver([w]).save(tmp_path / "m", step, writer=writer)
    assert seen == [1, 1], "a checkpoint that is there has all the points before it"
    ((at, _, log),) = read_run(tmp_path / "run").session_logs
    assert (at, log.status, log.checkpoint_path) == (20, log.CHECKPOINT, path)


def test_a_writer_that_cannot_write_does_not_keep_a_run_from_being_saved(tmp_path):
    class Broken:
        def flush(self):
            raise OSError("disk full")

    saver = Saver([Variable([1.0], name="w")])
    with pytest.raises(OSError, match="disk full"):
        saver.save(tmp_path / "m", 1, writer=Broken())
    assert latest_checkpoint(tmp_path) == os.path.join(tmp_path, "m-1.safetensors")
    saver.restore(latest_checkpoint(tmp_path))


def test_the_list_is_json(tmp_path):
    Saver([Variable([1.0], name="w")]).save(tmp_path / "m", 1)
    assert list(json.loads((tmp_path / "checkpoint").read_text())["checkpoints"]) == ["m-1.safetensors"]
