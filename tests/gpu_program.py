"""Runs in a process of its own, in which numba runs kernels as Python: `jit(f, device="cuda")` and all around it.

Prints the name of every check and what became of it, as JSON.
"""

from __future__ import annotations

import json
import pickle
import re
import runpy
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any
from unittest import mock

import ml_dtypes
import numba_in_turns
import numpy as np

from transformer import Array, device_put, devices, grad, jit, random, value_and_grad, vmap
from transformer.lower.cuda import grids
from transformer.run.gpu import calls as gpu_calls
from transformer.run.gpu.library import is_simulated

TABLE = np.array([1.0, 2.0, 3.0])


def scaled(x, by):
    return {"y": x * by, "total": np.sum(x) * by, "n": x.shape[0]}


def loss(w, x, y):
    return np.mean((np.tanh(x @ w) - y) ** 2)


def smooth(u, c):
    for _ in range(2):
        u[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u)


def signed(x, kind):
    return -x if kind == "down" else x


def with_table(x):
    return x * TABLE


def picked(x, k):
    return x[k] * 2


def added_at(y, i, x):
    for k in range(len(i)):
        y[i[k]] += x[k]
    return y


def refused(x, least):
    if np.sum(x) < least:
        raise ValueError(f"less than {least}")
    return x + 1


def divided(x, n):
    return x * (7 // n)


def first_sorted(x):
    by_text = sorted(x.tolist(), key=repr)                               # which nothing compiles
    x += by_text[0]
    return x * 2


def halvings(x):
    count = 0
    while x > 1:
        x, count = x / 2, count + 1
    return count


if is_simulated():
    @jit(device="cuda")
    def doubled(x):
        return x + x


def same(found: Any, wanted: Any, rtol: float = 1e-6) -> None:
    """Asserts the same numbers, types and dtypes."""
    assert type(found) is type(wanted), (type(found), type(wanted))
    if isinstance(wanted, dict):
        assert list(found) == list(wanted)
        found, wanted = tuple(found.values()), tuple(wanted.values())
    if isinstance(wanted, tuple):
        for one, other in zip(found, wanted, strict=True):
            same(one, other, rtol)
        return
    assert np.asarray(found).dtype == np.asarray(wanted).dtype and np.shape(found) == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-12)


def check_types_and_dtypes() -> None:
    compiled = jit(scaled, device="cuda")
    for x in np.arange(3.0), np.arange(4.0, dtype="f4"), np.arange(3), np.zeros(0), np.ones(1):
        for by in 2, 0.5, np.float32(1.5):
            same(compiled(x, by), scaled(x, by))


def check_layouts() -> None:
    compiled, x = jit(signed, device="cuda"), np.arange(12.0).reshape(3, 4)
    for each in x[:, ::2], x.T, np.asfortranarray(x), x[::-1]:
        same(compiled(each, "down"), -each)


def check_gradients() -> None:
    w, x, y = np.array([0.5, -0.25]), np.array([[1.0, 2.0], [0.5, -1.0], [0.25, 0.125]]), np.ones(3)
    same(jit(value_and_grad(loss), device="cuda")(w, x, y), value_and_grad(loss)(w, x, y))
    inner = jit(loss, device="cuda")                                     # is looked through
    same(grad(inner)(w, x, y), grad(loss)(w, x, y))


def check_writes_reach_the_caller() -> None:
    ours, theirs = np.arange(5.0) ** 2, np.arange(5.0) ** 2
    same(jit(smooth, device="cuda")(ours, 0.25), smooth(theirs, 0.25))
    same(ours, theirs)
    base = np.arange(10.0)
    smooth(wanted := np.arange(0, 10.0, 2), 0.25)
    jit(smooth, device="cuda")(base[::2], 0.25)
    same(base[::2], wanted)
    same(base[1::2], np.arange(1.0, 10, 2))


