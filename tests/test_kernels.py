"""Kernels: NumPy block by block with its tests, compiled, differentiated, mapped; the samples."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doc_blocks import FOLDER, blocks, run_block
from lowered import called, generated
from test_gpu import Simulated

from transformer import check_grads, grad, jit, tree, vmap
from transformer.core.errors import BadArgument, NotSupported
from transformer.custom import custom_vjp
from transformer.kernels import Kernel, cdiv, kernel, load, store
from transformer.lower.cuda.lowering import lower_for_gpu

SAMPLES = Path(__file__).parent.parent / "samples"


def product_shape(x: Any, w: Any) -> Any:
    return np.empty((x.shape[0], w.shape[1]), x.dtype)


@kernel(grid=lambda x, w: (cdiv(x.shape[0], 4), cdiv(w.shape[1], 4)), out=product_shape)
def tiles(block, x, w, y):
    i, j = block
    total = np.zeros((4, 4), x.dtype)
    for k in range(cdiv(x.shape[1], 4)):
        total += load(x, (4 * i, 4 * k), (4, 4)) @ load(w, (4 * k, 4 * j), (4, 4))
    store(y, (4 * i, 4 * j), total)


@kernel(grid=lambda x, w: (cdiv(x.shape[0], 4), cdiv(w.shape[1], 4)), out=product_shape)
def slices(block, x, w, y):
    rows, columns = slice(4 * block[0], 4 * block[0] + 4), slice(4 * block[1], 4 * block[1] + 4)
    total = np.zeros_like(y[rows, columns])
    for k in range(cdiv(x.shape[1], 4)):
        total += x[rows, 4 * k:4 * k + 4] @ w[4 * k:4 * k + 4, columns]
    y[rows, columns] = total


@kernel(grid=lambda x: (cdiv(len(x), 3),), out=lambda x: (np.empty_like(x), np.empty(len(x), np.int64)))
def two_outputs(block, x, y, signs):
    here = slice(3 * block[0], 3 * block[0] + 3)
    y[here] = np.tanh(x[here]) * x[here]
    signs[here] = x[here] > 0


def matrices(*sizes: int, dtype: Any = float) -> tuple[np.ndarray, np.ndarray]:
    rng, (n, m, d) = np.random.default_rng(0), sizes
    return rng.normal(size=(n, m)).astype(dtype), rng.normal(size=(m, d)).astype(dtype)


def squares(function: Any) -> Any:
    return lambda *args: np.sum(function(*args) ** 2)


# -- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize("run", [tiles, slices])
@pytest.mark.parametrize("sizes", [(8, 4, 12), (9, 6, 7), (1, 1, 1), (3, 5, 2)])
def test_blocks_run_in_python(run: Any, sizes: tuple[int, ...]) -> None:
    x, w = matrices(*sizes)
    np.testing.assert_allclose(run(x, w), x @ w, atol=1e-13)
    assert type(run(x, w)) is np.ndarray


def test_a_bad_start_is_seen_where_it_is_known() -> None:
    """No test is left in the program where blocks begin at multiples of a size."""
    x, w = matrices(9, 6, 7)
    assert "raise" not in COMPILED[tiles].source_for(x, w)


COMPILED = {tiles: jit(tiles), slices: jit(slices)}


@pytest.mark.parametrize("run", [tiles, slices])
def test_blocks_are_compiled_for_all_sizes(run: Any) -> None:
    sources = set()
    for sizes in [(9, 6, 7), (8, 12, 16), (64, 48, 33)]:
        x, w = matrices(*sizes)
        np.testing.assert_allclose(COMPILED[run](x, w), x @ w, atol=1e-12)
        sources.add(COMPILED[run].source_for(x, w))
    assert len(sources) == 1


@pytest.mark.parametrize("threads", ["1", "2"])
def test_blocks_are_shared_by_threads(threads: str) -> None:
    x, w = matrices(9, 6, 7)
    source = COMPILED[tiles].source_for(x, w)
    assert re.search(r"^    in_threads\(fill_y, ", source, re.MULTILINE)
    done = subprocess.run([sys.executable, "-c", SHARED, threads], cwd=Path(__file__).parent, capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == 0, done.stderr


SHARED = """
import sys
import numpy as np
from transformer import config
config.threads = int(sys.argv[1])
from test_kernels import COMPILED, matrices, tiles
x, w = matrices(400, 48, 41)
assert np.allclose(COMPILED[tiles](x, w), x @ w)
assert ("in_threads" in COMPILED[tiles].source_for(x, w)) == (config.threads > 1)
"""


def test_the_order_of_blocks_does_not_matter() -> None:
    """What threads do, with one row of blocks each, the last one first."""
    def in_threads(task: Any, size: int, cost: int, *given: Any) -> None:
        for first in reversed(range(size)):
            task(first, 1, *given)

    x, w = matrices(9, 6, 7)
    names: dict[str, Any] = {}
    exec(COMPILED[tiles].source_for(x, w), names)
    names["in_threads"] = in_threads
    np.testing.assert_allclose(names["tiles"](x, w), x @ w, atol=1e-12)


def test_several_outputs() -> None:
    x = np.linspace(-1, 1, 8)
    for run in (two_outputs, jit(two_outputs)):
        y, signs = run(x)
        np.testing.assert_allclose(y, np.tanh(x) * x)
        np.testing.assert_array_equal(signs, x > 0)


def test_dtypes_are_kept() -> None:
    x, w = matrices(5, 4, 3, dtype=np.float32)
    assert tiles(x, w).dtype == np.float32


def test_a_grid_of_three_axes_and_one_that_is_a_number() -> None:
    @kernel(grid=(2, 1, 3), out=lambda x: np.empty((2, 1, 3)))
    def places(block, x, y):
        i, j, k = block
        y[i, j, k] = x + 100 * i + 10 * j + k

    wanted = np.array([[[0.5, 1.5, 2.5]], [[100.5, 101.5, 102.5]]])
    np.testing.assert_allclose(places(0.5), wanted)
    np.testing.assert_allclose(grad(lambda x: np.sum(places(x) * wanted))(0.5), wanted.sum())


def test_load_and_store_at_the_ends() -> None:
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(load(x, (1, 2), (2, 2), fill=7), [[5, 7], [7, 7]])
    np.testing.assert_array_equal(load(x, (4, 0), (1, 3)), [[0, 0, 0]])
    store(x, (1, 1), np.full((3, 3), -1.0))
    np.testing.assert_array_equal(x, [[0, 1, 2], [3, -1, -1]])
    with pytest.raises(ValueError, match="a tile starts before its array"):
        load(x, (-1, 0), (2, 2))
    with pytest.raises(ValueError, match="2 axes"):
        load(x, (0,), (2,))


# -- transformations -----------------------------------------------------------------------------


@pytest.mark.parametrize("run", [tiles, slices])
def test_gradients_by_reading(run: Any) -> None:
    x, w = matrices(9, 6, 7)
    check_grads(squares(run), (x, w))
    for found, wanted in zip(grad(squares(run), (0, 1))(x, w), grad(squares(np.matmul), (0, 1))(x, w), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_a_gradient_by_another_kernel() -> None:
    @kernel(grid=lambda x: (cdiv(len(x), 2),), out=np.empty_like)
    def cubes(block, x, y):
        here = slice(2 * block[0], 2 * block[0] + 2)
        y[here] = x[here] ** 3

    @kernel(grid=lambda x, dy: (cdiv(len(x), 2),), out=lambda x, dy: np.empty_like(x))
    def cubes_back(block, x, dy, dx):
        here = slice(2 * block[0], 2 * block[0] + 2)
        dx[here] = 3 * x[here] ** 2 * dy[here]

    ruled = custom_vjp(cubes)
    ruled.defvjp(lambda x: (cubes(x), x), lambda x, dy: (cubes_back(x, dy),))
    x = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(ruled(x), x ** 3)
    np.testing.assert_allclose(grad(squares(ruled))(x), 6 * x ** 5)
    check_grads(squares(ruled), (x,))


def test_vmap() -> None:
    x, w = matrices(5, 6, 7)
    mapped = vmap(slices, in_axes=(0, None))(np.stack([x, 2 * x]), w)
    np.testing.assert_allclose(mapped, np.stack([x @ w, 2 * x @ w]), atol=1e-13)


def test_a_kernel_in_a_program() -> None:
    def program(x: Any, w: Any) -> Any:
        return np.tanh(tiles(x, w)).sum() + np.sum(slices(x, w))

    x, w = matrices(5, 3, 6)
    np.testing.assert_allclose(program(x, w), np.tanh(x @ w).sum() + (x @ w).sum())
    check_grads(program, (x, w))


# -- errors --------------------------------------------------------------------------------------


def both(run: Any, *args: Any) -> list[str]:
    """What a call raises, as it is and read."""
    found = []
    for each in (run, jit(run)):
        with pytest.raises((BadArgument, NotSupported)) as caught:
            each(*args)
        assert "test_kernels.py" in str(caught.value)
        found.append(caught.value.message)
    return found


def filling(grid: Any, width: int = 2, out: Any = np.empty_like) -> Any:
    @kernel(grid=grid, out=out)
    def filled(block, x, y):
        y[width * block[0]:width * block[0] + 2] = x[2 * block[0]:2 * block[0] + 2]

    return filled


@pytest.mark.parametrize("grid", [lambda x: len(x), lambda x: (len(x) / 2,), lambda x: (1, 1, 1, 1), lambda x: (True,)])
def test_a_grid_that_is_none(grid: Any) -> None:
    assert all("tuple of one to three ints" in message for message in both(filling(grid), np.ones(4)))


def test_a_grid_that_is_none_at_once() -> None:
    with pytest.raises(BadArgument, match="tuple of one to three ints"):
        kernel(grid=4, out=np.empty_like)                               # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="which is not a function of the"):
        kernel(grid=(4,), out=np.ones(3))                               # type: ignore[arg-type]


def test_numbers_of_arguments_and_outputs() -> None:
    x = np.ones((4, 4))
    assert all("too many positional arguments" in message for message in both(tiles, x, x, x))
    assert all("missing a required argument: 'w'" in message for message in both(tiles, x))
    two = filling((2,), out=lambda x: (np.empty_like(x), np.empty_like(x)))
    assert all("has 1 outputs (y), but out returns 2" in message for message in both(two, np.ones(4)))
    assert all("does not return arrays" in message for message in both(filling((2,), out=len), np.ones(4)))
    with pytest.raises(BadArgument, match="has only"):
        kernel(grid=(1,), out=lambda x, w: x)(lambda block, x: None)
    with pytest.raises(BadArgument, match="is not supported"):
        kernel(grid=(1,), out=np.empty_like)(lambda block, x, *, y: None)


def test_what_no_block_stores() -> None:
    with pytest.raises(BadArgument, match=r"no block of filled stores y\[4\]") as caught:
        filling((2,))(np.ones(5))
    assert "(5,)" in str(caught.value) and "def filled" in str(caught.value)


def test_what_two_blocks_store() -> None:
    wrong = r"block \(1,\) of filled stores to y where block \(0,\) has stored"
    with pytest.raises(BadArgument, match=wrong) as caught:
        filling((2,), width=1)(np.ones(3))
    assert "y[width * block[0]" in str(caught.value)


def test_what_another_block_stored_is_not_read() -> None:
    @kernel(grid=lambda x: (len(x),), out=np.empty_like)
    def running(block, x, y):
        i, = block
        y[i] = x[i] + (y[i - 1] if i else 0)

    @kernel(grid=lambda x: (len(x),), out=np.empty_like)
    def adding(block, x, y):
        y[block[0]] += x[block[0]]

    with pytest.raises(BadArgument, match=r"block \(1,\) of running reads y where block \(0,\) has stored"):
        running(np.ones(3))
    with pytest.raises(BadArgument, match=r"block \(0,\) of adding reads y where no block has stored"):
        adding(np.ones(3))


def test_a_block_reads_what_it_stored_itself() -> None:
    @kernel(grid=lambda x: (cdiv(len(x), 2),), out=np.empty_like)
    def twice(block, x, y):
        tile = y[2 * block[0]:2 * block[0] + 2]
        tile[:] = x[2 * block[0]:2 * block[0] + 2]
        tile *= 2
        np.add(tile, 1, out=tile)
        tile.T.reshape(-1)[:1] = tile.sum()

    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(twice(x), [8, 5, 7])
    np.testing.assert_allclose(jit(twice)(x), [8, 5, 7])


def test_arguments_are_not_written() -> None:
    @kernel(grid=lambda x: (len(x),), out=np.empty_like)
    def writing(block, x, y):
        x[block[0]] = 1
        y[block[0]] = x[block[0]]

    with pytest.raises(ValueError, match="read-only"):
        writing(np.zeros(3))
    with pytest.raises(NotSupported, match="the kernel writing writes to an argument"):
        jit(writing)(np.zeros(3))


def test_a_body_returns_nothing() -> None:
    @kernel(grid=lambda x: (len(x),), out=np.empty_like)
    def returning(block, x, y):
        y[block[0]] = 1
        return x

    assert all("returns a value" in message for message in both(returning, np.zeros(3)))


def test_what_a_kernel_says_of_itself() -> None:
    import inspect
    import pickle
    assert isinstance(tiles, Kernel) and str(inspect.signature(tiles)) == "(x, w)" and repr(tiles) == "<kernel tiles>"
    assert pickle.loads(pickle.dumps(tiles)) is tiles
    x, w = matrices(5, 3, 6)
    np.testing.assert_allclose(tiles(w=w, x=x), x @ w)


# -- samples and documentation -------------------------------------------------------------------


def test_the_page_shows_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    page = (FOLDER / "kernels.md").read_text()
    run_block("\n".join(blocks(page, "python")))
    printed, shown = capsys.readouterr().out, "".join(blocks(page, "text"))
    assert [line for line in printed.splitlines() if "# reverse of line" not in line] == [
        line for line in (shown + "\n").splitlines() if "# reverse of line" not in line]


def test_the_sample_agrees_with_numpy() -> None:
    done = subprocess.run([sys.executable, "kernels.py", "--plain"], cwd=SAMPLES, capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr
    errors = [float(found) for found in re.findall(r"(\d\.\de[+-]\d+)$", done.stdout, re.MULTILINE)]
    assert len(errors) == 6 and max(errors) < 1e-11


# -- GPUs, step by step --------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(9, 6, 7), (8, 4, 12)])
def test_a_block_of_threads_for_each_block(sizes: tuple[int, ...]) -> None:
    """One launch, with tiles in memory that the threads of a block share; the simulator finds races."""
    x, w = matrices(*sizes)
    made = generated(tiles, tiles, (x, w))
    kernels = lower_for_gpu(made.function, made.reading.assumptions)
    assert kernels.source.count("[over_blocks(") == 1 and "cuda.shared.array((4, 4), np.float64)" in kernels.source
    assert "cp.matmul" not in kernels.source
    np.testing.assert_allclose(called(made, Simulated(kernels), tiles, (x, w)), x @ w, atol=1e-12)


def test_a_guard_bounds_tiles() -> None:
    """The width of x is not in the source but for the part that is taken of it: the call decides that it is all."""
    @kernel(grid=lambda x: (cdiv(len(x), 3),), out=np.empty_like)
    def grams(block, x, y):
        rows = x[3 * block[0]:3 * block[0] + 3, :8]
        y[3 * block[0]:3 * block[0] + 3, :8] = np.exp(rows @ rows.T) @ rows

    x = np.random.default_rng(0).normal(size=(7, 5))
    made = generated(grams, grams, (x,))
    kernels = lower_for_gpu(made.function, made.reading.assumptions)
    assert kernels.source.count("](n, ") == 1 and "cuda.shared.array" in kernels.source
    np.testing.assert_allclose(called(made, Simulated(kernels), grams, (x,)), grams(x))


@pytest.mark.parametrize("run", [slices, two_outputs])
def test_other_kernels_on_gpus(run: Any) -> None:
    args = matrices(9, 6, 7) if run is slices else (np.linspace(-1, 1, 8),)
    made = generated(run, run, args)
    kernels = lower_for_gpu(made.function, made.reading.assumptions)
    found = tree.leaves(called(made, Simulated(kernels), run, args))
    for got, wanted in zip(found, tree.leaves(run(*args)), strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-12)


# -- what kernels are written with ---------------------------------------------------------------


def test_a_slice_in_a_variable() -> None:
    """It follows a loop; where two branches leave different ones, what follows is read for each."""
    def program(x: Any) -> Any:
        rows, total = slice(0, 2), 0.0
        for i in range(3):
            total += np.sum(x[rows] ** 2)
            rows = slice(i, i + 2)
        return total + np.sum(x[rows] ** 3)

    def branching(x: Any, k: int) -> Any:
        if x[0] > 0:
            rows = slice(k, k + 1)
        else:
            rows = slice(k + 1, k + 2)
        return np.sum(x[rows])

    check_grads(program, (np.arange(1.0, 7.0),))
    np.testing.assert_array_equal(grad(branching)(np.ones(4), 1), [0, 1, 0, 0])
    np.testing.assert_array_equal(grad(branching)(-np.ones(4), 1), [0, 0, 1, 0])
