"""What a function of its own takes from the code around it becomes parameters.

    def main(x, n):                               rec(k) uses x, which belongs to main:
        def rec(k): … x … rec(k - 1)              rec(k, x), called by rec(k - 1, x)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...core.dims import dims_of, mentioned_dims
from ...core.grammar import Atom, Call, Function, Var
from ...core.sizes import Dim, Extent, Size, Unknown
from ...core.types import INT
from ...core.walk import Copier, all_definitions, all_statements, atom_vars, called_in, free_vars, reachable, renamed

if TYPE_CHECKING:
    from ..reader import Reader

Source = Var | Dim


def lift(reader: Reader, function: Function) -> list[Atom]:
    """Gives parameters to a function, and to those that it calls, for the variables and dimensions that
    they take from outside; these are what a call of the function has to pass besides its arguments."""
    group = [each for each in reachable(function) if each not in reader.recursion.lifted]
    reader.recursion.lifted.update(group)
    needs = {each: dict.fromkeys(_own_needs(each)) for each in group}
    growing = True
    while growing:
        growing = False
        for each in group:
            before = len(needs[each])
            defined = _defined(each)
            for callee in called_in(each):
                needs[each].update({source: None for source in needs.get(callee, ()) if source not in defined})
            growing |= len(needs[each]) > before
    for each in group:
        _add_parameters(each, needs)
    return [_atom(source) for source in needs[function]]


def _defined(function: Function) -> set[Source]:
    return {*function.params, *all_definitions(function.body), *function.dims}


def _own_needs(function: Function) -> Iterator[Source]:
    """What a function itself takes from outside."""
    ends = [var for result in function.results for var in atom_vars(result)]
    own = set(function.params)
    free = [var for var in free_vars(function.body, ends) if var not in own]
    for var in (*function.params, *free):
        yield from (integer for integer in atom_vars(var.type) if integer not in own)
    yield from free
    found = {*function.dims, *dims_of([*function.params, *free])}
    yield from (dim for dim in mentioned_dims(function.body, function.results, function.params) if dim not in found)


def _add_parameters(function: Function, needs: dict[Function, dict[Source, None]]) -> None:
    for stmt in all_statements(function.body):
        if isinstance(stmt, Call) and stmt.function in needs:
            stmt.args = (*stmt.args, *map(_atom, needs[stmt.function]))
    sizes: dict[Dim, Extent] = {}
    copier = Copier({}, sizes.get)
    for source in needs[function]:
        if isinstance(source, Dim):
            param = Var(INT, source.name if source.name.isidentifier() else "n")
            sizes[source] = Size.of(Unknown(param))
        else:
            param = copier.mapping[source] = Var(copier.type(source.type), source.name)
        function.params.append(param)
    for stmt in function.body:
        renamed(stmt, copier)
    function.results = list(copier.args(function.results))
    for param in function.params:
        param.type = copier.type(param.type)
    function.dims = {**dims_of(function.params), **function.dims}


def _atom(source: Source) -> Atom:
    return Size.of(source) if isinstance(source, Dim) else source
