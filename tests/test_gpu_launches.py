"""How often, and with how many threads, a driver launches kernels; what it knows without asking the device."""

from __future__ import annotations

import re
from typing import Any

import gpu_simulator
import numpy as np
import pytest
from corpus.kept_aside import conjugate_gradients, streamed, window_of_lanes
from gpu_checks import check
from test_golden_gpu import looped

from transformer import grad, vmap
from transformer.kernels import kernel
from transformer.lower.cuda import apart


def driver_of(source: str) -> str:
    return source[source.index("_driver("):]


def grids_of(text: str) -> list[str]:
    return re.findall(r"^ *fill_\w+\[(\w+)\(", text, re.MULTILINE)


def test_lanes_around_a_branch_are_launched_once() -> None:
    """The branch leaves what it does not replace where it lies, so that a kernel may do it."""
    rng = np.random.default_rng(0)
    driver = driver_of(check(window_of_lanes, rng.standard_normal((5, 4, 3)), rng.standard_normal((5, 3))))
    assert "for " not in driver and "over_blocks" in driver


def test_what_is_added_up_in_a_loop_is_shared_by_blocks() -> None:
    matrix = np.diag(np.arange(1.0, 6)) + 0.1
    driver = driver_of(check(conjugate_gradients, matrix, np.ones(5), 3))
    inside = re.search(r"    while .*\n((?: {8}.*\n)+)", driver)[1]
    assert grids_of(inside).count("over_blocks") == 3                    # a product with a matrix, and two of vectors


def test_the_driver_knows_what_it_counts() -> None:
    """It asks for the one number that decides."""
    matrix = np.diag(np.arange(1.0, 6)) + 0.1
    driver = driver_of(check(conjugate_gradients, matrix, np.ones(5), 3))
    assert driver.count(".item()") == 1
    assert "k = 0" in driver


def recurrence(x):
    y = np.zeros_like(x)
    for i in range(1, len(x)):
        y[i] = np.sin(y[i - 1]) + x[i]
    return y


def test_one_thread_does_what_nobody_can_share() -> None:
    source = check(recurrence, np.arange(5.0))
    assert grids_of(driver_of(source)) == ["over_threads", "one_thread"]
    assert "syncthreads" not in source


def clustered(x, centres, steps):
    centres = centres.copy()
    for _ in range(steps):
        nearest = np.argmin(((x[:, None] - centres[None]) ** 2).sum(axis=2), axis=1)
        for k in range(centres.shape[0]):
            mine = nearest == k
            if np.any(mine):
                centres[k] = (x * mine[:, None]).sum(axis=0) / mine.sum()
    return centres, nearest


def test_memory_made_before_a_loop_is_that_of_threads() -> None:
    """A few numbers for each point: a thread keeps them itself."""
    rng = np.random.default_rng(0)
    source = check(clustered, rng.standard_normal((7, 2)), rng.standard_normal((4, 2)), 3)
    driver = driver_of(source)
    assert grids_of(driver[driver.index("for "):])[0] == "over_threads" and "cuda.local.array((4, 2)" in source


def signs(x):
    return np.any(x < 0), np.all(x > 0), np.all(x < 9, axis=1), np.bitwise_or.reduce((x > 1).astype(np.int32).ravel())


def test_truths_are_combined_by_blocks() -> None:
    source = check(signs, np.random.default_rng(0).standard_normal((5, 40)))
    assert "bitwise_or_of_block" in source and "bitwise_and_of_block" in source
    assert set(grids_of(driver_of(source))) == {"over_blocks", "one_block"}


def test_steps_of_a_gradient_copy_nothing() -> None:
    arguments = np.random.default_rng(0).standard_normal((7, 5, 6)), 2
    assert ".copy()" not in driver_of(check(grad(streamed), *arguments, user=streamed, typed=False))


