"""Runs in a process of its own, in which numba runs kernels as Python: `pmap` on GPUs, against `pmap` on processors.

`simulated`: NumPy is in place of CuPy. `virtual`: arrays know their GPU (virtual_gpus), and collectives are copies.
`nccl`: the same, and collectives are those of a stand-in for NCCL. Prints the name of every check and what became of
it, as JSON.
"""

from __future__ import annotations

import json
import sys
import traceback
from types import SimpleNamespace
from typing import Any

import numba_in_turns
import numpy as np
from virtual_gpus import CURRENT, Library, OnGpu, install, let_kernels_take
from virtual_nccl import NCCL

from transformer import (
    Array,
    all_gather,
    all_to_all,
    axis_index,
    config,
    device_put,
    devices,
    grad,
    jit,
    pmap,
    pmax,
    pmean,
    pmin,
    ppermute,
    pshuffle,
    psum,
    psum_scatter,
    value_and_grad,
)
from transformer.core.errors import BadArgument
from transformer.parallel.workers import known

COUNT = 3
MODE = sys.argv[1] if len(sys.argv) > 1 else ""


def loss(w, x, y):
    return np.mean((np.tanh(x @ w) - y) ** 2)


def step(w, x, y):
    value, dw = value_and_grad(loss)(w, x, y)
    return w - 0.1 * pmean(dw, "i"), pmean(value, "i")


def combined(x):
    return psum(x, "i"), pmean(x, "i"), pmax(x, "i"), pmin(x, "i")


def handed_on(x):
    return (ppermute(x, "i", [(0, 1), (1, 2)]), pshuffle(x, "i", [2, 0, 1]), all_gather(x, "i"),
            all_gather(x, "i", axis=1, tiled=True), all_to_all(x, "i", 0, 1), psum_scatter(x, "i"))


def numbers(x):
    total = psum(np.sum(x), "i")
    return x / total + axis_index("i"), all_gather(np.max(x), "i"), ppermute(x[0], "i", [(0, 2)]), np.sum(x)


def until_small(x):
    count = 0
    while pmax(np.max(np.abs(x)), "i") > 0.1:
        x, count = x - 0.5 * pmean(x, "i") - 0.25 * x, count + 1
    return x, count


def in_a_loop(w, x):
    found = np.zeros(4)
    for k in range(4):
        w = w - 0.1 * pmean(np.sum(w * x) * x, "i")
        found[k] = pmean(np.sum(w * x), "i")
    return w, found


def added_at(x, k):
    found = np.zeros(4)
    np.add.at(found, k, psum(x, "i"))
    return found


def values(*shape: int, dtype: Any = np.float64) -> Any:
    return np.random.default_rng(len(shape)).normal(size=shape).astype(dtype) * (1 if dtype != np.int64 else 9)


def same(found: Any, wanted: Any, rtol: float = 1e-12) -> None:
    """Asserts the same numbers, shapes and dtypes."""
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted):
            same(one, other, rtol)
        return
    assert np.asarray(found).dtype == np.asarray(wanted).dtype and np.shape(found) == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol)


def both(function: Any, *args: Any, **options: Any) -> Any:
    """What it gives on GPUs, after it was compared with what it gives on processors."""
    on_gpus = pmap(function, "i", devices=devices("cuda"), **options)
    wanted = pmap(function, "i", devices=devices("cpu"), **options)(*args)
    for _ in range(2):                                                   # the second call is a prepared one
        found = on_gpus(*args)
        same(found, wanted)
    assert CURRENT.gpu == 0
    return found


def alike(array: Any) -> None:
    """Asserts that all GPUs have the same, each in memory of its own."""
    places, parts = array.copies
    assert list(places) == devices("cuda")
    if MODE != "simulated":
        assert [part.device.id for part in parts] == list(range(COUNT))
        parts = [part.hidden for part in parts]
    for part in parts[1:]:
        assert part.tobytes() == parts[0].tobytes()


