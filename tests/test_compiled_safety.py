"""Compiled code raises what NumPy and Python raise, and never reads or writes outside of an array."""

from __future__ import annotations

import copy
import math
import signal
import threading
import warnings
from typing import Any

import numpy as np
import pytest
from bounds import Outside, Raised, Watched, agree, outcome
from corpus import ALL
from loop_cases import plain
from lowered import called, generated
from test_lowered_programs import BY_NAME, transformed

from transformer import grad, jit, tree
from transformer.core.errors import NotSupported
from transformer.lower.lowering import lower

pytestmark = pytest.mark.filterwarnings("ignore")


def lowered(target: Any, user: Any, arguments: tuple[Any, ...]) -> Any:
    """What the loops of a function give for a call, as plain Python on watched arrays."""
    made = generated(target, user, arguments)
    return called(made, plain(lower(made.function, made.reading.assumptions)), user, arguments)


def source_of(target: Any, user: Any, arguments: tuple[Any, ...]) -> str:
    made = generated(target, user, arguments)
    return lower(made.function, made.reading.assumptions).source


def check(function: Any, *arguments: Any) -> None:
    with np.errstate(all="ignore"):
        want = outcome(lambda: function(*copy.deepcopy(arguments)))
        got = outcome(lambda: lowered(function, function, arguments))
    assert agree(got, want), f"{function.__name__}{arguments}: {got!r} is not {want!r}"


# -- places -----------------------------------------------------------------------------------------

VECTOR, PLACES = np.arange(1.0, 7.0), np.array([0, 2, 5])


def read_there(x, k):
    return x[k] * 2


def read_rows(x, k):
    return x.reshape(2, 3)[k]


def read_two(x, k):
    return x.reshape(2, 3)[k % 2, k]


def write_there(x, k):
    y = x.copy()
    y[k] = 1.0
    return y


def add_there(x, k):
    y = x.copy()
    np.add.at(y, k, 2.0)
    return y


def read_along(x, k):
    return np.take_along_axis(x.reshape(2, 3), np.reshape(k, (-1, 1))[:2], axis=1)


def read_taken(x, k):
    return np.take(x.reshape(2, 3), k, axis=1)


def read_far(x, k):
    return x[PLACES + k]


def read_after(x, k):
    return x[2:][k]


def in_a_loop(x, k):
    total = 0.0
    for i in range(len(x)):
        total += x[i + k]
    return total


def in_a_branch(x, k):
    return x[k] if k < len(x) else x[k - len(x)]


def not_used(x, k):
    total = 0.0
    for i in range(3):
        total += x[k - i] * 0.0
    return total


def while_there(x, k):
    total = 0.0
    while x[k] > 1.5:
        total += x[k]
        k -= 1
    return total


def slices(x, k):
    return np.sum(x[k:k + 3]) + np.sum(x[-k:]) + np.sum(x[:k:2]) + np.sum(x[k::-1])


def slices_in_a_loop(x, k):
    total = 0.0
    for i in range(len(x)):
        total += np.sum(x[i - k:i + k])
    return total


READING = (read_there, write_there, add_there, read_far, read_rows, read_after)
BY_NUMBER = (read_two, in_a_loop, in_a_branch, not_used, while_there, slices, slices_in_a_loop)


@pytest.mark.parametrize("function", [*READING, *BY_NUMBER])
def test_places_by_number(function: Any) -> None:
    for k in (0, 1, 5, 6, 40, -1, -6, -7, -40):
        check(function, VECTOR, k)


@pytest.mark.parametrize("function", [*READING, read_along, read_taken])
def test_places_by_array(function: Any) -> None:
    for places in ([0, 1], [1, 9], [-9, 0], [-1, -2], [3, 9, -9]):
        check(function, VECTOR, np.array(places))
    check(function, VECTOR, np.array([1, 200], np.uint8))
    if function is not read_far:
        check(function, VECTOR, np.array([[0, 1], [2, -90]], np.int8))


# -- sizes ------------------------------------------------------------------------------------------


def largest(x, k):
    return np.max(x[x > k])


def place_of_smallest(x, k):
    return np.argmin(x[x > k])


def largest_of_rest(x, k):
    return np.max(x[k:])


def mean_of_some(x, k):
    return np.mean(x[x > k])


def first_of_some(x, k):
    return x[x > k][0]


def by_positions(x, k):
    return x[np.nonzero(x > k)[0] + 1]