def check_arrays_without_axes_are_written() -> None:
    def moved(x):
        x += 1
        return x * x

    x = np.array(1.5)
    same(jit(moved, device="cuda")(x), np.float64(6.25))
    same(x, np.array(2.5))


def check_numbers_of_16_bits() -> None:
    def product(a, b):
        return a @ b

    for dtype in np.float16, ml_dtypes.bfloat16:
        a, b = np.arange(6).reshape(2, 3).astype(dtype), np.arange(12).reshape(3, 4).astype(dtype)
        found = jit(product, device="cuda")(a, b)
        assert found.dtype == dtype
        same(found.astype("f4"), product(a, b).astype("f4"))


def check_random_numbers() -> None:
    key = random.key(3)
    for draw in random.normal, random.uniform, random.exponential:
        same(jit(lambda key, draw=draw: draw(key, (9,)), device="cuda")(key), draw(key, (9,)))


def check_shared_memory_is_refused() -> None:
    def added(x, y):
        x += y

    x = np.arange(4.0)
    message = raised(jit(added, device="cuda"), x[:3], x[1:])
    assert "share" in message, message
    same(x, np.arange(4.0))


def check_static_arguments() -> None:
    x = np.arange(3.0)
    compiled = jit(signed, device="cuda", static_argnames="kind")
    same(compiled(x, "down"), -x)
    same(compiled(x, "up"), x)
    same(compiled(x, kind="down"), -x)


def check_arrays_from_outside() -> None:
    global TABLE
    compiled, x = jit(with_table, device="cuda"), np.ones(3)
    same(compiled(x), TABLE)
    TABLE[1] = 5.0
    same(compiled(x), TABLE)
    TABLE = np.array([7.0, 8.0, 9.0])
    same(compiled(x), TABLE)


def check_decisions_on_numbers_of_the_device() -> None:
    compiled = jit(lambda x: halvings(np.sum(x)), device="cuda")
    for x in np.array([3.0, 4.0]), np.array([0.5, 0.25]):
        same(compiled(x), halvings(np.sum(x)))


def check_vmap() -> None:
    x = np.array([1.0, 4.0, 9.0])
    same(vmap(jit(lambda x: np.sqrt(x), device="cuda"))(x), np.sqrt(x))
    same(jit(vmap(halvings), device="cuda")(x), np.array([0, 2, 4]))


def raised(function: Any, *args: Any) -> str:
    """What a call raises, with its notes and the places it comes from."""
    try:
        function(*args)
    except Exception as error:
        return "".join(traceback.format_exception(error))
    raise AssertionError("nothing is raised")


def line_of(text: str) -> str:
    lines = Path(__file__).read_text().splitlines()
    return f"line {next(k for k, line in enumerate(lines, 1) if text in line)}"


def check_places_outside() -> None:
    compiled, x = jit(picked, device="cuda"), np.arange(3.0)
    same(compiled(x, 2), picked(x, 2))
    same(compiled(x, np.array([0, -1])), picked(x, np.array([0, -1])))
    for k in 3, np.array([0, -4]):
        message, number = raised(compiled, x, k), 3 if isinstance(k, int) else -4
        assert f"IndexError: index {number} is out of bounds for axis 0 with size 3" in message, message
        assert line_of("return x[k] * 2") in message, message


def check_places_outside_in_a_loop() -> None:
    compiled, i = jit(added_at, device="cuda"), np.array([0, 2, -1])
    same(compiled(np.zeros(3), i, np.ones(3)), added_at(np.zeros(3), i, np.ones(3)))
    message = raised(compiled, np.zeros(3), np.array([0, 7, 2]), np.ones(3))
    assert "IndexError: index 7 is out of bounds for axis 0 with size 3" in message, message
    assert line_of("y[i[k]] += x[k]") in message, message


def check_what_the_program_raises() -> None:
    compiled, x = jit(refused, device="cuda"), np.arange(3.0)
    same(compiled(x, 2), x + 1)
    message = raised(compiled, x, 4)
    assert "ValueError: less than 4" in message and line_of("raise ValueError(f") in message, message


