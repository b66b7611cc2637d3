"""Files of their own: they stand alone, and refuse what they were not made for."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from importing import imported

from transformer import NotSupported, grad, jit, jvp, tree, value_and_grad
from transformer.api import Transformed, pullback, pushforward
from transformer.core.sizes import Dim, Size
from transformer.core.types import ArrayType
from transformer.run.generating import Label, standalone_for_call, standalone_for_types

N, M = Size.of(Dim("n")), Size.of(Dim("m"))
TABLE = np.array([1.0, 2.0, 3.0])


def f64(*sizes: Any) -> ArrayType:
    return ArrayType(np.dtype("float64"), sizes)


def executed(source: str) -> Callable[..., Any]:
    """The function that a file defines, which imports nothing of ours."""
    assert not re.search(r"^\s*(import|from) transformer", source, re.MULTILINE)
    scope: dict[str, Any] = {}
    exec(compile(source, "<emitted>", "exec"), scope)
    name = re.findall(r"^def (\w+)", source, re.MULTILINE)[-1]
    found: Callable[..., Any] = scope[name]
    return found


def for_call(target: Transformed, *args: Any) -> Callable[..., Any]:
    names = target._dispatcher.names(len(args))
    return executed(standalone_for_call(target, args, {}, names).source)


def for_types(target: Transformed, *args: Any) -> Callable[..., Any]:
    return executed(standalone_for_types(target, args, {}).source)


class Params(NamedTuple):
    w: Any
    b: Any


@dataclass
class Layer:
    w: Any
    b: Any
    kind: str = field(default="tanh", metadata={"static": True})


class Registered:
    def __init__(self, w: Any, kind: Any) -> None:
        self.w, self.kind = w, kind


tree.register(Registered, lambda model: ((model.w,), model.kind), lambda kind, parts: Registered(parts[0], kind),
              names=("w",))


def product(a: Any, b: Any) -> Any:
    return np.sum(a * b[1:])


def test_save(tmp_path: Path) -> None:
    path = tmp_path / "product_grad.py"
    grad(product).save(path, np.ones(2), np.ones(3))
    np.testing.assert_array_equal(
        executed(path.read_text())(np.ones(4), np.arange(5.0)), np.arange(1.0, 5.0)
    )
    with pytest.raises(FileExistsError):
        grad(product).save(path, np.ones(2), np.ones(3))


def test_sums_in_sizes_are_tested() -> None:
    gradient = for_types(grad(product), f64(N), f64(N + 1))
    np.testing.assert_array_equal(gradient(np.ones(2), np.arange(3.0)), [1.0, 2.0])
    with pytest.raises(ValueError, match="must be"):
        gradient(np.ones(3), np.ones(2))  # would broadcast


def test_numbers_among_sizes_are_tested() -> None:
    def function(x: Any) -> Any:
        return np.sum(x * TABLE)

    target = grad(function)
    gradient = executed(standalone_for_types(target, (f64(M, 3),), {}).source)
    assert gradient(np.ones((2, 3)), TABLE).shape == (2, 3)
    with pytest.raises(ValueError, match="must equal 3"):
        gradient(np.ones((2, 1)), TABLE)


def test_sizes_of_an_example_get_short_names() -> None:
    def function(w: Any, x: Any) -> Any:
        return np.sum(np.tanh(x @ w))

    generated = standalone_for_call(grad(function), (np.ones(3), np.ones((4, 3))), {}, ["w", "x"])
    assert "# w: f64[n]" in generated.source and "# x: f64[m, n]" in generated.source


def test_arrays_from_outside_are_arguments() -> None:
    def function(x: Any) -> Any:
        return np.sum(x * TABLE)

    source = standalone_for_types(grad(function), (f64(3),), {}).source
    assert "TABLE, which the original takes from outside, is an argument here." in source
    np.testing.assert_array_equal(executed(source)(np.ones(3), TABLE), TABLE)


def test_values_that_are_built_in_are_tested() -> None:
    def function(x: Any, kind: str, bias: Any = None, *, flag: bool = True) -> Any:
        y = np.sum(x) if kind == "sum" else np.sum(x**2)
        return y if bias is None and flag else y + 1.0

    gradient = for_types(grad(function), f64(N), "sum")
    np.testing.assert_array_equal(gradient(np.ones(2), "sum"), [1.0, 1.0])
    for args, options in ((("mean",), {}), (("sum", 1.0), {}), (("sum",), {"flag": False})):
        with pytest.raises(ValueError, match="made for kind='sum', bias=None, flag=True alone"):
            gradient(np.ones(2), *args, **options)


@pytest.mark.parametrize("mode", [grad, jit])
def test_static_fields_are_tested(mode: Any) -> None:
    def function(layer: Any, x: Any) -> Any:
        y = layer.w * x + layer.b
        return np.sum(np.tanh(y) if layer.kind == "tanh" else y)

    layer = Layer(np.ones(2), 0.5)
    made = for_call(mode(function), layer, np.ones(2))
    found, wanted = made(layer, np.ones(2)), mode(function)(layer, np.ones(2))
    tree.map(np.testing.assert_allclose, found, wanted)
    with pytest.raises(ValueError, match=r"made for layer.kind='tanh' alone"):
        made(Layer(np.ones(2), 0.5, "linear"), np.ones(2))
    with pytest.raises(ValueError, match="made for layer of the class Layer alone"):
        made(Params(np.ones(2), 0.5), np.ones(2))


def test_what_a_registered_class_knows_beside_its_parts_is_refused() -> None:
    with pytest.raises(NotSupported, match=r"registered with 'tanh' beside its children"):
        for_call(jit(lambda model: np.sum(model.w)), Registered(np.ones(2), "tanh"))
    made = for_call(jit(lambda model: np.sum(model.w)), Registered(np.ones(2), None))
    assert made(Registered(np.arange(3.0), None)) == 3.0


def test_functions_as_arguments_are_tested_by_name() -> None:
    def function(x: Any, activation: Any) -> Any:
        return np.sum(activation(x))

    gradient = for_call(grad(function), np.ones(2), np.sin)
    np.testing.assert_allclose(gradient(np.ones(2), np.sin), np.cos(np.ones(2)))
    with pytest.raises(ValueError, match="made for activation=sin alone"):
        gradient(np.ones(2), np.cos)
    with pytest.raises(NotSupported, match="activation is a lambda"):
        for_call(grad(function), np.ones(2), lambda x: x * x)


def test_arrays_of_other_kinds_are_refused() -> None:
    """0.5 would be 0 in an array of integers, and an array of integers is another index than one of truth values."""
    def function(x: Any, w: Any, keep: Any, k: Any) -> Any:
        y = x.copy()
        for i in range(1, len(x)):
            y[i] = 0.5 * y[i - 1] + w[i]
        return np.sum(y[keep]) * y[k[0]]

    good = np.ones(3), np.ones(3, "f4"), np.array([True, False, True]), np.array([1, 2])
    gradient = for_call(grad(function), *good)
    assert gradient(*good).dtype == np.float64
    for place, text in (0, "x and w must be arrays of floats"), (2, "an array of truth values"), (3, "of integers"):
        bad = [*good[:place], np.array([1, 0, 1]) if place < 3 else np.array([True, False]), *good[place + 1:]]
        with pytest.raises(TypeError, match=text):
            gradient(*bad)


def test_containers_are_tested() -> None:
    def function(layers: Any, options: Any) -> Any:
        return sum(np.sum(layer) for layer in layers) * sum(options.values())

    gradient = for_call(grad(function), [np.ones(2), np.ones(3)], {"a": 1.0, "b": 2.0})
    assert len(gradient([np.ones(2), np.ones(3)], {"a": 1.0, "b": 2.0})) == 2
    with pytest.raises(ValueError, match="made for 2 items in layers alone"):
        gradient([np.ones(2)] * 3, {"a": 1.0, "b": 2.0})
    with pytest.raises(ValueError, match="made for options with the keys a, b alone"):
        gradient([np.ones(2)] * 2, {"a": 1.0, "b": 2.0, "c": 3.0})


@pytest.mark.parametrize("make", [Params, Layer])
def test_classes_of_the_user_are_rebuilt_from_the_argument(make: Any) -> None:
    def function(params: Any, x: Any) -> Any:
        return np.sum(params.w * x) + params.b

    args = make(np.ones(3), 1.0), np.arange(3.0)
    value, (dparams, dx) = for_call(value_and_grad(function, (0, 1)), *args)(*args)
    assert value == 4.0 and type(dparams) is make
    np.testing.assert_array_equal(dparams.w, [0.0, 1.0, 2.0])
    assert dparams.b == 1.0
    np.testing.assert_array_equal(dx, np.ones(3))


def test_classes_that_are_not_at_hand_are_refused() -> None:
    def function(x: Any) -> Any:
        return Params(x, 2 * x)

    with pytest.raises(NotSupported, match="which is not available in a standalone file"):
        for_call(pushforward(function, (0,)), 1.0, 1.0)


def test_objects_that_cannot_be_written_down_are_refused() -> None:
    def function(x: Any, anything: Any) -> Any:
        return np.sum(x)

    with pytest.raises(NotSupported, match="anything is a object, which is not supported"):
        for_call(grad(function), np.ones(2), object())


def test_what_is_added_follows_what_was_passed() -> None:
    def function(w: Any, factor: float = 2.0, *xs: Any, power: int = 2) -> Any:
        return np.sum(w) * factor + sum(x**power for x in xs)

    back = for_call(pullback(function), np.ones(2), 3.0, 5.0, 10.0)
    dw, dfactor, dx = back(np.ones(2), 3.0, 5.0, 10.0)
    np.testing.assert_array_equal(dw, [30.0, 30.0])
    assert (dfactor, dx) == (20.0, 100.0)
    short = for_call(pullback(function), np.ones(2), 10.0)
    np.testing.assert_array_equal(short(np.ones(2), 10.0)[0], [20.0, 20.0])


def test_static_arguments_of_declared_types_are_asked_for() -> None:
    def function(x: Any, k: int) -> Any:
        return np.sum([x, 2 * x][k])

    int_type = ArrayType(np.dtype("int64"), (), weak=True)
    with pytest.raises(NotSupported, match="Declare it with its value, as in `n: 3`"):
        for_types(grad(function), f64(N), int_type)
    np.testing.assert_array_equal(for_types(grad(function), f64(N), 1)(np.ones(2), 1), [2.0, 2.0])


def test_label() -> None:
    label = Label("cube", ("Checked by hand.",))
    source = standalone_for_types(grad(lambda t: t**3), (f64(),), {}, label).source
    assert source.startswith(
        '"""Gradient with respect to t of `cube` (test_emitted_files.py, line '
    )
    assert "Checked by hand." in source and "def cube_grad(t):" in source