def first_of_new(x, k):
    return np.zeros(k)[0] + np.ones((k, 2))[1, 1]


@pytest.mark.parametrize("function", [largest, place_of_smallest, largest_of_rest, mean_of_some, first_of_some,
                                      by_positions, first_of_new])
def test_parts_that_may_be_empty(function: Any) -> None:
    for x in (VECTOR, np.arange(2.0)):
        for k in (0, 1, 2, 5, 6, 50, -3):
            check(function, x, k)


def test_shapes_that_do_not_fit() -> None:
    def product(x, y):
        return x * y + 1

    def matrices(x, y):
        return x @ y

    square = np.ones((3, 3))
    for x, y in ((VECTOR, np.ones(4)), (square, np.ones(4)), (square, np.ones((4, 3)))):
        check(product, x, y)
    for x, y in ((square, np.ones(4)), (square, np.ones((4, 2)))):
        got, want = (outcome(lambda f=f: f(x, y)) for f in (lambda x, y: lowered(matrices, matrices, (x, y)), matrices))
        assert isinstance(got, Raised) and issubclass(got.type, want.type) and got.text == want.text


# -- numbers of Python --------------------------------------------------------------------------------

OPERATORS = {
    "/": lambda a, b: a / b, "//": lambda a, b: a // b, "%": lambda a, b: a % b, "**": lambda a, b: a ** b,
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b, "negative": lambda a, b: -a, "abs": lambda a, b: abs(a),
}
FUNCTIONS = {
    "int": lambda a, b: int(a), "floor": lambda a, b: math.floor(a), "ceil": lambda a, b: math.ceil(a),
    "round": lambda a, b: round(a), "sqrt": lambda a, b: math.sqrt(a), "log": lambda a, b: math.log(a),
    "exp": lambda a, b: math.exp(a), "sin": lambda a, b: math.sin(a), "asin": lambda a, b: math.asin(a),
    "acosh": lambda a, b: math.acosh(a), "atanh": lambda a, b: math.atanh(a), "cosh": lambda a, b: math.cosh(a),
    "gamma": lambda a, b: math.gamma(a), "lgamma": lambda a, b: math.lgamma(a), "pow": lambda a, b: math.pow(a, b),
    "fmod": lambda a, b: math.fmod(a, b), "log1p": lambda a, b: math.log1p(a),
    "max": lambda a, b: max(a, b, 0.5), "min": lambda a, b: min(a, b, 1.5),
}
LARGE = 2 ** 62
FLOATS = [(1.0, 0.0), (0.0, -1.0), (10.0, 400.0), (math.nan, 1.0), (math.inf, 2.0), (1e300, 1e300), (-1.0, 1.0),
          (2.0, 3.0), (1000.0, 1.0), (-2.0, 0.0), (0.0, 0.0), (1.0, math.nan)]
INTEGERS = [(1, 0), (0, 3), (10, 30), (3, 5), (LARGE, LARGE), (-2 * LARGE, -1), (3, -1), (1, 70), (3, 62), (-7, 2)]


def check_numbers(function: Any, calls: list[tuple[Any, Any]]) -> None:
    """The same for every call; of integers that do not fit, Python has the number, compiled code an error."""
    kernels: dict[Any, Any] = {}
    for arguments in calls:
        want = outcome(lambda: function(*arguments))
        if isinstance(want, complex):
            continue
        kind = tuple(map(type, arguments))
        if function is OPERATORS["**"] or kind not in kernels:
            try:
                made = generated(function, function, arguments)
                kernels[kind] = made, plain(lower(made.function, made.reading.assumptions))
            except Exception as error:
                assert isinstance(want, Raised) and isinstance(error, want.type), (arguments, error)
                continue
        made, kernel = kernels[kind]
        got = outcome(lambda: called(made, kernel, function, arguments))
        if isinstance(want, int) and not -2 ** 63 <= want < 2 ** 63:
            assert isinstance(got, Raised) and got.type is OverflowError, (arguments, got)
        else:
            assert agree(got, want), (arguments, got, want)


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_of_python(name: str) -> None:
    integers = [pair for pair in INTEGERS if name not in ("<<", "**") or pair[1] < 100]
    check_numbers(OPERATORS[name], integers if name in ("<<", ">>") else [*integers, *FLOATS])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_python(name: str) -> None:
    integers = [] if name in ("int", "floor", "ceil", "round") else INTEGERS[:4]
    check_numbers(FUNCTIONS[name], [*integers, *FLOATS])


