"""Kernels for GPUs: what generated modules compute. They run step by step as Python, which finds
races and places outside of arrays; `test_gpu_devices` runs them by numba's simulator."""

from __future__ import annotations

import copy
from typing import Any

import gpu_simulator
import numpy as np
import pytest
from corpus import ALL, Program
from gpu_checks import check
from lowered import called, generated
from test_golden_gpu import looped
from test_lowered_programs import transformed
from thinned import some

from transformer import tree
from transformer.core.errors import NotSupported, TransformError
from transformer.lower.cuda.elementary import OF_COMPLEX, OF_NUMBERS
from transformer.lower.cuda.lowering import GpuKernels, lower_for_gpu

PROGRAMS = [program for program in ALL if "expected" not in program.tags]
ONCE_WRONG = [program for program in PROGRAMS if program.name in (
    "conjugate_gradients_at_once", "ellipsis", "halved_before_the_row_above", "handed_from_row_to_row", "ping_pong",
    "structured", "window_of_lanes")]
VALUES, DERIVED = [*some(PROGRAMS, 16), *ONCE_WRONG], [*some(PROGRAMS, 32, 2), *ONCE_WRONG]
CHUNKS = 8


class Simulated:
    """A driver and its kernels; called with the values of the parameters, it gives those of the results."""

    def __init__(self, kernels: GpuKernels) -> None:
        self.lowered = kernels.lowered
        self.entry = gpu_simulator.namespace(kernels.source, kernels.printed.given)[kernels.printed.name]

    def __call__(self, *values: Any) -> list[Any]:
        given = self.entry(*(value[()] if isinstance(value, np.ndarray) and not value.ndim else copy.copy(value)
                             for value in values))
        return list(given) if len(self.lowered.results) > 1 else [given]


def run(program: Program, order: int) -> None:
    """Compares what the module gives that `jit` runs, and what it writes to its arguments, with NumPy; refusals have a
    place."""
    target, arguments = transformed(program, order), program.example(np.random.default_rng(0))
    try:
        made = looped(target, program.function, arguments)
    except NotSupported as refused:
        assert "File " in str(refused), refused
        return
    except TransformError:
        assert order                                                     # no gradient either
        return
    given = {**made.namespace, **made.module.kernel.printed.given}
    entry = gpu_simulator.namespace(made.module.source, given)[made.module.entry.name]
    outside = {hidden.name: hidden.fetch() for hidden in made.interface.hidden}
    ours, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    found, wanted = tree.leaves((entry(*ours, **outside), ours)), tree.leaves((target(*theirs), theirs))
    for got, want in zip(found, wanted, strict=True):
        if isinstance(want, str):
            assert got == want
        else:
            np.testing.assert_allclose(got, want, rtol=1e-4 if "f32" in program.tags else 1e-9, atol=1e-11)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_values_of_the_corpus(chunk: int) -> None:
    for program in VALUES[chunk::CHUNKS]:
        run(program, 0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_gradients_of_the_corpus(chunk: int) -> None:
    for program in DERIVED[chunk::CHUNKS]:
        run(program, 1)


FILL = """
@cuda.jit
def fill(x, y):
    i = cuda.grid(1)
    {body}
"""


def launched(body: str) -> None:
    """Runs a kernel over two arrays of nine in two blocks of four threads."""
    gpu_simulator.namespace(FILL.format(body=body), {})["fill"][2, 4](np.zeros(9), np.zeros(9))


def test_the_simulator_finds_races() -> None:
    """A neighbour's number without a barrier, one that another block writes, and a barrier that some never reach."""
    launched("x[i] = 1.0; cuda.syncthreads(); y[i] = x[i]")
    for body in ("x[i] = 1.0; y[i] = x[i + 1]", "x[i] = 1.0; cuda.syncthreads(); y[i] = x[7 - i]", "x[0] = i"):
        with pytest.raises(gpu_simulator.Race):
            launched(body)
    with pytest.raises(AssertionError, match="barrier"):
        launched("cuda.syncthreads() if i % 2 else None")
    with pytest.raises(AssertionError, match=r"in \(9,\)"):
        launched("x[i + 5] = 1.0")


def test_the_simulator_finds_additions_at_once_beside_other_accesses() -> None:
    launched("cuda.atomic.add(x, 0, 1.0); y[i] = x[i + 1]")
    for body in ("cuda.atomic.add(x, 0, 1.0); y[i] = x[i]", "x[i] = 1.0; cuda.atomic.add(x, 7 - i, 1.0)"):
        with pytest.raises(gpu_simulator.Race):
            launched(body)
    with pytest.raises(AssertionError, match="fill"):
        launched("s = cuda.shared.array((TILE, 64), np.complex128); t = cuda.shared.array(2049, np.float64)")


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("function", OF_NUMBERS, ids=lambda function: function.__name__)
def test_functions_that_numba_has_for_processors_only(function: Any, dtype: str) -> None:
    given = [0.0, -0.0, 0.25, 0.5, 1.5, 2.5, 0.49999999999999994, 3.75, 8388607.5, 1e12, 1e30, np.inf, np.nan, 1e-20]
    for x in np.array([*given, *(-x for x in given)], dtype):
        found = np.array(OF_NUMBERS[function](x), dtype)
        np.testing.assert_allclose(found, function(x), rtol=2 * np.finfo(dtype).eps if function is np.cbrt else 0)
        assert np.signbit(found) == np.signbit(function(x))


@pytest.mark.parametrize("function", OF_COMPLEX, ids=lambda function: function.__name__)
def test_functions_of_complex_numbers(function: Any) -> None:
    for x in 0.5 + 0.25j, -1.5 + 2j, 3 - 0.125j, -0.25 - 1j:
        np.testing.assert_allclose(OF_COMPLEX[function](x), function(x), rtol=1e-14)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u4"])
def test_signs_and_what_divisions_leave(dtype: str) -> None:
    def functions(x, y):
        return np.signbit(x), np.fmod(x, y)

    x = np.array([7, 1, 2, -5, 7, -9, 100, 0])
    check(functions, (x if dtype != "u4" else abs(x)).astype(dtype), np.array([3, 5, 1, 3, 4, 2, 7, 1]).astype(dtype))


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_what_numba_does_not_know_of_complex_numbers(dtype: str) -> None:
    def functions(x):
        return np.isfinite(x), np.isinf(x), np.rint(x), np.exp2(x), np.expm1(x), np.log1p(x)

    check(functions, np.array([0.5 + 0.25j, -1.5 + 2j, 2.5 - 0.125j, 1e-12 - 1e-13j, np.nan, 1e3j, -0.75], dtype))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_neighbours_of_numbers(dtype: str) -> None:
    """To the last digit, also next to powers of 2, to 0, and to the largest and the smallest numbers there are."""
    def neighbour(x, to):
        return np.nextafter(x, to)

    edges = np.finfo(dtype)
    ends = [0, 1, 1.5, edges.max, edges.tiny, edges.smallest_subnormal, np.inf, edges.tiny * 1.5, 0.1, 2.0**-10]
    x, to = (each.ravel() for each in np.meshgrid(*[np.array([*ends, *(-end for end in ends), np.nan], dtype)] * 2))
    made = looped(neighbour, neighbour, (x, to))
    given = {**made.namespace, **made.module.kernel.printed.given}
    with np.errstate(over="ignore"):
        found, wanted = gpu_simulator.namespace(made.module.source, given)["neighbour"](x, to), neighbour(x, to)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found)[wanted == 0], np.signbit(wanted)[wanted == 0])


