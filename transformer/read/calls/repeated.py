"""Which functions stay functions in source that is read by people: those whose lines would be there several times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.grammar import Block, Function, Let, Stmt
from ...core.sizes import Extent
from ...core.walk import all_statements
from ..branches.structures import Fixed, Node, Slot, Template
from .surroundings import Surroundings

FEWEST = 8                             # variables of a function of more than a few lines
SPARED = 9                              # lines that are worth a function and its reverse
OF_CALL = 2                             # lines of a call of each
OF_STATEMENT = 0.65                     # of a statement and its reverse: several stand in one,
OF_BLOCKS = 4                           # of a loop or a branch and its reverse

Templates = dict[str, Template]


@dataclass(eq=False)
class ReadCall:
    """A call that was read in place: of which function, what is known of its arguments and of what it finds around it,
    the sizes of the arguments, and the statements it made."""

    key: Any
    templates: Templates
    around: Surroundings
    sizes: list[Extent]
    block: Block


def repeated(calls: list[ReadCall], function: Function) -> dict[Any, list[ReadCall]]:
    """The functions to keep, with their calls. What stands in further calls of one of them will not
    be there, so the one that spares most is chosen first."""
    there = set(all_statements(function.body))
    left = {call: statements for call in calls
            if (statements := set(all_statements(call.block))) and not statements.isdisjoint(there)}
    found: dict[Any, list[ReadCall]] = {}
    while best := _best(left):
        found[best[0].key] = best
        gone = set[Stmt]().union(*(left[call] for call in best[1:]))
        left = {call: statements for call, statements in left.items()
                if call.key not in found and statements.isdisjoint(gone)}
    return found


def _best(left: dict[ReadCall, set[Stmt]]) -> list[ReadCall]:
    """The calls of the function that spares most."""
    groups = defaultdict[Any, list[ReadCall]](list)
    for call in left:
        groups[call.key, kind_of(call.templates), call.around].append(call)
    worth = {key: sum(_lines(left[call]) for call in group[1:]) - OF_CALL * len(group)
             for key, group in groups.items() if len(group) > 1}
    best = max(worth, key=worth.__getitem__, default=None)
    return groups[best] if best is not None and worth[best] >= SPARED else []


def _lines(statements: set[Stmt]) -> float:
    return sum(OF_STATEMENT if isinstance(stmt, Let) else OF_BLOCKS for stmt in statements)


def kind_of(templates: Templates) -> Any:
    """What is equal for calls of one function."""
    return tuple((name, *_shape(template)) for name, template in templates.items())


def _shape(template: Template) -> Iterator[Any]:
    match template:
        case Slot():
            yield template.type.dtype, template.type.weak, len(template.type.sizes)
        case Fixed(value) if type(value) in (float, complex):          # which may become a parameter
            yield np.dtype(type(value)), True, 0
        case Fixed(value):
            yield value if type(value) in (str, int, bool, type(None)) else id(value)
        case Node():
            yield template.cls
            for child in template.children:
                yield from _shape(child)
