"""Activity: which variables carry derivatives from the chosen parameters to the results.

A variable is *varied* when it depends on an active parameter through floating point values, and
*useful* when a result depends on it in that way. Only variables that are both get a cotangent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, assert_never

from ..core.grammar import Block, Call, Effect, Function, If, Let, Loop, Stmt, Var, type_of
from ..core.walk import blocks_of


def active_vars(block: Block, inputs: Iterable[Var], results: Iterable[object], summaries: Summaries | None = None
                ) -> set[Var]:
    """The variables that are both varied from `inputs` and useful for `results`."""
    summaries = summaries or Summaries()
    return varied_vars(block, inputs, summaries) & useful_vars(block, results, summaries)


def varied_vars(block: Block, inputs: Iterable[Var], summaries: Summaries) -> set[Var]:
    """The variables that depend on `inputs` through floating point values."""
    varied = set(inputs)
    _until_stable(block, varied, lambda: _mark_varied(block, varied, summaries))
    return varied


def useful_vars(block: Block, results: Iterable[object], summaries: Summaries) -> set[Var]:
    """The variables on which `results` depend through floating point values."""
    useful = {atom for atom in results if isinstance(atom, Var)}
    _until_stable(block, useful, lambda: _mark_useful(block, useful, summaries))
    return useful


Places = frozenset[int]
Table = dict[tuple[Function, Places], Places]


class Summaries:
    """Which results of a function vary with which of its parameters, and which parameters are useful for
    which results; found by iteration for functions that call themselves."""

    def __init__(self) -> None:
        self._varied: Table = {}
        self._useful: Table = {}
        self._is_solving = False

    def varied_results(self, stmt: Call, varied: set[Var]) -> list[Var]:
        """The targets of a call that vary when these variables do."""
        places = frozenset(k for k, atom in enumerate(stmt.args) if atom in varied)
        return [stmt.targets[k] for k in self.varied_places(stmt.function, places)]

    def varied_places(self, function: Function, params: Places) -> Places:
        """The results of a function that vary when these parameters do."""
        return self._solved(self._varied, (function, params), self._results) if params else frozenset()

    def useful_args(self, stmt: Call, useful: set[Var]) -> list[Var]:
        """The arguments of a call that are useful when these variables are."""
        places = frozenset(k for k, target in enumerate(stmt.targets) if target in useful)
        atoms = [stmt.args[k] for k in self.useful_places(stmt.function, places)]
        return [atom for atom in atoms if isinstance(atom, Var) and atom.type.is_inexact]

    def useful_places(self, function: Function, results: Places) -> Places:
        """The parameters of a function that are useful for these results."""
        return self._solved(self._useful, (function, results), self._params) if results else frozenset()

    def _results(self, function: Function, places: Places) -> Places:
        varied = varied_vars(function.body, [function.params[k] for k in places], self)
        return frozenset(k for k, atom in enumerate(function.results) if atom in varied)

    def _params(self, function: Function, places: Places) -> Places:
        useful = useful_vars(function.body, [function.results[k] for k in places], self)
        return frozenset(k for k, param in enumerate(function.params) if param in useful and param.type.is_inexact)

    def _solved(self, table: Table, key: Any, once: Callable[[Function, Places], Places]) -> Places:
        """What `once` says of a key; while others are being found, what is known by now."""
        if key not in table:
            table[key] = frozenset()
            if not self._is_solving:
                self._is_solving = True
                while any([self._grows(table, each, once) for each in list(table)]):
                    pass
                self._is_solving = False
        return table[key]

    def _grows(self, table: Table, key: Any, once: Callable[[Function, Places], Places]) -> bool:
        before, count = table[key], len(table)
        table[key] = once(*key)
        return table[key] != before or len(table) > count


def _until_stable(block: Block, found: set[Var], step: Callable[[], None]) -> None:
    """Goes through a block until nothing more is found: once where there is nothing but plain statements."""
    step()
    before = len(found) if all(type(stmt) is Let for stmt in block) else -1
    while len(found) != before:
        before = len(found)
        step()


def differentiable_args(stmt: Let) -> list[Var]:
    """The operands through which derivatives pass."""
    if stmt.op.derivative is not None:
        return []
    args = stmt.args if stmt.op.passing is None else stmt.op.passing(stmt.args, **stmt.attrs)
    return [a for a in args if isinstance(a, Var) and type_of(a).is_inexact]


def flows(stmt: Stmt) -> Iterable[tuple[Var, object]]:
    """Pairs (target, source): `target` takes the value of `source` at an edge of a statement."""
    match stmt:
        case If():
            for merge in stmt.merges:
                yield merge.target, merge.then
                yield merge.target, merge.orelse
        case Loop():
            for carry in stmt.carries:
                yield carry.entry, carry.init
                yield carry.entry, carry.next
                yield carry.out, carry.entry
                yield carry.out, carry.init
                yield carry.out, carry.next
            for read in stmt.reads:
                yield read.target, read.source
            for record in stmt.records:
                yield record.target, record.value
        case Let() | Call() | Effect():
            pass
        case _:
            assert_never(stmt)


def _mark_varied(block: Block, varied: set[Var], summaries: Summaries) -> None:
    for stmt in block:
        if isinstance(stmt, Let):
            if not varied.isdisjoint(differentiable_args(stmt)):
                varied.update(t for t in stmt.targets if t.type.is_inexact)
            continue
        if isinstance(stmt, Call):
            varied.update(summaries.varied_results(stmt, varied))
            continue
        _pass_on(stmt, varied, forwards=True)
        for inner in blocks_of(stmt):
            _mark_varied(inner, varied, summaries)
        _pass_on(stmt, varied, forwards=True)


def _mark_useful(block: Block, useful: set[Var], summaries: Summaries) -> None:
    for stmt in reversed(block):
        if isinstance(stmt, Let):
            if not useful.isdisjoint(stmt.targets):
                useful.update(differentiable_args(stmt))
            continue
        if isinstance(stmt, Call):
            useful.update(summaries.useful_args(stmt, useful))
            continue
        _pass_on(stmt, useful, forwards=False)
        for inner in reversed(blocks_of(stmt)):
            _mark_useful(inner, useful, summaries)
        _pass_on(stmt, useful, forwards=False)


def _pass_on(stmt: Stmt, found: set[Var], forwards: bool) -> None:
    for target, source in flows(stmt):
        if not isinstance(source, Var) or not target.type.is_inexact:
            continue
        if forwards and source in found:
            found.add(target)
        elif not forwards and target in found and source.type.is_inexact:
            found.add(source)