def added_at(y, i, x):
    for k in range(len(i)):
        y[i[k]] += x[k]
    return y


def written_at(y, i, x):
    for k in range(len(i)):
        y[i[k]] = x[k]
    return y


def truncated(x):
    return np.array([int(value) for value in x])


@pytest.mark.parametrize("function, right, wrong, error", [
    (added_at, (np.zeros(4), np.array([0, 2, 2, -1]), np.arange(4.0)), (np.zeros(4), np.array([0, 7, 2]), np.ones(3)),
     IndexError("index", 7, "is out of bounds for axis 0 with size", 4)),
    (written_at, (np.zeros(4), np.array([0, 2, 2, -1]), np.ones(4)), (np.zeros(4), np.array([0, 2, -5]), np.ones(3)),
     IndexError("index", -5, "is out of bounds for axis 0 with size", 4)),
    (truncated, (np.array([1.5, -2.5, 3.0]),), (np.array([1.5, np.nan, 3.0]),),
     ValueError("cannot convert float NaN to integer")),
])
def test_errors_that_kernels_tell(function: Any, right: Any, wrong: Any, error: Exception) -> None:
    made = generated(function, function, right)
    kernels = lower_for_gpu(made.function, made.reading.assumptions)
    assert "status" in kernels.source and kernels.printed.raising
    np.testing.assert_array_equal(called(made, Simulated(kernels), function, right), function(*copy.deepcopy(right)))
    with pytest.raises(type(error)) as caught:
        called(made, Simulated(kernels), function, wrong)
    assert caught.value.args == error.args


def combined_in_several_dtypes(k, x, f):
    return np.max(k), np.max(x), np.sum(f > 0, dtype=np.int16), np.sum(k), np.min(x[1:])


def test_blocks_combine_each_dtype_in_its_own_way() -> None:
    """Whole numbers come first, whose maximum minds no nan, and those of 16 bits before those of 64."""
    k = np.full(9, 30_000)
    arguments = k, np.array([1.0, np.nan, 3.0, -1.0, 2.0]), np.ones(7, np.float32)
    made = generated(combined_in_several_dtypes, combined_in_several_dtypes, arguments)
    kernels = lower_for_gpu(made.function, made.reading.assumptions)
    found = called(made, Simulated(kernels), combined_in_several_dtypes, arguments)    # type: ignore[arg-type]
    wanted = combined_in_several_dtypes(*arguments)
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(got, want)