@pytest.mark.parametrize("name", ["/", "//", "%", "+", "*"])
def test_numbers_of_numpy_do_not_raise(name: str) -> None:
    pairs = [(1.0, 0.0), (np.inf, 2.0), (-1.0, 1.0)]
    calls = [*((np.float64(a), np.float64(b)) for a, b in pairs),
             *((np.int64(a), np.int64(b)) for a, b in ((1, 0), (LARGE, LARGE), (3, -1)))]
    with np.errstate(all="ignore"):
        check_numbers(OPERATORS[name], calls)


def counted(n):
    steps = 0
    while n > 1:
        n = n / 2
        for _ in range(3):
            steps += 1
    return steps


def remainders(n):
    state = n
    for _ in range(20):
        state = (1103515245 * state + 12345) % 2 ** 31
    return state


def factorial(n):
    product = 1
    for k in range(1, n):
        product = product * k
    return product


def test_counters_need_no_test() -> None:
    assert "Overflow" not in source_of(counted, counted, (100.0,))
    assert "Overflow" in source_of(factorial, factorial, (5,))
    for n in (5, 20, 21, 22, 30):
        check_numbers(lambda n, _: factorial(n), [(n, 0)])
    assert lowered(remainders, remainders, (7,)) == remainders(7)


# -- names ------------------------------------------------------------------------------------------


def last_of(x, n):
    for i in range(n):
        last = x[i]
    return last


def under_other_conditions(x, n):
    if n > 3:
        y = x[0] * 2
    return y + 1 if n > 5 or n < 0 else 1.0


def before_it_is_bound(x, n):
    total = 0.0
    for i in range(n):
        if i > 0:
            total = total + previous * x[i]             # noqa: F821
        if x[i] > 0:
            previous = x[i]                             # noqa: F841
    return total


def found(x, n):
    for i in range(n):
        if x[i] > 3:
            place = i
            break
    return x[place]


def last_row(x, n):
    for i in range(n):
        row = x * i
    return np.sum(row)


def appended(x, n):
    kept = []
    for i in range(n):
        if x[i] > 3:
            y = x[i] * 2
        kept.append(y)
    return np.sum(np.array(kept))


@pytest.mark.parametrize("function", [last_of, under_other_conditions, before_it_is_bound, found, last_row, appended])
def test_names_that_are_not_bound(function: Any) -> None:
    for x in (VECTOR, -VECTOR, np.arange(6.0)):
        for n in (0, 1, 4, 6):
            check(function, x, n)


def under_the_same(x):
    if x[0] > 3:
        y = x[0] * 2
    z = 1.0
    if x[0] > 3:
        z = z + y
    return z


def test_the_same_condition_is_not_tested_again() -> None:
    assert "raise" not in source_of(under_the_same, under_the_same, (VECTOR,))


@pytest.mark.parametrize("name", ["saved_where_a_branch_binds_it", "saved_where_branches_in_branches_bind_it"])
def test_what_is_saved_for_the_way_back_is_not_tested(name: str) -> None:
    program = BY_NAME[name]
    arguments = program.example(np.random.default_rng(0))
    assert "UnboundLocalError" not in source_of(grad(program.function), program.function, arguments)


# -- programs ---------------------------------------------------------------------------------------


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
        return type(argument)(argument + by)
    return argument


# Exponential in their arguments; where a list of results is empty, which only Python notices; where a size would
# be negative.
EXCEPTIONS = {"fibonacci_of_floats", "expression_term_factor", "branching", "ackermann_payload", "binomial_tree",
              "append_and_stack", "computed_bounds"}
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
        got = outcome(lambda: lowered(target, program.function, arguments))
    if isinstance(got, Raised) and (issubclass(got.type, NotSupported) or overflows(got) or order):
        return
    told = f"{program.name}, {order}: {got!r} is not {want!r}"
    assert isinstance(got, Raised) == isinstance(want, Raised), told
    assert not isinstance(got, Raised) or got.is_like(want) or want.type is RecursionError, told


@pytest.mark.parametrize("place", [6, -1])
def test_a_place_outside_is_seen(place: int) -> None:
    with pytest.raises(Outside):
        VECTOR.copy().view(Watched)[place]


PROVEN = ("cholesky_in_place", "gauss_seidel", "recurrence", "wave_equation", "upwind", "stencil_plane", "heat",
          "prefix_sums", "over_array", "lorenz_rk4", "nbody_energy", "rnn", "thomas")


