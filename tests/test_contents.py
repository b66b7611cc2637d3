"""Containers and attributes from outside: a change of what they hold is seen by the next call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from transformer import grad, jit, jvp, tree, vjp

SCALES: list[Any] = []
RATES: dict[str, float] = {}
CHOSEN: set[int] = set()
TABLE: list[list[float]] = []
OPTIONS = SimpleNamespace()


@dataclass
class Line:
    slope: Any
    shift: Any


@dataclass(slots=True)
class Row:
    slope: Any
    shift: Any


@pytest.fixture(autouse=True)
def fresh() -> None:
    SCALES[:], TABLE[:] = [2.0, 3.0], [[1.0], [2.0]]
    for container in (RATES, CHOSEN, vars(OPTIONS)):
        container.clear()
    RATES["a"] = 2.0
    CHOSEN.update({1, 2})
    OPTIONS.layers = [2.0]


def product(x):
    for scale in SCALES:
        x = x * scale
    return x


def length(x):
    return x * len(SCALES)


def joined(x):
    return x * (SCALES + [1.0])[-2]


def as_array(x):
    return x * np.sum(np.array(TABLE))


def total(x):
    return x * sum(RATES.values())


def perhaps(x):
    return x * RATES.get("b", 5.0)


def chosen(x):
    return x * sum(CHOSEN)


def attribute(x):
    return x * sum(OPTIONS.layers) * getattr(OPTIONS, "factor", 1.0)


def optional(x):
    return x * (2.0 if hasattr(OPTIONS, "factor") else 1.0)


CHANGES: list[Callable[[], Any]] = [
    lambda: SCALES.append(5.0),
    lambda: SCALES.__setitem__(-1, 7.0),
    lambda: SCALES.pop(0),
    lambda: RATES.__setitem__("b", 3.0),
    lambda: RATES.pop("a"),
    lambda: CHOSEN.add(4),
    lambda: TABLE[0].append(4.0) or TABLE[1].append(1.0),
    lambda: TABLE[0].__setitem__(0, 9.0),
    lambda: OPTIONS.layers.append(3.0),
    lambda: setattr(OPTIONS, "factor", 4.0),
    lambda: setattr(OPTIONS, "factor", 3.0),
    lambda: delattr(OPTIONS, "factor"),
]


@pytest.mark.parametrize("function", [product, length, joined, as_array, total, perhaps, chosen, attribute, optional])
def test_changes_inside_of_containers_are_seen(function: Callable[[float], float]) -> None:
    gradient = grad(function)
    assert gradient(1.0) == function(1.0)
    for change in CHANGES:
        change()
        assert gradient(1.0) == function(1.0)


def test_a_compiled_function_sees_them() -> None:
    compiled, others = jit(product), jit(attribute)
    assert (compiled(1.5), others(1.5)) == (product(1.5), attribute(1.5))
    SCALES.append(5.0)
    OPTIONS.factor = 3.0
    assert (compiled(1.5), others(1.5)) == (product(1.5), attribute(1.5))
    assert (jit(product)(1.5), jit(attribute)(1.5)) == (product(1.5), attribute(1.5))


def test_a_list_that_holds_itself() -> None:
    SCALES.append(SCALES)
    gradient = grad(lambda x: x * SCALES[0])
    assert gradient(1.0) == 2.0
    SCALES[0] = 3.0
    assert gradient(1.0) == 3.0


def test_arrays_in_a_list_may_be_replaced_without_a_new_reading() -> None:
    SCALES[:] = [np.ones(2), np.ones(2)]
    gradient = grad(lambda x: np.sum(product(x)))
    gradient(np.ones(2))
    source = gradient.source
    SCALES[0] = np.full(2, 3.0)
    np.testing.assert_array_equal(gradient(np.ones(2)), [3.0, 3.0])
    assert gradient.source is source


@pytest.mark.parametrize("function", [
    lambda x: np.sum({**RATES}["a"] * x),
    lambda x: np.sum(SCALES.copy()[0] * x) + np.sum((SCALES[:1] + [x])[0]),
    lambda x: sum(np.sum(leaf * x) for leaf in tree.leaves(SCALES)),
    lambda x: np.sum(replace(OPTIONS.line, shift=x).slope * x),
    lambda x: np.sum(replace(OPTIONS.row, shift=x).slope * x),
])
def test_copies_hold_what_the_container_holds_by_then(function: Callable[[Any], Any]) -> None:
    x, gradient = np.array([1.0, 2.0]), grad(function)
    SCALES[:] = [np.ones(2), np.ones(2)]
    OPTIONS.line, OPTIONS.row = Line(np.ones(2), 1.0), Row(np.ones(2), 1.0)
    for scale in (2.0, 5.0):
        RATES["a"] = SCALES[0] = OPTIONS.line.slope = np.full(2, scale)             # type: ignore[assignment]
        OPTIONS.row.slope = RATES["a"]
        shift = function(x + 0.5) - function(x - 0.5)
        np.testing.assert_allclose(np.sum(gradient(x)), shift)
        assert jit(function)(x) == function(x)


def of_keywords(x):
    return np.sum(x * getattr(OPTIONS, "lambda") * RATES["in"])


def test_attributes_and_items_that_are_called_like_keywords() -> None:
    setattr(OPTIONS, "lambda", 2.0)
    RATES["in"] = np.array([1.0, 3.0])                                  # type: ignore[assignment]
    slope = grad(of_keywords)
    for factor in (2.0, 2.0, 5.0):
        setattr(OPTIONS, "lambda", factor)
        np.testing.assert_array_equal(slope(np.ones(2)), [factor, 3 * factor])


POLYNOMIAL = np.poly1d([1.0, 2.0])


def of_a_polynomial(x):
    return x * np.sum(POLYNOMIAL.coeffs) * POLYNOMIAL.order


def test_attributes_of_an_object_of_numpy_that_programs_change() -> None:
    slope, compiled = grad(of_a_polynomial), jit(of_a_polynomial)
    assert slope(2.0) == 3.0 and compiled(2.0) == 6.0
    for power, wanted in (0, 6.0), (2, 22.0):                           # a coefficient in place, and one more power
        POLYNOMIAL[power] = 5.0
        assert slope(2.0) == wanted and compiled(2.0) == 2 * wanted


STEP = 1.0


class Scaled:
    def __init__(self) -> None:
        self.by = STEP


@dataclass
class WithFactories:
    first: float
    second: float = field(default_factory=lambda: 2 * STEP)
    items: list[float] = field(default_factory=list)
    inner: Scaled = field(default_factory=Scaled)
    last: float = field(default_factory=lambda: STEP, init=False)


def made_by_factories(x):
    made, given = WithFactories(x), WithFactories(x, second=3.0)
    made.items.append(x)
    return made.first * made.second * made.inner.by + given.second * given.last + len(made.items) - len(given.items)


def test_what_factories_look_at_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, derivative = jit(made_by_factories), grad(made_by_factories)
    for step in (1.0, 0.5, 3.0):
        monkeypatch.setattr(f"{__name__}.STEP", step)
        assert compiled(3.0) == made_by_factories(3.0) and derivative(3.0) == 2 * step * step


PAIR = ([1.0, 2.0], {"a": 3.0})
LINES: list[Line] = []


def pushed_along(x):
    return jvp(lambda pair: pair[0][1] * pair[1]["a"] * x, (PAIR,), (PAIR,))[1]


def pulled_at(x):
    return sum(tree.leaves(vjp(lambda pair: pair[0][1] * pair[1]["a"] * x, PAIR)[1](1.0)))


def leaves_of_a_tuple(x):
    return x * sum(tree.leaves(PAIR))


def slope_at_a_tuple(x):
    return grad(lambda pair, x: pair[0][1] * pair[1]["a"] * x, argnums=1)(PAIR, x) * x


@pytest.mark.parametrize("function", [pushed_along, pulled_at, leaves_of_a_tuple, slope_at_a_tuple])
def test_what_a_tuple_holds_is_seen_to_change(function: Callable[..., Any]) -> None:
    check_changes(function, lambda: PAIR[0].__setitem__(1, PAIR[0][1] + 4.0))
    check_changes(function, lambda: PAIR[1].update(a=PAIR[1]["a"] * 2.0))


def leaves_of_objects(x):
    return x * sum(tree.leaves(LINES))


def mapped_objects(x):
    return sum(tree.leaves(tree.map(lambda p: p * x, LINES)))


def mapped_objects_by_path(x):
    return sum(tree.leaves(tree.map_with_path(lambda path, p: p * x if path else 0.0, LINES)))


def reduced_objects(x):
    return tree.reduce(lambda total, p: total + p * x, LINES, 0.0)


def leaves_of_objects_until_lists(x):
    return x * sum(np.sum(leaf) for leaf in tree.leaves(LINES[0], is_leaf=lambda part: isinstance(part, list)))


def pulled_at_objects(x):
    return vjp(lambda lines: lines[0].slope * lines[0].shift[0] * x, LINES)[0]


def slope_at_objects(x):
    return grad(lambda lines, x: lines[0].slope * lines[0].shift[0] * x, argnums=1)(LINES, x) * x


def returned_objects(x):
    return LINES, x


@pytest.mark.parametrize("function", [
    leaves_of_objects, mapped_objects, mapped_objects_by_path, reduced_objects, leaves_of_objects_until_lists,
    pulled_at_objects, slope_at_objects, returned_objects,
])
def test_what_objects_in_a_list_hold_is_seen_to_change(function: Callable[..., Any]) -> None:
    LINES[:] = [Line(1.5, [2.0])]
    check_changes(function, lambda: setattr(LINES[0], "slope", LINES[0].slope + 1.0))
    check_changes(function, lambda: LINES[0].shift.__setitem__(0, LINES[0].shift[0] * 3.0))


def check_changes(function: Callable[..., Any], change: Callable[[], Any]) -> None:
    """A compiled function gives what the function gives, before and after a change that matters."""
    compiled = jit(function)
    first = [float(leaf) for leaf in tree.leaves(compiled(2.0))]
    assert first == [float(leaf) for leaf in tree.leaves(function(2.0))]
    change()
    second = [float(leaf) for leaf in tree.leaves(compiled(2.0))]
    assert second == [float(leaf) for leaf in tree.leaves(function(2.0))] != first


SCALED = functools.partial(lambda x, w, k, o: np.sum(x * w) ** 2 * k * o["a"][0], w=np.ones(2), k=2.0, o={"a": [1.0]})


def scaled_by_a_partial(x):
    return SCALED(x)


@pytest.mark.parametrize("function", [scaled_by_a_partial, SCALED])
def test_keywords_of_a_partial(function: Callable[..., Any]) -> None:
    SCALED.keywords.update(w=np.ones(2), k=2.0, o={"a": [1.0]})
    check_changes(function, lambda: SCALED.keywords.update(k=SCALED.keywords["k"] * 1.5))
    check_changes(function, lambda: SCALED.keywords.update(w=np.array([2.0, 3.0])))
    check_changes(function, lambda: SCALED.keywords["w"].__setitem__(0, 7.0))
    check_changes(function, lambda: SCALED.keywords["o"]["a"].__setitem__(0, 5.0))
