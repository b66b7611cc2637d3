"""`nn`: layers against formulas and loops; differentiated, batched, compiled, in both precisions, at two sizes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.special
from lane_loops import check_vmap

from transformer import TransformError, check_grads, config, grad, jit, nn, tree, value_and_grad, vmap


@dataclass(frozen=True)
class Case:
    """A layer, what it computes written out in another way, and the shapes of its arguments at two sizes. A shape that
    ends in a string is that of integers below what the string says."""

    layer: Callable[..., Any]
    formula: Callable[..., Any]
    shapes: tuple[tuple[Any, ...], ...]

    def arguments(self, size: int) -> tuple[Any, ...]:
        rng = np.random.default_rng(size)
        return tuple(drawn(rng, shape) for shape in self.shapes[size])


def drawn(rng: np.random.Generator, shape: Any) -> Any:
    if isinstance(shape[-1], str):
        return rng.integers(0, int(shape[-1]), shape[:-1])
    values = rng.normal(size=shape)
    return values + 0.1 * np.sign(values)  # away from the kinks at 0


ROWS = ((3, 4),), ((5,),)
SCORES = ((3, 4), (3, "4")), ((2, 2, 5), (2, 2, "5"))


def normalized(x: Any, axis: Any, eps: float = 1e-5) -> Any:
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + eps)


def attended(q: Any, k: Any, v: Any, allowed: Any = True) -> Any:
    scores = np.where(allowed, np.einsum("...qd,...kd->...qk", q, k) / math.sqrt(q.shape[-1]), -np.inf)
    weights = np.exp(scores)
    return np.einsum("...qk,...kd->...qd", weights / weights.sum(-1, keepdims=True), v)


def by_heads(q: Any, k: Any, v: Any) -> Any:
    lower = np.tril(np.ones((q.shape[-2], q.shape[-2]), bool))
    parts = [np.split(each, 2, axis=-1) for each in (q, k, v)]
    return np.concatenate([attended(*each, lower) for each in zip(*parts)], axis=-1)


def convolved(x: Any, kernel: Any, stride: Any = (1, 1), margin: Any = ((0, 0), (0, 0)), dilation: int = 1,
              groups: int = 1) -> Any:
    """A convolution by loops over items, pixels, filters."""
    x = np.pad(x, ((0, 0), *margin, (0, 0)))
    height, width, channels, filters = kernel.shape
    rows = (x.shape[1] - (height - 1) * dilation - 1) // stride[0] + 1
    columns = (x.shape[2] - (width - 1) * dilation - 1) // stride[1] + 1
    result = np.zeros((x.shape[0], rows, columns, filters))
    for n, i, j, f in np.ndindex(*result.shape):
        first = f // (filters // groups) * channels
        window = x[n, i * stride[0]:, j * stride[1]:, first:first + channels]
        window = window[:(height - 1) * dilation + 1:dilation, :(width - 1) * dilation + 1:dilation]
        result[n, i, j, f] = np.sum(window * kernel[..., f])
    return result


def channels_first(function: Callable[..., Any]) -> Callable[..., Any]:
    def turned(x: Any, kernel: Any) -> Any:
        return np.moveaxis(function(np.moveaxis(x, 1, 3), np.transpose(kernel, (2, 3, 1, 0))), 3, 1)
    return turned


def pooled(x: Any, fold: Callable[..., Any], size: int, stride: int, margin: Any, value: float) -> Any:
    x = np.pad(x, ((0, 0), margin, margin, (0, 0)), constant_values=value)
    starts = [range(0, length - size + 1, stride) for length in x.shape[1:3]]
    rows = [[fold(x[:, i:i + size, j:j + size], axis=(1, 2)) for j in starts[1]] for i in starts[0]]
    return np.moveaxis(np.array(rows), 2, 0)


def tanh_gelu(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


IMAGES = ((2, 5, 4, 2), (3, 2, 2, 4)), ((1, 4, 6, 3), (2, 3, 3, 2))
ATTENTION = ((2, 3, 4), (2, 5, 4), (2, 5, 3)), ((3, 2), (2, 2), (2, 1))

CASES = {
    "relu": Case(nn.relu, lambda x: np.maximum(x, 0), ROWS),
    "leaky_relu": Case(nn.leaky_relu, lambda x: np.maximum(x, 0) + 0.01 * np.minimum(x, 0), ROWS),
    "elu": Case(nn.elu, lambda x: np.where(x > 0, x, np.exp(x) - 1), ROWS),
    "selu": Case(nn.selu, lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)), ROWS),
    "sigmoid": Case(nn.sigmoid, lambda x: 1 / (1 + np.exp(-x)), ROWS),
    "softplus": Case(nn.softplus, lambda x: np.log(1 + np.exp(x)), ROWS),
    "squareplus": Case(nn.squareplus, lambda x: (x + np.hypot(x, 2)) / 2, ROWS),
    "log_sigmoid": Case(nn.log_sigmoid, lambda x: -np.log(1 + np.exp(-x)), ROWS),
    "celu": Case(lambda x: nn.celu(x, 0.5), lambda x: np.where(x > 0, x, 0.5 * (np.exp(2 * x) - 1)), ROWS),
    "relu6": Case(lambda x: nn.relu6(5 * x), lambda x: np.clip(5 * x, 0, 6), ROWS),
    "hard_sigmoid": Case(nn.hard_sigmoid, lambda x: np.clip(x + 3, 0, 6) / 6, ROWS),
    "hard_silu": Case(nn.hard_swish, lambda x: x * np.clip(x + 3, 0, 6) / 6, ROWS),
    "hard_tanh": Case(nn.hard_tanh, lambda x: np.clip(x, -1, 1), ROWS),
    "soft_sign": Case(nn.soft_sign, lambda x: np.sign(x) * (1 - 1 / (1 + np.abs(x))), ROWS),
    "mish": Case(nn.mish, lambda x: x * np.tanh(np.log(1 + np.exp(x))), ROWS),
    "glu": Case(nn.glu, lambda x: np.split(x, 2, -1)[0] / (1 + np.exp(-np.split(x, 2, -1)[1])), (((3, 4),), ((6,),))),
    "silu": Case(nn.silu, lambda x: x / (1 + np.exp(-x)), ROWS),
    "gelu": Case(nn.gelu, tanh_gelu, ROWS),
    "gelu, exact": Case(lambda x: nn.gelu(x, approximate=False), lambda x: x * scipy.special.ndtr(x), ROWS),
    "softmax": Case(nn.softmax, lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True), ROWS),
    "log_softmax": Case(nn.log_softmax, lambda x: x - np.log(np.exp(x).sum(-1, keepdims=True)), ROWS),
    "logsumexp": Case(nn.logsumexp, lambda x: np.log(np.exp(x).sum()), ROWS),
    "one_hot": Case(lambda x, labels: nn.one_hot(labels, 4, x.dtype) * x, lambda x, labels: np.eye(4)[labels] * x,
                    (((3, 4), (3, "4")), ((2, 1, 4), (2, 1, "4")))),
    "cross_entropy": Case(nn.cross_entropy, lambda x, labels: -np.take_along_axis(
        np.log(scipy.special.softmax(x, -1)), labels[..., None], -1)[..., 0], SCORES),
    "cross_entropy of shares": Case(
        lambda x, y: nn.cross_entropy(x, nn.softmax(y)),
        lambda x, y: -np.sum(scipy.special.softmax(y, -1) * scipy.special.log_softmax(x, -1), -1),
        (((3, 4), (3, 4)), ((2, 2, 5), (2, 2, 5)))),
    "binary_cross_entropy": Case(nn.binary_cross_entropy, lambda x, y: np.log(1 + np.exp(x)) - x * y,
                                 (((3,), (3,)), ((2, 2), (2, 2)))),
    "layer_norm": Case(nn.layer_norm, lambda x, a, b: normalized(x, -1) * a + b,
                       (((3, 4), (4,), (4,)), ((2, 2, 3), (3,), (3,)))),
    "layer_norm, two axes": Case(lambda x: nn.layer_norm(x, axis=(-2, -1)), lambda x: normalized(x, (-2, -1)),
                                 (((3, 4),), ((2, 2, 3),))),
    "rms_norm": Case(nn.rms_norm, lambda x, a: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * a,
                     (((3, 4), (4,)), ((2, 2, 3), (3,)))),
    "batch_norm": Case(nn.batch_norm, lambda x, a, b: normalized(x, tuple(range(x.ndim - 1))) * a + b,
                       (((4, 3), (3,), (3,)), ((2, 3, 2), (2,), (2,)))),
    "batch_norm, channels first": Case(
        lambda x, a, b: nn.batch_norm(x, a, b, axis=1),
        lambda x, a, b: normalized(x, (0, 2, 3)) * a[:, None, None] + b[:, None, None],
        (((3, 2, 2, 2), (2,), (2,)), ((2, 3, 2, 1), (3,), (3,)))),
    "batch_norm in use": Case(lambda x, m, v: nn.batch_norm(x, mean=m, variance=v * v),
                              lambda x, m, v: (x - m) / np.sqrt(v * v + 1e-5),
                              (((4, 3), (3,), (3,)), ((2, 3, 2), (2,), (2,)))),
    "batch_moments": Case(lambda x: np.stack(nn.batch_moments(x)), lambda x: np.stack([x.mean(0), x.var(0)]),
                          (((4, 3),), ((2, 2),))),
    "conv2d": Case(nn.conv2d, convolved, IMAGES),
    "conv2d, same": Case(lambda x, k: nn.conv2d(x, k, padding="same", stride=(2, 1)),
                         lambda x, k: convolved(x, k, (2, 1), tuple(same(*each) for each in zip(
                             x.shape[1:3], k.shape[:2], (2, 1)))), IMAGES),
    "conv2d, channels first": Case(
        lambda x, k: nn.conv2d(x, k, padding=(1, (0, 2)), dilation=2, layout="NCHW"),
        channels_first(lambda x, k: convolved(x, k, margin=((1, 1), (0, 2)), dilation=2)),
        (((2, 2, 5, 4), (3, 2, 2, 2)), ((1, 1, 4, 5), (2, 1, 3, 2)))),
    "conv2d, groups": Case(lambda x, k: nn.conv2d(x, k, groups=2), lambda x, k: convolved(x, k, groups=2),
                           (((2, 4, 3, 4), (2, 2, 2, 6)), ((1, 3, 3, 2), (3, 2, 1, 4)))),
    "max_pool": Case(lambda x: nn.max_pool(x, 2), lambda x: pooled(x, np.max, 2, 2, (0, 0), -np.inf),
                     (((2, 4, 6, 2),), ((1, 5, 3, 1),))),
    "max_pool, overlapping": Case(lambda x: nn.max_pool(x, 3, stride=2, padding=1),
                                  lambda x: pooled(x, np.max, 3, 2, (1, 1), -np.inf),
                                  (((2, 4, 6, 2),), ((1, 5, 3, 1),))),
    "avg_pool": Case(lambda x: nn.avg_pool(x, 3, stride=1, padding="same"),
                     lambda x: pooled(x, np.mean, 3, 1, (1, 1), 0), (((2, 4, 6, 2),), ((1, 5, 3, 1),))),
    "attention": Case(nn.attention, attended, ATTENTION),
    "attention, with a mask": Case(
        lambda q, k, v, m: nn.attention(q, k, v, m > 0, scale=None),
        lambda q, k, v, m: attended(q, k, v, m > 0),
        (((2, 3, 4), (2, 2, 4), (2, 2, 3), (3, 2, "2")), ((3, 2), (2, 2), (2, 1), (3, 2, "2")))),
    "multi_head_attention": Case(lambda q, k, v: nn.multi_head_attention(q, k, v, 2, causal=True), by_heads,
                                 (((2, 3, 4), (2, 3, 4), (2, 3, 6)), ((2, 2), (2, 2), (2, 2)))),
    "embedding": Case(nn.embedding, lambda table, k: table[k], (((4, 3), (2, 2, "4")), ((5, 2), (3, "5")))),
}
EACH = pytest.mark.parametrize("name", CASES)


def same(length: int, span: int, stride: int) -> tuple[int, int]:
    total = max((math.ceil(length / stride) - 1) * stride + span - length, 0)
    return total // 2, total - total // 2


def drawn_case(name: str, size: int) -> tuple[Case, tuple[Any, ...]]:
    case = CASES[name]
    args = case.arguments(size)
    if name == "attention, with a mask":  # everybody may look somewhere
        args = (*args[:3], np.concatenate([np.ones_like(args[3][:, :1]), args[3][:, 1:]], axis=1))
    return case, args


def float32(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(arg.astype(np.float32) if arg.dtype.kind == "f" else arg for arg in args)


@EACH
@pytest.mark.parametrize("size", [0, 1])
def test_value_and_derivatives(name: str, size: int) -> None:
    case, args = drawn_case(name, size)
    np.testing.assert_allclose(case.layer(*args), case.formula(*args), rtol=1e-9, atol=1e-12)
    single = case.layer(*float32(args))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, case.formula(*args), rtol=1e-3, atol=1e-4)
    check_grads(case.layer, args, order=1)


@EACH
def test_batches(name: str) -> None:
    case, args = drawn_case(name, 0)
    check_vmap(case.layer, *(np.stack([arg, arg[::-1]]) for arg in args))


FAMILIES = {
    "of elements": ["relu", "relu6", "celu", "silu", "mish", "glu", "gelu", "softmax", "log_softmax"],
    "of scores": ["cross_entropy", "binary_cross_entropy", "layer_norm", "batch_norm, channels first"],
    "of images": ["conv2d, same", "max_pool, overlapping"],
    "of sequences": ["multi_head_attention", "embedding"],
}


@pytest.fixture
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops in one function are compiled faster than functions for threads."""
    monkeypatch.setattr(config, "threads", 1)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("family", FAMILIES)
