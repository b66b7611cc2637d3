"""Generators without an end, whose items are taken one by one: the lines behind the `yield` run when the next is taken.

    def powers(x):                       p = 1.0
        p = 1.0                          for k in range(n):
        while True:                          if k > 0:
            yield p                              p = p * x
            p = p * x                        … p …
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import gast

from ...core.errors import NotSupported
from ..branches.conditions import branch, truth
from ..branches.journal import Attribute
from ..operators import binary
from ..values import Producer, known_of
from .ahead import Ahead
from .producers import begin

if TYPE_CHECKING:
    from ..reader import Reader
    from .iteration import Iteration

ENDLESS = 2**62


@dataclass(frozen=True, eq=False)
class Steps:
    """Marks what gives its items in their order only."""

    __tree_leaf__: ClassVar[bool] = True
    name: str


class Beginning(Ahead):
    """The lines in front of the first item, which Python runs when that is taken, and not before."""

    is_over = False

    def check_unchanged(self) -> None:
        if not self.is_over:
            super().check_unchanged()


@dataclass(frozen=True, eq=False)
class Parts:
    """The lines of a generator: in front of its loop, and in the loop around the item that it yields."""

    setup: list[Any]
    before: list[Any]
    item: Any
    behind: list[Any]


def parts_of(made: Producer) -> Parts | None:
    """The parts of a generator that is a `while True` around one `yield`."""
    body = made.frame.scope.node.body
    loop, setup = body[-1], body[:-1]
    if not is_endless(loop) or any(_yields(each) for each in setup):
        return None
    places = [k for k, each in enumerate(loop.body) if _yields(each)]
    if len(places) != 1 or not _is_yield(loop.body[places[0]]):
        return None
    place = places[0]
    return Parts(setup, loop.body[:place], loop.body[place].value, loop.body[place + 1:])


def is_endless(loop: Any) -> bool:
    return isinstance(loop, gast.While) and isinstance(loop.test, gast.Constant) and bool(loop.test.value)


def _yields(node: Any) -> bool:
    return any(isinstance(each, gast.Yield | gast.YieldFrom) for each in gast.walk(node))


def _is_yield(statement: Any) -> bool:
    return isinstance(statement, gast.Expr) and isinstance(statement.value, gast.Yield)


def steps_of(reader: Reader, made: Producer) -> Iteration | None:
    """What runs over the items of a generator, one after the other, where that has no end."""
    parts = parts_of(made) if made.steps is None else None
    if parts is not None:
        begin(reader, made, f"the generator {made.frame.function}")
        reader.journal.write(Attribute(made, "steps"), _stepping(reader, made, parts))
    return reader.usable(made.steps)


def _stepping(reader: Reader, made: Producer, parts: Parts) -> Iteration:
    from .iteration import Iteration, Use

    frame, begins = made.frame, Beginning(reader, (made,))
    with reader.inside(frame):
        reader.execute([*parts.setup, *parts.before])
    begins.check_computed()

    def advance() -> None:
        with reader.inside(frame):
            reader.execute([*parts.behind, *parts.before])

    def element(k: Any) -> Any:
        begins.is_over = True
        if known_of(k) != 0:
            branch(reader, truth(reader, binary(reader, operator.gt, k, 0)), advance, lambda: None)
        with reader.inside(frame):
            return None if parts.item.value is None else reader.evaluate(parts.item.value)

    return Iteration(ENDLESS, element, held=(Steps(frame.function), begins), use=reader.own(Use()))


def check_any_order(reader: Reader, iteration: Iteration) -> None:
    """Refuses generators of which not each item is taken once, in their order."""
    from .iteration import Iteration

    for each in iteration.held:
        if isinstance(each, Iteration):
            check_any_order(reader, each)
        elif isinstance(each, Steps):
            raise NotSupported(
                f"the items of the generator {each.name} cannot be used in another order",
                reader.builder.origin,
                why="It never ends, and its items are computed one at a time.",
                instead="Pass the number of items to it, or write an explicit loop.",
            )
