"""Programs with integers that do not fit: the exception of NumPy, or its numbers, never others.

They are lowered for their own arguments, and run as plain Python on watched arrays.
"""

from __future__ import annotations

import copy
import signal
import warnings
from typing import Any

import numpy as np
import pytest
from bounds import Raised, outcome
from corpus import ALL
from lowered import as_loops, source_of
from test_lowered_programs import BY_NAME, transformed

from transformer import jit, tree
from transformer.core.errors import NotSupported
from transformer.lower.expand.magnitudes import Magnitudes

pytestmark = pytest.mark.filterwarnings("ignore")


class Late(BaseException):
    pass


def late(*_: Any) -> None:
    raise Late


def spoiled(argument: Any, by: int) -> Any:
    """An argument with an integer that is too large, or too small."""
    if isinstance(argument, np.ndarray) and argument.dtype.kind in "iu" and argument.size:
        changed = argument.copy()
        changed.flat[-1] = changed.dtype.type(by if by > 0 else by % 128 if argument.dtype.kind == "u" else by)
        return changed
    if isinstance(argument, (int, np.integer)) and not isinstance(argument, bool):
        changed = int(argument) + by
        return changed if isinstance(argument, int) else type(argument)(np.array(changed))
    return argument


# Exponential in their arguments, or written out for each of them; where a list of results is empty, which only Python
# notices; where a size would be negative.
EXCEPTIONS = {"fibonacci_of_floats", "expression_term_factor", "branching", "ackermann_payload", "binomial_tree",
              "append_and_stack", "computed_bounds", "shaped_by_counts"}
CHUNKS = 12


def spoiled_calls(chunk: int) -> Any:
    for program in ALL[1::2][chunk::CHUNKS]:
        if "expected" in program.tags or program.name in EXCEPTIONS:
            continue
        arguments = program.example(np.random.default_rng(0))
        for by in (9, -13):
            changed = tree.map(lambda leaf, by=by: spoiled(leaf, by), arguments)
            pairs = zip(tree.leaves(arguments), tree.leaves(changed))
            if any(one is not other for one, other in pairs if isinstance(one, (int, np.ndarray, np.integer))):
                yield program, changed


def overflows(got: Any) -> bool:
    return isinstance(got, Raised) and got.type is OverflowError


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_programs_with_other_integers(chunk: int) -> None:
    before = signal.signal(signal.SIGALRM, late)
    try:
        for program, arguments in spoiled_calls(chunk):
            for order in (0, 1) if sum(map(ord, program.name)) % 4 == 0 else (0,):
                signal.setitimer(signal.ITIMER_REAL, 20)
                compare(program, transformed(program, order), arguments, order)
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def compare(program: Any, target: Any, arguments: Any, order: int) -> None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        want = outcome(lambda: target(*copy.deepcopy(arguments)))
        got = outcome(lambda: as_loops(target, program.function, arguments))
    if isinstance(got, Raised) and (issubclass(got.type, NotSupported) or overflows(got) or order):
        return
    told = f"{program.name}, {order}: {got!r} is not {want!r}"
    assert isinstance(got, Raised) == isinstance(want, Raised), told
    assert not isinstance(got, Raised) or got.is_like(want) or want.type is RecursionError, told

PROVEN = ("cholesky_in_place", "gauss_seidel", "recurrence", "wave_equation", "upwind", "stencil_plane", "heat",
          "prefix_sums", "over_array", "lorenz_rk4", "nbody_energy", "rnn", "thomas")


@pytest.mark.parametrize("order", [0, 1], ids=["value", "gradient"])
@pytest.mark.parametrize("name", [name for name in PROVEN if name in BY_NAME])
def test_proven_loops_have_no_test(name: str, order: int) -> None:
    program = BY_NAME[name]
    source = source_of(transformed(program, order), program.function, program.example(np.random.default_rng(0)))
    assert "IndexError" not in source and " < 0 else " not in source


def binned(k, w, n):
    counts = np.zeros(n)
    np.add.at(counts, np.clip(k, 0, n - 1), w)
    return counts


def around(k, w, n):
    counts = np.zeros(n)
    np.add.at(counts, k % n, w)
    return counts


@pytest.mark.parametrize("program", [binned, around])
def test_integers_that_are_sizes_decide_what_is_tested(program: Any) -> None:
    """As the sizes of arguments do: where there is a place, all are inside; where there is none, other code tells."""
    k, w, compiled = np.array([3, -7, 1]), np.array([0.5, 1.5, 2.5]), jit(program)
    for n in (4, 1, 3):
        assert np.array_equal(compiled(k, w, n), program(k, w, n))
    assert "IndexError" not in compiled.source and " < 0 else " not in compiled.source
    with np.errstate(all="ignore"):
        assert compiled(k[:0], w[:0], 0).size == 0
        with pytest.raises(IndexError, match="is out of bounds for axis 0 with size 0"):
            compiled(k, w, 0)


def place_of(x, k):
    return x[k] * 2


def test_other_integers_do_not_decide() -> None:
    """One code serves places from both ends."""
    compiled, x = jit(place_of), np.arange(5.0)
    assert [compiled(x, k) for k in (2, -1, 0)] == [4.0, 8.0, 0.0]
    assert compiled.source.count("IndexError") == 1


def sparse_product(data, columns, begins, x):
    y = np.zeros(begins.size - 1)
    for i in range(begins.size - 1):
        total = 0.0
        for k in range(begins[i], begins[i + 1]):
            total += data[k] * x[columns[k]]
        y[i] = total
    return y