def test_compiled(family: str) -> None:
    """Several layers at once, in float32."""
    layers = [CASES[name].layer for name in FAMILIES[family]]
    all_args = [float32(drawn_case(name, 0)[1]) for name in FAMILIES[family]]

    @jit
    def compiled(all_args: Any) -> Any:
        return [layer(*args) for layer, args in zip(layers, all_args)]

    for found, name, args in zip(compiled(all_args), FAMILIES[family], all_args):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, CASES[name].layer(*args), rtol=1e-4, atol=1e-5, err_msg=name)


def network_loss(params: Any, images: Any, labels: Any) -> Any:
    x = nn.max_pool(nn.relu(nn.conv2d(images, params["kernel"], padding="same") + params["bias"]), 2)
    return np.mean(nn.cross_entropy(x.reshape(x.shape[0], -1) @ params["w"], labels))


def network() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    params = {"kernel": rng.normal(size=(3, 3, 1, 2)), "bias": rng.normal(size=2), "w": rng.normal(size=(8, 3))}
    return tree.map(np.float32, params), np.float32(rng.normal(size=(4, 4, 4, 1))), rng.integers(0, 3, 4)


@pytest.mark.usefixtures("one_thread")
def test_gradient_of_a_network_compiled() -> None:
    args = network()
    found, expected = jit(grad(network_loss))(*args), grad(network_loss)(*args)
    for name in expected:
        assert found[name].dtype == np.float32
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-3, atol=1e-5)