@pytest.mark.parametrize("order", [0, 1], ids=["value", "gradient"])
@pytest.mark.parametrize("name", [name for name in PROVEN if name in BY_NAME])
def test_proven_loops_have_no_test(name: str, order: int) -> None:
    program = BY_NAME[name]
    source = source_of(transformed(program, order), program.function, program.example(np.random.default_rng(0)))
    assert "IndexError" not in source and " < 0 else " not in source


# -- compiled ---------------------------------------------------------------------------------------


def spmv(data, rows, columns, x):
    y = np.zeros(len(x))
    for e in range(len(data)):
        y[rows[e]] += data[e] * x[columns[e]]
    return y


def gathered(x, order):
    return np.sum(np.exp(x[order]) * x[:3])


def ratio(a, b):
    return a / b


def product(a, b):
    return a * b


def deep(x, n):
    if n == 0:
        return x
    return np.sin(x) * deep(x, n - 1)


def raised(function: Any, *arguments: Any) -> BaseException:
    try:
        function(*arguments)
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


FULL = np.ones(3), np.array([0, 1, 2]), np.array([2, 1, 0]), np.ones(3)
COMPILED = [
    (spmv, FULL, (*FULL[:2], np.array([2, 1, 3]), FULL[3])),
    (spmv, FULL, (FULL[0], np.array([0, 1, -4]), *FULL[2:])),
    (spmv, FULL, (FULL[0], FULL[1][:2], *FULL[2:])),
    (gathered, (VECTOR, PLACES), (VECTOR, np.array([0, 6, 7]))),
    (ratio, (1.0, 2.0), (1.0, 0.0)),
    (last_of, (VECTOR, 2), (VECTOR, 0)),
    (largest, (VECTOR, 2.0), (VECTOR, 9.0)),
]


@pytest.mark.parametrize("case", COMPILED, ids=lambda case: case[0].__name__)
def test_compiled(case: Any) -> None:
    function, good, bad = case
    compiled = jit(function)
    np.testing.assert_allclose(compiled(*good), function(*good))
    want = raised(function, *bad)
    for _ in range(2):
        got = raised(compiled, *bad)
        assert type(got) is type(want) and str(got) == str(want)
        line = f"line {want.__traceback__.tb_next.tb_lineno}, " if function is not last_of else ""   # type: ignore[union-attr]
        assert f"{line}in {function.__name__}\n" in got.__notes__[0]
        assert len(got.__notes__) == 1
    np.testing.assert_allclose(compiled(*good), function(*good))


def test_compiled_shapes_that_do_not_fit() -> None:
    def scaled(x, y):
        return x * y + 1

    compiled = jit(scaled)
    compiled(VECTOR, VECTOR)
    for y in (np.ones(4), np.ones((2, 5))):
        with pytest.raises(ValueError) as error:
            compiled(VECTOR, y)
        assert str(error.value).splitlines()[0] == str(raised(scaled, VECTOR, y)).strip()
    np.testing.assert_allclose(compiled(VECTOR, np.ones((3, 1))), scaled(VECTOR, np.ones((3, 1))))


def test_compiled_integers_that_do_not_fit() -> None:
    compiled = jit(product)
    assert compiled(2 ** 31, -2 ** 31) == -2 ** 62
    for numbers in ((2 ** 32, 2 ** 31), (-2 ** 63, -1), (3037000500, 3037000500)):
        with pytest.raises(OverflowError):
            compiled(*numbers)
    assert compiled(3037000499, 3037000499) == 3037000499 ** 2
    assert compiled(-2 ** 63, 1) == -2 ** 63


def test_compiled_recursion_has_an_end() -> None:
    compiled = jit(deep)
    np.testing.assert_allclose(compiled(0.5, 20), deep(0.5, 20))
    with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
        compiled(0.5, -1)


def test_compiled_gradient() -> None:
    compiled = jit(grad(gathered))
    np.testing.assert_allclose(compiled(VECTOR, PLACES), grad(gathered)(VECTOR, PLACES))
    with pytest.raises(IndexError, match="^index 6 is out of bounds for axis 0 with size 6"):
        compiled(VECTOR, np.array([0, 6, 7]))


def test_from_threads() -> None:
    compiled, errors = jit(gathered), []
    compiled(VECTOR, PLACES)

    def work() -> None:
        for _ in range(200):
            errors.append(str(raised(compiled, VECTOR, np.array([0, 6, 7]))))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == ["index 6 is out of bounds for axis 0 with size 6"] * 800


