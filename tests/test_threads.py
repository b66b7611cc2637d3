"""Loops that threads share: right in any order, the same numbers for any number of threads, safe to call."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from loop_cases import in_pieces
from lowered import as_loops, generated

from transformer import config, grad, jit, tree
from transformer.core.grammar import Const, If, Merge, Var
from transformer.core.types import ArrayType
from transformer.lower.lowering import lower
from transformer.lower.nest.aliases import Memories


@pytest.fixture(autouse=True)
def two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "threads", 2)


def selu(x):
    return 1.05 * np.where(x > 0, x, 1.67 * (np.exp(x) - 1))


def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def loss(w, x):
    return np.sum(np.tanh(x * w) ** 2) + np.max(x) - np.min(w)


def of_transpose(x):
    return (x + x * x + 3) * (x * x + x * x.T)


def heat(u):
    for _ in range(6):
        new = u.copy()
        new[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = new
    return u


def distances(p):
    total = 0.0
    d = p[:, None, :] - p[None, :, :]
    r = np.sqrt(np.sum(d * d, axis=2) + 0.1)
    total = np.sum(1 / r)
    return total


def recurrence(x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + np.sin(x[i])
    return y


def column_sums(x):
    return np.sum(x * x, axis=0)


def shifted_in_place(x):
    y = x * 1.0
    y[1:] = y[:-1] * 2
    return y


def counted(x):
    return np.sum(x > 0), np.sum(x)


VECTORS = [(selu, 1), (loss, 2), (heat, 1), (recurrence, 1), (shifted_in_place, 1), (counted, 1)]
MATRICES = [(softmax, 1), (of_transpose, 1), (distances, 1), (column_sums, 1)]


def arguments(count: int, shape: tuple[int, ...], dtype: Any, seed: int = 0) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    return tuple(rng.normal(size=shape).astype(dtype) for _ in range(count))


def lowered_for_threads(function: Any, *args: Any) -> Any:
    made = generated(function, function, args)
    return lower(made.function, made.reading.assumptions, threads=True)


@pytest.mark.parametrize("function, count", VECTORS + MATRICES)
def test_pieces_in_any_order_give_the_same(function: Any, count: int) -> None:
    for size in (6, 130):
        shape = (size,) if (function, count) in VECTORS else (size, size)
        args = arguments(count, shape, np.float64)
        if size < 100 or len(shape) == 1:
            for got, want in zip(tree.leaves(as_loops(function, function, args, threads=True)),
                                 tree.leaves(function(*args)), strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-10)


SHARED = [(selu, (9,), "i"), (softmax, (9, 8), "i"), (heat, (9,), "j"), (of_transpose, (9, 9), "i"),
          (column_sums, (9, 8), "j"), (distances, (9, 3), "i"), (counted, (9,), "i"), (shifted_in_place, (9,), "i"),
          (recurrence, (9,), None), (np.cumsum, (9,), None)]


@pytest.mark.parametrize("function, shape, index", SHARED)
def test_what_is_shared(function: Any, shape: tuple[int, ...], index: str | None) -> None:
    """Rows, or columns, and not what goes from one iteration to the next."""
    def program(x):
        return function(x)

    source = lowered_for_threads(program, *arguments(1, shape, np.float64)).source
    assert source.count("in_threads(fill") == (index is not None)
    if index is not None:
        assert f"for {index} in places(first, count):" in source


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function, count", [*VECTORS[:3], *MATRICES[:3]])
def test_compiled(function: Any, count: int, dtype: Any) -> None:
    """By two threads and by one: the same bits, where both are made for threads."""
    shape = (300_000,) if (function, count) in VECTORS else (700, 400) if function is not of_transpose else (600, 600)
    args = arguments(count, (300, 3) if function is distances else shape, dtype)
    compiled = jit(function)
    found = compiled(*args)
    assert "in_threads(" in compiled.source
    wide = [arg.astype(np.float64) for arg in args]
    for got, want in zip(tree.leaves(found), tree.leaves(function(*wide)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9 if dtype is np.float64 else 2e-4, atol=1e-5)
    config.threads = 3
    for got, want in zip(tree.leaves(compiled(*args)), tree.leaves(found), strict=True):
        np.testing.assert_array_equal(got, want)


def test_gradients_are_the_same_for_any_number_of_threads() -> None:
    w, x = arguments(2, (200_000,), np.float64)
    derived = jit(grad(loss, argnums=(0, 1)))
    found = derived(w, x)
    for count in (2, 4, 3):
        config.threads = count
        for got, want in zip(derived(w, x), found, strict=True):
            np.testing.assert_array_equal(got, want)
    for got, want in zip(found, grad(loss, argnums=(0, 1))(w, x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


def test_one_thread_has_plain_loops() -> None:
    compiled = jit(selu)
    x = np.linspace(-1, 1, 50)
    compiled(x)
    assert "in_threads(" in compiled.source
    config.threads = 1
    compiled(x)
    assert "in_threads(" not in compiled.source


@pytest.mark.parametrize("count", [0, -2])
def test_there_is_at_least_one_thread(count: int) -> None:
    with pytest.raises(ValueError, match="it must be at least 1"):
        config.threads = count
    assert config.threads == 2


def test_called_from_several_threads() -> None:
    compiled, x = jit(selu), arguments(1, (100_000,), np.float64)[0]
    wanted = compiled(x)
    wrong: list[int] = []

    def calls(number: int) -> None:
        for _ in range(20):
            if not np.array_equal(compiled(x), wanted):
                wrong.append(number)

    workers = [threading.Thread(target=calls, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


ALONE = """
import os, sys
import numpy as np
import transformer
from transformer import config, jit
from program import squares
config.threads = 2
x = np.arange(200_000.0)
assert np.array_equal(jit(squares)(x), x * x + 1)
{then}
"""
FORKED = """
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(jit(squares)(x), x * x + 1) else 3)
assert os.waitpid(child, 0)[1] == 0
assert np.array_equal(jit(squares)(x), x * x + 1)
"""
WITHOUT = "sys.modules['numba.np.ufunc.tbbpool'] = None\n"


def alone(folder: Any, then: str = "", before: str = "") -> None:
    """Runs a program in a process of its own."""
    (folder / "program.py").write_text("def squares(x):\n    return x * x + 1\n")
    environment = {**os.environ, "TRANSFORMER_CACHE": str(folder / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}
    code = before.join(["import sys\n", ALONE.format(then=then)])
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_another_process_loads_what_threads_share(tmp_path: Any) -> None:
    alone(tmp_path)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache" / "objects").iterdir()}
    alone(tmp_path)
    assert kept and kept == {path: path.stat().st_mtime_ns for path in (tmp_path / "cache" / "objects").iterdir()}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_processes_fork(tmp_path: Any) -> None:
    alone(tmp_path, FORKED)


def test_without_tbb_there_is_one_thread(tmp_path: Any) -> None:
    alone(tmp_path, before=WITHOUT)


def by_rows(x, m):
    y = np.zeros(len(x))
    for i in range(len(x)):
        r = np.full(m, x[i])
        for k in range(3):
            r = np.sin(r) + k
        y[i] = np.sum(r)
    return y


def to_the_root(m, e):
    y = np.empty_like(m)
    for i in range(len(m)):
        a = m[i]
        while abs(a - e * np.sin(a) - m[i]) > 1e-9:
            a = a - (a - e * np.sin(a) - m[i]) / (1 - e * np.cos(a))
        y[i] = a
    return y


def scattered(x, places):
    y = np.zeros(3 * len(x))
    for i in range(len(x)):
        y[i + places[i]] = x[i] * x[i] * x[i]
    return y


def swapped(x):
    u, v = x * 1.0, x * 2.0
    for i in range(len(x)):
        v[i] = u[i] * u[i] + 1
        u, v = v, u
    return u, v


def running(x):
    row, y = np.zeros(3), np.zeros(len(x))
    for i in range(len(x)):
        row[i % 3] += x[i] * x[i]
        y[i] = row[0] + row[1]
    return y


def wide_stencil(u):
    v = u.copy()
    v[3:-3] = u[3:-3] * 0.5 + u[6:] - u[:-6] * u[3:-3]
    return v


def test_loops_of_the_program_are_shared() -> None:
    x = np.linspace(0, 3, 40_000)
    for function, args in ((by_rows, (x, 5)), (to_the_root, (x, 0.3))):
        compiled = jit(function)
        np.testing.assert_allclose(compiled(*args), function(*args), rtol=1e-9)
        assert compiled.source.count("in_threads(fill") == 1


def test_loops_that_hand_something_on_are_not_shared() -> None:
    """Places that are computed, arrays that take turns, and arrays that are added to."""
    x = np.linspace(1, 2, 9)
    places = np.array([0, -1, 3, 0, 2, -4, 1, -7, 0])
    for function, args in ((scattered, (x, places)), (swapped, (x,)), (running, (x,))):
        source = lowered_for_threads(function, *args).source
        assert "for i in places(" not in source.split(f"def {function.__name__}")[0], source
        for got, want in zip(tree.leaves(as_loops(function, function, args, threads=True)),
                             tree.leaves(function(*args)), strict=True):
            np.testing.assert_allclose(got, want)


@pytest.mark.parametrize("size", [5, 6, 7, 9])
def test_loops_over_less_than_nothing(size: int) -> None:
    x = np.linspace(0, 1, size)
    np.testing.assert_allclose(jit(wide_stencil)(x), wide_stencil(x) if size > 5 else x)


def test_memory_that_a_thread_does_not_get() -> None:
    x = np.linspace(0, 1, 40_000)
    compiled = jit(by_rows)
    with pytest.raises(MemoryError):
        compiled(x, 10**14)
    np.testing.assert_allclose(compiled(x, 3), by_rows(x, 3))

@pytest.mark.parametrize("function, args, are_apart", [
    (selu, (np.arange(5000.0) / 999 - 2,), True), (heat, (np.arange(5000.0) % 7,), False)])
def test_tasks_are_told_that_their_arrays_share_no_memory(function: Any, args: Any, are_apart: bool) -> None:
    made = generated(function, function, args)
    options = lower(made.function, made.reading.assumptions, threads=True).options
    assert {"alone" in chosen for name, chosen in options.items() if name.startswith("fill")} == {are_apart}
    np.testing.assert_allclose(jit(function)(*args), function(*args), rtol=1e-13)


def turned_about(x, n):
    a, b, c = x * 1.0, x * 2.0, x * 3.0
    for _ in range(n):
        c[1:-1] = a[:-2] + 0.5 * b[2:]
        b[2:] = c[:-2] * a[2:]
        a, b, c = b, c, a
    return a, b, c


def chosen(x, n):
    a, b = x * 1.0, x * 2.0
    c = a if n > 1 else b
    d = c.copy()
    d[1:] += a[:-1] * b[1:] + c[:-1]
    return a, b, c, d


def in_lists(x, n):
    rows = [x * 1.0, x * 2.0, x + 1]
    for t in range(n):
        rows[t % 3][1:] = rows[(t + 1) % 3][:-1] + rows[2][1:] * 0.5
    rows[0][1:] += rows[n % 3][:-1]
    return rows[0], rows[1], rows[2]


def given_back(x, n):
    u = x * 1.0
    v = moved(u, u)
    w = moved(v[:4], u[4:8])
    u[1:] += v[:-1] * n
    return u, v, w


def moved(a, b):
    b[1:] = a[:-1] * 0.5 + b[:-1]
    return b


@pytest.mark.parametrize("function", [turned_about, chosen, in_lists, given_back])
def test_tasks_of_arrays_that_take_turns(function: Any) -> None:
    """In pieces, which look at the memory of those that are told it is not shared, and compiled."""
    x = np.linspace(-1, 2, 70)
    for n in (0, 1, 3):
        wanted = function(x, n)
        for found in (as_loops(function, function, (x, n), threads=True), jit(function)(x, n)):
            for got, want in zip(found, wanted, strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def test_pieces_that_write_shared_memory_are_seen() -> None:
    def fill_y(first, count, x, y):
        y[first:first + count] = x[first:first + count] + 1

    x = np.zeros(4)
    in_pieces({"fill_x"}, fill_y, 3, 1, x[1:], x[:-1])
    in_pieces({"fill_y"}, fill_y, 2, 1, x[:2], x[2:])
    with pytest.raises(AssertionError, match="fill_y writes memory"):
        in_pieces({"fill_y"}, fill_y, 3, 1, x[1:], x[:-1])


def test_which_arrays_may_share_memory() -> None:
    type = ArrayType(np.dtype("f8"), (3,))
    x, y, z, u, rows = (Var(type, name) for name in ("x", "y", "z", "u", "rows"))
    merged = If(Const(True), [], [], [Merge(z, x, y)])
    memories = Memories([merged], {x, y, u}, [(rows, u)])
    assert memories.are_apart([[x], [u]], {x, u}) and memories.are_apart([[x], [y]], {u})
    assert not memories.are_apart([[z], [x]], {z}) and not memories.are_apart([[z], [y]], {y})
    assert memories.are_apart([[z], [x]], {u}) and memories.are_apart([[z], [u]], {u})
    assert not memories.are_apart([[rows], [u]], {rows})
    assert not memories.are_apart([[Var(type, "unknown")], [u]], {u})