@pytest.mark.parametrize(
    "mode, head",
    [
        (grad, "Gradient with respect to x of the gradient with respect to x of"),
        (
            value_and_grad,
            "Gradient with respect to x of the value and gradient with respect to x of",
        ),
    ],
)
def test_header_of_transformations_of_transformations(mode: Any, head: str) -> None:
    inner = mode(lambda x: x**3, has_aux=False)
    target = grad(inner, has_aux=mode is value_and_grad)
    source = standalone_for_types(target, (f64(),), {}).source
    assert source.startswith(f'"""{head}')


def test_items_that_are_not_read_are_tested() -> None:
    def function(x: Any, params: Any) -> Any:
        b = x[1]
        return np.tanh(b) * np.sum(params["w"])

    params = {"w": np.ones(3), "b": 2.0}
    gradient = for_call(grad(function, argnums=(0, 1)), np.ones(2), params)
    assert gradient(np.ones(2), params)[1]["b"] == 0.0
    with pytest.raises(ValueError, match=r"params\['b'\]"):
        gradient(np.ones(2), {"w": np.ones(3), "b": np.ones(2)})


def test_a_file_that_asks_for_shared_memory_is_transformed_again(tmp_path: Path) -> None:
    def function(x: Any, y: Any) -> Any:
        x += y
        return np.sum(x * y)

    path = tmp_path / "again.py"
    grad(function, argnums=(0, 1)).save(path, np.ones(3), np.ones(3))
    module = imported(path)
    assert "np.shares_memory(x, y)" in path.read_text()
    x, y = np.ones(3), np.arange(3.0)
    _, (dx, dy) = jvp(module.function_grad, (x, y), (y, x))
    np.testing.assert_array_equal(dx, x)
    np.testing.assert_array_equal(dy, y + 2 * x)
    both = np.ones(4)
    with pytest.raises(NotSupported, match="'x' shares memory with 'y'"):
        jvp(module.function_grad, (both[1:], both[:-1]), (y, x))