def test_source_is_what_one_would_write() -> None:
    args = network()
    source = value_and_grad(network_loss).source_for(*args)
    assert " = x[:, i:i + height, j:j + width]" in source and "np.tensordot(" in source
    assert ", labels] -= " in source
    assert "transformer" not in source and len(source.splitlines()) < 100


# -- edges --------------------------------------------------------------------------------------


def test_large_scores() -> None:
    x = np.array([[1e4, 0.0, -1e4]])
    with np.errstate(over="raise"):
        np.testing.assert_array_equal(nn.softmax(x), [[1, 0, 0]])
        assert nn.cross_entropy(x, np.array([2]))[0] == 2e4
        np.testing.assert_array_equal(nn.softplus(x), [[1e4, np.log(2), 0]])
    np.testing.assert_array_equal(grad(lambda x: nn.cross_entropy(x, np.array([2]))[0])(x), [[1, 0, -1]])


def test_derivative_of_relu_at_zero() -> None:
    np.testing.assert_array_equal(grad(lambda x: np.sum(nn.relu(x)))(np.array([-1.0, 0.0, 2.0])), [0, 0, 1])


def test_place_that_may_look_nowhere_takes_the_mean() -> None:
    q, v = np.ones((2, 3)), np.array([[1.0], [3.0]])
    mask = np.array([[True, False], [False, False]])
    np.testing.assert_array_equal(nn.attention(q, q, v, mask), [[1.0], [2.0]])


