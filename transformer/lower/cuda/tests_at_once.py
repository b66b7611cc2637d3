"""Tests of places in arrays that are there from the start: all are done before anything else, with one wait.

    a = fold outside(i)                         a = fold outside(i)
    if a > 0: tell                              b = fold outside(j)
    nest … x[i[k]]                              wrong = (a > 0) | (b > 0)
    b = fold outside(j)                 →       if wrong: tell
    if b > 0: tell                              nest … x[i[k]]
    nest … x[j[k]]                              if wrong: tell
                                                nest … x[j[k]]

Places that are outside are counted first; which of them is told, and what happens before, stays as it is: what the
driver does where `wrong` is true finds nothing if it was another one's place.
"""

from __future__ import annotations

from typing import Any

from ...core.grammar import Effect, If, Let, Var, type_of
from ...core.walk import atom_vars, inner_targets
from ...ops.logic import BitwiseOr
from ..expand.checks import CHECK
from ..nest.nest_walk import all_uses, defined, is_load, statements
from ..nest.nests import Block, Fold
from .placing import is_test

Found = dict[int, list[Any]]


def tests_at_once(body: Block) -> Block:
    """The body with what such tests count in front of everything; one test alone stays where it is, and so do those
    that are together already."""
    found = _tests(body)
    tests: list[Any] = [stmt for stmt in body if id(stmt) in found]
    if len({test.cond for test in tests}) < 2:
        return body
    counts = list(dict.fromkeys(each for needed in found.values() for each in needed))
    joined: Block = []
    wrong = tests[0].cond
    for cond in dict.fromkeys(test.cond for test in tests[1:] if test.cond is not wrong):
        after = Var(type_of(wrong))
        joined.append(Let((after,), BitwiseOr, (wrong, cond), {}, tests[0].origin))
        wrong = after
    for test in tests:
        test.cond = wrong
    return [*counts, *joined, *(stmt for stmt in body if stmt not in counts)]


def _tests(body: Block) -> Found:
    """Tests, each with what makes its condition, if nothing but arguments and sizes is needed for it."""
    makers = {var: stmt for stmt in body for var in (*defined(stmt), *inner_targets(stmt))}
    found: Found = {}
    for stmt in body:
        if isinstance(stmt, If) and is_test(stmt) and _tells_places(stmt) and isinstance(stmt.cond, Var):
            needed = _needed(stmt.cond, makers)
            if needed:
                found[id(stmt)] = needed
    return found


def _tells_places(stmt: If) -> bool:
    """Whether a test asks for each place again, before it raises."""
    return all(each.kind == CHECK for each in statements(stmt.then) if isinstance(each, Effect))


def _needed(var: Var, makers: dict[Var, Any]) -> list[Any] | None:
    """What makes a number, in order; None if it is not of the arguments alone."""
    made: list[Any] = []
    stmt = makers.get(var)
    if stmt is None:
        return made
    inside = [stmt, *statements(getattr(stmt, "body", []))]
    if not isinstance(stmt, (Let, Fold)) or not all(isinstance(each, (Let, Fold)) for each in inside):
        return None
    own = {each for inner in inside for each in (*defined(inner), *inner_targets(inner))}
    counted = {index.var for each in inside if isinstance(each, Fold) for index in each.indices}
    if any(is_load(each) and not own.isdisjoint(set(atom_vars(each.args[1:])) - counted) for each in inside):
        return None                              # it reads at places that are not tested yet
    for used in dict.fromkeys(all_uses([stmt])):
        before = [] if used in own else _needed(used, makers)
        if before is None:
            return None
        made += before
    return [*made, stmt]