def test_sizes_of_parts_are_tested() -> None:
    def function(x: Any) -> Any:
        return np.sum(x) * (x[1:] @ (1.0, 2.0) if x[0] > 1 else 1.0)

    gradient = for_call(grad(function), np.array([0.1, 0.2, 0.3]))
    np.testing.assert_array_equal(gradient(np.zeros(3)), np.ones(3))
    with pytest.raises(ValueError, match=r"len\(x\) - 1 is 3 but must equal 2"):
        gradient(np.zeros(4))


def test_variables_may_be_called_like_what_the_tests_of_arguments_call() -> None:
    def function(x: Any, type: Any) -> Any:
        any = np.sin(x * type.w)
        TypeError = any * x
        return np.sum(any * TypeError * TypeError)

    w = Params(np.ones(2), None)
    gradient = for_call(grad(function), np.ones(2), w)
    np.testing.assert_array_equal(gradient(np.arange(2.0), w), grad(function)(np.arange(2.0), w))
    with pytest.raises(TypeError, match="x and w must be arrays of floats"):
        gradient(np.arange(2), w)


def test_what_a_mask_selects_may_be_long() -> None:
    def marked(x: Any) -> Any:
        part = x[x > 0]
        part[:1] = 7.0
        return np.sum(part * x[0])

    written, x = for_types(grad(marked), f64(N)), np.array([2.0, -1.0, 3.0, 4.0])
    np.testing.assert_array_equal(written(x), grad(marked)(x))
