"""Compiled functions: they give what the function gives, in its types, and change what it changes."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import threading
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from transformer import BadArgument, NotSupported, config, grad, jit, jvp, tree, value_and_grad

pytestmark = pytest.mark.usefixtures("own_cache")

SCALE = 3.0
TABLE = np.array([1.0, 2.0, 3.0])


def loss(w, x):
    """A loss."""
    return np.sum(np.tanh(x @ w) ** 2)


def doubled(x):
    return x * 2 + 1


def shifted(x, step):
    x[1:] = x[1:] + step
    return x


compiled_loss = jit(loss)
compiled_doubled = jit(doubled)
compiled_shifted = jit(shifted)


@jit
def decorated(x):
    return np.sum(x) * SCALE


@jit(static_argnames="kind")
def chosen(x, kind, scale=2.0):
    return np.sum(x) * scale if kind == "sum" else np.max(x)


def same(got: Any, want: Any) -> None:
    """Equal, in the same classes and dtypes."""
    found, structure = tree.flatten(got)
    wanted, expected = tree.flatten(want)
    assert structure == expected
    for one, other in zip(found, wanted, strict=True):
        assert type(one) is type(other)
        assert getattr(one, "dtype", None) == getattr(other, "dtype", None)
        if isinstance(one, str):
            assert one == other
            continue
        np.testing.assert_allclose(one, other, rtol=1e-6 if getattr(one, "dtype", None) == np.float32 else 1e-13)


def arrays(*shapes: tuple[int, ...], dtype: Any = float, seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


# -- values and types -----------------------------------------------------------------------------


def test_one_compiled_function_serves_all_shapes() -> None:
    before = len(compiled_loss._dispatcher.entries())
    for n, d in ((5, 6), (7, 7), (40, 11)):
        w, x = arrays((d,), (n, d), seed=n)
        same(compiled_loss(w, x), loss(w, x))
    assert len(compiled_loss._dispatcher.entries()) <= before + 1
    with pytest.raises(ValueError, match="matmul"):
        compiled_loss(*arrays((6,), (9, 5)))


def test_sizes_of_one_broadcast() -> None:
    def added(x, y):
        return x + y

    compiled = jit(added)
    for one, other in (((3, 1), (1, 4)), ((3, 4), (3, 4)), ((1, 4), (3, 4)), ((0, 4), (1, 4))):
        x, y = arrays(one, other)
        same(compiled(x, y), x + y)
    with pytest.raises(ValueError, match="broadcast"):
        compiled(*arrays((3, 4), (3, 5)))


@pytest.mark.parametrize("argument", [2, 2.5, 1.5j, np.float32(2.5), np.int8(100), np.uint16(7), np.complex64(2j),
                                      np.arange(3), np.ones(3, np.float32), np.ones((2, 0))], ids=repr)
def test_numbers_and_arrays_keep_their_types(argument: Any) -> None:
    with np.errstate(over="ignore"):
        same(compiled_doubled(argument), doubled(argument))


def test_results_of_python_numbers() -> None:
    def several(n, x):
        return n + 1, x * 2, n > 2, x / n, -n

    same(jit(several)(3, 2.5), several(3, 2.5))


def test_arrays_without_axes() -> None:
    same(compiled_doubled(np.array(2.5)), doubled(np.array(2.5)))


def test_integers_beyond_64_bits_are_refused() -> None:
    with pytest.raises(OverflowError):
        compiled_doubled(2**70)


# -- how arrays lie in memory ---------------------------------------------------------------------


def layouts() -> dict[str, Any]:
    wide = np.random.default_rng(3).normal(size=(8, 6))
    frozen = wide[:4, :3].copy()
    frozen.flags.writeable = False
    unaligned = np.frombuffer(b"\0" + frozen.tobytes(), dtype=np.uint8)[1:].view(float).reshape(4, 3)
    return {"strided": wide[::2, ::2], "fortran": np.asfortranarray(wide[:4, :3]), "reversed": wide[3::-1, 2::-1],
            "transposed": wide[:3, :4].T, "repeated": np.broadcast_to(wide[0, :3], (4, 3)), "frozen": frozen,
            "unaligned": unaligned, "swapped": wide[:4, :3].astype(">f8")}


@pytest.mark.parametrize("layout", list(layouts()))
def test_layouts(layout: str) -> None:
    w, x = np.array([0.5, -1.0, 2.0]), layouts()[layout]
    same(compiled_loss(w, x), loss(w, x))
    same(compiled_loss(w[::-1], x), loss(w[::-1], x))


def test_products_of_arrays_with_strides_raise_no_warning() -> None:
    a, b = arrays((40, 30), (20, 30))
    compiled = jit(lambda a, b: a @ b.T)
    for one, other in ((a, b), (a[::2], b), (np.asfortranarray(a), b[:, ::-1])):
        same(compiled(one, other), one @ other.T)


def test_empty_arrays() -> None:
    same(compiled_loss(np.ones(3), np.ones((0, 3))), loss(np.ones(3), np.ones((0, 3))))


def test_arrays_with_a_meaning_of_their_own_are_refused() -> None:
    with pytest.raises(BadArgument, match="MaskedArray"):
        compiled_doubled(np.ma.ones(3))


# -- containers -----------------------------------------------------------------------------------


class Params(NamedTuple):
    w: Any
    b: Any


def test_containers() -> None:
    def moved(params, scales):
        return {"p": Params(params["p"].w * scales[0], params["p"].b + 1), "rest": [scales[1], None, "name", 2]}

    params = {"p": Params(np.arange(3.0), 2.0)}
    compiled = jit(moved)
    for _ in range(2):
        got = compiled(params, (2.0, np.float32(1.5)))
        same(got["p"], moved(params, (2.0, np.float32(1.5)))["p"])
        assert got["rest"] == [1.5, None, "name", 2] and type(got["rest"][0]) is np.float32


@dataclasses.dataclass
class State:
    x: Any
    scale: float = 1.0
    name: str = "plain"


def test_ways_to_pass_arguments() -> None:
    x = np.arange(6.0)
    cases: list[Any] = [
        (lambda *xs: xs[0] + xs[1], (x, x), {}),
        (lambda **kw: kw["a"] * kw["b"], (), {"a": x, "b": 2.0}),
        (lambda x, *, by=2.0, kind="up": x * by if kind == "up" else x, (x,), {"kind": "down"}),
        (lambda x, b=None: x if b is None else x + b, (x, None), {}),
        (lambda state: State(state.x * state.scale, 2.0, state.name + "!"), (State(x),), {}),
        (lambda xs: sum(xs), ([x, x],), {}),
        (lambda: np.ones(3) * 2, (), {}),
        (lambda x, flag: -x if flag else x, (x, True), {}),
        (lambda x, n: x[:n], (x, np.int64(2)), {}),
        (lambda x: ((), {"shape": x.shape}, [None, "s", (x.sum(),)]), (np.ones((5, 6)),), {}),
    ]
    for function, args, kwargs in cases:
        compiled = jit(function)
        for _ in range(2):
            same(compiled(*args, **kwargs), function(*args, **kwargs))


def test_results_that_are_arguments() -> None:
    def passed_on(x, y):
        return x, y, y

    x, y = arrays((3,), (4,))
    got = jit(passed_on)(x, y)
    assert got[0] is x and got[1] is y and got[2] is y


def test_gradients_are_fresh_memory() -> None:
    x, y = arrays((3,), (3,))
    dx, dy = jit(grad(lambda x, y: np.sum(x * y), argnums=(0, 1)))(x, y)
    assert not np.shares_memory(dx, y) and not np.shares_memory(dy, x)


# -- what is written ------------------------------------------------------------------------------


def test_writes_reach_the_caller() -> None:
    for x in (np.arange(4.0), np.arange(8.0)[::2], np.arange(4.0)[::-1]):
        got = compiled_shifted(x, 0.5)
        assert got is x and x[1] in (1.5, 2.5)


def test_writes_in_containers_reach_the_caller() -> None:
    def filled(state):
        state["x"][:] = 7.0
        state["y"] += state["x"]

    state = {"x": np.zeros(3), "y": np.ones(3)}
    assert jit(filled)(state) is None
    np.testing.assert_array_equal(state["y"], [8.0, 8.0, 8.0])


def test_writes_to_foreign_byte_orders_reach_the_caller() -> None:
    x = np.arange(4.0).astype(">f8")
    assert compiled_shifted(x, 0.5) is x
    np.testing.assert_array_equal(x, [0.0, 1.5, 2.5, 3.5])


SWAPPED = np.arange(3.0).astype(">f8")


def swapped_from_outside(x):
    return np.sum(x * SWAPPED)


def test_foreign_byte_orders_from_outside_are_refused() -> None:
    with pytest.raises(NotSupported, match="an array of dtype '>f8'") as caught:
        jit(swapped_from_outside)(np.arange(3.0))
    assert "def swapped_from_outside(x):" in str(caught.value)
    assert jit(swapped_from_outside, fallback=True)(np.arange(3.0)) == 5.0


def test_integers_of_many_bits_are_refused_where_they_are_arguments() -> None:
    def product(x, k):
        return x * k

    with pytest.raises(OverflowError, match="too large to convert to C long: k") as caught:
        jit(product)(np.arange(3.0), 2**70)
    assert "def product(x, k):" in str(caught.value)
    np.testing.assert_array_equal(jit(product, static_argnames="k")(np.arange(3.0), 2**70), np.arange(3.0) * 2**70)


def test_writes_to_frozen_or_shared_arrays_raise() -> None:
    x = np.arange(4.0)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        compiled_shifted(x, 0.5)
    y = np.arange(4.0)
    with pytest.raises(NotSupported, match="shares memory"):
        compiled_shifted(y, y[:3])


def test_transformed_functions_write_nothing() -> None:
    x = np.arange(4.0)
    jit(grad(lambda x: np.sum(shifted(x, 1.0) ** 2)))(x)
    np.testing.assert_array_equal(x, np.arange(4.0))


# -- composition ----------------------------------------------------------------------------------


def test_gradients() -> None:
    w, x = arrays((3,), (5, 3))
    both = value_and_grad(loss, argnums=(0, 1))
    same(jit(both)(w, x), both(w, x))


def test_jit_inside_of_transformations_is_looked_through() -> None:
    w, x = arrays((3,), (5, 3))
    same(grad(compiled_loss)(w, x), grad(loss)(w, x))
    same(jit(grad(jit(grad(lambda t: t**4))))(2.0), 48.0)

    def outer(w, x):
        return compiled_loss(w, x) * jvp(compiled_loss, (w, x), (w, None))[1]

    same(jit(outer)(w, x), loss(w, x) * jvp(loss, (w, x), (w, None))[1])


def test_decorators_methods_partials_closures() -> None:
    class Model:
        def __init__(self, scale: float) -> None:
            self.scale = scale

        @jit
        def scaled(self, x):
            return self.scale * np.sum(x)

    x = np.arange(3.0)
    model = Model(2.0)
    for scale in (2.0, 2.0, 4.0):
        model.scale = scale
        assert model.scaled(x) == 3 * scale and Model(3.0).scaled(x) == 9.0
    assert jit(Model(4.0).scaled)(x) == 12.0
    assert jit(partial(loss, x=np.ones((2, 3))))(x) == loss(x, np.ones((2, 3)))
    assert decorated(x) == 9.0 and decorated.__name__ == "decorated"
    assert "A loss." in compiled_loss.__doc__


def test_changes_of_globals_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(3.0)
    assert decorated(x) == decorated(x) == 9.0
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert decorated(x) == 15.0

    compiled = jit(lambda x: x @ TABLE)
    assert compiled(x) == 8.0
    TABLE[0] = 10.0
    assert compiled(x + 1) == 10.0 + 4 + 9
    TABLE[0] = 1.0


# -- static arguments -----------------------------------------------------------------------------


def test_static_arguments() -> None:
    x = np.arange(4.0)
    assert chosen(x, "sum") == 12.0 and chosen(x, kind="max") == 3.0 and chosen(x, "sum", 3.0) == 18.0
    scaled = jit(lambda x, by: x * by, static_argnums=1)
    for by in (2.0, 0.0, -0.0, 3.0):
        got = scaled(x, by)
        np.testing.assert_array_equal(np.copysign(1, got), np.copysign(1, x * by))
        np.testing.assert_array_equal(got, x * by)


def test_static_arguments_are_checked() -> None:
    with pytest.raises(BadArgument, match="names 'knd'"):
        jit(loss, static_argnames="knd")
    with pytest.raises(BadArgument, match="static_argnums contains the position 5, but there is"):
        jit(loss, static_argnums=5)
    with pytest.raises(BadArgument, match="donate names 'v'"):
        jit(loss, donate=(0, "v"))
    with pytest.raises(BadArgument, match="the static argument"):
        jit(loss, static_argnums=0)(np.ones(3), np.ones((2, 3)))


def test_integers_that_decide_are_found() -> None:
    def power(x, n):
        total = 1.0
        for _ in range(n):
            total = total * x
        return np.sum(total)

    compiled = jit(power)
    for n in (3, 0, 5, 3):
        assert compiled(np.array([1.0, 2.0]), n) == power(np.array([1.0, 2.0]), n)


# -- what cannot be compiled ----------------------------------------------------------------------


def solved(a, b):
    return np.sum(np.sort_complex(a).real * b)


def test_refusals_are_located() -> None:
    with pytest.raises(NotSupported) as raised:
        jit(solved)(np.eye(3), np.ones(3))
    assert "np.sort_complex(a)" in str(raised.value)


def test_fallback_runs_the_function_itself() -> None:
    compiled = jit(solved, fallback=True)
    assert compiled(2 * np.eye(3), np.ones(3)) == compiled(2 * np.eye(3), np.ones(3)) == 6.0
    assert "sort_complex" in str(compiled.report(np.eye(3), np.ones(3)))


def test_unknown_devices_are_refused() -> None:
    assert jit(loss, device="cpu") is not None
    with pytest.raises(BadArgument, match="'tpu' is not a kind of device"):
        jit(loss, device="tpu")
    with pytest.raises(BadArgument, match="jit expects a function, got an int"):
        jit(3)


# -- threads, copies, processes -------------------------------------------------------------------


def test_threads_compile_once() -> None:
    compiled = jit(lambda x: np.sum(x * x) + 1)
    made: list[Any] = []
    compile_it = compiled._dispatcher._generated
    compiled._dispatcher.generate = lambda *described: made.append(1) or compile_it(*described)
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(compiled(np.arange(3.0)))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [6.0] * 6 and len(made) == 1


def test_copies() -> None:
    w, x = arrays((3,), (5, 3))
    for again in (pickle.loads(pickle.dumps(compiled_loss)), copy.copy(compiled_loss), copy.deepcopy(compiled_loss)):
        assert again.function is loss
    again = pickle.loads(pickle.dumps(jit(grad(loss), static_argnames=())))
    same(again(w, x), grad(loss)(w, x))
    assert pickle.loads(pickle.dumps(decorated)) is decorated


# -- looking inside -------------------------------------------------------------------------------


def test_stages_and_source() -> None:
    w, x = arrays((3,), (5, 3))
    stages = compiled_loss.stages(w, x)
    assert list(stages)[0] == "read" and list(stages)[-1] == "loops"
    assert stages["loops"] == compiled_loss.source_for(w, x)
    assert "for i in range" in compiled_loss.source_for(w, x)
    assert "def loss(w, x):" in compiled_loss.source_for(w, x)
    assert "loss" in repr(compiled_loss) and "loss_kernel" in compiled_loss._repr_html_()
    with pytest.raises(BadArgument, match="no source yet"):
        jit(loss).source  # noqa: B018


def test_generated_source_is_a_file() -> None:
    w, x = arrays((3,), (5, 3))
    path = Path(compiled_loss._entry((w, x), {}).function.__code__.co_filename)
    assert path.read_text() == compiled_loss.source_for(w, x)


def test_debug_nans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "debug_nans", True)
    with pytest.raises(FloatingPointError, match="NaN"), np.errstate(invalid="ignore"):
        jit(grad(logarithms))(-np.ones(3))


def logarithms(x):
    y = np.log(x)
    return np.sum(y * y)


def test_dispatchers_are_called_by_compiled_code() -> None:
    import numba
    w, x = arrays((3,), (5, 3))
    gradient = jit(value_and_grad(loss)).dispatcher(w, x)

    @numba.njit
    def descended(w, x, steps):
        for _ in range(steps):
            value, dw = gradient(w, x)
            w = w - 0.1 * dw
        return w, value

    found, value = descended(w, x, 2)
    for _ in range(2):
        wanted, dw = value_and_grad(loss)(w, x)
        w = w - 0.1 * dw
    np.testing.assert_allclose(found, w, rtol=1e-12)
    assert value == pytest.approx(wanted)
    with pytest.raises(ValueError, match="w"):
        gradient(np.ones(4), x)


def test_dispatchers_for_types_of_numba() -> None:
    import numba
    doubled_twice = jit(doubled).dispatcher(numba.float32[::1])
    same(doubled_twice(np.ones(3, np.float32)), np.full(3, 3, np.float32))
    with pytest.raises(NotSupported, match="writes to its arguments"):
        compiled_shifted.dispatcher(np.ones(3), np.ones(2))
    with pytest.raises(BadArgument, match="is not the type of an array"):
        compiled_doubled.dispatcher(numba.types.unicode_type)


def test_report() -> None:
    w, x = arrays((3,), (5, 3))
    report = compiled_loss.report(w, x)
    assert report.cost.read >= 8 * 18 and report.cost.operations >= 2 * 15 and report.refusal is None
    assert "for i in range(" in report.text(width=200)
