"""Places of extremes, and products, on GPUs: blocks of threads share them as they share sums."""

from __future__ import annotations

import re
from typing import Any

import gpu_simulator
import gpu_typed
import numpy as np
import pytest
from gpu_checks import check
from test_golden_gpu import looped
from test_gpu_launches import driver_of, grids_of

from transformer import grad

SIZES = 2, 33, 300, 9000
FEW = 300                              # numbers that are looked at step by step


def values(kind: str, size: int) -> np.ndarray:
    """Numbers that come several times, with such as are compared in their own way."""
    rng = np.random.default_rng(size)
    x = rng.integers(-4, 5, size).astype(kind)
    if kind.startswith("f"):
        x[x == 4] = np.inf
        x[x == -4] = -np.inf
        x[x == 0] = rng.choice([0.0, -0.0], np.count_nonzero(x == 0))
    return x


def test_numbers_of_16_bits() -> None:
    for size in (33, 300):
        x = with_nan(values("f2", size))
        source = check(lambda x: (np.argmax(x), np.argmin(x, axis=0), np.prod(1 + x / 8)), x, typed=False)
        assert "first_of_block" in source and "multiply_of_block" in source


def test_complex_numbers_have_one_thread() -> None:
    """Their order has two keys."""
    x = values("i8", 33) + 1j * values("i8", 33)[::-1]
    check(of_largest, x)


def with_nan(x: np.ndarray) -> np.ndarray:
    x[-1] = x[len(x) * 2 // 3] = np.nan
    return x


def agrees(target: Any, arguments: list[Any]) -> str:
    """Compares the module for the largest argument with NumPy for each of them; gives its source."""
    made = looped(target, target, (max(arguments, key=np.size),))
    given = {**made.namespace, **made.module.kernel.printed.given}
    entries = [run.namespace(made.module.source, given)[made.module.entry.name] for run in (gpu_typed, gpu_simulator)]
    for x in arguments:
        for entry in entries[:1 + (x.size <= FEW)]:
            with np.errstate(all="ignore"):
                np.testing.assert_equal(np.asarray(entry(x)), np.asarray(target(x)))
    return made.module.source


def of_largest(x):
    return np.argmax(x)


def of_smallest(x):
    return np.argmin(x)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["f4", "i8", "i2", "?"])