# -- integers of NumPy ------------------------------------------------------------------------------

WIDE = np.array([2 ** 64 - 1, 2 ** 63, 2 ** 63 - 1, 2 ** 62 + 1, 5, 0], dtype=np.uint64)


def shifts(x, k):
    return x << k, x >> k, x << x, x >> x, x >> 7, x[0] >> k, x[1] << np.uint64(3)


def xor_shift(seed, n):
    out = np.zeros(n, dtype=np.uint64)
    for i in range(n):
        seed ^= seed << np.uint64(13)
        seed ^= seed >> np.uint64(7)
        seed ^= seed << np.uint64(17)
        out[i] = seed
    return out


def comparisons(x, k):
    return x < k, x <= k, x > k, x >= k, x == k, x != k, k < x, k >= x, k == x, x[0] > k


def with_constants(x):
    count = 0
    for v in x:
        count += 1 if v < 300 and v > -5 and v != 300 else 0
    return x < 300, x > -1, x == 300, -1 < x, count, np.clip(x, -5, 300)


def added(x, k):
    return x + k


def set_to(x, k):
    y = x.copy()
    y[1:] = k
    return y


def filled_with(x, k):
    return np.full(3, k, dtype=x.dtype)


def array_of(x, k):
    return np.array([k, 1], dtype=x.dtype)


def in_loops(x, k):
    y = x.copy()
    for i in range(len(x)):
        y[i] = k + i
    return y


def converted_to(x, k):
    return x * np.uint8(k)


def with_constant_beyond(x, k):
    return x + 300 if k > 100 else x - 1


def same_as_numpy(compiled: Any, *arguments: Any) -> None:
    got, want = outcome(lambda: compiled(*arguments)), outcome(lambda: compiled.__wrapped__(*arguments))
    assert isinstance(got, Raised) == isinstance(want, Raised), (arguments, got, want)
    if isinstance(want, Raised):
        assert got.type is want.type, (arguments, got, want)
        return
    for one, other in zip(tree.leaves(got), tree.leaves(want), strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_array_equal(one, other)


def test_compiled_shifts_of_64_bits() -> None:
    compiled = jit(shifts)
    for k in (0, 3, 63, 64):
        same_as_numpy(compiled, WIDE, np.uint64(k))
    same_as_numpy(jit(lambda x, k: (x >> k, x << k)), WIDE.view(np.int64), np.int64(64))
    same_as_numpy(jit(xor_shift), np.uint64(88172645463325252), 6)


def test_compiled_comparisons_are_by_value() -> None:
    compiled = jit(comparisons)
    for k in (-1, 0, 300, 2 ** 62, 2 ** 63 - 1):
        same_as_numpy(compiled, WIDE, k)
        same_as_numpy(compiled, WIDE, np.int64(k))
        same_as_numpy(compiled, np.array([200, 44, 255], dtype=np.uint8), k)
    same_as_numpy(compiled, np.array([2 ** 63 - 1, -1]), np.uint64(2 ** 63))
    same_as_numpy(jit(with_constants), np.array([200, 44, 255], dtype=np.uint8))


@pytest.mark.parametrize("function", [added, set_to, filled_with, array_of, in_loops, converted_to,
                                      with_constant_beyond])
def test_compiled_python_integers_have_to_fit(function: Any) -> None:
    compiled = jit(function)
    for k in (7, 250, 253, 255, 256, -1):
        same_as_numpy(compiled, np.array([200, 3, 5, 7], dtype=np.uint8), k)


def test_compiled_negative_powers_of_integers() -> None:
    compiled = jit(OPERATORS["**"])
    x = np.array([2, 3])
    for one, power in ((x, 2), (x, -1), (x[:0], -1), (x, np.array([1, 2])), (x, np.array([1, -2])),
                       (np.int64(2), -1), (2, np.int64(-1)), (np.int64(3), np.int64(4))):
        same_as_numpy(compiled, one, power)


def test_compiled_integers_of_numpy_as_pythons() -> None:
    compiled = jit(lambda x: (round(x), int(x), x > 3))
    for number in (np.int64(2 ** 63 - 1), np.int64(-2 ** 62 - 1), np.uint64(2 ** 63 - 1), np.uint8(200)):
        same_as_numpy(compiled, number)
    with pytest.raises(OverflowError, match="too large"):
        compiled(np.uint64(2 ** 63))
