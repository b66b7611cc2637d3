"""When variables are used: in the order of the program, which later uses may follow an earlier one.

What is on the other side of a branch does not follow, and what a loop uses of the outside may follow whatever is done
in the loop.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import assert_never

from ..core.grammar import Block, Call, Effect, Function, If, Let, Loop, Stmt, Var
from ..core.walk import WRITES, atom_vars, head_uses, inner_targets, tail_uses, targets_of

Path = tuple[tuple[Stmt, str], ...]            # the statements around, each with the block of it


@dataclass(frozen=True, slots=True)
class Use:
    """A mention of a variable by a statement, None where a block ends; `writes` says that a new version of it comes
    about there, or in a loop that begins there."""

    stmt: Stmt | None
    time: int
    path: Path
    writes: bool

    def may_follow(self, other: Use) -> bool:
        """Whether it may come after another use of a variable that was defined in the same iteration."""
        if self.time <= other.time:
            return False
        for (own, side), (its, other_side) in zip(self.path, other.path, strict=False):
            if own is not its:
                return True
            if side != other_side:
                return not isinstance(own, If)
        return True


class Timeline:
    """The uses of every variable of a function, and the blocks that variables are defined in."""

    def __init__(self, function: Function) -> None:
        self.uses: dict[Var, list[Use]] = defaultdict(list)
        self.home: dict[Var, Path] = dict.fromkeys(function.params, ())
        self._time = 0
        self._block(function.body, ())
        self._use(atom_vars(function.results), ())

    def is_used_after(self, write: Use, variables: tuple[Var, ...], but: Collection[Stmt | None]) -> bool:
        """Whether a use of the variables, which stand for one value, may follow a write, `but` by some statements."""
        loops = _loops(write.path)
        return any(_loops(self.home[var]) != loops for var in variables) or any(
            use.may_follow(write) and use.stmt not in but for var in variables for use in self.uses[var])

    def join(self, old: Var, new: Var) -> None:
        """Counts the uses of one variable as those of another."""
        self.uses[new] += self.uses.pop(old)

    def _block(self, block: Block, path: Path) -> None:
        for stmt in block:
            self._time += 1
            self._use(head_uses(stmt), path, stmt)
            self.home.update(dict.fromkeys(targets_of(stmt), path))
            match stmt:
                case If():
                    self._branch(stmt, path)
                case Loop():
                    self._loop(stmt, path)
                case Let() | Call() | Effect():
                    pass
                case _:
                    assert_never(stmt)

    def _branch(self, stmt: If, path: Path) -> None:
        for side in ("then", "orelse"):
            inside = (*path, (stmt, side))
            self._block(getattr(stmt, side), inside)
            self._use(atom_vars(tuple(getattr(merge, side) for merge in stmt.merges)), inside)

    def _loop(self, stmt: Loop, path: Path) -> None:
        inside: Path = (*path, (stmt, "body"))
        self.home.update(dict.fromkeys(inner_targets(stmt), inside))
        self._block(stmt.test, (*path, (stmt, "test")))
        self._block(stmt.body, inside)
        self._use(tail_uses(stmt), inside)

    def _use(self, variables: Iterable[Var], path: Path, stmt: Stmt | None = None) -> None:
        for var in variables:
            self.uses[var].append(Use(stmt, self._time, path, _writes(stmt, var)))
        self._time += 1


def _writes(stmt: Stmt | None, var: Var) -> bool:
    if isinstance(stmt, Loop):
        return any(carry.init is var for carry in stmt.carries)
    return isinstance(stmt, Let) and stmt.op.name in WRITES and stmt.args[0] is var


def _loops(path: Path) -> list[Stmt]:
    return [stmt for stmt, _ in path if isinstance(stmt, Loop)]
