"""Whole programs and their gradients as explicit loops: lowered without fusion, and compared with NumPy."""

from __future__ import annotations

import copy
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpus import ALL
from loop_cases import compiled as compiled_kernel
from loop_cases import plain
from lowered import called, generated, printed
from scipy.special import expit

from transformer import grad, jit, tree
from transformer.core.errors import NotSupported
from transformer.lower.lowering import lower

BY_NAME = {program.name: program for program in reversed(ALL)}
SMALL = ("rosenbrock", "horner", "kepler", "simpson", "over_array", "while_on_value", "break_out", "recurrence",
         "prefix_sums", "huber")
LARGER = ("logistic_regression", "softmax_cross_entropy", "lorenz_rk4", "nbody_energy", "wave_equation",
          "upwind", "attention", "rnn", "cholesky_in_place", "gauss_seidel", "stencil_plane", "ping_pong",
          "dynamic_programming", "data_dependent_write", "mask_of_matrix", "mask_write_of_rows", "lstm")


RECURSIVE = "even_and_odd", "rest_of_list", "called_in_while"


def check(target: Any, program: Any, arguments: tuple[Any, ...], compiled: bool, threads: bool = False) -> None:
    made = generated(target, program.function, arguments)
    kernel = lower(made.function, made.reading.assumptions, threads=threads)
    kernel = compiled_kernel(kernel) if compiled else plain(kernel)
    found, _ = tree.flatten(called(made, kernel, program.function, arguments))
    expected = program.function if target is program.function else printed(made)
    wanted, _ = tree.flatten(expected(*copy.deepcopy(arguments)))
    for got, want in zip(found, wanted, strict=True):
        if isinstance(want, str):
            assert got == want
            continue
        assert np.asarray(got).dtype == np.asarray(want).dtype
        np.testing.assert_allclose(got, want, rtol=1e-4 if "f32" in program.tags else 1e-10, atol=1e-12)


def neighbours(x, w):
    y = np.concatenate([x[1:], x[:1]]) + 2 * x
    return np.sum(expit(y) * w)


def test_the_page_shows_what_is_printed() -> None:
    arguments = np.ones(6, np.float32), np.ones(6, np.float32)
    made = generated(neighbours, neighbours, arguments)
    page = (Path(__file__).parent.parent / "docs" / "lowering.md").read_text()
    source = lower(made.function, made.reading.assumptions).source
    assert f"```\n{source[source.index('def neighbours'):]}```" in page


def of_numpy_and_python(x, y, s):
    return np.exp(x) * math.exp(s) + np.logaddexp(x, x[0]) + np.tanh(y[0])


def test_functions_of_numpy_are_vector_mathematics_in_their_dtype() -> None:
    """Those of Python numbers stay what they are."""
    arguments = np.linspace(-1, 1, 5, dtype=np.float32), np.ones(2), 0.5
    made = generated(of_numpy_and_python, of_numpy_and_python, arguments)
    kernel = lower(made.function, made.reading.assumptions)
    for call in ("exp_f32(", "math.exp(s)", "log1p_f32(", "tanh_f64("):
        assert call in kernel.source
    assert not re.search(r"math\.(log1p|tanh)|np\.(exp|tanh)", kernel.source)
    np.testing.assert_allclose(compiled_kernel(kernel)(*arguments)[0], of_numpy_and_python(*arguments), rtol=1e-6)


def rows_and_columns(a, v):
    x, y = a @ v, v[::2] @ a[::2]
    return np.sum(np.exp(-(a[2:, 1:] @ y[1:]))) + np.sum(x * y) + np.sum((a * a) @ v)


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-10), (np.float32, 2e-4)])
@pytest.mark.parametrize("size, calls", [(9, 0), (100, 3)])
def test_large_matrices_are_multiplied_with_vectors_by_the_library(size: int, calls: int, dtype: Any, tolerance: float
                                                                   ) -> None:
    """Small ones by loops, and those that nobody keeps."""
    rng = np.random.default_rng(size)
    arguments = rng.normal(size=(size, size)).astype(dtype) / size, rng.normal(size=size).astype(dtype)
    for target in (rows_and_columns, grad(rows_and_columns, argnums=(0, 1))):
        made = generated(target, rows_and_columns, arguments)
        kernel = lower(made.function, made.reading.assumptions)
        assert (kernel.source.count("np.dot(") >= calls) and (calls or "np.dot(" not in kernel.source)
        for run in (plain, compiled_kernel) if calls and dtype is np.float64 else (plain,):
            results = called(made, run(kernel), rows_and_columns, arguments)
            for got, want in zip(tree.leaves(results), tree.leaves(target(*arguments)), strict=True):
                np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def added_where_positive(y):
    z = np.zeros(len(y))
    for i in range(1, len(y)):
        if y[i] > 1:
            z[i] += y[i]
        elif y[i] > 0:
            z[i - 1] += y[i] * z[i]
        z[i] += z[i - 1] * (y[i - 1] if i > 2 else 0.5)
    return np.sum(z * z)


@pytest.mark.parametrize("target", [added_where_positive, grad(added_where_positive)])
def test_what_a_branch_writes_is_not_copied(target: Any) -> None:
    arguments = np.random.default_rng(0).normal(size=40, scale=1.5),
    made = generated(target, added_where_positive, arguments)
    kernel = lower(made.function, made.reading.assumptions)
    assert "copy()" not in kernel.source
    results = called(made, plain(kernel), added_where_positive, arguments)
    np.testing.assert_allclose(tree.leaves(results)[0], target(*arguments), rtol=1e-12)