def parts_of_rows(t, starts, ends):
    rows = np.zeros(t.shape[0])
    for i in range(t.shape[0]):
        for k in range(starts[i], ends[i]):
            if t[i, k] > 0:
                rows[i] += t[i, k] * t[i, k - 1]
    return rows


def from_behind(x, start, stop):
    total = 0.0
    for k in range(stop - 1, start - 1, -1):
        total = 0.5 * total + x[k]
    return total


def of_program(program: Any, rng: Any) -> tuple[Any, ...]:
    """Arguments whose places are inside of arrays, counted from the end, or outside."""
    if program is sparse_product:
        begins = np.sort(rng.integers(-3, 10, 5))
        return rng.normal(size=8), rng.integers(-4, 4, 8), begins, np.ones(4)
    if program is parts_of_rows:
        return rng.normal(size=(3, 5)), rng.integers(-5, 5, 3), rng.integers(-5, 7, 3)
    return rng.normal(size=5), int(rng.integers(-6, 6)), int(rng.integers(-6, 7))


@pytest.mark.parametrize("program", [sparse_product, parts_of_rows, from_behind])
def test_places_are_tested_before_a_loop_and_in_it(program: Any) -> None:
    """In one of two versions: results and errors are those of the program, wherever the places are."""
    rng, compiled, raised = np.random.default_rng(0), jit(program), 0
    for _ in range(60):
        arguments = of_program(program, rng)
        want, got = outcome(lambda: program(*arguments)), outcome(lambda: compiled(*arguments))   # noqa: B023
        if isinstance(want, Raised):
            assert isinstance(got, Raised) and got.is_like(want)
            raised += 1
        else:
            np.testing.assert_allclose(got, want, rtol=1e-13)
    assert 5 < raised < 55
    first, second = compiled.source.split("else:\n")
    assert first.count("IndexError") < second.count("IndexError")


def used_before_it_is_a_size(x, at):
    first = x[at[0]]
    return first + np.sum(np.zeros(at[0]))


def test_a_size_may_be_a_place_before() -> None:
    compiled, x = jit(used_before_it_is_a_size), np.arange(5.0)
    assert compiled(x, np.array([3])) == used_before_it_is_a_size(x, np.array([3]))
    with pytest.raises(IndexError, match="index -1000000000000000 is out of bounds"):
        compiled(x, np.array([-10**15]))


def longest_increasing(a):
    best = [1] * len(a)
    for i in range(len(a)):
        for j in range(i):
            if a[j] < a[i] and best[j] + 1 > best[i]:
                best[i] = best[j] + 1
    return max(best)


def test_integers_of_branches_are_followed_once(own_cache: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rests on those of two sides, and so do these: all ways that lead to one are not gone one by one."""
    calls = 0
    computed = Magnitudes._computed

    def counted(self: Magnitudes, *args: Any) -> Any:
        nonlocal calls
        calls += 1
        return computed(self, *args)

    monkeypatch.setattr(Magnitudes, "_computed", counted)
    a = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8])
    assert jit(longest_increasing)(a) == longest_increasing(a) == 5
    assert 0 < calls < 10_000


def of_two_sizes(n: Any, k: Any) -> Any:
    y = np.arange(300.0)[:n]
    return y[-n], y[k - 1], y[-k]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "u4", "u8"])
def test_places_wrap_around_in_their_dtype(dtype: str) -> None:
    """As -3 of three in uint8, which is 253."""
    kind = np.dtype(dtype).type
    compiled = jit(of_two_sizes)
    for n, k in ((3, 1), (100, 0), (3, 0), (3, 3)):
        args = kind(n), kind(k)
        try:
            expected = of_two_sizes(*args)
        except (IndexError, OverflowError):
            with pytest.raises(IndexError):
                compiled(*args)
        else:
            np.testing.assert_array_equal(compiled(*args), expected)


OF_LARGE = {
    "product": lambda x, k: x[np.abs(k) * np.abs(k)],
    "power": lambda x, k: x[k[0] ** 2],
    "sum": lambda x, k: x[np.maximum(k, 0) + 5],
    "least": lambda x, k: x[np.minimum(np.abs(k) * 2, 7)],
}


@pytest.mark.parametrize("program", OF_LARGE.values(), ids=OF_LARGE)
def test_places_wrap_around_in_64_bits(program: Any) -> None:
    compiled, x = jit(program), np.arange(50.0)
    for k in ([1, 2], [2 ** 63 - 1, 0], [-2 ** 63, 1], [2 ** 62, 1], [3037000500, 1]):
        try:
            expected = program(x, np.array(k))
        except IndexError:
            with pytest.raises(IndexError):
                compiled(x, np.array(k))
        else:
            np.testing.assert_array_equal(compiled(x, np.array(k)), expected)


def written_in_few_bits(x: Any, k: Any) -> Any:
    y = np.zeros(3, np.int8)
    y[:] = k
    return x[y]


@pytest.mark.parametrize("program", [
    written_in_few_bits,
    lambda x, k: x[np.clip(k, -5, 50).astype(np.uint8)],
    lambda x, k: x[np.clip(k, 0, 200).astype(np.int8)],
], ids=["written", "unsigned", "narrow"])
def test_casts_of_places_wrap_around(program: Any) -> None:
    compiled = jit(program)
    for n, k in ((300, [-1, 2, 3]), (300, [250, 3, 130]), (100, [-1, 2, 3]), (100, [250, 3, 130]), (60, [1, 2, 3])):
        for dtype in (np.uint8, np.int16):
            args = np.arange(float(n)), np.array(k).astype(dtype)
            try:
                expected = program(*args)
            except IndexError:
                with pytest.raises(IndexError):
                    compiled(*args)
            else:
                np.testing.assert_array_equal(compiled(*args), expected)
