"""Whether results of a function are the same objects for NumPy as others: views of arguments, views of each other,
lists under two names.

    return x[1:]                a view of an argument, where compiled code gives an array of its own
    y = 2 * x; return y, y      one array under two names
"""

from __future__ import annotations

import types
from typing import Any, assert_never

import numpy as np

from ..containers import LEAVES, kind_of
from ..core.grammar import Call, Effect, Function, If, Let, Loop, Var, is_array
from ..core.types import ArrayType
from ..core.walk import all_statements
from ..read.interface import Result
from ..write.aliasing import viewed


def gives_views(function: Function, written: int) -> bool:
    """Whether a result may share memory with an argument or another result. Arguments that are results are the
    same objects; so are those that are written, whose values are the last results, so many."""
    sources = _sources(function)
    results = list(dict.fromkeys(filter(is_array, function.results)))
    kept = {*function.params, *function.results[len(function.results) - written:]}
    taken = kept.union(*(_roots(result, sources) for result in results if result in kept))
    for result in results:
        if result not in kept:
            roots = _roots(result, sources)
            if roots & taken:
                return True
            taken |= roots
    return False


PLAIN = (int, float, complex, str, bytes, type(None), np.ndarray, np.generic, np.dtype, np.ufunc, type, slice, range,
         types.FunctionType, types.BuiltinFunctionType, types.CodeType, types.ModuleType, property, ArrayType, Var,
         Result)


def gives_containers(reading: Any) -> bool:
    """Whether a list, or anything else that can be changed, may be a result under two names, or may be one of those
    that are handed in or that are found outside."""
    made = sum(map(_can_change, _parts(reading.interface.result)))
    given = [part for parameter in reading.interface.parameters for part in _parts(parameter.tree)]
    found = [part for _, _, value in reading.watched for part in _parts(value)]
    return made > 1 or made == 1 and any(map(_can_change, [*given, *found]))


def _parts(value: Any) -> list[Any]:
    """The containers in a value, and what they hold."""
    kind = kind_of(type(value))
    children = [] if kind is LEAVES else list(kind.split(value)[1])
    return [value, *(part for child in children for part in _parts(child))]


def _can_change(value: Any) -> bool:
    """Whether a value is a container or an object that may be changed."""
    return not isinstance(value, (tuple, *PLAIN))


def _sources(function: Function) -> dict[Any, list[Any]]:
    """The arrays that an array may be in the memory of."""
    found: dict[Any, list[Any]] = {}
    for stmt in all_statements(function.body):
        match stmt:
            case Let():
                found.update(dict.fromkeys(stmt.targets, [stmt.args[0]] if stmt.op.writes else [viewed(stmt)]))
            case Call():
                found.update(dict.fromkeys(stmt.targets, list(stmt.args)))
            case If():
                found.update({merge.target: [merge.then, merge.orelse] for merge in stmt.merges})
            case Loop():
                for carry in stmt.carries:
                    found[carry.out] = found[carry.entry] = [carry.init, carry.next]
                found.update({read.target: [read.source] for read in stmt.reads})
            case Effect():
                pass
            case _:
                assert_never(stmt)
    return found


def _roots(atom: Any, sources: dict[Any, list[Any]]) -> set[Any]:
    """What an array may be in the memory of, itself included."""
    seen: set[Any] = set()
    waiting = [atom]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Var) and one not in seen:
            seen.add(one)
            waiting += sources.get(one, [])
    return seen
