"""Exits that leave all loops around them: each loop is left by `break`, and whoever is behind one asks the flag."""

from __future__ import annotations

from typing import Any

import gast

from .blocks import LOOPS, TRIES, Block, at, changed, conditional, falls_through, leaves, map_blocks, variable
from .exits import ExitRemover, check_way_out


class FarExitRemover(ExitRemover):
    """Takes exits out of blocks and of the loops in them; a subclass says what stands for one."""

    def remove_from_loop(self, loop: Any, rest: Block, followed: bool, ready: bool) -> Block:
        before = [] if ready else [self.set_flag(False, loop)]
        after = self.guarded(rest, followed, loop) if falls_through([loop]) else []
        return [*before, map_blocks(loop, self._leave_loop), *after]

    def _leave_loop(self, block: Block) -> Block:
        """A block inside a loop, with a `break` for each exit."""
        left: Block = []
        for statement in block:
            if isinstance(statement, self.kind):
                return [*left, *self.instead(statement, followed=True), self._break(statement)]
            left.append(self._without_exits(statement))
            if isinstance(statement, LOOPS) and leaves([statement], self.kind):
                if not falls_through([statement]):
                    return [*left, self._break(statement)]
                left.append(self._break_if_left(statement))
        return left

    def _without_exits(self, statement: Any) -> Any:
        if not leaves([statement], self.kind):
            return statement
        if isinstance(statement, TRIES):
            check_way_out(statement, self.kind, self.scope)
            others = map_blocks(changed(statement, body=[]), self._leave_loop)
            return changed(others, body=self._of_try(statement, self._leave_loop))
        return map_blocks(statement, self._leave_loop)

    def _break(self, place: Any) -> Any:
        statement = at(place, gast.Break())
        self.scope.flag_of_break[statement] = self.flag
        self.scope.flags_of_exits.add(self.flag)
        return statement

    def _break_if_left(self, loop: Any) -> Any:
        return conditional(variable(self.flag, loop), [self._break(loop)], [], loop)