def test_layouts_agree() -> None:
    x, kernel = np.random.default_rng(0).normal(size=(2, 5, 4, 2)), np.random.default_rng(1).normal(size=(2, 3, 2, 4))
    first, second = np.moveaxis(x, 3, 1), np.transpose(kernel, (3, 2, 0, 1))
    for padding, stride in itertools.product(("same", "valid", 1), (1, 2)):
        one = nn.conv2d(x, kernel, stride, padding)
        other = nn.conv2d(first, second, stride, padding, layout="NCHW")
        np.testing.assert_allclose(np.moveaxis(other, 1, 3), one, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(np.moveaxis(nn.max_pool(first, 2, layout="NCHW"), 1, 3), nn.max_pool(x, 2))


X, KERNEL = np.zeros((2, 4, 4, 4)), np.zeros((3, 3, 2, 3))
WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "rank of x": (lambda: nn.conv2d(X[0], KERNEL), ValueError, "expected the 4 axes NHWC"),
    "rank of the kernel": (lambda: nn.conv2d(X, KERNEL[0]), ValueError, "conv2d: the kernel has shape"),
    "channels": (lambda: nn.conv2d(X, KERNEL), ValueError, "for 2 channels in each of 1 groups"),
    "groups": (lambda: nn.conv2d(X, KERNEL, groups=2), ValueError, "3 filters cannot be divided into 2 groups"),
    "padding": (lambda: nn.max_pool(X, 2, padding="full"), ValueError, "padding is 'full', expected 'same'"),
    "layout": (lambda: nn.max_pool(X, 2, layout="HWCN"), ValueError, "layout is 'HWCN'"),
    "window": (lambda: nn.avg_pool(X, 5), ValueError, "over 5 x 5 pixels does not fit into an image of 4 x 4"),
    "labels": (lambda: nn.cross_entropy(X[0, 0], np.zeros(4)), TypeError, "cross_entropy: labels are float64 of shape"),
    "number of labels": (lambda: nn.cross_entropy(X[0, 0], np.zeros(3, int)), ValueError,
                         r"\(3,\) for logits .*\(4, 4\)"),
    "one hot": (lambda: nn.one_hot(np.zeros(3), 2), TypeError, "one_hot: labels are float64 of shape"),
    "indices": (lambda: nn.embedding(X[0, 0], np.zeros(3)), TypeError, "indices are float64"),
    "heads": (lambda: nn.multi_head_attention(X, X, X, 3), ValueError, "4 features cannot be divided into 3 heads"),
    "axes": (lambda: nn.attention(X[0, 0, 0], X, X), ValueError, "and value must have at least 2 axes"),
    "moments": (lambda: nn.batch_norm(X, mean=X[0, 0, 0]), TypeError, "both mean and variance"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name: str) -> None:
    """Called as it is, and where it is read: the same error, which tells the place of the call."""
    call, kind, text = WRONG[name]
    with pytest.raises(kind, match=text):
        call()
    with pytest.raises(kind, match=text) as caught:
        vmap(lambda _: call())(np.zeros(2))
    assert isinstance(caught.value, TransformError)
    assert caught.value.origin is not None and caught.value.origin.file == __file__


@pytest.mark.parametrize("function", [nn.elu, nn.celu])
def test_slope_at_zero(function: Any) -> None:
    np.testing.assert_array_equal(grad(lambda x: np.sum(function(x)))(np.zeros(2)), 1)


@pytest.mark.parametrize("function", [nn.sigmoid, nn.silu, nn.glu, lambda x: nn.gelu(x, approximate=False)])
def test_sixteen_bits_stay_so(function: Any) -> None:
    """SciPy's functions give float64 of them."""
    x = np.array([-1.0, 0.5, 2.0, 3.0])
    narrow = x.astype(np.float16)
    for found in (function(narrow), vmap(function)(narrow[None])[0]):
        assert found.dtype == np.float16
        np.testing.assert_allclose(found, function(x), atol=3e-3)
    assert grad(lambda x: np.sum(function(x)))(narrow).dtype == np.float16
