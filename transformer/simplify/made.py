"""Tests of sizes that NumPy repeats, for source that it runs; see `core.signs`."""

from __future__ import annotations

from typing import Any

from ..core.builder import Builder
from ..core.grammar import Call, Effect, Function, Let
from ..core.guards import Assumptions
from ..core.signs import without_tests_of_signs
from ..core.sizes import Extent, Size
from ..core.walk import all_statements, blocks_of, has_effects, reachable
from .dead import Before, dead


def without_repeated_tests(function: Function, assumptions: Assumptions) -> None:
    """Drops them, in place, and what was needed for them alone."""
    with Builder(assumptions).active():
        for each in reachable(function):
            if without_tests_of_signs(each.body, _tested_by_numpy, blocks_of):
                dead(each, assumptions, Before.SOURCE)


def _tested_by_numpy(stmt: Any) -> tuple[Extent, ...] | None:
    """The sizes that NumPy tests in a statement; None for one that does something else as well."""
    if any(map(_does_more, all_statements([stmt]))):
        return None
    if not isinstance(stmt, Let) or not stmt.op.sized:
        return ()
    given = (size for item in stmt.attrs.values() for size in (item if isinstance(item, tuple) else (item,)))
    return tuple(size for size in given if isinstance(size, (int, Size)))


def _does_more(stmt: Any) -> bool:
    if isinstance(stmt, Call):
        return has_effects(stmt.function)
    return isinstance(stmt, Effect) and stmt.kind != "comment" or isinstance(stmt, Let) and stmt.op.writes
