"""Results in the memory of donated arguments: where they can be, and nothing else changes."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest
from corpus import ALL
from loop_cases import plain
from lowered import called, generated
from test_lowered_programs import transformed
from thinned import some

from transformer import grad, jit, tree, value_and_grad
from transformer.core.errors import TransformError
from transformer.entering import donations
from transformer.lower.lowering import lower
from transformer.lower.nest.aliases import is_written

pytestmark = pytest.mark.usefixtures("own_cache")


def scaled(u, c):
    return np.tanh(u) * c + 1


def diffused(u, c):
    return np.concatenate([u[:1], u[1:-1] + c * (u[2:] - 2 * u[1:-1] + u[:-2]), u[-1:]])


def repeated(u, c):
    for _ in range(3):
        u = u * c + 1
    return u


def diffused_often(u, c):
    for _ in range(4):
        u = np.concatenate([u[:1], u[1:-1] + c * (u[2:] - 2 * u[1:-1] + u[:-2]), u[-1:]])
    return u


def clamped(u, c):
    v = u.copy()
    v[0] = c
    v[-1] = c
    return v


def descended(u, c):
    return u - c * grad(lambda u: np.sum(u * u * u))(u)


def several(u, c):
    return u + c, u - c, np.sum(u)


def total(u, c):
    return np.sum(u * c)


def kept_on_a_path(u, c):
    return u if c > 0 else u * 2


def kept_and_used(u, c):
    v = u if c > 0 else u * 2
    return v, u + 1


def returned_twice(u, c):
    v = u * c
    return v, v


def used_afterwards(u, c):
    v = u * 2
    return v, np.sum(u * c), u[::-1] + c


def handed_back(u, c):
    return u, u + c


def reversed_too(u, c):
    return u[::-1] * c


CASES = {scaled: True, repeated: True, clamped: True, descended: True, several: True, returned_twice: True,
         diffused: False, total: False, handed_back: True, reversed_too: False}
OTHERS = diffused_often, kept_on_a_path, kept_and_used, used_afterwards


def same(got: Any, want: Any) -> None:
    found, structure = tree.flatten(got)
    wanted, expected = tree.flatten(want)
    assert structure == expected
    for one, other in zip(found, wanted, strict=True):
        assert type(one) is type(other) and one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-5 if one.dtype == np.float32 else 1e-12)


def vectors() -> list[Any]:
    rng = np.random.default_rng(1)
    return [rng.normal(size=50), rng.normal(size=7).astype(np.float32)]


@pytest.mark.parametrize("function", [*CASES, *OTHERS], ids=lambda function: function.__name__)
def test_values_and_memory(function: Any) -> None:
    compiled = jit(function, donate="u")
    for given in vectors():
        for c in (np.float32(0.25), np.float32(-0.5)):
            for _ in range(2):                   # the second call takes the short way
                u = given.copy()
                got = compiled(u, c)
                same(got, function(given.copy(), c))
                if function in CASES:
                    parts = [part for part in tree.leaves(got) if isinstance(part, np.ndarray)]
                    assert any(part is u for part in parts) == CASES[function]


def test_planes() -> None:
    compiled = jit(lambda u, v: (u + v.T, 2 * v), donate=(0, "v"))
    rng = np.random.default_rng(2)
    for dtype in (np.float64, np.float32):
        u, v = rng.normal(size=(6, 5)).astype(dtype), rng.normal(size=(5, 6)).astype(dtype)
        want = u + v.T, 2 * v
        got = compiled(u, v)
        same(got, want)
        assert got[0] is u and not np.shares_memory(got[1], u)


@pytest.mark.parametrize("function", [scaled, diffused, diffused_often], ids=lambda function: function.__name__)
def test_steps_in_a_loop(function: Any) -> None:
    compiled = jit(function, donate=0)
    for given in vectors():
        u, want = given.copy(), given.copy()
        for _ in range(20):
            u, want = compiled(u, np.float32(0.3)), function(want, np.float32(0.3))
        same(u, want)


def test_containers() -> None:
    def loss(params, x):
        return np.sum((x @ params["w"] + params["b"]) ** 2)

    def step(params, x):
        gradient = grad(loss)(params, x)
        return {"w": params["w"] - 0.1 * gradient["w"], "b": params["b"] - 0.1 * gradient["b"]}

    rng = np.random.default_rng(3)
    compiled = jit(step, donate="params")
    x, params = rng.normal(size=(8, 5)), {"w": rng.normal(size=5), "b": rng.normal(size=8)}
    want, memory = copy.deepcopy(params), dict(params)
    for _ in range(3):
        params, want = compiled(params, x), step(want, x)
        assert params["w"] is memory["w"]
    same(params, want)


# -- arguments whose memory is not only their own ---------------------------------------------------


def mixed(u, v):
    return u * 2 + v[::-1]


def of_both(u, v):
    return u + 1, v[::-1] * 2 + u


TABLE = np.arange(8.0)


def with_table(u, c):
    return u * c, TABLE[::-1] + c


def layouts() -> dict[str, np.ndarray]:
    wide = np.random.default_rng(4).normal(size=(8, 8))
    frozen = wide[0].copy()
    frozen.flags.writeable = False
    unaligned = np.frombuffer(bytearray(b"\0" + wide[0].tobytes()), dtype=np.uint8)[1:].view(float)
    return {"strided": wide[:, 0], "reversed": wide[0][::-1], "frozen": frozen, "unaligned": unaligned,
            "repeated": np.broadcast_to(wide[0, :1], (8,)), "swapped": wide[0].astype(">f8")}


@pytest.mark.parametrize("layout", list(layouts()))
@pytest.mark.parametrize("first", ["this", "plain"])
def test_memory_that_cannot_be_used_stays_as_it_is(layout: str, first: str) -> None:
    compiled = jit(scaled, donate="u")
    if first == "plain":
        compiled(np.ones(8), 2.0)
    for _ in range(2):
        u = layouts()[layout]
        before = u.copy()
        got = compiled(u, 2.0)
        same(got, scaled(before, 2.0).astype(float))
        np.testing.assert_array_equal(u, before)
        assert got.flags.c_contiguous and not np.shares_memory(got, u)


def test_views_may_be_donated() -> None:
    compiled, wide = jit(scaled, donate="u"), np.random.default_rng(5).normal(size=(3, 8))
    row, before = wide[1], wide.copy()
    got = compiled(row, 2.0)
    assert got is row
    same(got, scaled(before[1], 2.0))
    np.testing.assert_array_equal(wide[::2], before[::2])


@pytest.mark.parametrize("function", [mixed, of_both], ids=lambda function: function.__name__)
@pytest.mark.parametrize("donate", [("u",), ("u", "v")], ids=len)
def test_arguments_that_share_memory_are_copied(function: Any, donate: Any) -> None:
    compiled = jit(function, donate=donate)
    base = np.random.default_rng(6).normal(size=12)
    compiled(base[:8].copy(), base[4:].copy())
    for one, other in ((slice(0, 8), slice(0, 8)), (slice(0, 8), slice(4, 12)), (slice(4, 12), slice(0, 8))):
        whole = base.copy()
        got = compiled(whole[one], whole[other])
        same(got, function(base[one], base[other]))
        np.testing.assert_array_equal(whole, base)
    u, v = base[:8].copy(), base[4:].copy()
    assert any(np.shares_memory(part, u) for part in tree.leaves(compiled(u, v)))


def test_the_same_array_in_several_containers() -> None:
    compiled = jit(lambda params, others: [params[0] + others["a"][::-1], params[1] * 2], donate="params")
    x = np.arange(8.0)
    for _ in range(2):
        same(compiled([x, x], {"a": x}), [np.arange(8.0) + np.arange(8.0)[::-1], np.arange(8.0) * 2])
        np.testing.assert_array_equal(x, np.arange(8.0))


def test_arrays_from_outside_are_never_written() -> None:
    compiled = jit(with_table, donate="u")
    for u in (np.ones(8), TABLE, TABLE[:]):
        before = TABLE.copy()
        want = u * 2.0, TABLE[::-1] + 2.0
        same(compiled(u, 2.0), want)
        np.testing.assert_array_equal(TABLE, before)


def test_by_name() -> None:
    compiled = jit(mixed, donate="v")
    u, v = np.arange(4.0), np.ones(4)
    for _ in range(2):
        same(compiled(v=v.copy(), u=u), mixed(u, v))
        same(compiled(u, v=u), mixed(u, u))
        np.testing.assert_array_equal(u, np.arange(4.0))


def test_static_arguments_and_what_is_written_are_not_donated() -> None:
    def shifted(u, by):
        u[1:] = u[:-1] * by
        return u

    compiled = jit(shifted, donate=("u", "by"), static_argnames="by")
    u = np.arange(5.0)
    assert compiled(u, 2.0) is u
    np.testing.assert_array_equal(u, [0.0, 0.0, 2.0, 4.0, 6.0])


def test_gradients_of_donated_arguments() -> None:
    def loss(u, c):
        return np.sum(np.exp(u) * c)

    compiled = jit(value_and_grad(loss, argnums=(0, 1)), donate=(0, 1))
    for given in vectors():
        u, c = given.copy(), np.abs(given)
        want = value_and_grad(loss, argnums=(0, 1))(u.copy(), c.copy())
        value, found = compiled(u, c)
        same((value, found), want)
        assert {id(part) for part in found} == {id(u), id(c)}


def test_what_another_process_kept_is_donated_too() -> None:
    first, second = jit(scaled, donate="u"), jit(scaled, donate="u")
    for compiled in (first, second):
        u = np.arange(6.0)
        assert compiled(u, 2.0) is u
        frozen = np.arange(6.0)
        frozen.flags.writeable = False
        assert compiled(frozen, 2.0) is not frozen
    third = jit(scaled)
    u = np.arange(6.0)
    assert third(u, 2.0) is not u and u[1] == 1.0


def summed(u, v):
    return np.tanh(u) + v


@pytest.mark.parametrize("order", [1, -1])
def test_of_several_arguments_the_first_one_is_written(order: int) -> None:
    """In whatever order they are said to be donated: of a set there is none."""
    made = generated(summed, summed, (np.arange(3.0), np.ones(3)))
    params = list(made.function.params)
    kernel = lower(made.function, made.reading.assumptions, donated=params[::order])
    assert kernel.lowered.in_place == params[:1]


# -- the corpus -------------------------------------------------------------------------------------

CHUNKS = 4


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_programs(chunk: int) -> None:
    """Whatever is donated, results are the same, and what is said not to change does not."""
    for program in some(ALL, 12)[chunk::CHUNKS]:
        if "expected" not in program.tags:
            compare(program, transformed(program, int(sum(map(ord, program.name)) % 8 == 0)))


def compare(program: Any, target: Any) -> None:
    arguments = program.example(np.random.default_rng(0))
    try:
        made = generated(target, program.function, arguments)
        given = donations(made.function, made.interface, made.reading, {p.name for p in made.interface.parameters})
        kernel = lower(made.function, made.reading.assumptions, donated=given)
    except TransformError:
        return
    if not any(is_written(param, kernel.lowered.body) for param in given):
        return
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        wanted = tree.leaves(target(*copy.deepcopy(arguments)))
        found = tree.leaves(called(made, Unchanged(plain(kernel), given), program.function, arguments))
    for got, want in zip(found, wanted, strict=True):
        if isinstance(want, (np.ndarray, np.generic, float)):
            rtol = 1e-4 if "f32" in program.tags else 1e-9
            np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-12, err_msg=program.name)


class Unchanged:
    """Calls a kernel, and compares the arguments that it is not said to write."""

    def __init__(self, kernel: Any, donated: Any) -> None:
        self.kernel = kernel
        body, params = kernel.lowered.body, kernel.lowered.function.params
        self.kept = [k for k, param in enumerate(params) if param not in donated or not is_written(param, body)]

    def __call__(self, *values: Any) -> Any:
        before = {k: copy.deepcopy(values[k]) for k in self.kept}
        results = self.kernel(*values)
        for k, value in before.items():
            np.testing.assert_array_equal(values[k], value)
        return results
