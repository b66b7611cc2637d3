"""Programs as they are written for JAX: arrays on devices from outside, `x.at`, segments, names of `tree_util` and
`jax.scipy`."""

import json
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats
from jax_programs import FILE, PROGRAMS

import transformer
import transformer.numpy as tnp
from transformer import Array, check_grads, device_put, grad, jit, lax, nn, ops, tree, tree_util, vjp, vmap
from transformer.segments import segment_max, segment_min, segment_prod, segment_sum

VALUES = np.array([5.0, 1.0, 2.0, 7.0, 3.0])
NUMBERS = np.array([0, 0, 2, -1, 7])
MASK = device_put(np.array([True, False, True]))
OUTSIDE = {"scale": device_put(np.array([1.0, 2.0, 3.0]))}


def scaled(x: Any) -> Any:
    return np.sum(np.where(MASK, x * OUTSIDE["scale"], 0.0) ** 2)


@pytest.mark.parametrize("transformed", (lambda f: f, jit))
def test_arrays_on_devices_may_come_from_outside(transformed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.array([0.5, -1.0, 2.0])
    function = transformed(grad(scaled))
    for scale in (OUTSIDE["scale"], device_put(np.array([2.0, 2.0, 1.0])), np.array([1.0, 1.0, 3.0])):
        monkeypatch.setitem(OUTSIDE, "scale", scale)                      # read at each call, and of NumPy's at last
        np.testing.assert_allclose(function(x), [1, 0, 1] * (2 * x * np.asarray(scale) ** 2))


def test_sources_for_arrays_on_devices(tmp_path: Any) -> None:
    def loss(x: Any) -> Any:
        return np.sum(np.sin(x[1:]) ** 2)

    x = np.arange(4.0)
    for function in (grad(loss), jit(grad(loss))):
        assert function.source_for(device_put(x)) == function.source_for(x)
        assert function.stages(device_put(x)) == function.stages(x)
    assert str(jit(loss).report(device_put(x))) == str(jit(loss).report(x))
    grad(loss).save(tmp_path / "loss_grad.py", device_put(x))
    assert "def loss_grad" in (tmp_path / "loss_grad.py").read_text()


def test_arrays_on_devices_in_partials_and_cells() -> None:
    def net(weights: Any, x: Any) -> Any:
        return np.tanh(x * weights["w"]).sum()

    weights = {"w": device_put(np.array([0.1, 0.5]))}
    lanes = vmap(partial(net, weights))(np.arange(3.0))
    np.testing.assert_allclose(lanes, [np.tanh(x * np.array([0.1, 0.5])).sum() for x in range(3)])
    check_grads(lambda x: net(weights, x), (0.7,))


@pytest.mark.parametrize("transformed", (lambda f: f, jit))
def test_parts_of_arrays_that_a_program_makes(transformed: Any) -> None:
    def spread(x: Any, places: Any) -> Any:
        y = tnp.zeros(6).at[places].add(x)
        return y.at[1:3].multiply(2.0).at[-1].set(7.0)

    found = transformed(spread)(device_put(VALUES[:3]), device_put(np.array([0, 1, 1])))
    np.testing.assert_array_equal(found, [5.0, 6.0, 0.0, 0.0, 0.0, 7.0])
    assert type(found) is Array


@pytest.mark.parametrize("dtype", (np.float64, np.float32, np.int64))
@pytest.mark.parametrize("function, combined, empty", (
    (segment_sum, np.sum, 0), (segment_prod, np.prod, 1), (segment_max, np.max, None), (segment_min, np.min, None)))
def test_segments(function: Any, combined: Any, empty: Any, dtype: Any) -> None:
    data = np.stack([VALUES, VALUES - 4], axis=1).astype(dtype)
    found = function(data, NUMBERS, 3)
    assert found.dtype == dtype and found.shape == (3, 2)
    np.testing.assert_array_equal(found[0], combined(data[:2], axis=0))
    np.testing.assert_array_equal(found[2], data[2])                       # and -1 and 7 are left out
    if empty is not None:
        assert np.all(found[1] == empty)
    np.testing.assert_array_equal(jit(function, static_argnums=2)(data, NUMBERS, 3), found)
    assert type(function(device_put(data), NUMBERS, 3)) is Array


def test_segments_have_derivatives_and_lanes() -> None:
    check_grads(lambda x: segment_sum(x, NUMBERS, 3) ** 2, (VALUES,))
    check_grads(lambda x: segment_prod(x, NUMBERS, 3), (VALUES,))
    lanes = vmap(lambda x: ops.segment_max(x, NUMBERS, 3))(np.stack([VALUES, -VALUES]))
    np.testing.assert_array_equal(lanes, [segment_max(VALUES, NUMBERS, 3), segment_max(-VALUES, NUMBERS, 3)])
    assert segment_sum(VALUES, np.array([0, 1, 1, 1, 0])).shape == (2,)


def test_pullbacks_of_programs_that_make_arrays_on_devices() -> None:
    def both(x: Any, y: Any) -> Any:
        return tnp.sin(x) @ y, {"twice": x * 2}

    _, pull = vjp(both, tnp.arange(3.0), tnp.ones((3, 2)))
    dx, dy = pull((tnp.ones(2), {"twice": tnp.ones(3)}))
    np.testing.assert_allclose(dx, 2 * np.cos(np.arange(3.0)) + 2)
    np.testing.assert_allclose(dy, np.sin(np.arange(3.0))[:, None] * np.ones((3, 2)))


@tree_util.register_pytree_node_class
class Layer:
    def __init__(self, weights: Any, offset: Any) -> None:
        self.weights, self.offset = weights, offset

    def __call__(self, x: Any) -> Any:
        return x @ self.weights + self.offset

    def tree_flatten(self) -> Any:
        return (self.offset, self.weights), None

    @classmethod
    def tree_unflatten(cls, static: Any, parts: Any) -> Any:
        offset, weights = parts
        return cls(weights, offset)


@pytest.mark.parametrize("transformed", (lambda f: f, jit))
def test_classes_that_are_registered_without_names_of_their_children(transformed: Any) -> None:
    def loss(layer: Any, x: Any) -> Any:
        return (layer(x) ** 2).sum()

    slopes = transformed(grad(loss))(Layer(np.ones((2, 3)), np.zeros(3)), np.ones((4, 2)))
    assert type(slopes) is Layer and slopes.weights.shape == (2, 3)
    np.testing.assert_allclose(slopes.offset, [16.0, 16.0, 16.0])


def test_classes_with_any_number_of_children() -> None:
    class Chain:
        def __init__(self, *parts: Any) -> None:
            self.parts = parts

    tree_util.register_pytree_node(Chain, lambda chain: (chain.parts, None), lambda static, parts: Chain(*parts))
    assert tree.structure(Chain(1.0)).paths() == [".parts[0]"]
    assert tree.map(lambda p: 2 * p, Chain(1.0, 2.0)).parts == (2.0, 4.0)


class Pair:
    __slots__ = ("items", "left", "turned")

    def __init__(self, left: Any, right: Any, turned: bool = False) -> None:
        self.left, self.items, self.turned = left, [left, right], turned


tree_util.register_pytree_node(
    Pair,
    lambda pair: (pair.items[::-1] if pair.turned else pair.items, pair.turned),
    lambda turned, parts: Pair(*(parts[::-1] if turned else parts), turned),
)


def test_where_a_class_has_its_children_depends_on_what_is_static() -> None:
    def loss(pair: Any) -> Any:
        return pair.items[0] ** 2 + 5.0 * pair.items[1]

    for turned in (False, True):
        slopes = jit(grad(loss))(Pair(2.0, 3.0, turned))
        assert (slopes.items, jit(loss)(Pair(2.0, 3.0, turned))) == ([4.0, 5.0], 19.0)
    moved = Pair(2.0, 3.0)
    moved.left = 7.0
    with pytest.raises(ValueError, match="does not store its children where other"):
        jit(loss)(moved)


def test_a_class_that_converts_its_children_is_told_how_not_to() -> None:
    @tree_util.register_pytree_node_class
    class Doubled:
        def __init__(self, x: Any) -> None:
            self.x = 2 * x

        def tree_flatten(self) -> Any:
            return (self.x / 2,), None

        @classmethod
        def tree_unflatten(cls, static: Any, parts: Any) -> Any:
            return cls(*parts)

    with pytest.raises(TypeError) as raised:
        grad(lambda node: node.x ** 2)(Doubled(1.0))
    assert "set the attributes of object.__new__" in raised.value.__notes__[0]


def test_dataclasses_with_static_fields() -> None:
    class Power:
        def __init__(self, factor: Any, exponent: int) -> None:
            self.factor, self.exponent = factor, exponent

    tree_util.register_dataclass(Power, data_fields=["factor"], meta_fields=["exponent"])
    slope = grad(lambda p, x: p.factor * x ** p.exponent)(Power(2.0, 3), 2.0)
    assert (slope.factor, slope.exponent) == (8.0, 3)


def test_trees_are_turned_inside_out_and_asked() -> None:
    rows = [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
    outer, inner = tree.structure([0, 0]), tree.structure({"a": 0, "b": 0})
    assert tree_util.tree_transpose(outer, inner, rows) == {"a": [1, 3], "b": [2, 4]}
    assert outer.num_leaves == 2
    with pytest.raises(ValueError, match="4 leaves"):
        tree.transpose(outer, tree.structure([0, 0, 0]), rows)
    with pytest.raises(ValueError, match="is not"):
        tree.transpose(outer, tree.structure([0, 0]), rows)
    assert tree.all([True, {"a": 1.0}]) and not tree.all([True, 0.0])
    assert jit(lambda x: tree.all([x[0] > 0, x[1] > 0]))(np.array([1.0, -1.0])) is False


def test_functions_of_scipy_take_arrays_on_devices() -> None:
    x = device_put(np.array([0.3, 1.0, -0.4]))
    special, stats = transformer.scipy.special, transformer.scipy.stats
    for found, expected in ((special.logsumexp(x), scipy.special.logsumexp(np.asarray(x))),
                            (stats.norm.logpdf(x, 0.5), scipy.stats.norm.logpdf(np.asarray(x), 0.5))):
        assert type(found) is Array
        np.testing.assert_array_equal(found, expected)
    check_grads(lambda x: special.erf(x) * stats.norm.pdf(x), (np.asarray(x),))
    with pytest.raises(AttributeError, match="no attribute 'logsumexpo'"):
        special.logsumexpo(x)


@pytest.mark.parametrize("dtype", (np.float64, np.float32))
def test_more_functions_of_networks(dtype: Any) -> None:
    x = np.array([[0.3, 1.0, 2.5], [4.0, 0.01, 9.0]], dtype)
    tight = {"rtol": 1e-5 if dtype is np.float32 else 1e-12}
    np.testing.assert_allclose(nn.logmeanexp(x, axis=1), np.log(np.mean(np.exp(x), axis=1)), **tight)
    np.testing.assert_allclose(nn.log1mexp(x.astype(np.float64)), np.log(1 - np.exp(-x.astype(np.float64))), rtol=1e-9)
    scaled = nn.standardize(x)
    np.testing.assert_allclose(scaled.mean(axis=1), 0, atol=1e-6)
    np.testing.assert_allclose(scaled.std(axis=1), 1, atol=1e-3)
    assert nn.tanh(x).dtype == scaled.dtype == dtype and nn.identity(x) is x
    check_grads(lambda x: nn.log1mexp(x) + nn.logmeanexp(x) * nn.standardize(x), (x.astype(np.float64),))


@pytest.mark.parametrize("heads", (1, 2, 4))
def test_attention_with_the_axes_of_jax(heads: int) -> None:
    rng = np.random.default_rng(0)
    query, key, value = (rng.normal(size=(2, 5, count, 3)) for count in (4, heads, heads))
    bias = rng.normal(size=(5, 5))
    found = nn.dot_product_attention(query, key, value, bias, is_causal=True)
    assert found.shape == (2, 5, 4, 3)
    own = slice(2 * heads // 4, None) if heads == 2 else slice(-1, None)
    k, v = (np.swapaxes(x[:, :, own][:, :, -1:], 1, 2)[:, 0] for x in (key, value))
    scores = query[:, :, 3] @ np.swapaxes(k, 1, 2) / np.sqrt(3) + bias
    shares = scipy.special.softmax(np.where(np.tri(5, dtype=bool), scores, -np.inf), axis=-1)
    np.testing.assert_allclose(found[:, :, 3], shares @ v)


def test_reductions_by_any_function() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_array_equal(lax.reduce(x, 0.0, lax.add, (0, 2)), x.sum(axis=(0, 2)))
    np.testing.assert_array_equal(lax.reduce(x, -np.inf, lax.max, (1,)), x.max(axis=1))
    np.testing.assert_array_equal(lax.reduce_xor(x.astype(int), (0,)), np.bitwise_xor(*x.astype(int)))
    check_grads(lambda x: lax.reduce(x, 1.0, lambda a, b: a * 0.1 + b, (-1,)), (x,))
    scanned = lax.associative_scan(lax.add, device_put(np.arange(4.0)))
    assert type(scanned) is Array
    np.testing.assert_array_equal(scanned, [0.0, 1.0, 3.0, 6.0])


def test_scans_of_several_arrays_assume_that_they_have_one_length() -> None:
    def total(a: Any, b: Any) -> Any:
        return lax.scan(lambda carry, x: (carry + x[0] * x[1], carry), 0.0, (a, b))[0]

    slope = grad(total)
    assert "raise" not in slope.source_for(np.ones(3), np.ones(3)).split("def total_grad")[1]
    for function in (slope, jit(slope), total):
        with pytest.raises(ValueError, match="arrays of equal length, got 3 and 4"):
            function(np.ones(3), np.ones(4))
        function(np.ones(3), np.ones(3))


JAX: dict[str, Any] = json.loads(FILE.read_text())


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_of_jax(name: str) -> None:
    found = tree.leaves(PROGRAMS[name]())
    assert len(found) == len(JAX[name])
    for one, other in zip(found, JAX[name]):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-11)