def check_division_by_zero() -> None:
    compiled, x = jit(divided, device="cuda"), np.arange(3.0)
    same(compiled(x, 2), x * 3)
    message = raised(compiled, x, 0)
    assert "ZeroDivisionError" in message and line_of("return x * (7 // n)") in message, message


def check_shapes_that_do_not_fit() -> None:
    compiled = jit(lambda x, y: x + y, device="cuda")
    same(compiled(np.ones(3), np.ones(3)), np.full(3, 2.0))
    assert "broadcast" in raised(compiled, np.ones(3), np.ones(2))


def check_pickling() -> None:
    x = np.arange(3.0)
    assert pickle.loads(pickle.dumps(doubled)) is doubled
    other = jit(loss, device="cuda")
    again = pickle.loads(pickle.dumps(other))
    assert type(again) is type(other) and again.device is other.device
    same(again(x, np.ones((2, 3)), np.ones(2)), loss(x, np.ones((2, 3)), np.ones(2)))


def check_stages() -> None:
    x = np.arange(3.0)
    stages = doubled.stages(x)
    assert list(stages) == ["read", "simplified", "loops"]
    assert "@cuda.jit" in stages["loops"] and "def doubled(x):" in stages["loops"]
    assert doubled.source_for(x) == stages["loops"]


def check_report() -> None:
    report = jit(refused, device="cuda").report(np.arange(3.0), 2)
    assert report.launches == len(report.kernels) == 2 and len(report.waits) == 1
    assert report.waits[0].origins[0].line == int(line_of("if np.sum(x) < least:").split()[1])
    assert "waits in 1 place" in str(report) and ".item():" in str(report)
    looping = jit(smooth, device="cuda").report(device_put(np.arange(5.0), "cuda"), 0.25)
    assert looping.launches is None and any(step.in_loop for step in looping.steps) and not looping.waits
    assert "nothing waits" in str(looping)
    assert "runs as NumPy: " in str(jit(first_sorted, device="cuda", fallback=True).report(np.ones(2)))


def check_calls_again() -> None:
    """Repeated calls with `Array`s take the quick way, and give the same."""
    compiled = jit(lambda x, by: (x * by, np.sum(x)), device="cuda")
    x = device_put(np.arange(3.0), "cuda")
    compiled(x, 2.0)
    compiled._dispatcher.call = None
    for by in 2.0, 0.5:
        product, total = compiled(x, by)
        same(np.asarray(product), np.arange(3.0) * by)
        assert float(total) == 3.0 and type(total) is Array and total.block_until_ready().is_ready()


def check_donated() -> None:
    moved = jit(lambda u, by: u + by, device="cuda", donate="u")
    for _ in range(3):
        x = device_put(np.arange(3.0), "cuda")
        same(np.asarray(moved(x, 1.0)), np.arange(3.0) + 1)
        assert "was donated to" in raised(np.asarray, x)


def check_arrays_on_the_device() -> None:
    x = device_put(np.arange(3.0), "cuda")
    result = doubled(x)
    assert type(result) is Array and result.device is devices("cuda")[0]
    same(np.asarray(result), np.arange(3.0) * 2)


