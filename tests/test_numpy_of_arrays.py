"""`transformer.numpy`: NumPy's functions over arrays on devices, by themselves and in programs that are read."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from test_arrays_on_devices import same

import transformer.numpy as tnp
from transformer import Array, BadArgument, config, device_put, devices, grad, jit, pmap, vmap
from transformer.numpy import tanh
from transformer.numpy.names import LEFT_OUT, MAKING, SEQUENCES

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4)) + 3


@pytest.fixture(autouse=True)
def several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "cpu_devices", 3)


@pytest.fixture
def narrow() -> Iterator[None]:
    config.enable_x64 = False
    yield
    config.enable_x64 = True


CALLS = [
    lambda m, x, y: m.sin(x) + m.pi, lambda m, x, y: m.sum(x, axis=(0, 1)), lambda m, x, y: m.concatenate([x, y], 1),
    lambda m, x, y: m.stack((x, y)), lambda m, x, y: m.add.reduce(x, 1), lambda m, x, y: m.multiply.outer(x[0], y[0]),
    lambda m, x, y: m.tile(x, (2, 1)), lambda m, x, y: m.split(x, [1, 3], axis=1), lambda m, x, y: m.where(x > 0, x, y),
    lambda m, x, y: m.einsum("ij,kj->ik", x, y), lambda m, x, y: m.linalg.svd(x), lambda m, x, y: m.fft.rfft(x),
    lambda m, x, y: m.linalg.norm(x, axis=(0, 1)), lambda m, x, y: m.transpose(x, (1, 0)),
    lambda m, x, y: m.array([1, 2.5]), lambda m, x, y: m.asarray(X), lambda m, x, y: m.zeros((2, 3), m.float32),
    lambda m, x, y: m.full((2,), 7), lambda m, x, y: m.eye(3), lambda m, x, y: m.identity(2),
    lambda m, x, y: m.arange(3),
    lambda m, x, y: m.linspace(0, 1, 5), lambda m, x, y: m.logspace(0, 2, 3), lambda m, x, y: m.geomspace(1, 8, 4),
    lambda m, x, y: m.zeros_like(x), lambda m, x, y: m.tri(3), lambda m, x, y: m.meshgrid(x[0], y[:, 0]),
    lambda m, x, y: m.r_[x[0], 1.0], lambda m, x, y: m.mgrid[0:2, 0:3], lambda m, x, y: m.unravel_index(5, (2, 3)),
    lambda m, x, y: m.select([x > 0, y > 3], [x, y], 0.0), lambda m, x, y: m.block([[x, y], [y, x]]),
    lambda m, x, y: m.fft.fftfreq(4), lambda m, x, y: m.ix_([0, 2], [1]), lambda m, x, y: m.lexsort((x[0], y[0])),
    lambda m, x, y: m.result_type(x, m.float32), lambda m, x, y: m.shape(x), lambda m, x, y: m.histogram(x, bins=3),
    lambda m, x, y: m.fromfunction(lambda i, j: i + j, (2, 2)), lambda m, x, y: m.pad(x, ((1, 1), (0, 0))),
    lambda m, x, y: m.apply_along_axis(lambda row: m.sum(row), 0, x), lambda m, x, y: m.finfo(x.dtype).eps.item(),
    lambda m, x, y: m.vectorize(lambda a, b: a * b)(x, y), lambda m, x, y: x[m.newaxis, ..., m.s_[::2]],
]


@pytest.mark.parametrize("call", CALLS)
def test_functions_are_numpys(call: Any) -> None:
    same(call(tnp, device_put(X, "cpu:1"), device_put(Y, "cpu:1")), call(np, X, Y))


def test_every_function_is_there_or_left_out_for_a_reason() -> None:
    for there, module in ((tnp, np), (tnp.linalg, np.linalg), (tnp.fft, np.fft)):
        for name in dir(module):
            if name.startswith("_") or isinstance(getattr(module, name), type | type(np)) or \
                    not callable(getattr(module, name)):
                continue
            if name in LEFT_OUT:
                with pytest.raises(AttributeError, match="has no attribute") as caught:
                    getattr(there, name)
                assert LEFT_OUT[name] in str(caught.value)
            else:
                assert name in dir(there) and pickle.loads(pickle.dumps(getattr(there, name))) is getattr(there, name)
    assert not [name for name in (*MAKING, *SEQUENCES) if not hasattr(np, name) and not hasattr(np.fft, name)]


def test_devices() -> None:
    one, two = devices()[1:3]
    for made in (tnp.zeros(3, device="cpu:1"), tnp.arange(3, device=one), tnp.array([1, 2], device=one),
                 tnp.zeros_like(device_put(X, "cpu:2"), device="cpu:1"), tnp.sin(device_put(X, one)),
                 tnp.fft.rfftfreq(4, device="cpu:1"), tnp.r_[device_put(X[0], one), 1.0]):
        assert made.device is one
    assert tnp.sin(X).device is devices()[0]
    with pytest.raises(ValueError, match=r"Received incompatible devices for add.*cpu:1.*cpu:2"):
        tnp.add(device_put(X, one), device_put(X, two))
    with pytest.raises(TypeError, match="device"):
        tnp.sum(device_put(X), device="cpu:1")


@pytest.mark.parametrize("call", [
    lambda x: tnp.sum([1, 2]), lambda x: tnp.add((1, 2), x), lambda x: tnp.where([True], x, x),
    lambda x: tnp.dot(x, [1]),
    lambda x: tnp.concatenate([x, [1, 2]]), lambda x: tnp.add.reduce([1, 2]), lambda x: tnp.linalg.norm([1.0]),
    lambda x: tnp.fft.fft([1.0]), lambda x: tnp.zeros_like([1, 2]), lambda x: tnp.interp(0.5, xp=[0, 1], fp=x),
])
def test_lists_and_tuples_are_no_arrays(call: Any) -> None:
    for run in (call, jit(call), vmap(call)):
        with pytest.raises(TypeError, match="accepts arrays and numbers, not a (list|tuple): wrap"):
            run(tnp.ones((2, 2)))


def test_nothing_is_written_to() -> None:
    with pytest.raises(TypeError, match="an Array cannot be modified by sin; use"):
        tnp.sin(X, out=np.zeros((3, 4)))
    x = tnp.asarray(source := X.copy())
    source[:] = 0
    same(x, X)


def test_what_is_no_number() -> None:
    for wrong in (lambda: tnp.array(["text"]), lambda: tnp.array([None]), lambda: tnp.zeros(2, np.longdouble),
                  lambda: tnp.ones(2) * np.longdouble(1), lambda: device_put(np.ones(2, np.longdouble))):
        with pytest.raises(BadArgument, match="cannot have dtype|expects numeric"):
            wrong()


def loss(w, x):
    x = tnp.asarray(x) if isinstance(x, tnp.ndarray) else x
    scale = tnp.linspace(0.5, 1.0, 4, dtype=x.dtype) * tnp.array([1.0, 2.0, 3.0, 4.0])
    return tnp.sum(tanh(x @ (w * scale)) ** 2) / tnp.pi + tnp.linalg.norm(w) + tnp.add.reduce(tnp.r_[w, 1.0])


def loss_of_numpy(w, x):
    scale = np.linspace(0.5, 1.0, 4) * np.array([1.0, 2.0, 3.0, 4.0])
    return np.sum(np.tanh(x @ (w * scale)) ** 2) / np.pi + np.linalg.norm(w) + np.add.reduce(np.r_[w, 1.0])


MADE = [lambda f: f, grad, jit, lambda f: jit(grad(f)), lambda f: vmap(f, in_axes=(None, 0)),
        lambda f: jit(vmap(grad(f), in_axes=(None, 0)))]


@pytest.mark.parametrize("make", MADE)
def test_in_programs_they_are_numpys(make: Any) -> None:
    w = np.ones(4)
    run, wanted = make(loss), make(loss_of_numpy)(w, X)
    found = run(tnp.array(w), tnp.array(X))
    assert type(found) is Array
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-12)
    if run is not loss:
        assert type(run(w, X)) is type(wanted)
        assert "transformer" not in getattr(run, "source", "").partition("def ")[2]


def test_pmap_and_functions_themselves() -> None:
    np.testing.assert_allclose(np.asarray(pmap(lambda x: tnp.sin(x) * 2)(tnp.array(X))), np.sin(X) * 2)
    same(grad(tnp.sum)(tnp.array(X)), np.ones((3, 4)))
    np.testing.assert_allclose(np.asarray(jit(tnp.sin)(tnp.array(X))), np.sin(X), rtol=1e-15)


def test_what_runs_as_numpy_gives_what_it_gets() -> None:
    def digits(x):
        y = tnp.sin(x) * 2
        return tnp.spacing(y), y
    run = jit(digits, fallback=True)
    for given, kind in ((np.ones(2), np.ndarray), (tnp.ones(2), Array)):
        assert [type(each) for each in run(given)] == [kind, kind]


def test_devices_in_programs() -> None:
    with pytest.raises(BadArgument, match="zeros with a device inside a transformed function"):
        jit(lambda x: x + tnp.zeros(3, device="cpu:1"))(tnp.ones(3))


def test_out_of_bounds() -> None:
    x = tnp.arange(3.0)
    for read in (lambda x: x[5], lambda x: x.at[5].get(), lambda x: tnp.take(x, 5), lambda x: x[tnp.array([0, 5])]):
        with pytest.raises(IndexError, match="5 is out of bounds"):
            read(x)
    with pytest.raises(IndexError, match="5 is out of bounds"):
        jit(lambda x, k: x[k])(x, 5)
    same(x.at[5].get(mode="clip"), np.float64(2))
    same(x.at[tnp.array([0, 5])].get(mode="fill"), np.array([0, np.nan]))
    same(x.at[5].get(mode="fill", fill_value=-1.0), np.float64(-1))
    same(x.at[5].set(7.0, mode="drop"), np.arange(3.0))


# -- 32 bits -----------------------------------------------------------------------------------------


def halved(x):
    return x * tnp.linspace(0, 1, 3) + tnp.mean(tnp.arange(3))


def test_narrow_is_what_is_made(narrow: None) -> None:
    made = [tnp.zeros(2), tnp.arange(2), tnp.array(1j), tnp.arange(2, dtype="uint32"), device_put(2.0), tnp.array(X),
            tnp.arange(2) / 2, tnp.sum(tnp.arange(3)), tnp.linspace(0, 1, 3), tnp.zeros(2, float), tnp.argmax(X)]
    assert [x.dtype.name for x in made] == ["float32", "int32", "complex64", "uint32", "float32", "float32", "float32",
                                            "int32", "float32", "float32", "int32"]
    for call in (lambda: tnp.zeros(2, np.float64), lambda: tnp.zeros(2, dtype="int64"),
                 lambda: tnp.zeros(2).astype(np.float64)):
        with pytest.warns(UserWarning, match="64 that is asked for is not available"):
            assert call().dtype.itemsize == 4
    for large in (lambda: tnp.array(2**40), lambda: tnp.array([2**31]), lambda: tnp.prod(tnp.array([2**20, 2**20]))):
        with pytest.raises(OverflowError, match="an integer does not fit into int32, which"):
            large()


def test_narrow_programs(narrow: None) -> None:
    for run in (halved, jit(halved), vmap(halved)):
        found = run(tnp.ones((3, 3) if run is not halved else 3))
        assert type(found) is Array and found.dtype == np.float32
    run = jit(halved)
    assert run(np.ones(3, np.float32)).dtype == np.float32
    config.enable_x64 = True
    assert run(np.ones(3, np.float32)).dtype == np.float64                # what is made has 64 bits again
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tnp.zeros(2, np.float64).dtype == np.float64
