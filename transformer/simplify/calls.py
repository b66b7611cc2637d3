"""Calls: parameters and results that nobody needs, and fields of what is saved that nobody looks at.

>>> from ..core.walk import reachable
>>> from .examples import shown
>>> shown(lambda function, _: calls(function, reachable(function)[1:], Before.TRANSFORMATIONS), '''
... function f(x: float, n: int)
...     y: float, z: float = call g(x, n, 2.0)
...     return y
... function g(x: float, n: int, c: float)
...     t: bool = equal(n, 0)
...     if t
...         else
...             k: int = subtract(n, 1)
...             q: float, r: float = call g(x, k, c)
...             s: float = multiply(q, x)
...             u: float = multiply(r, c)
...         merge v: float = x, s
...         merge w: float = x, u
...     return v, w
... ''')
function f(x: float, n: int)
    y: float = call g(x, n)
    return y
<BLANKLINE>
function g(x: float, n: int)
    t: bool = equal(n, 0)
    if t
        else
            k: int = subtract(n, 1)
            q: float = call g(x, k)
            s: float = multiply(q, x)
        merge v: float = x, s
    return v
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from ..core.dims import dims_of, mentioned_dims
from ..core.grammar import Call, Function, Let
from ..core.walk import all_statements
from ..ops.saved import AddSaved, Layout, Pack, Unpack, ZerosLikeSaved
from .dead import Before, Liveness


def calls(function: Function, called: list[Function], before: Before) -> bool:
    """Removes what no call needs, of a function and of those that are `called` in it, however deep; says whether there
    was any."""
    whole = Whole(function, before, called)
    whole.sweep()
    return whole.changed


class Whole(Liveness):
    """What is live in a function together with those that it calls: a result is live where a call needs
    it, an argument where its parameter is."""

    def __init__(self, function: Function, before: Before, called: list[Function]) -> None:
        self.functions = [function, *called]
        self.sites: dict[Function, list[Call]] = defaultdict(list)
        self.packs: dict[Layout, list[Let]] = defaultdict(list)
        self.unpacks: dict[Layout, list[Let]] = defaultdict(list)
        statements = [stmt for each in self.functions for stmt in all_statements(each.body)]
        self.is_plain = any(isinstance(s, Let) and s.op in (AddSaved, ZerosLikeSaved) for s in statements)
        for stmt in statements:
            self._collect(stmt)
        super().__init__(function, before, called)

    def _collect(self, stmt: Any) -> None:
        if isinstance(stmt, Call):
            self.sites[stmt.function].append(stmt)
        elif isinstance(stmt, Let) and stmt.op in (Pack, Unpack) and not self.is_plain:
            (self.packs if stmt.op is Pack else self.unpacks)[stmt.attrs["layout"]].append(stmt)

    def _enter_let(self, stmt: Let) -> None:
        if stmt.op is Pack and not self.is_plain:
            self.origin[stmt.target] = stmt, ()
        elif stmt.op is Unpack and not self.is_plain:
            fields = [pack.args for pack in self.packs[stmt.attrs["layout"]]]
            for k, target in enumerate(stmt.targets):
                self.origin[target] = stmt, (stmt.args[0], *(args[k] for args in fields))
        else:
            super()._enter_let(stmt)

    def _enter_call(self, stmt: Call) -> None:
        for target, result in zip(stmt.targets, stmt.function.results):
            self.origin[target] = stmt, (result,)

    def _used_by(self, effect: Any) -> Any:
        return () if isinstance(effect, Call) else super()._used_by(effect)

    def _mark(self, function: Function) -> None:
        for each in self.functions[1:]:
            for k, param in enumerate(each.params):
                self.origin[param] = None, tuple(site.args[k] for site in self.sites[each])  # type: ignore
        super()._mark(function)
        while any([self._need_dims(each) for each in self.functions[1:]]):
            self._follow()

    def _need_dims(self, function: Function) -> bool:
        """Keeps a parameter for each dimension that is mentioned; says whether one more."""
        providers = dims_of([param for param in function.params if param in self.live])
        missing = False
        for dim in mentioned_dims([s for s in function.body if s in self.kept], function.results):
            if dim in providers:
                function.dims[dim] = providers[dim]
            elif dim in function.dims and function.dims[dim][0] not in self.live:
                self._need((function.dims[dim][0],))
                missing = True
        return missing

    # -- sweeping ----------------------------------------------------------------------------

    def sweep(self) -> None:
        wanted = {each: self._wanted(each) for each in self.functions[1:]}
        for each in self.functions:
            each.body = self.swept(each.body)
        for function, (params, results) in wanted.items():
            self._shrink_function(function, params, results)
        for layout in self.unpacks.keys() | self.packs.keys():
            self._shrink_layout(layout)

    def _wanted(self, function: Function) -> tuple[list[int], list[int]]:
        sites = [site for site in self.sites[function] if site in self.kept]
        params = [k for k, param in enumerate(function.params) if param in self.live]
        results = [k for k in range(len(function.results)) if any(site.targets[k] in self.live for site in sites)]
        return params, results

    def _shrink_function(self, function: Function, params: list[int], results: list[int]) -> None:
        self.changed |= len(params) < len(function.params) or len(results) < len(function.results)
        for site in self.sites[function]:
            site.args = tuple(site.args[k] for k in params)
            site.targets = tuple(site.targets[k] for k in results)
        function.params = [function.params[k] for k in params]
        function.results = [function.results[k] for k in results]
        told = dims_of(function.params)                # by others, where the parameter that told it goes
        function.dims = {dim: place if place[0] in function.params else told[dim]
                         for dim, place in function.dims.items() if place[0] in function.params or dim in told}

    def _shrink_layout(self, layout: Layout) -> None:
        live = {k for stmt in self.unpacks[layout] for k, target in enumerate(stmt.targets) if target in self.live}
        gone = set(range(len(layout.carries))) - live
        self.changed |= bool(gone)
        for stmt in self.packs[layout] if gone else ():
            stmt.args = tuple(atom for k, atom in enumerate(stmt.args) if k not in gone)
            stmt.attrs = {**stmt.attrs, "layout": layout.without(gone)}
        for stmt in self.unpacks[layout] if gone else ():
            stmt.targets = tuple(target for k, target in enumerate(stmt.targets) if k not in gone)
            stmt.attrs = {**stmt.attrs, "layout": layout.without(gone)}
