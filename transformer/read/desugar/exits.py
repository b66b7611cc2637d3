"""How one kind of exit (`return`, `break` or `continue`) is taken out of a block.

What follows an `if` moves into the branch that does not exit. Only where several branches may fall
through, so that what follows cannot be moved into one of them, a flag tells whether to go on:

    if a:               if not a:                   if a:                 skip = False
        continue   ->       rest                        if b:        ->   if a:
    rest                                                    continue          if b:
                                                        more                      skip = True
                                                    rest                      else:
                                                                                  more
                                                                          if not skip:
                                                                              rest
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import gast

from ...core.errors import NotSupported
from .blocks import (
    LOOPS,
    TRIES,
    Block,
    assignment,
    at,
    blocks_of,
    changed,
    conditional,
    constant,
    exits,
    falls_through,
    is_caught,
    is_exhaustive,
    leaves,
    map_blocks,
    negation,
    variable,
)
from .scope import Scope


class ExitRemover:
    """Takes one kind of exit out of a block; a subclass says what is done instead.

    In its methods, `followed` says that code beyond the block looks at the flag, and `ready` that
    the flag is known to be False where the block begins.
    """

    kind: type
    wanted_flag: str

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    @cached_property
    def flag(self) -> str:
        return self.scope.names.fresh(self.wanted_flag)

    def instead(self, statement: Any, followed: bool) -> Block:
        """What stands for an exit; what follows it in its block is gone."""
        return [self.set_flag(True, statement)] if followed else []

    def set_flag(self, value: bool, place: Any) -> Any:
        return assignment(self.flag, constant(value, place), place)

    def guarded(self, rest: Block, followed: bool, place: Any) -> Block:
        """What follows a statement that may have set the flag."""
        body = self.remove(rest, followed, ready=True)
        unset = negation(variable(self.flag, place))
        return [conditional(unset, body, [], place)] if body else []

    def remove(self, block: Block, followed: bool, ready: bool) -> Block:
        """The block without exits."""
        for position, statement in enumerate(block):
            if leaves([statement], self.kind):
                rest = block[position + 1 :]
                return block[:position] + self._remove_from(statement, rest, followed, ready)
        return block

    def _remove_from(self, statement: Any, rest: Block, followed: bool, ready: bool) -> Block:
        if isinstance(statement, self.kind):
            return self.instead(statement, followed)
        if isinstance(statement, TRIES):
            return self._remove_from_try(statement, rest, followed, ready)
        if isinstance(statement, LOOPS):
            return self.remove_from_loop(statement, rest, followed, ready)
        return self._remove_from_branches(statement, rest, followed, ready)

    def remove_from_loop(self, loop: Any, rest: Block, followed: bool, ready: bool) -> Block:
        raise AssertionError(f"{self.kind.__name__} does not leave a loop")

    def _remove_from_try(self, statement: Any, rest: Block, followed: bool, ready: bool) -> Block:
        """What follows runs where the flag is not set; the last block runs in any case."""
        check_way_out(statement, self.kind, self.scope)
        before = [] if ready else [self.set_flag(False, statement)]
        body = self._of_try(statement, lambda block: self.remove(block, followed=True, ready=True))
        orelse = self.guarded(statement.orelse, followed=True, place=statement) if statement.orelse else []
        inside = changed(statement, body=body, orelse=orelse, handlers=list(map(self._without, statement.handlers)))
        return [*before, inside, *self.guarded(rest, followed, statement)]

    def _of_try(self, statement: Any, remove: Callable[[Block], Block]) -> Block:
        """The block of a `try`: what it raises for its own handlers leaves nothing else."""
        if self.kind is gast.Raise and is_caught(statement, statement.body):
            return list(statement.body)
        return remove(statement.body) or [at(statement, gast.Pass())]

    def _without(self, handler: Any) -> Any:
        return map_blocks(handler, lambda block: self.remove(block, followed=True, ready=True))

    def _remove_from_branches(
        self, statement: Any, rest: Block, followed: bool, ready: bool
    ) -> Block:
        falling = _count_falling(statement)
        if not rest or falling == 0:
            return self._rebuilt(statement, [], followed, ready)
        if falling == 1 and not isinstance(statement, gast.With):
            return self._rebuilt(_with_default_case(statement), rest, followed, ready)
        before = [] if ready else [self.set_flag(False, statement)]
        inside = self._rebuilt(statement, [], followed=True, ready=True)
        return before + inside + self.guarded(rest, followed, statement)

    def _rebuilt(self, statement: Any, rest: Block, followed: bool, ready: bool) -> Block:
        """The statement without exits, with the rest in the branch that falls through."""

        def rewrite(block: Block) -> Block:
            whole = block + rest if rest and falls_through(block) else block
            return self.remove(whole, followed, ready)

        if type(statement) is not gast.If:
            empty = [at(statement, gast.Pass())]
            return [map_blocks(statement, lambda block: rewrite(block) or empty)]
        body, orelse = rewrite(statement.body), rewrite(statement.orelse)
        if not body and not orelse and _is_one_of(statement.test, self.scope.flags_of_exits):
            return []
        return [conditional(statement.test, body, orelse, statement)]


def _is_one_of(test: Any, names: set[str]) -> bool:
    return isinstance(test, gast.Name) and test.id in names


def _count_falling(statement: Any) -> int:
    """How many ways there are through a statement to what follows it."""
    count = sum(map(falls_through, blocks_of(statement)))
    if isinstance(statement, gast.Match) and not is_exhaustive(statement):
        count += 1
    return count


def _with_default_case(statement: Any) -> Any:
    if not isinstance(statement, gast.Match) or is_exhaustive(statement):
        return statement
    pattern = at(statement, gast.MatchAs(None, None))
    return changed(statement, cases=[*statement.cases, gast.match_case(pattern, None, [])])


def replace_exits(block: Block, kind: type, instead: Callable[[Any], Block]) -> Block:
    """The block with other statements for its exits; loops within it are passed over."""

    def replace(inner: Block) -> Block:
        return replace_exits(inner, kind, instead)

    replaced: Block = []
    for statement in block:
        if isinstance(statement, kind):
            return replaced + instead(statement)
        passed = isinstance(statement, LOOPS)
        replaced.append(statement if passed else map_blocks(statement, replace))
    return replaced


def check_way_out(statement: Any, kind: type, scope: Scope) -> None:
    """Refuses an exit that would swallow an exception: out of `finally`, or out of `except*`."""
    block = statement.finalbody if isinstance(statement, gast.Try) else [statement]
    found = next(exits(block, kind), None)
    if found is not None:
        word = kind.__name__.lower()
        raise NotSupported(
            f"`{word}` inside `{'finally' if isinstance(statement, gast.Try) else 'try'}` is not supported",
            scope.origin(found),
            "It would discard an exception that is being raised.",
            "Move it after the `try` statement.",
        )