def check_a_step() -> None:
    both(step, np.zeros(3), values(COUNT, 5, 3), values(COUNT, 5), in_axes=(None, 0, 0), out_axes=None)


def check_collectives() -> None:
    for dtype in np.float64, np.float32, np.int64, np.complex128:
        x = values(COUNT, 3, 2, dtype=dtype)
        both(combined if dtype is not np.complex128 else lambda x: psum(x, "i"), x)
        both(handed_on, x)


def check_numbers() -> None:
    found = both(numbers, np.abs(values(COUNT, 4)))
    assert [shard.device for shard in found[2].shards] == devices("cuda")
    both(lambda x, y: x * psum(y, "i") + y, values(COUNT, 4), found[3])      # each has a number


def check_loops_and_branches() -> None:
    both(until_small, values(COUNT, 4), out_axes=(0, None))
    both(in_a_loop, values(4), values(COUNT, 4), in_axes=(None, 0), out_axes=None)


def check_where_the_devices_part() -> None:
    def uneven(x):
        if x > 0:
            x = psum(x, "i")
        return x

    try:
        pmap(uneven, "i", devices=devices("cuda"))(np.array([1.0, -1.0, 1.0]))
    except BadArgument as error:
        assert "the devices diverge here: a loop or" in str(error), error
    else:
        raise AssertionError("nothing is raised")


def check_parts_stay() -> None:
    scale = pmap(lambda x: x * 2, devices=devices("cuda"))
    x = values(COUNT, 4)
    parts = scale(x)
    assert parts.shape == (COUNT, 4) and parts.dtype == np.float64
    assert [shard.device for shard in parts.shards] == devices("cuda")
    if MODE != "simulated":
        assert [shard._known().device.id for shard in parts.shards] == list(range(COUNT))
        assert [type(known(part)) for part in scale(parts).parts] == [OnGpu] * COUNT
    same(scale(scale(parts)), 8 * x)
    same(np.sum(parts), np.sum(2 * x))
    for device in "cuda", "cuda:1", "cpu":
        same(np.asarray(jit(lambda x: x + 1, device=device)(parts)), 2 * x + 1)
    config.cpu_devices = COUNT
    same(pmap(lambda x: x + 1)(parts), 2 * x + 1)                        # on processors
    turned = pmap(lambda x: x + 1, devices=devices("cuda")[::-1])(parts)
    same(turned, 2 * x + 1)
    assert [shard.device for shard in turned.shards] == devices("cuda")[::-1]
    same(scale(turned), 4 * x + 2)
    parts.block_until_ready()


def check_what_all_have_stays() -> None:
    x, y = values(COUNT, 2, 3), values(COUNT, 2)
    train = pmap(step, "i", in_axes=(None, 0, 0), out_axes=None, devices=devices("cuda"))
    w = np.zeros(3)
    ours = device_put(w, devices("cuda")[1])
    for _ in range(2):
        w, value = train(w, x, y)
        ours, loss = train(ours, x, y)
        assert type(ours) is Array and type(loss) is Array and type(w) is np.ndarray
        same(np.asarray(ours), w)
        alike(ours)
    same(np.asarray(ours + 1), w + 1)


def check_more_examples_and_a_rest() -> None:
    both(lambda x: x / psum(np.sum(x), "i"), np.abs(values(2 * COUNT, 4)))
    both(lambda x: np.tanh(x), values(COUNT + 2, 4), pad=True)
    both(lambda x: np.tanh(x), values(4, COUNT + 2), pad=True, in_axes=1, out_axes=1)
    x = device_put(values(2 * COUNT, 4), "cuda:1")
    same(pmap(np.tanh, devices=devices("cuda"))(x), np.tanh(np.asarray(x)))