def rows_or_columns(a, v):
    return np.sum(np.tanh(a @ v)) if a.shape[1] == len(v) else np.sum(np.sin(v @ a))


@pytest.mark.parametrize("shape, length", [((1, 4096), 4096), ((4096, 1), 4096), ((4096, 1), 1), ((1, 4096), 1)])
def test_large_matrices_of_one_row_or_column_are_vectors(shape: tuple[int, int], length: int) -> None:
    rng = np.random.default_rng(length)
    arguments = rng.normal(size=shape), rng.normal(size=length) / length
    for target in (rows_or_columns, grad(rows_or_columns, argnums=(0, 1))):
        for got, want in zip(*map(tree.leaves, (jit(target)(*arguments), target(*arguments))), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-13)


def one_after_another(x, w):
    y = np.zeros_like(x)
    for i in range(1, len(x)):
        y[i] = np.sin(y[i - 1]) + np.exp(w[0]) * x[i]
    return np.sum(np.sin(y) * w)


def test_a_number_alone_is_left_to_the_functions_of_c() -> None:
    arguments = np.linspace(-1, 1, 30), np.linspace(0, 1, 30)
    made = generated(one_after_another, one_after_another, arguments)
    kernel = lower(made.function, made.reading.assumptions)
    assert "math.sin(y[" in kernel.source and "sin_f64(" in kernel.source and "exp_f64(" not in kernel.source
    np.testing.assert_allclose(compiled_kernel(kernel)(*arguments)[0], one_after_another(*arguments), rtol=1e-12)


def transformed(program: Any, order: int) -> Any:
    return grad(program.function, argnums=program.wrt) if order else program.function


@pytest.mark.parametrize("order", [0, 1], ids=["value", "gradient"])
@pytest.mark.parametrize("name", [*SMALL, *LARGER])
def test_programs_as_plain_python(name: str, order: int) -> None:
    program = BY_NAME[name]
    target = transformed(program, order)
    check(target, program, program.example(np.random.default_rng(0)), compiled=False)
    if program.sized:
        check(target, program, program.example(np.random.default_rng(1), size=5), compiled=False)


@pytest.mark.parametrize("name", RECURSIVE)
def test_recursive_programs_compiled(name: str) -> None:
    program = BY_NAME[name]
    check(program.function, program, program.example(np.random.default_rng(0)), compiled=True)


def test_refusals_are_located() -> None:
    def halved(x):
        return np.sum(np.sqrt(x.astype(np.float16)))

    arguments = np.ones(3),
    made = generated(halved, halved, arguments)
    with pytest.raises(NotSupported, match="float16 is not supported in compiled code") as raised:
        lower(made.function, made.reading.assumptions)
    assert "np.sqrt(x.astype(np.float16))" in str(raised.value)


@pytest.mark.parametrize("name", ["triangle_of_windows", "mask_twice_in_loop", "while_for_if"])
def test_records_of_changing_size_have_room_for_the_largest(name: str) -> None:
    program = BY_NAME[name]
    for seed in range(3):
        check(transformed(program, 1), program, program.example(np.random.default_rng(seed)), compiled=False)


@pytest.mark.parametrize("layout", ["strided", "fortran", "reversed"])
def test_layouts_of_arguments(layout: str) -> None:
    wide = np.random.default_rng(0).normal(size=(8, 6))
    given = {"strided": wide[::2, ::2], "fortran": np.asfortranarray(wide), "reversed": wide[::-1, ::-1]}[layout]
    made = generated(row_norms, row_norms, (given,))
    kernel = compiled_kernel(lower(made.function, made.reading.assumptions))
    np.testing.assert_allclose(kernel(given)[0], row_norms(given), rtol=1e-14)
    np.testing.assert_allclose(kernel(given.copy())[0], row_norms(given), rtol=1e-14)


def row_norms(x):
    return np.sqrt(np.sum(x * x, axis=1))


@pytest.mark.parametrize("name", SMALL)
def test_programs_compiled(name: str) -> None:
    program = BY_NAME[name]
    for order in (0, 1):
        check(transformed(program, order), program, program.example(np.random.default_rng(0)), compiled=True)


def weighted(x, w):
    y = np.zeros((x.shape[0] - 2, x.shape[1] - 2), x.dtype)
    for a in range(3):
        for b in range(3):
            y += w[a, b] * x[a:a + y.shape[0], b:b + y.shape[1]]
    return y


def added_up(x, w):
    y = np.ones((x.shape[0] - 2, x.shape[1] - 2), x.dtype)
    for a in range(3):
        for b in range(3):
            y += x[a:a + y.shape[0], b:b + y.shape[1]]
    return y


@pytest.mark.parametrize("function", [weighted, added_up])
@pytest.mark.parametrize("shape, dtype", [((3, 3), np.float64), ((5, 41), np.float32), ((34, 9), np.float64)])
def test_all_items_of_a_window_are_added_at_once(function: Any, shape: tuple[int, ...], dtype: Any) -> None:
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=shape).astype(dtype), rng.normal(size=(3, 3)).astype(dtype)
    made = jit(function)
    np.testing.assert_array_equal(made(x, w), function(x, w), strict=True)
    x[1, 1], x[2, 2] = np.nan, -np.inf
    np.testing.assert_array_equal(made(x, w), function(x, w), strict=True)
    assert len(re.findall(r"for .* in", made.source)) == 2
