"""Calls of functions that stay functions: recursion.

A function gets a twin for each transformation and for each set of parameters that carry derivatives:
`f_jvp` in forward mode, the pair `f_forward` and `f_reverse` in reverse mode (`pairs`). A twin calls
itself where the function calls itself. Twins are named when they are first called, and filled
when the function that calls them is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from ..core.builder import Builder
from ..core.errors import NotSupported
from ..core.grammar import Block, Call, Function, Let, Var, type_of
from ..core.sizes import Extent
from ..core.types import ArrayType, Type
from ..core.walk import Copier, all_statements, reachable
from ..ops.saved import Layout
from .activity import Places, Summaries, useful_vars, varied_vars

Pattern = tuple[Places, Places]         # the parameters and the results that carry derivatives


class Calls:
    """The twins that one transformation of `function` makes; without one, calls are refused."""

    def __init__(self, builder: Builder, function: Function | None = None) -> None:
        self.builder = builder
        self.function = function
        self.summaries = Summaries()
        self._made: dict[Any, Any] = {}
        self._unfilled: list[Callable[[], None]] = []
        self._duals: dict[Layout, Layout] = {}
        self._layouts = max([0, *(layout.number for layout in _layouts(function))]) if function else 0

    def twin(self, key: Any, made: Callable[[], Any], fill: Callable[[Any], None]) -> Any:
        """What there is for a key: made now and filled later, if it is new."""
        if key not in self._made:
            twin = self._made[key] = made()
            self._unfilled.append(lambda: fill(twin))
        return self._made[key]

    def check(self, stmt: Call) -> None:
        """Raises where a call cannot be transformed: the function is not known yet, or the rule of a
        function is a block of its own."""
        if self.function is None or not stmt.function.results:
            raise NotSupported(
                f"the recursive function {stmt.function.name} is differentiated inside "
                + ("a rule" if self.function is None else "itself"), stmt.origin,
                instead="Write it as a loop.")

    def finish(self) -> None:
        """Fills the twins made so far, and those that they need."""
        while self._unfilled:
            self._unfilled.pop(0)()

    def layout(self, name: str, fields: Iterable[Var], makers: Iterable[str]) -> Layout:
        """A new layout for these values."""
        self._layouts += 1
        return Layout(name, self._layouts, tuple(field.type.is_inexact for field in fields), tuple(makers))

    def dual(self, layout: Layout) -> Layout:
        """The layout of tangents and cotangents of what has this layout."""
        if layout not in self._duals:
            self._layouts += 1
            self._duals[layout] = replace(layout, number=self._layouts)
        return self._duals[layout]

    # -- activity ----------------------------------------------------------------------------

    def pushed(self, stmt: Call, varied: set[Var]) -> Pattern:
        """Which arguments and results of a call carry tangents where these variables do."""
        params = places_in(stmt.args, varied)
        return params, self.summaries.varied_places(stmt.function, params)

    def pulled(self, stmt: Call, active: set[Var]) -> Pattern:
        """Which arguments and results of a call carry cotangents where these variables do."""
        params, results = places_in(stmt.args, active), places_in(stmt.targets, active)
        results &= self.summaries.varied_places(stmt.function, params)
        return params & self.summaries.useful_places(stmt.function, results), results

    def shared(self, body: Block, active: set[Var]) -> dict[Function, Pattern]:
        """What carries cotangents in any call of a function that stays one, so that one reverse serves all: zeros do no
        harm where no derivative is infinite."""
        found: dict[Function, Pattern] = {}
        for stmt in all_statements(body):
            if isinstance(stmt, Call) and (pattern := self.pulled(stmt, active))[0]:
                before = found.get(stmt.function, (frozenset(), frozenset()))
                found[stmt.function] = pattern[0] | before[0], pattern[1] | before[1]
        return found

    def closed(self, function: Function, pattern: Pattern, reverse: bool) -> Pattern:
        """What carries derivatives in a call, or in a call of the function that it leads to."""
        while True:
            found = [other for callee, other in self._contexts(function, pattern, reverse) if callee is function]
            grown = frozenset().union(*(p for p, _ in found)), frozenset().union(*(r for _, r in found))
            if grown == pattern:
                return grown
            pattern = grown

    def _contexts(self, function: Function, pattern: Pattern, reverse: bool) -> Iterator[tuple[Function, Pattern]]:
        """A call, and all calls that follow from it."""
        pending = [(function, pattern)]
        seen = set(pending)
        while pending:
            each, (params, results) = pending.pop()
            yield each, (params, results)
            found = varied_vars(each.body, [each.params[k] for k in params], self.summaries)
            if reverse:
                found &= useful_vars(each.body, [each.results[k] for k in results], self.summaries)
            for stmt in all_statements(each.body):
                if isinstance(stmt, Call):
                    context = stmt.function, (self.pulled if reverse else self.pushed)(stmt, found)
                    if context[1][0] and context not in seen:
                        seen.add(context)
                        pending.append(context)


def places_in(atoms: Iterable[Any], found: set[Var]) -> Places:
    return frozenset(k for k, atom in enumerate(atoms) if isinstance(atom, Var) and atom in found)


def sizes_of_call(stmt: Call) -> dict[Any, Extent]:
    """What the dimensions of a function are in a call."""
    places = {param: k for k, param in enumerate(stmt.function.params)}
    return {dim: type_of(stmt.args[places[var]]).sizes[axis]                              # type: ignore[union-attr]
            for dim, (var, axis) in stmt.function.dims.items()}


def _layouts(function: Function) -> Iterator[Layout]:
    """The layouts in a function and in those that it calls."""
    for each in reachable(function):
        for stmt in all_statements(each.body):
            if isinstance(stmt, Let) and isinstance(layout := stmt.attrs.get("layout"), Layout):
                yield layout


def copy_of(function: Function, builder: Builder) -> Function:
    """A function with variables of its own."""
    copier = Copier()
    params = [copier.fresh(param) for param in function.params]
    for param in params:                        # a size may rest on a parameter that comes later
        param.type = copier.type(param.type)
    body = copier.block(function.body)
    results = list(copier.args(function.results))
    builder.assumptions.inherit(copier.mapping, copier.size)
    places = dict(zip(function.params, params))
    dims = {dim: (places[var], axis) for dim, (var, axis) in function.dims.items()}
    return Function(function.name, params, body, results, dims, [], function.origin, size_names=function.size_names)


def strong(type: Type) -> Type:
    """The type of a carried derivative: of a Python number it may become a NumPy one on the way."""
    return type.strong() if isinstance(type, ArrayType) else type


# -- forward mode --------------------------------------------------------------------------------


def push_call(forward: Any, stmt: Call) -> None:
    """Emits a call and, with it, the tangents of its results."""
    calls = forward.calls
    given = frozenset(k for k, atom in enumerate(stmt.args) if forward.given(atom) is not None)
    params, results = calls.closed(stmt.function, (given, frozenset()), reverse=False)
    results |= calls.summaries.varied_places(stmt.function, params)
    if not given or not results:
        forward.builder.emit(stmt)
        return
    calls.check(stmt)
    twin = calls.twin(("jvp", stmt.function, params), lambda: named(stmt.function, "jvp"),
                      lambda new: _fill_forward(calls, stmt.function, new, params))
    args = (*stmt.args, *(forward.tangent_of(stmt.args[k]) for k in sorted(params)))
    tangents = [forward.twin(stmt.targets[k], strong(stmt.targets[k].type)) for k in sorted(results)]
    forward.builder.emit(Call((*stmt.targets, *tangents), twin, args, stmt.origin))


def named(function: Function, suffix: str) -> Function:
    """An empty twin."""
    source = None if suffix == "reverse" else function.source
    return Function(f"{function.name}_{suffix}", [], [], [], origin=function.origin, role=suffix,
                    size_names=function.size_names, source=source)


def _fill_forward(calls: Calls, function: Function, twin: Function, params: Places) -> None:
    from .cancelling import hold
    from .forward import Forward
    results = sorted(calls.summaries.varied_places(function, params))
    own = copy_of(function, calls.builder)
    inputs = [own.params[k] for k in sorted(params)]
    hold(own.body, inputs, own.results, calls.summaries)
    forward = Forward(calls.builder, varied_vars(own.body, inputs, calls.summaries), calls)
    added = [Var(strong(param.type), forward.named(param)) for param in inputs]
    forward.tangent.update(zip(inputs, added))
    with calls.builder.apart() as body:
        forward.block(own.body)
        tangents = [forward.tangent_of(own.results[k]) for k in results]
    twin.params, twin.body, twin.results = [*own.params, *added], body, [*own.results, *tangents]
    twin.dims, twin.again = own.dims, function.again
