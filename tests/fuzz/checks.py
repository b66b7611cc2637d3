"""What is checked of a program: all it promises, against NumPy, differences, and itself."""

from __future__ import annotations

import importlib.util
import inspect
import linecache
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from lowered import as_loops

from transformer import grad, jvp, pipeline, value_and_grad, vjp
from transformer.api import pullback, pushforward
from transformer.core.errors import ShapeError

from .dead import spoiled
from .poison import poisoned
from .program import Program
from .reference import Rejected, Vector, blank, floats, pack, slope, unpack
from .verdicts import Failure, Refused, ours

LARGEST = 1e4
STEEPEST = 1e4
EVERY = ("sizes", "layout", "second", "other order", "third", "saved", "read again", "unsimplified", "dead",
         "loops")
Layout = Callable[[np.ndarray], np.ndarray]


class Check:
    """One program at one point."""

    def __init__(self, program: Program, also: tuple[str, ...] = EVERY, like: Check | None = None,
                 layout: Layout = np.copy, seed: int = 0) -> None:
        self.program, self.also, self.layout = program, also, layout
        self.function: Callable[..., Any] = program.function if like is None else like.function
        self.derived: dict[Any, Any] = {} if like is None else like.derived
        self.args, self.wrt = self.values(), program.wrt
        self.refusal: Refused | None = None
        self.chosen = tuple(self.args[k] for k in self.wrt)
        self.at = pack(self.chosen)
        self.rng = np.random.default_rng(seed)
        self.shares = len(program.source) % 2 == 0        # loops among threads
        self.single = any(np.asarray(leaf).dtype == np.float32 for leaf in floats(self.chosen))

    # -- the program as a function of a vector ----------------------------------------------

    def with_vector(self, vector: Vector) -> tuple[Any, ...]:
        moved = iter(unpack(vector, self.chosen))
        fresh = self.program.values()
        return self.laid_out(tuple(next(moved) if k in self.wrt else value for k, value in enumerate(fresh)))

    def values(self) -> tuple[Any, ...]:
        return self.laid_out(self.program.values())

    def laid_out(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(self.layout(value) if isinstance(value, np.ndarray) else value for value in values)

    def transformed(self, transformation: Any) -> Any:
        """`grad` or `value_and_grad` of the program, one object for all calls."""
        if transformation not in self.derived:
            self.derived[transformation] = transformation(self.function, argnums=self.wrt)
        return self.derived[transformation]

    def plain(self, vector: Vector) -> Vector:
        with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
            warnings.simplefilter("error")
            try:
                found = pack((self.wide(self.with_vector(vector)),))
            except Exception as error:
                raise Rejected(f"{type(error).__name__}: {error}") from None
        if not len(found):
            raise Rejected("no floating point number")
        if not np.all(np.abs(found) < LARGEST):
            raise Rejected("large")
        return found

    def wide(self, args: tuple[Any, ...]) -> Any:
        """The value in double precision."""
        if self.single:
            args = tuple(_widened(value) for value in args)
        return self.function(*args)

    def run(self) -> None:
        """Raises `Rejected`, `Refused` or `Failure`, or nothing."""
        if len(self.plain(self.at)) > 1 or np.ndim(self.function(*self.values())):
            self.several()
        else:
            self.scalar()
        if self.refusal is not None:
            raise self.refusal

    def scalar(self) -> None:
        """A program whose result is a number."""
        self.first()
        self.forward()
        self.elsewhere()
        if "loops" in self.also:
            self.as_loops()
        if "sizes" in self.also:
            self.other_sizes()
        if "layout" in self.also:
            self.other_layout()
        if self.single:
            return
        if "unsimplified" in self.also:
            self.unsimplified()
        if "saved" in self.also or "read again" in self.also:
            self.saved()
        if {"second", "other order", "third"} & set(self.also):
            self.second()
        if "dead" in self.also:
            self.dead()

    # -- first order --------------------------------------------------------------------------

    def first(self) -> None:
        self.slopes = [slope(self.plain, self.at, unit) for unit in np.eye(len(self.at))]
        args = self.values()
        with ours("gradient"):
            value, gradient = self.transformed(value_and_grad)(*args)
        self.unchanged(args, "gradient")
        self.same_value(value, "value")
        for mine, theirs in zip(floats(gradient), floats(self.chosen), strict=True):
            if np.asarray(mine).dtype != np.asarray(theirs).dtype or np.shape(mine) != np.shape(theirs):
                raise Failure("type of a gradient", f"{mine!r} for {theirs!r}")
        self.gradient = pack(gradient)
        reference = np.array([float(s.value[0]) for s in self.slopes])
        allowed = np.array([float(s.uncertainty[0]) for s in self.slopes])
        self.close("gradient", self.gradient, reference, allowed)

    def same_value(self, value: Any, what: str, expected: Any = None) -> None:
        expected = self.function(*self.values()) if expected is None else expected
        meets_numpys = type(expected) is float and isinstance(value, np.floating)      # on another path, it is one
        same_type = meets_numpys or np.asarray(value).dtype == np.asarray(expected).dtype
        if not same_type or np.shape(value) != np.shape(expected):
            raise Failure(f"type of the {what}", f"{value!r} for {expected!r}")
        rounding = 1e-4 if self.single else 1e-10
        if not np.allclose(value, expected, rtol=rounding, atol=rounding):
            raise Failure(what, f"{value!r}, by NumPy {expected!r}")

    def unchanged(self, args: tuple[Any, ...], what: str) -> None:
        for mine, before in zip(_every_leaf(args), _every_leaf(self.args), strict=True):
            if not np.array_equal(mine, before):
                raise Failure(f"argument changed by {what}", f"{before!r} became {mine!r}")

    def forward(self) -> None:
        self.direction = self.rng.standard_normal(len(self.at)).round(2)
        args = self.values()
        with ours("jvp"):
            value, tangent = jvp(self.function, args, self.tangents(self.direction))
        self.unchanged(args, "jvp")
        self.same_value(value, "value of jvp")
        self.close("jvp", pack((tangent,)), np.array([self.gradient @ self.direction]))

    def tangents(self, direction: Vector) -> tuple[Any, ...]:
        moved = iter(unpack(direction, self.chosen))
        return tuple(blank(next(moved)) if k in self.wrt else None for k in range(len(self.args)))

    def elsewhere(self) -> None:
        """The same generated function at another point, where other branches may be taken."""
        other = self.at + 0.7 * self.rng.standard_normal(len(self.at))
        try:
            reference = slope(self.plain, other, self.direction)
        except Rejected:
            return
        self.close("gradient elsewhere", np.array([self.slope_of_ours(other) @ self.direction]), reference.value,
                   reference.uncertainty)

    def slope_of_ours(self, vector: Vector) -> Vector:
        with ours("gradient elsewhere"):
            return pack(self.gradients()(*self.with_vector(vector)))

    def gradients(self) -> Any:
        return self.transformed(grad)

    def other_sizes(self) -> None:
        """The same gradient for longer arrays, where NumPy takes them."""
        longer = Check(Program(self.program.source, resized(self.program.arguments)), (), self)
        try:
            longer.plain(longer.at)
            longer.first()
        except (Rejected, Refused):
            return
        except Failure as failure:
            if isinstance(failure.__cause__, ShapeError):
                return                            # where another path leads, which NumPy does not see
            raise Failure(f"other sizes: {failure.kind}", failure.detail) from failure

    def other_layout(self) -> None:
        """The same gradient for arrays that are not contiguous."""
        strided = Check(self.program, (), self, layout=spread)
        try:
            strided.plain(strided.at)
            strided.first()
        except (Rejected, Refused):
            return
        except Failure as failure:
            raise Failure(f"layout: {failure.kind}", failure.detail) from failure

    def close(self, what: str, mine: Vector, theirs: Vector, uncertainty: Any = 0.0) -> None:
        size = 1 + float(np.max(np.abs(theirs), initial=0.0))
        allowed = (5e-3 if self.single else 1e-6) * size + 20 * uncertainty
        if mine.shape != theirs.shape or not np.all(np.abs(mine - theirs) <= allowed):
            raise Failure(what, f"{mine.tolist()}, by reference {theirs.tolist()}")

    def several(self) -> None:
        """A program with several results: a product with its Jacobian from either side."""
        self.direction = self.rng.standard_normal(len(self.at)).round(2)
        reference = slope(self.plain, self.at, self.direction)
        expected, args = self.function(*self.values()), self.values()
        with ours("jvp"):
            value, tangent = jvp(self.function, args, self.tangents(self.direction))
        self.unchanged(args, "jvp")
        self.same_values(value, expected, "value of jvp")
        self.close("jvp", pack(tangent), reference.value, reference.uncertainty)
        weights = self.rng.standard_normal(len(reference.value)).round(2)
        with ours("vjp"):
            value, pull = vjp(self.function, *args)
            self.same_values(value, expected, "value of vjp")
            pulled = pull(unpack(weights, expected))
        self.unchanged(args, "vjp")
        mine = pack(tuple(pulled[k] for k in self.wrt))
        self.close("vjp", np.array([mine @ self.direction]), np.array([weights @ reference.value]),
                   np.abs(weights) @ reference.uncertainty)
        if "loops" in self.also:
            self.loops_of_several(expected)
        if "second" in self.also:
            self.second_of_several(unpack(weights, expected), pulled)

    def second_of_several(self, weights: Any, pulled: Any) -> None:
        pullbacks = pullback(self.function)

        def pulled_at(vector: Vector) -> Vector:
            with ours("vjp elsewhere"):
                found = pullbacks(*self.with_vector(vector), weights)
            return pack(tuple(found[k] for k in self.wrt))

        self.close("pullback", pulled_at(self.at), pack(tuple(pulled[k] for k in self.wrt)))
        reference = slope(pulled_at, self.at, self.direction)
        with ours("forward over reverse"):
            _, found = jvp(pullbacks, (*self.values(), weights), (*self.tangents(self.direction), None))
        self.close("forward over reverse", pack(tuple(found[k] for k in self.wrt)), reference.value,
                   reference.uncertainty)

    def same_values(self, values: Any, expected: Any, what: str) -> None:
        for mine, theirs in zip(_every_leaf(values), _every_leaf(expected), strict=True):
            self.same_value(mine, what, theirs)

    # -- explicit loops -------------------------------------------------------------------------

    def as_loops(self) -> None:
        """Value and gradient as the loops that are compiled, run as plain Python."""
        args = self.values()
        try:
            with ours("loops"):
                value, gradient = as_loops(self.transformed(value_and_grad), self.function, args, self.shares)
        except Refused as refusal:
            self.refusal = refusal                # the other checks go on
            return
        self.unchanged(args, "loops")
        if np.max(np.abs(self.gradient), initial=0.0) > STEEPEST:
            return                                # what functions round differently decides the result
        self.same_value(value, "value by loops")
        self.close("gradient by loops", pack(gradient), self.gradient)

    def loops_of_several(self, expected: Any) -> None:
        try:
            with ours("loops"):
                found = as_loops(self.function, self.function, self.values(), self.shares)
        except Refused as refusal:
            self.refusal = refusal
            return
        self.same_values(found, expected, "value by loops")

    # -- second and third order ---------------------------------------------------------------

    def second(self) -> None:
        reference = slope(self.slope_of_ours, self.at, self.direction)
        along = self.tangents(self.direction)
        with ours("forward over reverse"):
            _, product = jvp(self.gradients(), self.values(), along)
        self.product = pack(product)
        self.close("forward over reverse", self.product, reference.value, reference.uncertainty)
        if "other order" in self.also:
            self.other_orders(along)
        if "third" in self.also:
            self.third(along)

    def other_orders(self, along: tuple[Any, ...]) -> None:
        weights = tuple(along[k] for k in self.wrt)
        with ours("reverse over reverse"):
            _, pull = vjp(self.gradients(), *self.values())
            pulled = pull(weights)
        self.close("reverse over reverse", pack(tuple(pulled[k] for k in self.wrt)), self.product)
        tangents = tuple(along[k] for k in self.wrt)
        with ours("reverse over forward"):
            (value, tangent), pull = vjp(pushforward(self.function, self.wrt), *self.values(), *tangents)
            pulled = pull((np.zeros_like(value)[()], np.ones_like(tangent)[()]))
        self.close("reverse over forward", pack(tuple(pulled[k] for k in self.wrt)), self.product)

    def third(self, along: tuple[Any, ...]) -> None:
        tangents = tuple(along[k] for k in self.wrt)
        products = pushforward(self.gradients(), self.wrt)

        def product(vector: Vector) -> Vector:
            with ours("forward over reverse elsewhere"):
                return pack(products(*self.with_vector(vector), *tangents)[1])

        reference = slope(product, self.at, self.direction)
        with ours("third order"):
            _, found = jvp(products, (*self.values(), *tangents), (*along, *(None for _ in tangents)))
        self.close("third order", pack(found[1]), reference.value, reference.uncertainty)

    # -- other ways to the same numbers ---------------------------------------------------------

    def unsimplified(self) -> None:
        with mock.patch.object(pipeline, "simplify", lambda function, *args, **kwargs: function), ours("unsimplified"):
            found = grad(self.function, argnums=self.wrt)(*self.values())
        self.close("unsimplified", pack(found), self.gradient)

    def dead(self) -> None:
        """With all arrays spoiled that nobody is to look at any more."""
        with spoiled(), ours("dead"):
            gradients = grad(self.function, argnums=self.wrt)
            found = gradients(*self.values())
        self.close("gradient, dead arrays spoiled", pack(found), self.gradient)
        if "second" in self.also:
            with spoiled(), ours("dead"):
                _, product = jvp(gradients, self.values(), self.tangents(self.direction))
            self.close("forward over reverse, dead arrays spoiled", pack(product), self.product)

    def saved(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "saved.py"
            with ours("saved"):
                self.gradients().save(path, *self.values())
                function = self.with_outside(_imported(path, f"{self.function.__name__}_grad"))
                found = function(*self.values())
            self.close("saved", pack(found), self.gradient)
            self.saved_at_other_sizes(function)
            if "read again" in self.also:
                try:
                    self.read_again(function)
                except Refused as refusal:
                    self.refusal = refusal        # the other checks go on

    def with_outside(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of a file takes arrays of the module, which the original sees, as last arguments."""
        names = list(inspect.signature(function).parameters)[len(self.args):]
        outside = [self.function.__globals__[name] for name in names]
        if not outside:
            return function

        def closed(*args: Any) -> Any:
            return function(*args, *outside)

        return closed

    def saved_at_other_sizes(self, function: Callable[..., Any]) -> None:
        """The file gives the gradient for longer arrays, or raises."""
        longer = Check(Program(self.program.source, resized(self.program.arguments)), (), self)
        try:
            longer.plain(longer.at)
            along = longer.rng.standard_normal(len(longer.at))
            reference = slope(longer.plain, longer.at, along)
            with poisoned(), np.errstate(all="ignore"):
                found = pack(function(*longer.values()))
        except (Rejected, ValueError, IndexError):
            return
        if found.shape != along.shape:
            raise Failure("saved, at other sizes", f"{len(found)} numbers for {len(along)}")
        self.close("saved, at other sizes", np.array([found @ along]), reference.value, reference.uncertainty)

    def read_again(self, function: Callable[..., Any]) -> None:
        """The emitted source is a NumPy program like any other."""
        reference = slope(self.slope_of_ours, self.at, self.direction)
        with ours("read again"):
            value, found = jvp(function, self.values(), self.tangents(self.direction))
        self.close("value of what is read again", pack(value), self.gradient)
        self.close("read again", pack(found), reference.value, reference.uncertainty)


def resized(value: Any) -> Any:
    """Arguments with all arrays longer by one, but for axes of length 1; what is new ties with nothing."""
    if isinstance(value, dict):
        return {key: resized(item) for key, item in value.items()}
    if not isinstance(value, np.ndarray):
        return value
    mode = "reflect" if min(value.shape) > 1 else "edge"
    pad: Any = np.pad                             # its stubs know no `str` as a mode
    widths = [(0, int(size > 1)) for size in value.shape]
    longer = pad(value, widths, mode=mode)
    if value.dtype.kind == "f":
        longer *= 1 + 0.03 * pad(np.zeros(value.shape, value.dtype), widths, mode="constant", constant_values=1)
    return longer


def spread(array: np.ndarray) -> np.ndarray:
    """A copy that is not contiguous."""
    if array.ndim == 2:
        return np.asfortranarray(array)
    return np.repeat(array, 2)[::2]


def _imported(path: Path, name: str) -> Callable[..., Any]:
    spec = importlib.util.spec_from_file_location("saved", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    linecache.cache[str(path)] = (0, None, path.read_text().splitlines(True), str(path))
    function: Callable[..., Any] = getattr(module, name)
    return function


def _every_leaf(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _every_leaf(item)]
    if isinstance(value, tuple | list):
        return [leaf for item in value for leaf in _every_leaf(item)]
    return [value]


def _widened(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _widened(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic) and value.dtype == np.float32:
        return value.astype(np.float64)
    return value
