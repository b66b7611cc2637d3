"""What a value is of: the one variable of the user that it is made from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core.grammar import Let, Var
from .flow import Flow
from .variables import given_name

SPOKEN = 8                   # letters of a subject that still reads well behind another name


class Subjects:
    """The subject of `1 + np.exp(-f)` is `f`; that of `f * g` is unknown, as of what a loop or branch hands over."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.known: dict[Var, str | None] = {}

    def of(self, var: Var) -> str | None:
        """The name of the only variable with a name that a value without one is made from."""
        if var not in self.known:
            self.known[var] = None
            self.known[var] = self._found(var)
        return self.known[var]

    def _found(self, var: Var) -> str | None:
        stmt: Any = self.flow.needed.homes[var].stmt
        if not isinstance(stmt, Let):
            return None
        subjects = {given_name(atom) or self.of(atom) for atom in stmt.args if isinstance(atom, Var)}
        name = subjects.pop() if len(subjects) == 1 else None
        return name if name and name.isidentifier() and len(name) <= SPOKEN else None


class Spoken(NamedTuple):
    """A value that would get a name that is made up, what it is of, and the loops around it."""

    var: Var
    subject: str | None
    loops: tuple[Any, ...]

    def stands_out(self, group: Sequence[Spoken]) -> bool:
        """Whether others of the group are there together with it, and none of them is of its subject."""
        if any(other.subject == self.subject and other is not self and self._meets(other) for other in group):
            return False
        return any(other.subject != self.subject and self._meets(other) for other in group)

    def _meets(self, other: Spoken) -> bool:
        """A name is used again only in another loop that is not around this one."""
        return all(mine is theirs for mine, theirs in zip(self.loops, other.loops, strict=False))
