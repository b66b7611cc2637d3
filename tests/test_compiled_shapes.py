"""Arguments whose shapes do not fit: the exception of NumPy, or its numbers, never others.

A compiled function serves all shapes that meet its guards. So programs are lowered for their own arguments, and run as
plain Python on watched arrays that are longer or shorter by one: those loops where the guards hold, else new ones.
"""

from __future__ import annotations

import copy
import re
import signal
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from bounds import Raised, outcome
from corpus import ALL
from loop_cases import plain
from lowered import called
from test_compiled_integers import EXCEPTIONS, late, overflows
from thinned import some

from transformer import config, grad, jit, tree
from transformer.api import argument_names
from transformer.core.errors import NotSupported, ShapeError, TransformError
from transformer.lower.lowering import lower
from transformer.pipeline import Generated, generate
from transformer.run.compiling.assembly import JUMP, is_vectorised, width_of
from transformer.run.compiling.kernels import compiled_again
from transformer.run.dispatch import type_key
from transformer.run.generating import guarded_integers, on_demand, requested
from transformer.run.signature import describe

CHUNKS = 6
MOST = 4                               # changes of one program
# numba's own functions test no places; a recursion is read for sizes that go on to be equal.
OTHERWISE = EXCEPTIONS | {"compiled_helper", "spectrum"}
# Two mistakes, of which another one is told first.
EARLIER = {"newton_step_in_plane", "mask_of_computed_length", "gradient_eo"}
# Shapes that never fit are told of although the program does not come there.
UNREACHED = {"conjugate_gradients_at_once"}


class Loops:
    """The loops of a function for a call, and whether they serve another one."""

    def __init__(self, function: Any, arguments: tuple[Any, ...]) -> None:
        self.function, self.static = function, set[str]()
        self.names = argument_names(function, len(arguments))
        self.made = on_demand(self._made, arguments, {}, self.names, self.static, self.described(arguments))
        self.kernel = plain(lower(self.made.function, self.made.reading.assumptions))
        self.types = type_key(self.described(arguments))

    def _made(self, described: Any) -> Generated:
        return generate(requested(self.function, described))

    def described(self, arguments: tuple[Any, ...]) -> Any:
        return describe(arguments, {}, self.names, self.static)

    def serve(self, arguments: tuple[Any, ...]) -> bool:
        described = self.described(arguments)
        integers = {atom: described.hints[path] for atom, path in guarded_integers(self.made).items()}
        values = {**described.hints, **integers}
        return type_key(described) == self.types and all(guard.holds(values) for guard in self.made.function.guards)

    def __call__(self, arguments: tuple[Any, ...]) -> Any:
        return called(self.made, self.kernel, self.function, arguments)


def resized(array: np.ndarray, axis: int, by: int) -> np.ndarray:
    """An array with one row less, or with the first row once more."""
    if by < 0:
        return np.delete(array, -1, axis)
    return np.concatenate([array, np.take(array, [0], axis)], axis)


