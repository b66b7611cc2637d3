"""Copy propagation: another name for a value, a merge of equal sides, a carry that never changes.

>>> from .examples import shown
>>> shown(copies, '''
... function f(c: bool, x: float, n: int)
...     y: float = same(x)
...     if c
...         merge z: float = y, x
...     loop k: int in n
...         carry s: float = z
...         body
...             effect print(s)
...         next s_1: float = s
...     return s_1
... ''')
function f(c: bool, x: float, n: int)
    if c
    loop k: int in n
        body
            effect print(x)
    return x
"""

from __future__ import annotations

from ..core.grammar import UNDEFINED, Atom, Function, If, Let, Loop, Var, type_of
from ..core.guards import Assumptions
from .rewriter import Rewriter, same_atom
from .uses import Uses, number_for


def copies(function: Function, assumptions: Assumptions, apart: bool = True) -> bool:
    """Removes copies in place; says whether there were any. Those of `again` and `stop_gradient` stay, unless they need
    not be kept `apart`."""
    return Copies(function, assumptions, ("same",) if apart else ("same", "again", "stop_gradient")).run()


class Copies(Rewriter):
    def __init__(self, function: Function, assumptions: Assumptions, names: tuple[str, ...]) -> None:
        super().__init__(function, assumptions)
        self.names = names
        self._uses: Uses | None = None

    def stands_for(self, var: Var, atom: Atom) -> Atom | None:
        """The atom that stands for `var`, a copy of `atom`; None where the types do not let it."""
        if atom is UNDEFINED:
            return None
        if self.same_type(var.type, type_of(atom)):
            return atom
        self._uses = self._uses or Uses(self.function)
        return number_for(var, atom, self._uses, self.mapping)

    def let(self, stmt: Let) -> None:
        if stmt.op.name in self.names:
            atom = self.stands_for(stmt.target, stmt.args[0])
            if atom is not None:
                return self.replace(stmt.target, atom)
        self.out.append(stmt)
        return None

    def after_branch(self, stmt: If) -> None:
        for merge in list(stmt.merges):
            if same_atom(merge.then, merge.orelse):
                atom = self.stands_for(merge.target, merge.then)
                if atom is not None:
                    self.replace(merge.target, atom)
                    stmt.merges.remove(merge)
        self.out.append(stmt)

    def before_loop(self, stmt: Loop) -> None:
        for carry in list(stmt.carries):
            if carry.next is carry.entry or same_atom(carry.next, carry.init):
                entry = self.stands_for(carry.entry, carry.init)
                out = self.stands_for(carry.out, carry.init)
                if entry is not None and out is not None:
                    self.replace(carry.entry, entry)
                    self.replace(carry.out, out)
                    stmt.carries.remove(carry)
