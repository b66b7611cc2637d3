"""`pmap`: the same numbers as `vmap`, from phases that several devices run."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from doc_blocks import FOLDER, blocks, run_block

from transformer import (
    BadArgument,
    NotDifferentiable,
    NotSupported,
    all_gather,
    axis_index,
    axis_size,
    config,
    grad,
    jit,
    pmap,
    pmax,
    pmean,
    pmin,
    ppermute,
    psum,
    value_and_grad,
    vmap,
)
from transformer.parallel.program import Phase
from transformer.parallel.shards import ShardedArray

DEVICES = 4


@pytest.fixture(autouse=True)
def devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "cpu_devices", DEVICES)


def rows(*shape: int, dtype: Any = float) -> np.ndarray:
    return np.random.default_rng(7).normal(size=(DEVICES, *shape)).astype(dtype)


def same(found: Any, expected: Any) -> None:
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            same(found[key], expected[key])
    elif isinstance(expected, tuple):
        assert len(found) == len(expected)
        for pair in zip(found, expected):
            same(*pair)
    else:
        assert found.dtype == expected.dtype
        rounding = 1e-5 if expected.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(np.asarray(found), expected, rtol=rounding, atol=rounding)


def normalised(x):
    total = psum(np.exp(x), "i")
    return np.exp(x) / total


def extremes(x):
    return pmax(x, "i") - pmin(x, "i") + axis_size("i")


def rotated(x):
    everyone = all_gather(x, "i")
    return everyone[(axis_index("i") + 1) % axis_size("i")]


def of_both(x):
    first = x - pmean(x, "i")
    second = first / np.sqrt(pmean(first * first, "i"))
    return {"first": first, "second": second}, np.sum(second)


def in_loop(x):
    w = np.ones_like(x)
    losses = []
    for k in range(3):
        loss = psum(np.mean(w * x), "i")
        w = w - 0.1 * loss * x / (k + 1)
        losses.append(loss)
    return w, np.array(losses)


def in_branch(x):
    total = psum(np.sum(x), "i")
    if total > 0:
        x = x / psum(np.sum(x * x), "i")
    else:
        x = x * 2
    return x


def until_small(x):
    while pmax(np.max(np.abs(x)), "i") > 0.1:
        x = x / 2
    return x


@pytest.mark.parametrize("function", [normalised, extremes, rotated, of_both, in_loop, in_branch, until_small])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_equals_vmap(function: Any, dtype: Any) -> None:
    x = rows(3, dtype=dtype)
    same(pmap(function, "i")(x), vmap(function, axis_name="i")(x))


def writes_to_a_sum(x):
    total, everyone = psum(x, "i"), all_gather(x, "i")
    total[0] = axis_index("i")
    everyone[axis_index("i")] = 0
    return total, everyone


def writes_to_what_others_have(x):
    y = np.sin(x)
    left = ppermute(y, "i", [(0, 1), (1, 2), (2, 3), (3, 0)])
    y[0] = 10.0
    left[1] = 20.0
    return y, left


def writes_and_hands_on(x):
    u = np.sin(x)
    for _ in range(3):
        left = ppermute(u, "i", [(0, 1), (1, 2), (2, 3), (3, 0)])
        u[0] += left[1]
        u[1] -= left[0]
    return u


def hands_on_what_it_goes_on_with(x):
    found = []
    for k in range(3):
        x = x.copy()
        x[0] = psum(x[1], "i") + k
        found.append(ppermute(x, "i", [(0, 1), (1, 2)]))
    return x, np.stack(found)


def fills(x):
    """What all begin with is the same, and each fills it with its own."""
    found = np.zeros(3)
    for k in range(3):
        found[k] = found[k - 1] + psum(x[k], "i") * axis_index("i")
    return found


@pytest.mark.parametrize("function", [writes_to_a_sum, writes_to_what_others_have, writes_and_hands_on,
                                      hands_on_what_it_goes_on_with, fills])
def test_nobody_writes_to_what_devices_have_together(function: Any) -> None:
    x = rows(3)
    mapped, expected = pmap(function, "i"), vmap(function, axis_name="i")(x)
    for _ in range(2):                       # the second time short phases run in this thread
        same(mapped(x), expected)


def test_what_each_device_has_is_filled_in_place() -> None:
    mapped = pmap(fills, "i")
    mapped(rows(3))
    assert ".copy()" not in mapped.source


@pytest.mark.parametrize("function", [normalised, in_loop, in_branch])
def test_pmap_of_grad(function: Any) -> None:
    def loss(x):
        found = function(x)
        return np.sum(found[0] ** 2) if isinstance(found, tuple) else np.sum(found ** 2)

    x = rows(3)
    same(pmap(grad(loss), "i")(x), vmap(grad(loss), axis_name="i")(x))


def test_grad_of_pmap() -> None:
    def total(x):
        return np.sum(pmap(normalised, "i")(x) ** 2)

    x = rows(3)
    same(grad(total)(x), grad(lambda x: np.sum(vmap(normalised, axis_name="i")(x) ** 2))(x))


def test_phases_are_compiled() -> None:
    """They are read, and not run, to be compiled: loops stay loops, and branches may depend on numbers."""
    def counted(x, n):
        total = psum(np.sum(x), "i")
        for _ in range(n):
            if np.sum(x) > total:
                x = x / 2
            x = x + 1
        return x, total, np.mean(np.ones(x.shape[0]))

    mapped = pmap(counted, "i", in_axes=(0, None))
    x = np.abs(rows(3))
    for n in (7, 9):
        same(mapped(x, n), vmap(counted, axis_name="i", in_axes=(0, None))(x, n))
    program, = mapped._programs.values()
    phases = [each.keeping for each in program.function.__globals__.values() if isinstance(each, Phase)]
    assert len(phases) == 2 and all(phase.is_compiled for phase in phases)
    assert all(len(phase.function._dispatcher.entries()) == 1 for phase in phases)        # for any n


def loss(params, x, y):
    return np.mean((np.tanh(x @ params["w"] + params["b"]) - y) ** 2)


def step(params, x, y):
    value, gradient = value_and_grad(loss)(params, x, y)
    gradient = pmean(gradient, "i")
    return {name: params[name] - 0.1 * gradient[name] for name in params}, pmean(value, "i")


def test_training_equals_that_on_one_device() -> None:
    x, y = rows(5, 3), rows(5)
    many = pmap(step, "i", in_axes=(None, 0, 0), out_axes=None)
    params = alone = {"w": np.ones(3), "b": np.float64(0.5)}
    for _ in range(3):
        params, value = many(params, x, y)
        expected, gradient = value_and_grad(loss)(alone, x.reshape(-1, 3), y.reshape(-1))
        alone = {name: alone[name] - 0.1 * gradient[name] for name in alone}
        np.testing.assert_allclose(value, expected)
    same(params, alone)


def of_all(params, x, y):
    scores = np.tanh(x @ params["w"]) * params["b"]
    return pmean(np.mean((scores - y) ** 2), "i") + psum(np.sum(scores), "i") ** 2


@pytest.mark.parametrize("each", [1, 2])
def test_gradients_stay_on_devices(each: int) -> None:
    x, y = rows(5, 3), rows(5)
    x, y = np.concatenate([x, 2 * x][:each]), np.concatenate([y, y + 1][:each])
    params = {"w": np.array([0.5, -0.3, 0.2]), "b": 0.7}
    many, alone = (each(of_all, axis_name="i", in_axes=(None, 0, 0), out_axes=None) for each in (pmap, vmap))
    value, (dparams, dx) = value_and_grad(many, (0, 1))(params, x, y)
    expected, (of_params, of_x) = value_and_grad(alone, (0, 1))(params, x, y)
    np.testing.assert_allclose(value, expected)
    same(dparams, {name: np.asarray(each)[()] for name, each in of_params.items()})
    assert type(dx) is ShardedArray and len(dx.shards) == DEVICES
    same(dx, of_x)
    same(grad(many, "x")(params, x, y), of_x)


def test_all_examples_on_one_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "cpu_devices", 1)
    x = rows()
    same(pmap(lambda x: psum(np.sum(x), "i"), "i", out_axes=None)(x), np.sum(x))
    with pytest.raises(BadArgument, match="differs from lane to lane"):
        pmap(np.sum, "i", out_axes=None)(x)


def test_gradient_of_what_differs_is_refused() -> None:
    with pytest.raises(BadArgument, match="differs from device to device"):
        grad(pmap(np.sum, out_axes=None))(rows())
    with pytest.raises(BadArgument, match="needs a function that returns one number"):
        grad(pmap(np.sum))(rows())
    with pytest.raises(NotDifferentiable, match="x is i64"):
        grad(pmap(lambda x: psum(x, "i"), "i", out_axes=None))(np.arange(4))


def test_gradient_with_more_results() -> None:
    mapped = pmap(lambda w, x: (psum(np.sum(w * x), "i"), x * 2), "i", in_axes=(None, 0), out_axes=(None, 0))
    x, w = rows(3), np.ones(3)
    gradient, doubled = grad(mapped, has_aux=True)(w, x)
    same((gradient, doubled), (x.sum(axis=0), 2 * x))
    (total, doubled), gradient = value_and_grad(mapped, 1, has_aux=True)(w, x)
    same((total, doubled, gradient), (x.sum(), 2 * x, np.ones_like(x)))
    again = pickle.loads(pickle.dumps(grad(pmap(of_all, "i", in_axes=(None, 0, 0), out_axes=None))))
    assert "pmean" in again.source_for({"w": w, "b": 1.0}, rows(5, 3), rows(5))


def test_gradients_are_transformed_further() -> None:
    """As those of the vmap."""
    mapped = pmap(lambda w, x: psum(np.sum(np.sin(w * x)), "i"), "i", in_axes=(None, 0), out_axes=None)
    w, x = np.array([0.3, 0.4, 0.5]), rows(3)
    same(jit(grad(mapped))(w, x), np.sum(np.cos(w * x) * x, axis=0))
    same(grad(lambda w: np.sum(grad(mapped)(w, x)))(w), -np.sum(np.sin(w * x) * x * x, axis=0))


def test_mean_of_integers() -> None:
    x = np.arange(3 * DEVICES).reshape(DEVICES, 3)
    same(pmap(lambda x: pmean(x, "i"), "i")(x), vmap(lambda x: pmean(x, "i"), axis_name="i")(x))


@pytest.mark.parametrize("dtype, value", [(bool, True), (np.uint8, 200), (np.int8, 100)])
def test_means_of_what_holds_no_sum(dtype: Any, value: Any) -> None:
    x = np.full(DEVICES, value, dtype)
    x[0] = 0
    same(pmap(lambda x: pmean(x, "i"), "i")(x), np.full(DEVICES, x.mean()))


def test_source_shows_phases_and_driver() -> None:
    source = pmap(normalised, "i").source_for(rows(3))
    assert "def normalised_phase1(x):" in source
    assert 'transformer.psum(' in source
    assert source.index("def normalised_phase2") < source.index("def normalised_pmap")


def test_what_is_the_same_everywhere_may_have_no_axis() -> None:
    same(pmap(lambda x: psum(x, "i") * 2, "i", out_axes=None)(rows()), 2 * rows().sum())
    with pytest.raises(BadArgument, match="differs from device to device"):
        pmap(lambda x: x * 2, "i", out_axes=None)(rows())


def test_axes_and_shared_arguments() -> None:
    x = rows(3)
    scaled = pmap(lambda a, x: {"y": a * x}, in_axes=(None, 1), out_axes=1)
    same(scaled(2.0, x.T)["y"], 2 * x.T)
    same(pmap(lambda x, a: x * a)(x, a=np.arange(4.0)), x * np.arange(4.0)[:, None])


def test_results_stay_where_they_are() -> None:
    twice = pmap(lambda x: 2 * x)
    first = twice(rows(3))
    assert len(first.shards) == DEVICES and first.shards[1].shape == (3,)
    second = twice(first)
    same(second, 4 * rows(3))
    assert second.shape == (DEVICES, 3) and len(second) == DEVICES and second.ndim == 2
    same(second[2], 4 * rows(3)[2])
    same(np.sum(second, axis=0), 4 * rows(3).sum(axis=0))
    same(second + 1.0, 4 * rows(3) + 1)


@pytest.mark.parametrize("args, message", [
    ((np.ones((5, 2)),), "5 examples, which 4 devices cannot share"),
    ((np.ones(4), np.ones(3)), "over 4 examples and .* over 3"),
    ((2.0,), "it has 0 axes"),
])
def test_axes_that_do_not_fit(args: Any, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        pmap(lambda *args: args[0])(*args)


def test_nothing_to_map_over() -> None:
    with pytest.raises(BadArgument, match="nothing to map over"):
        pmap(lambda x: x, in_axes=None)(1.0)


def test_devices_that_part_are_told_so() -> None:
    def f(x):
        if x > 0:
            x = psum(x, "i")
        return x

    with pytest.raises(BadArgument, match="the devices diverge here: a loop or"):
        pmap(f, "i")(np.array([1.0, -1.0]))
    same(pmap(f, "i")(np.array([1.0, 2.0])), np.array([3.0, 3.0]))


def raises_for_negative(x):
    total = psum(x, "i")
    if total * x < 0:
        raise ValueError(f"{x} is negative")
    return total * x


def looks_up(x, k):
    return x[k] * psum(k, "i")


def test_what_a_device_raises() -> None:
    mapped = pmap(raises_for_negative, "i")
    with pytest.raises(ValueError, match="-2.0 is negative") as caught:
        mapped(np.array([1.0, -2.0, 3.0]))
    assert "raises_for_negative_phase1 on cpu:1" in "".join(caught.value.__notes__)
    same(mapped(np.array([1.0, 2.0])), np.array([3.0, 6.0]))          # nothing is left of it


def test_errors_come_where_the_value_is_used() -> None:
    mapped = pmap(looks_up, "i")
    found = mapped(np.ones((2, 3)), np.array([1, 5]))
    with pytest.raises(IndexError, match="index 5") as caught:
        found.block_until_ready()
    assert "looks_up_phase" in "".join(caught.value.__notes__)
    assert "cpu:1" in "".join(caught.value.__notes__)
    same(mapped(np.ones((2, 3)), np.array([1, 2])), np.array([3.0, 3.0]))


def down(x, n):
    return psum(x, "i") if n == 0 else down(x / 2, n - 1)


def there(x, n):
    return x if n == 0 else and_back(x, n - 1)


def and_back(x, n):
    return x if n == 0 else there(x / psum(x, "i"), n - 1)


def without(x, n):
    return x if n == 0 else without(x / 2, n - 1)


@pytest.mark.parametrize("each", [1, 2])
def test_collectives_in_recursions(each: int) -> None:
    """Refused at their place, whoever calls them; beside a recursion they work."""
    x = np.abs(np.concatenate([rows()] * each))
    for function, line in ((down, 'psum(x, "i") if n == 0'), (there, 'there(x / psum(x, "i")')):
        with pytest.raises(NotSupported, match="a collective in the recursive function") as caught:
            pmap(function, "i", in_axes=(0, None))(x, 3)
        assert line in str(caught.value) and "Write the recursion as a loop" in str(caught.value)
    beside = pmap(lambda x, n: without(x / psum(x, "i"), n), "i", in_axes=(0, None))
    np.testing.assert_allclose(beside(x, 3), x / x.sum() / 8)


@pytest.mark.parametrize("function", [normalised, extremes, rotated, of_both, in_loop, in_branch])
@pytest.mark.parametrize("each", [2, 3])
def test_several_examples_on_each_device(function: Any, each: int) -> None:
    x = np.random.default_rng(1).normal(size=(each * DEVICES, 3))
    same(pmap(function, "i")(x), vmap(function, axis_name="i")(x))


def test_several_examples_stay_where_they_are() -> None:
    x = np.random.default_rng(1).normal(size=(3, 2 * DEVICES))
    twice = pmap(lambda x: 2 * x, in_axes=1, out_axes=1)
    first = twice(x)
    assert [shard.shape for shard in first.shards] == [(3, 2)] * DEVICES and first.shape == x.shape
    second = twice(first)
    same(second, 4 * x)


def test_a_rest_is_filled_up() -> None:
    x = np.random.default_rng(1).normal(size=(2 * DEVICES + 1, 3))
    found = pmap(lambda x: np.sum(x * x), pad=True)(x)
    assert found.shape == (2 * DEVICES + 1,)
    same(found, np.sum(x * x, axis=1))
    with pytest.raises(BadArgument, match="the examples that pad=True adds would be"):
        pmap(normalised, "i", pad=True)(x)


PAGE = [block for block in blocks((FOLDER / "pmap.md").read_text(), "python") if "from transformer" in block]


@pytest.mark.parametrize("block", PAGE, ids=range(len(PAGE)))
def test_examples_of_the_page(block: str) -> None:
    """What they assert holds; test_docs.py compares what they print with the page."""
    run_block(block)


def test_integers_of_devices_are_their_own() -> None:
    sizes, x = np.full(DEVICES, 3), rows(3)
    beside = pmap(lambda x, k: np.sum(x + np.ones(k)), "i")
    np.testing.assert_allclose(beside(x, sizes), np.sum(x + 1, axis=1))
    with pytest.raises(ValueError, match="operands could not be broadcast together with shapes"):
        beside(x, sizes + 2 * (np.arange(DEVICES) == 1)).gather()
    with pytest.raises(BadArgument, match="k must be known when the function is"):
        pmap(lambda x, k: [np.sin, np.cos][k](x), "i")(x, np.arange(DEVICES) % 2)