def changes(arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The arguments with one axis of one array longer or shorter."""
    leaves, structure = tree.flatten(arguments)
    for k, leaf in enumerate(leaves):
        if isinstance(leaf, np.ndarray):
            for axis in range(leaf.ndim):
                for by in (1, -1):
                    if leaf.shape[axis] + by >= 0 and leaf.shape[axis]:
                        yield tree.unflatten(structure, [*leaves[:k], resized(leaf, axis, by), *leaves[k + 1:]])


def spread(items: list[Any], count: int) -> list[Any]:
    """A few of many, from all over."""
    return items[::max(1, -(-len(items) // count))]


def told(program: Any, arguments: tuple[Any, ...]) -> str:
    return f"{program.name}{[np.shape(leaf) for leaf in tree.leaves(arguments)]}"


def agree(got: Any, want: Any, rtol: float) -> bool:
    """Whether two outcomes are exceptions of one kind, or equal numbers in the same structure."""
    if isinstance(got, Raised) or isinstance(want, Raised):
        return isinstance(got, Raised) and isinstance(want, Raised) and (
            issubclass(got.type, want.type) or issubclass(want.type, got.type))
    found, structure = tree.flatten(got)
    wanted, expected = tree.flatten(want)
    numbers = [(a, b) for a, b in zip(found, wanted) if isinstance(b, (np.ndarray, np.generic, float, int, complex))]
    return structure == expected and all(
        np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=rtol, atol=1e-12, equal_nan=True) for a, b in numbers)


def is_noise(function: Any, arguments: tuple[Any, ...], want: Any, rtol: float) -> bool:
    """Whether rounding decides what NumPy gives: more columns than rows cannot be made orthonormal."""
    rng = np.random.default_rng(1)

    def moved(leaf: Any) -> Any:
        is_float = isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f"
        return leaf * (1 + 1e-14 * rng.standard_normal(leaf.shape)) if is_float else leaf

    again = outcome(lambda: function(*copy.deepcopy(tree.map(moved, arguments))))
    return not agree(again, want, rtol)


def check(program: Any, served: list[bool]) -> None:
    function, arguments = program.function, program.example(np.random.default_rng(0))
    try:
        loops = Loops(function, arguments)
    except TransformError:
        return
    for changed in spread(list(changes(arguments)), MOST):
        want = outcome(lambda changed=changed: function(*copy.deepcopy(changed)))
        served.append(loops.serve(changed))
        got = outcome(lambda changed=changed: (loops if served[-1] else Loops(function, changed))(changed))
        if isinstance(got, Raised) and (issubclass(got.type, NotSupported) or overflows(got)):
            continue
        rtol = 1e-3 if "f32" in program.tags else 1e-8
        if isinstance(got, Raised) and issubclass(got.type, ShapeError):        # seen before anything runs: of two
            assert isinstance(want, Raised) or program.name in UNREACHED        # mistakes it is told first
            continue
        if program.name in EARLIER and isinstance(got, Raised) and isinstance(want, Raised):
            continue
        same = agree(got, want, rtol) or is_noise(function, changed, want, rtol)
        assert same, f"{told(program, changed)}: {got!r} is not {want!r}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_programs_with_other_shapes(chunk: int) -> None:
    before, served = signal.signal(signal.SIGALRM, late), list[bool]()
    try:
        for program in some(ALL, 8)[chunk::CHUNKS]:
            if "expected" not in program.tags and program.name not in OTHERWISE:
                signal.setitimer(signal.ITIMER_REAL, 60)
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    check(program, served)
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert any(served) and not all(served)


# -- compiled ---------------------------------------------------------------------------------------


pytestmark = pytest.mark.usefixtures("own_cache")


def smoothed(u, c):
    v = u.copy()
    for i in range(1, len(u) - 1):
        v[i] = u[i] + c * (u[i + 1] - 2 * u[i] + u[i - 1])
    return v


def weighted(x, w, b):
    return np.tanh(x @ w + b)


def interior(u, f):
    u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] + f[1:-1, 1:-1])
    return u


def prefix(x, y):
    for i in range(1, len(x)):
        y[i] = y[i - 1] * 0.5 + x[i]
    return y


def picked(x, k):
    return np.exp(x[k]) * 2 + x[k]


COMPILED: list[tuple[Any, tuple[Any, ...]]] = [
    (smoothed, (np.arange(9.0), 0.1)), (weighted, (np.ones((5, 4)), np.ones(4), np.arange(5.0))),
    (interior, (np.arange(20.0).reshape(4, 5), np.ones((4, 5)))), (prefix, (np.arange(6.0), np.ones(6))),
    (picked, (np.arange(7.0), np.array([0, 6, -7]))),
]


@pytest.mark.parametrize("case", COMPILED, ids=lambda case: case[0].__name__)
def test_compiled_with_other_shapes(case: Any) -> None:
    function, arguments = case
    compiled = jit(function)
    compiled(*copy.deepcopy(arguments))
    twice = [each for one in changes(arguments) for each in spread(list(changes(one)), 4)]
    for changed in [*changes(arguments), *twice]:
        given, wanted = copy.deepcopy(changed), copy.deepcopy(changed)
        want, got = outcome(lambda: function(*wanted)), outcome(lambda: compiled(*given))
        assert agree(got, want, 1e-12), f"{function.__name__}{[np.shape(x) for x in changed]}: {got!r} is not {want!r}"
        if not isinstance(want, Raised):
            assert agree(given, wanted, 1e-12)


# -- machine code -----------------------------------------------------------------------------------

MEMORY = {"MemoryError", "ValueError"}           # that is too large to be had


def machine_code(compiled: Any, arguments: tuple[Any, ...]) -> str:
    """The text of a kernel, without what Python calls it by."""
    return _kernel_of(whole_text(compiled, arguments))


def raised_in(compiled: Any, arguments: tuple[Any, ...]) -> set[str]:
    """The exceptions that the machine code of a kernel may raise, as numba keeps them."""
    text = whole_text(compiled, arguments)
    kept = re.findall(r"pickledata\.(\w+):\s+\.asci[iz]\s+\"(.*)\"", text)
    names = {key: re.search(r"[A-Z][A-Za-z]+(?:Error|Exception)", content) for key, content in kept}
    found = {names[key] for key in re.findall(r"pickle(?:buf|data)\.(\w+)", _kernel_of(text)) if key in names}
    return {name[0] for name in found if name is not None}


def whole_text(compiled: Any, arguments: tuple[Any, ...]) -> str:
    compiled(*copy.deepcopy(arguments))
    function = compiled._entry(arguments, {}).function
    kernel = next(each for name, each in function.__globals__.items() if name.endswith("_kernel"))
    return next(iter(compiled_again(kernel).inspect_asm().values()))


def _kernel_of(text: str) -> str:
    start = re.search(r"^_?_ZN\d+transformer.*:$", text, re.M)
    end = re.search(r"^_?_ZN7cpython.*:$", text, re.M)
    assert start is not None and end is not None and start.start() < end.start()
    return text[start.start():end.start()]


def loops_in(text: str) -> Iterator[list[str]]:
    """The instructions of every loop that has no other one inside."""
    rows = [row.strip() for row in text.splitlines() if not re.match(r"\s+\.|\s*#", row)]
    labels = {row[:-1]: k for k, row in enumerate(rows) if re.fullmatch(r"\.?L\w+:", row)}
    spans = {(labels[jump[1]], k) for k, row in enumerate(rows)
             if (jump := JUMP.match(row)) is not None and labels.get(jump[1], k) < k}
    for start, end in spans:
        if not any(start <= a and b <= end and (a, b) != (start, end) for a, b in spans):
            yield [row for row in rows[start:end + 1] if not row.endswith(":")]


@pytest.fixture
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "threads", 1)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("case", COMPILED, ids=lambda case: case[0].__name__)
def test_vectorised_loops_have_one_way_out(case: Any) -> None:
    """What is proven is not tested, and what is not, before: the only branch of a loop over many numbers is the one
    back to its start, and it calls nothing."""
    function, arguments = case
    text = machine_code(jit(function), arguments)
    vectorised = [loop for loop in loops_in(text) if is_vectorised([
        width for row in loop if (width := width_of(row)) is not None])]
    assert vectorised or function in (prefix, picked)
    for loop in vectorised:
        assert sum(JUMP.match(row) is not None for row in loop) == 1
        assert not any(re.match(r"(call|bl|blr)[a-z]*\b", row) for row in loop)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("case", COMPILED[:-1], ids=lambda case: case[0].__name__)
def test_proven_code_raises_nothing(case: Any) -> None:
    function, arguments = case
    assert raised_in(jit(function), arguments) <= MEMORY


@pytest.mark.usefixtures("one_thread")
def test_code_that_is_not_proven_raises() -> None:
    function, arguments = COMPILED[-1]
    assert "IndexError" in raised_in(jit(function), arguments)


@pytest.mark.usefixtures("one_thread")
def test_a_gradient_of_proven_code_raises_nothing() -> None:
    gradient = jit(grad(lambda u, c: np.sum(smoothed(u, c) ** 2)))
    assert raised_in(gradient, (np.arange(9.0), 0.1)) <= MEMORY


def first_of_queue(values):
    queue = []
    for value in values:
        queue.append(value)
    while len(queue) > 0:
        return queue[0]
    return 0.0


def test_a_while_that_does_not_begin(own_cache: Any) -> None:
    """The list has no items then, of which its body takes the first one."""
    for values in (np.zeros(0), np.ones(2), np.arange(1.0)):
        assert jit(first_of_queue)(values) == first_of_queue(values)


def picked_of_first_rows(x, labels):
    k = int(np.sum(labels > 0))
    return np.sum(x[np.arange(k), labels[:k]] ** 2)


def test_arrays_of_places_whose_length_is_computed_twice() -> None:
    x, labels = np.arange(12.0).reshape(3, 4), np.array([1, 2, 0])
    expected = np.zeros((3, 4))
    expected[[0, 1], [1, 2]] = 2 * x[[0, 1], [1, 2]]
    np.testing.assert_array_equal(jit(grad(picked_of_first_rows))(x, labels), expected)