def of_valid_keys(scores, lengths):
    valid = np.arange(scores.shape[2])[None, None, :] < lengths[:, None, None]
    e = np.where(valid, scores, -1e9)
    e = np.exp(e - e.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def test_rows_of_lanes_with_numbers_of_their_own_have_blocks() -> None:
    scores = np.random.default_rng(0).standard_normal((2, 5, 6))
    source = check(of_valid_keys, scores, np.array([2, 6]))
    assert set(grids_of(driver_of(source))) == {"over_blocks"}


def ordered(x, y):
    order = np.argsort(x)
    return order, np.sort(y, axis=0), np.argsort(y, axis=0), np.searchsorted(np.sort(x), y[0]), y[0, order]


def replaced(x):
    y = np.sort(x)
    y[0] = 7.0
    out = np.empty((2, len(x)))
    out[0] = np.sort(-x)
    out[1] = y
    return out


def sorted_again(x, steps):
    for _ in range(steps):
        x = np.sort(3 * np.sin(x))
    return x


def test_what_a_library_makes_is_taken_as_it_is() -> None:
    """But for orders along other axes than the last, and memory that has been there before."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(7), rng.standard_normal((5, 7))
    driver = driver_of(check(ordered, x, y))
    assert re.findall(r"\w+\[:\] = (\S+)\(", driver) == ["cp.argsort"]
    driver = driver_of(check(replaced, x))
    assert "[:] =" not in driver and driver.count("= cp.sort(") == 2
    assert "[:] = cp.sort(" in driver_of(check(sorted_again, x, 4))


def gathered(x, i, j, bound):
    first = x[i]
    if np.sum(x) > bound:
        raise ValueError("too much")
    if np.min(x) < -bound:
        raise ValueError("too little")
    x[0] = 9
    return first, x[j], np.sin(x)[i]


def raised(source: str, made: dict, arguments: tuple) -> tuple[str, str]:
    """What a module raises in the simulator."""
    entry = gpu_simulator.namespace(source, made)["gathered"]
    with pytest.raises((IndexError, ValueError)) as error:
        entry(*arguments)
    return type(error.value).__name__, " ".join(map(str, error.value.args))


def test_places_in_arguments_are_tested_with_one_wait() -> None:
    """What else is asked, and what is raised first, stay."""
    def arguments(i: int = 0, j: int = 0, bound: float = 1e9) -> tuple:
        return np.arange(9.0), np.array([1, 2, i]), np.array([0, -9, 3, j, 4]), bound

    source = check(gathered, *arguments())
    waits = re.findall(r"^    \S.*\.item\(\)", driver_of(source), re.MULTILINE)
    assert len(waits) == 3                                               # for places, and twice for numbers
    made = looped(gathered, gathered, arguments())
    given = {**made.namespace, **made.module.kernel.printed.given}
    wrong_first, wrong_second = "index 9 is out of bounds", "index -10 is out of bounds"
    assert raised(source, given, arguments(i=9, j=-10, bound=1.0))[1].startswith(wrong_first)
    assert raised(source, given, arguments(j=-10, bound=1.0)) == ("ValueError", "too much")
    assert raised(source, given, arguments(j=-10))[1].startswith(wrong_second)
    assert raised(source, given, arguments(bound=-1e9)) == ("ValueError", "too much")


def shares_of_rows(x):
    shares = np.zeros_like(x)
    for i in range(len(x)):
        total = np.sum(x[i])
        for j in range(x.shape[1]):
            if x[i, j] < 0:
                raise ValueError("a negative share")
            shares[i, j] = x[i, j] / total
        shares[i] /= np.max(shares[i])
    return shares


def roots_of_rows(x):
    roots = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(x.shape[1]):
            if x[i, j] < 0:
                raise ValueError("a negative share")
            roots[i] += np.sqrt(x[i, j])
        roots[i] /= np.sum(x[i])
    return roots


@pytest.mark.parametrize("target", [shares_of_rows, roots_of_rows])
def test_no_thread_ends_where_others_wait_for_it(target: Any) -> None:
    """One that finds an error does, and so has no others beside it that go along a row."""
    x = np.random.default_rng(0).uniform(1, 2, (3, 40))
    check(target, x, typed=False)
    x[1, 5] = -1
    made = looped(target, target, (x,))
    given = {**made.namespace, **made.module.kernel.printed.given}
    with pytest.raises(ValueError, match="a negative share"):
        gpu_simulator.namespace(made.module.source, given)[target.__name__](x)


@pytest.mark.parametrize("dtype", ["f4", "i8", "?"])
def test_copies_are_written_as_such(dtype: str) -> None:
    source = check(lambda x: np.flip(x, 0), np.arange(60).reshape(6, 10).astype(dtype), typed=False)
    assert re.search(r"set_four\(\w+\[i\], \w, four_of\(x\[.*\], \w\)\)", source)


OF_MORE_AXES = {
    "lanes": (lambda x: np.transpose(x, (0, 2, 1, 3)) * 2, "over_threads(n2 - 3 * fours, m, n * d)"),
    "tiles": (lambda x: np.transpose(x, (0, 1, 3, 2)) * 2, "over_tiles(d, n2, n * m)"),
    "pairs": (lambda x: x * np.transpose(x, (0, 1, 3, 2)), "over_pairs(d, d, n * m)"),
    "blocks": (lambda x: x / np.sum(x, axis=-1, keepdims=True), "over_blocks(n2, d, n * m, along=n3 - 3 * fours)")}
SHAPES_OF_MORE_AXES = {"pairs": (5, 6, 7, 7), "blocks": (5, 6, 7, 8, 9)}


@pytest.mark.parametrize("name", OF_MORE_AXES)
def test_threads_share_more_axes_than_a_grid_has(name: str) -> None:
    """The outermost ones together are one of the grid's."""
    target, grid = OF_MORE_AXES[name]
    x = np.random.default_rng(0).uniform(1, 2, SHAPES_OF_MORE_AXES.get(name, (5, 6, 7, 8)))
    driver = driver_of(check(target, x, typed=False))
    assert grid in driver, driver


SUMMED = {
    "sums": lambda x: np.sum(x, axis=0), "sums of products": lambda x: np.sum(x * x[0], axis=0),
    "extremes": lambda x: np.max(x, axis=0), "places": lambda x: np.argmin(x, axis=0),
    "counts": lambda x: np.sum(x > 0, axis=0), "of two arrays": lambda x: np.sum(x * x[::-1], axis=0)}


@pytest.mark.parametrize("columns", [9, 12])
@pytest.mark.parametrize("name", SUMMED)
def test_four_columns_at_once(name: str, columns: int) -> None:
    """By one access of 16 bytes for four numbers of a row, and one by one what is left."""
    x = np.random.default_rng(0).standard_normal((70, columns)).astype("f4")
    source = check(SUMMED[name], x, typed=False)
    assert re.search(r"x0\w*, x1\w*, x2\w*, x3\w* = four_of\(x\[Place\(", source)


def taken_down(x, rows):
    return np.take_along_axis(x, rows, axis=0).sum(axis=0)


def one_of_each(x, rows):
    return x[rows[0], np.arange(x.shape[1])] * 2


@pytest.mark.parametrize("target", [taken_down, one_of_each])
def test_columns_of_other_rows_each_are_not_read_together(target: Any) -> None:
    """The numbers that say which rows are."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 9, (70, 9))
    assert re.search(r"rows0.* = four_of\(", source := check(target, rng.standard_normal((9, 9)), rows, typed=False))
    assert "four_of(x[" not in source


def test_columns_of_which_much_is_computed_are_gone_down_one_by_one() -> None:
    """A thread has to compute for all four what others could do beside it."""
    x = np.random.default_rng(0).standard_normal((70, 9)).astype("f4")
    assert "four_of(x[" not in check(lambda x: np.sum(np.exp(np.sin(x)), axis=0), x, typed=False)


def crossed(a, b, c, d, e, f, g, h, k):
    return a.T + b.T + c.T + d.T + k.T + e + f + g + h


@pytest.mark.parametrize("dtype, tiles", [("c16", 2), ("c8", 4), ("f4", 4)])
def test_tiles_that_a_block_has_room_for(dtype: str, tiles: int) -> None:
    """Two of complex numbers of 16 bytes fill 33 of 48 kB; what has no tile is read across."""
    rng = np.random.default_rng(0)
    wide, high = rng.standard_normal((2, 5, 5)).astype(dtype)
    assert check(crossed, *[wide] * 4, *[high] * 4, wide).count("cuda.shared.array((TILE, PADDED)") == tiles


def mirrored(x):
    return (x + 1) * np.swapaxes(x, -1, -2)


def mirrored_and_others(x, y):
    return x - x.T + y.T * y[0], np.where(x > 0, x.T, y)


def across_alone(x, y):
    return x + y.T


def in_place(x, y):
    """The squares on the diagonal would be done twice."""
    y = y.copy()
    for _ in range(3):
        y[:] = y * 0.5 + x * x.T
    return y


@pytest.mark.parametrize("function, shapes, grid", [
    (mirrored, [(5, 5)], "over_pairs"), (mirrored, [(3, 6, 6)], "over_pairs"),
    (mirrored_and_others, [(7, 7)] * 2, "over_pairs"), (across_alone, [(6, 6)] * 2, "over_tiles"),
    (in_place, [(5, 5)] * 2, "over_tiles")])
def test_squares_of_both_sides_of_the_diagonal_are_done_together(function: Any, shapes: Any, grid: str) -> None:
    rng = np.random.default_rng(0)
    source = check(function, *(rng.standard_normal(shape).astype("f4") for shape in shapes))
    assert {each for each in grids_of(driver_of(source)) if each != "over_threads"} == {grid}
    if len(shapes) == 1:
        assert "= x[" not in source.replace("] = x[", "")                # each number comes from memory once


def kernel_of_tiles(rows):
    @kernel(grid=lambda x, w: (len(x) // rows,), out=lambda x, w: np.empty(len(x) // rows))
    def tiled(block, x, w, y):
        i, = block
        tile = np.zeros((rows, 96))
        for k in range(x.shape[1]):
            tile = np.sin(tile)
            tile += x[rows * i:rows * i + rows, k:k + 1] * w[k:k + 1, :96]
        y[i] = np.sum(np.exp(tile - np.max(tile)))

    return tiled


@pytest.mark.parametrize("rows, shared", [(32, 2), (64, 1)])
def test_tiles_leave_room_for_what_a_block_combines(rows: int, shared: int) -> None:
    """48 kB are no tile beside the numbers by which threads add up."""
    rng = np.random.default_rng(0)
    source = check(kernel_of_tiles(rows), rng.standard_normal((2 * rows, 3)), rng.standard_normal((3, 96)), typed=False)
    assert source.count("cuda.shared.array") == shared


def drawn_at_once(x):
    u = np.zeros((48, 64))
    u[10:20] = x
    return np.sin(u) + 1


def smoothed(u, steps):
    u = u[:40, :50].copy()
    for _ in range(steps):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return u


@pytest.mark.parametrize("function, arguments", [(drawn_at_once, (2.0,)), (smoothed, (np.ones((41, 51)), 3))])
def test_many_places_are_shared_by_blocks_where_their_number_is_written_down(function: Any, arguments: Any) -> None:
    """A block does a thousand places, along all axes together."""
    assert "one_block" not in driver_of(check(function, *arguments))


def row_loss(w, v, x, y):
    h = np.tanh(x @ w)
    scores = h @ v
    return np.log(np.sum(np.exp(scores - scores.max()))) + scores.max() - scores @ y


def of_samples(w, v, x, y):
    return vmap(grad(row_loss, argnums=(0, 1)), in_axes=(None, None, 0, 0))(w, v, x, y)


def test_places_with_rows_have_threads_of_their_own() -> None:
    """Beside what a block does for each sample, its gradients are written by threads for all of their elements."""
    rng = np.random.default_rng(0)
    shapes = (6, 7), (7, 5), (8, 6), (8, 5)
    driver = driver_of(check(of_samples, *(rng.standard_normal(shape) for shape in shapes)))
    assert grids_of(driver).count("over_blocks") == 1
    assert re.search(r"fill_\w+\[over_threads\(n - 3 \* fours, n2, d\)\]\(.*\bdw\b", driver)


def normed(x, scale):
    h = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5) * scale
    return np.sum(np.tanh(h) ** 2)


def test_rows_of_samples_have_blocks_of_their_own() -> None:
    """The sums over samples, of columns, do not keep the rows of a sample together in one block."""
    arguments = np.random.default_rng(0).standard_normal((6, 7, 8)), np.linspace(0.5, 1.5, 8)
    driver = driver_of(check(grad(normed, argnums=(0, 1)), *arguments, user=normed))
    assert re.search(r"fill_\w+\[over_blocks\(m, n, along=d - 3 \* fours\)\]\(.*\bdx\b", driver, re.DOTALL)
    assert re.search(r"fill_parts\[over_threads\(d - 3 \* fours, n2, n\)\]", driver)
    shapes = set(re.findall(r"cp.empty\((.*)\)", driver))
    assert shapes == {"(n, m, d)", "(d, n2 * n)", "d"}                   # rows that a sample has for itself, once


def settled(x, w):
    out = np.empty((x.shape[0], w.shape[0], w.shape[1]))
    top = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        total = np.sum(x[i])
        shift = total / x.shape[1]
        for j in range(w.shape[0]):
            out[i, j] = w[j] * x[i, j] - shift
        top[i] = total + shift
    return out, top


def test_what_needs_a_sum_of_its_lane_stays_with_it() -> None:
    rng = np.random.default_rng(0)
    check(settled, rng.standard_normal((6, 7)), rng.standard_normal((7, 8)))


def test_lanes_whose_rows_part_a_number_from_its_use_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    cut = apart._cut
    monkeypatch.setattr(apart, "_cut", lambda nest, own: None if own == () else cut(nest, own))
    rng = np.random.default_rng(0)
    shapes = (6, 7), (7, 5), (8, 6), (8, 5)
    assert "fill_dw" not in driver_of(check(of_samples, *(rng.standard_normal(shape) for shape in shapes), typed=False))


def sums(x, y):
    return np.sum(x, axis=0), np.sum(y * y, axis=0)


def test_kernels_that_differ_by_names_alone_are_one() -> None:
    """What adds up the numbers of parts is one kernel, whatever these are called."""
    source = check(sums, np.ones((70, 9)), np.ones((80, 7)))
    kernels = re.findall(r"^    (fill_\w+)\[", source, re.MULTILINE)
    added = re.findall(r"^def next_\w+\((\w+), (\w+)\):\n    return \1 \+ \2$", source, re.MULTILINE)
    assert len(set(kernels)) < len(kernels) and len(added) == 1, source


def sums_of_two_dtypes(x, k):
    return np.sum(x), np.sum(k)


def test_what_is_computed_of_an_element_is_so_in_each_dtype() -> None:
    check(sums_of_two_dtypes, np.arange(5.0) / 4, np.arange(6) + 2**60)


def of_two_layers(w, v, x):
    return np.sum(np.tanh(np.tanh(x @ w) @ v))


def sample_gradients(w, v, x):
    return vmap(grad(of_two_layers, (0, 1)), in_axes=(None, None, 0))(w, v, x)


def test_slopes_are_computed_where_they_are_needed():
    """They would otherwise be kept by the kernel that reads the same for another gradient."""
    rng = np.random.default_rng(0)
    arguments = rng.standard_normal((6, 7)), rng.standard_normal((7, 8)), rng.standard_normal((5, 6))
    driver = driver_of(check(sample_gradients, *arguments, typed=False))
    assert len(grids_of(driver)) == 5


def of_two_parts(table, other, places):
    """As a text is what is looked up, and what is to come next."""
    return table[places[:, :-1]] * np.take_along_axis(other[:len(places)], places[:, 1:], axis=1)


def added_of_two_parts(table, other, places):
    return table[places[:, :-1]].sum() + np.take_along_axis(other[:len(places)], places[:, 1:], axis=1).sum()


def test_parts_of_places_are_tested_with_one_wait():
    rng = np.random.default_rng(0)
    table, other, places = rng.standard_normal(5), rng.standard_normal((4, 7)), rng.integers(-5, 5, (4, 6))
    assert driver_of(check(of_two_parts, table, other, places, typed=False)).count(".item()") == 3   # and two that tell


@pytest.mark.parametrize("program", [of_two_parts, added_of_two_parts])
@pytest.mark.parametrize("wrong, size", [((2, 0), 5), ((2, 5), 7), ((3, 2), 5)])
def test_nothing_is_read_at_places_that_are_wrong(program, wrong, size):
    """The first part is told of first. A place outside of an array would raise another error."""
    rng = np.random.default_rng(0)
    table, other, places = rng.standard_normal(5), rng.standard_normal((4, 7)), rng.integers(0, 5, (4, 6))
    made = looped(program, program, (table, other, places))
    entry = gpu_simulator.namespace(made.module.source, made.namespace)[made.module.entry.name]
    places[wrong] = 9
    with pytest.raises(IndexError) as raised:
        entry(table, other, places)
    assert raised.value.args[1] == 9 and raised.value.args[-1] == size