def check_gradients() -> None:
    def mean(w, x):
        return pmean(np.mean(np.tanh(x @ w) ** 2), "i")

    w, x = values(3), values(COUNT, 5, 3)
    options: Any = {"in_axes": (None, 0), "out_axes": None}
    on_gpus = value_and_grad(pmap(mean, "i", devices=devices("cuda"), **options), (0, 1))(w, x)
    same(on_gpus, value_and_grad(pmap(mean, "i", devices=devices("cpu"), **options), (0, 1))(w, x))
    assert [shard.device for shard in on_gpus[1][1].shards] == devices("cuda")
    both(grad(lambda w, x: np.sum(np.tanh(w * x)) * psum(np.sum(x), "i")), values(COUNT, 3), values(COUNT, 3))


def check_what_is_added_in_any_order() -> None:
    x, k = values(COUNT, 6), np.array([0, 1, 1, 3, 0, 1])
    found = pmap(added_at, "i", in_axes=(0, None), out_axes=None, devices=devices("cuda"))(
        device_put(x, "cuda"), device_put(k, "cuda"))
    same(np.asarray(found), added_at_once(x, k))
    alike(found)


def added_at_once(x: Any, k: Any) -> Any:
    found = np.zeros(4)
    np.add.at(found, k, x.sum(axis=0))
    return found


def halved(x):
    return x if np.sum(np.abs(x)) < 1 else halved(x / 2)


def check_what_has_no_form() -> None:
    """Recursion runs as NumPy, with copies."""
    both(lambda x: halved(x) + psum(x, "i"), values(COUNT, 4))


TABLE = np.arange(4.0)


def check_arrays_from_outside() -> None:
    global TABLE
    for _ in range(2):
        both(lambda x: x * TABLE + psum(x, "i"), values(COUNT, 4))
        TABLE = TABLE + 1


def check_errors_of_phases() -> None:
    def picked(x, k):
        return x[k] + psum(x[0], "i")

    try:
        np.asarray(pmap(picked, "i", devices=devices("cuda"))(values(COUNT, 3), np.array([0, 1, 7])))
    except IndexError as error:
        assert "index 7 is out of bounds for axis 0 with size 3" in str(error)
        assert any("cuda:2" in note for note in error.__notes__), error.__notes__
    else:
        raise AssertionError("nothing is raised")


def check_donated() -> None:
    moved = pmap(lambda w, x: w - pmean(x, "i"), "i", donate_argnums=0, devices=devices("cuda"))
    first = moved(values(COUNT, 3), values(COUNT, 3))
    second = moved(first, values(COUNT, 3))
    same(np.asarray(second).shape, (COUNT, 3))
    try:
        print(first)
    except RuntimeError as error:
        assert "donated" in str(error)
    else:
        raise AssertionError("nothing is raised")


def check_devices_of_two_kinds() -> None:
    try:
        pmap(np.tanh, devices=[devices("cuda")[0], devices("cpu")[0]])(values(2, 3))
    except BadArgument as error:
        assert "the devices of pmap are of several kinds: cuda:0, cpu:0" in str(error)
    else:
        raise AssertionError("nothing is raised")


def check_what_nccl_was_asked() -> None:
    if MODE == "nccl":
        assert set(NCCL.asked) == {"allReduce", "allGather"}
        assert all(count % COUNT == 0 for count in NCCL.asked.values())


CHECKS = {name: check for name, check in list(globals().items()) if name.startswith("check_")}


if __name__ == "__main__":
    numba_in_turns.install()
    config.cpu_devices = COUNT
    if MODE == "simulated":
        config.cuda_devices = COUNT
    else:
        let_kernels_take()
        install(Library(COUNT), NCCL if MODE == "nccl" else SimpleNamespace(available=False))
    became: dict[str, str | None] = {}
    for name, check in CHECKS.items():
        try:
            check()
            became[name] = None
        except Exception:
            became[name] = traceback.format_exc()
    json.dump(became, sys.stdout)