@pytest.mark.parametrize("target", [of_largest, of_smallest])
def test_place_in_a_whole_array(target: Any, kind: str) -> None:
    given = [values(kind, size) for size in SIZES]
    source = agrees(target, given + [with_nan(x.copy()) for x in given if kind.startswith("f")])
    assert grids_of(driver_of(source)) == ["one_thread", "over_blocks", "one_block"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("target", [of_largest, of_smallest])
def test_first_of_equal_ones_and_first_nan(target: Any) -> None:
    """In one chunk, in one of many, and at either end."""
    everywhere = np.full(9000, np.nan)
    given = [np.zeros(300), np.zeros(9000), everywhere, np.full(300, np.inf), np.full(300, -np.inf)]
    for places in ([0], [299], [3, 4], [5, 4], [8999], [4095, 4096], [8191, 20], [0, 8999]):
        for number in (np.nan, 7.0, -7.0):
            x = np.zeros(300 if max(places) < 300 else 9000)
            x[places] = number
            given.append(x)
    agrees(target, given)


def test_one_number() -> None:
    for x in (np.array([3.0]), np.array([np.nan])):
        check(of_largest, x)
        check(lambda x: np.prod(x), x)


def of_others(x):
    return np.nanargmax(x), np.nanargmin(x)


def test_places_without_nan() -> None:
    for size in (33, 300):
        x = with_nan(values("f8", size))
        x[0] = 1
        source = check(of_others, x, typed=size == 33)
        assert "one_thread" not in grids_of(driver_of(source))[1:] and "first_of_block" in source


def of_matrix(x):
    return np.argmax(x)


def of_rows(x):
    return np.argmax(x, axis=1)


def of_columns(x):
    return np.argmin(x, axis=0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("target, grids", [(of_matrix, {"one_thread", "over_blocks", "one_block"}),
                                           (of_rows, {"over_blocks"}), (of_columns, {"over_threads", "over_blocks"})])
def test_places_in_a_matrix(target: Any, grids: set[str]) -> None:
    given = [values("f8", n * m).reshape(n, m) for n, m in ((3, 100), (2, 2), (9, 33), (100, 3), (33, 1000), (9000, 2))]
    source = agrees(target, given + [with_nan(x.copy().ravel()).reshape(x.shape) for x in given])
    assert set(grids_of(driver_of(source))) == grids


def of_the_order(x):
    k = np.argmax(np.abs(x) * 2)
    e = np.exp(x - x.max())
    return k, e / e.sum(), np.argmin(x), x[k]


def test_what_is_fused_with_a_place_is_shared() -> None:
    source = check(of_the_order, np.random.default_rng(0).standard_normal(300))
    kernels = source[source.index("@cuda.jit\n"):]
    assert "for " not in kernels[:kernels.index("_driver(")] and "first_of_block" in kernels


def products(x):
    return np.prod(x), np.sum(x), x * 2


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["f4", "i8", "c16"])
def test_products(kind: str) -> None:
    rng = np.random.default_rng(0)
    for size in (2, 33, 300, 9000):
        x = 1 + rng.standard_normal(size) / 100 if kind[0] in "fc" else rng.integers(1, 4, size)
        x = x.astype(kind)
        source = check(products, x, typed=size == 33) if size <= FEW else ""
        if size > FEW:
            agrees_roughly(lambda x: np.prod(x), x)
        assert not source or size == 2 or grids_of(driver_of(source)) == ["over_blocks", "one_block"]


def agrees_roughly(target: Any, x: np.ndarray) -> None:
    made = looped(target, target, (x,))
    given = {**made.namespace, **made.module.kernel.printed.given}
    found = gpu_typed.namespace(made.module.source, given)[made.module.entry.name](x)
    np.testing.assert_allclose(found, target(x), rtol=1e-2 if x.dtype == "f4" else 1e-9)


def product_of_rows(x, scale):
    return scale * np.prod(x, axis=1), np.prod(x, axis=0)


def test_products_of_rows_and_columns() -> None:
    x = 1 + np.random.default_rng(0).standard_normal((9, 70)) / 10
    source = check(product_of_rows, x, 2.0)
    assert "multiply_of_block" in source and "over_blocks(n, along=m - 3 * fours)" in source
    check(product_of_rows, np.where(x > 1.2, np.nan, x), 2.0, typed=False)


def product(x):
    return np.prod(x)


def test_gradient_of_a_product() -> None:
    check(grad(product), np.random.default_rng(0).standard_normal(40), user=product, typed=False)


def of_few_columns(x):
    return x.max(axis=1), x.min(axis=1), np.argmin(x, axis=1), np.argmax(x, axis=1)


def test_first_item_is_not_compared_with_itself() -> None:
    """Of a fold that begins with it, where it is written out."""
    x = values("f8", 40 * 3).reshape(40, 3)
    x[3], x[4, 1:], x[5, :2] = np.nan, np.nan, np.nan
    source = check(of_few_columns, x)
    assert "larger(larger(x_i0, x_i1), x_i2)" in source and "x_i0 < x_i0" not in source


def of_points(x):
    return x.sum(), x.max(), np.prod(1 + x / 99), np.sum(x[:, 0] * x[:, 1] + x[:, 2]), np.any(x > 4)


@pytest.mark.parametrize("kind", ["f8", "i4"])
def test_rows_that_are_written_out_are_shared(kind: str) -> None:
    """An iteration adds several items."""
    for size in (33, 300):
        x = np.random.default_rng(size).integers(-4, 5, (size, 3)).astype(kind)
        source = check(of_points, x, typed=size == 33)
        assert set(grids_of(driver_of(source))) <= {"one_thread", "over_blocks", "one_block"}
        kernels = source[source.index("@cuda.jit\ndef"):source.index("_driver(")]
        assert "for " not in kernels
        assert all(f"{op}_of_block" in source for op in ("add", "maximum", "multiply", "bitwise_or"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("target", [of_largest, of_smallest])
def test_place_in_rows_that_are_written_out(target: Any) -> None:
    """Of equal ones in one row, in two, and in different chunks the first one counts."""
    given = [values("f8", 3 * n).reshape(n, 3) for n in (40, 100, 9000)]
    for n, places in (40, [4, 5]), (40, [5, 6]), (40, [119]), (9000, [12287, 12288]), (9000, [26999, 3]):
        for number in (np.nan, 7.0, -7.0):
            x = np.zeros((n, 3))
            x.ravel()[places] = number
            given.append(x)
    source = agrees(target, given)
    assert "first_of_block" in source and "over_blocks" in grids_of(driver_of(source))


def gathered(x, w):
    total, greatest, where = 0.0, x[0, 0], 0
    rest = np.zeros(len(x))
    for i in range(len(x)):
        if x[i, 0] > greatest:
            greatest, where = x[i, 0], i
        total += np.sum((x[i] @ w) ** 2)
        rest[i] = 2 * x[i, 1]
    for i in range(len(x)):
        left, count = rest[i], 0
        while left > 0.1 and count < 5:
            left *= 0.5
            count += 1
        total += left * count
    return total, greatest, where, rest


def test_loops_over_axes_that_add_up_are_shared() -> None:
    """As folds are, with branches that choose, and loops inside."""
    rng = np.random.default_rng(0)
    driver = driver_of(check(gathered, rng.standard_normal((33, 4)), rng.standard_normal((4, 3))))
    assert grids_of(driver).count("over_blocks") == 2


def of_few_rows(x):
    return np.sum(x[:3] ** 2), np.max(x), np.mean(x)


def of_images(x):
    return np.sum(np.sin(x)), np.mean(x)


@pytest.mark.parametrize("function, shape", [(of_few_rows, (5, 4099)), (of_few_rows, (9, 33)), (of_images, (3, 9, 70))])
def test_sums_along_several_axes_are_those_of_parts_of_rows(function: Any, shape: tuple[int, ...]) -> None:
    """So that few rows, of many numbers, are shared as well; a row that is short has a part."""
    driver = driver_of(check(function, np.random.default_rng(0).standard_normal(shape), typed=shape == (9, 33)))
    driver = re.sub(r"\s+", " ", driver)
    parts = re.search(r"(\w+) = \(\w \+ 4095\) // 4096", driver)
    assert parts is not None
    assert re.search(rf"over_blocks\({parts[1]}, [^=]*, along=min\(4096, \w\)", driver)