def check_page() -> None:
    """The programs of docs/cuda.md run."""
    text = (Path(__file__).parent.parent / "docs" / "cuda.md").read_text()
    programs = re.findall(r"^```py\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert programs
    for program in programs:
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(program)
            file.flush()
            runpy.run_path(file.name)


def check_fallback() -> None:
    ours, theirs = np.arange(1.0, 4.0), np.arange(1.0, 4.0)
    same(jit(first_sorted, device="cuda", fallback=True)(ours), first_sorted(theirs))
    same(ours, theirs)


def check_functions_follow_their_arguments() -> None:
    """What is not compiled for a device runs on the GPU of its arguments."""
    on_gpu, w = device_put(np.array([0.5, -0.25]), "cuda"), np.array([0.5, -0.25])
    x, y = np.ones((3, 2)), np.ones(3)
    for made in jit(loss), grad(loss), vmap(np.sin), jit(grad(loss)), jit(loss, fallback=True):
        rest = () if made.__name__ == "sin" else (x, y)
        made(device_put(w), *rest)                                       # on a processor first
        for _ in range(3):
            found = made(on_gpu, *rest)
            assert type(found) is Array and found.device is on_gpu.device
            np.testing.assert_allclose(np.asarray(found), made(w, *rest), rtol=1e-12)
    assert "cuda.jit" in jit(loss)._dispatcher.on_gpu.source_for(w, x, y)


cuda: Any = None


def handed_to_the_next(x: Any, y: Any) -> None:
    shared = cuda.shared.array(4, np.float64)
    shared[cuda.threadIdx.x] = x[cuda.threadIdx.x]
    cuda.syncthreads()
    if shared[cuda.threadIdx.x] > 9:
        raise ValueError("too much")
    y[cuda.threadIdx.x] = shared[(cuda.threadIdx.x + 1) % 4]


def check_threads_in_turns() -> None:
    """What runs the kernels here: all come to a barrier before one goes on, and exceptions come out."""
    global cuda                                  # which only this process has as a simulator
    from numba import cuda
    kernel, y = cuda.jit(handed_to_the_next)[1, 4], np.zeros(4)
    assert numba_in_turns.waits(handed_to_the_next) and not numba_in_turns.waits(loss)
    kernel(np.arange(4.0), y)
    assert y.tolist() == [1, 2, 3, 0]
    try:
        kernel(np.array([1.0, 10, 2, 3]), y)
    except ValueError as error:
        assert "tid=[1, 0, 0]" in str(error) and "too much" in str(error)
    else:
        raise AssertionError("nothing is raised")


def check_devices() -> None:
    assert [str(device) for device in devices("cuda")] == ["cuda:0"]
    assert jit(scaled, backend="cuda").device is devices("cuda")[0] is jit(scaled, device="cuda:0").device


def doubled_in_place(x):
    x *= 2
    return np.sum(x), np.cumsum(x)


def joined(x):
    return np.sum(np.concatenate([x, x]) ** 2)


def check_axes_that_are_too_long_for_places() -> None:
    """The same module runs with others, before which nothing was written."""
    with mock.patch.dict(grids.NAMES, MOST="256"), mock.patch.object(
            gpu_calls, "with_long_places", wraps=gpu_calls.with_long_places) as lengthened:
        compiled, of_loss = jit(doubled_in_place, device="cuda"), jit(value_and_grad(loss), device="cuda")
        for n, count in (256, 0), (300, 1), (300, 1), (200, 1):
            ours, theirs = np.arange(float(n)), np.arange(float(n))
            same(compiled(ours), doubled_in_place(theirs))
            same(ours, theirs)
            assert lengthened.call_count == count
        for n in 200, 300, 300:
            w, x, y = np.arange(3.0), np.ones((n, 3)), np.arange(float(n))
            found = of_loss(*(device_put(each, "cuda") for each in (w, x, y)))
            for one, other in zip(found, value_and_grad(loss)(w, x, y), strict=True):
                np.testing.assert_allclose(one, other)
        assert lengthened.call_count == 2
        assert "\nPlace = np.int64\n" in gpu_calls.with_long_places("\nMOST = 2**31\nPlace = np.uint32\n")
        said = raised(jit(joined, device="cuda"), np.arange(200.0))
        assert "an axis of 400 places needs Place = np.int64 and MOST = 2**62 in this module" in said


CHECKS = {name: check for name, check in list(globals().items()) if name.startswith("check_")}

if __name__ == "__main__":
    numba_in_turns.install()
    became: dict[str, str | None] = {}
    for name, check in CHECKS.items():
        try:
            check()
            became[name] = None
        except Exception:
            became[name] = traceback.format_exc()
    json.dump(became, sys.stdout)
