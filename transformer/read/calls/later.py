"""Which names of a call the rest of it may still read.

What only such names refer to may be written through another name, although it is seen as two arrays:
nobody looks at the other one any more. The text decides, without regard to assignments between.

>>> frame = frame_of('''
... def f(x, c):
...     if c:
...         part = x[1:]
...         first = part[0]
...     x[0] = 1
...     return x, first
... ''')
>>> frame.progress.append(([*frame.scope.node.body], 1))      # at `x[0] = 1`
>>> sorted(read_later(frame))
['first', 'x']
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import gast

from ..sources.scope import COMPREHENSIONS, FUNCTIONS, loads_in

if TYPE_CHECKING:
    from ..frames import Frame


def read_later(frame: Frame) -> set[str]:
    """The names that the rest of a call may read, functions made in it included. The statements around
    the one being read are read again where they are loops; of a branch, only what it leads to is."""
    found = set(_read_anytime(frame.scope.node))
    innermost = len(frame.progress) - 1
    for level, (body, place) in enumerate(frame.progress):
        past = isinstance(body[place], gast.If) and level < innermost
        for statement in body[place + past :]:
            found |= _reads(statement)
    return found


@lru_cache(maxsize=1024)
def _read_anytime(node: Any) -> frozenset[str]:
    """Names that functions and generators inside of a function read, and those that it returns."""
    if not isinstance(node, gast.FunctionDef | gast.AsyncFunctionDef):
        return frozenset() if not isinstance(node, gast.AST) else _reads(node)
    inner = [each for each in gast.walk(node) if each is not node and isinstance(each, (*FUNCTIONS, *COMPREHENSIONS))]
    last = [node.body[-1]] if isinstance(node.body[-1], gast.Return) else []
    return frozenset().union(*map(_reads, (*inner, *last)))


@lru_cache(maxsize=4096)
def _reads(node: Any) -> frozenset[str]:
    augmented = (each.target for each in gast.walk(node) if isinstance(each, gast.AugAssign))
    return frozenset(loads_in(node)) | {target.id for target in augmented if isinstance(target, gast.Name)}


def frame_of(text: str) -> Frame:
    """The frame of a function given by its text, for the example above."""
    from ..frames import Frame
    from ..sources.scope import Scope

    node = gast.parse(text).body[0]
    return Frame(Scope(node), "<example>", node.name, {})
