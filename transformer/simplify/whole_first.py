"""Arrays of zeros that a derivative fills in pieces and adds to all of another: the pieces are added to that one.

>>> from .examples import shown
>>> shown(whole_first, '''
... function f(y: f64[n], d: f64[n - 1])
...     effect comment(text='reverse')
...     z: f64[n] = zeros(shape=(<n>,))
...     a: f64[n] = put(z, d, index=(slice(None, -1, None),))
...     b: f64[n] = addat(a, d, index=(slice(1, None, None),))
...     t: f64[n] = multiply(2, y)
...     dy: f64[n] = add(b, t)
...     return dy
... ''')
function f(y: f64[n], d: f64[n - 1])
    effect comment(text='reverse')
    z: f64[n] = zeros(shape=(<n>,))
    t: f64[n] = multiply(2, y)
    a: f64[n] = addat(t, d, index=(slice(None, -1, None),))
    dy: f64[n] = addat(a, d, index=(slice(1, None, None),))
    return dy
"""

from __future__ import annotations

from ..core.grammar import Atom, Block, Function, Let, Var
from ..core.guards import Assumptions
from ..core.headings import of_derivative
from ..core.walk import blocks_of, counted_uses
from ..ops.arithmetic import Add
from ..ops.indexing import AddAt, Put
from .aliasing import may_share
from .apart import are_apart, selects_once, written_part
from .fold import Fold


def whole_first(function: Function, assumptions: Assumptions) -> bool:
    """Rewrites such sums of a function in place; says whether there were any."""
    return _WholeFirst(function, assumptions).block(function.body)


class _WholeFirst:
    def __init__(self, function: Function, assumptions: Assumptions) -> None:
        self.fold = Fold.over(function, assumptions)
        self.count = counted_uses(function)
        self.ours = {id(stmt) for stmt in of_derivative(function)}

    def block(self, block: Block) -> bool:
        changed = False
        for stmt in list(block):
            for inner in blocks_of(stmt):
                changed |= self.block(inner)
            if isinstance(stmt, Let) and stmt.op is Add and not stmt.attrs and id(stmt) in self.ours:
                changed |= self._begun_with_whole(block, stmt)
        return changed

    def _begun_with_whole(self, block: Block, total: Let) -> bool:
        """Puts the writes behind the other term of a sum, which takes the place of the zeros."""
        for pieces, whole in (total.args, total.args[::-1]):
            writes = self._writes(pieces, total.target)
            if not writes or not self._is_fresh(whole, total.target):
                continue
            moved = [*self._beginning(whole), *writes]
            here = {id(stmt) for stmt in moved}
            if sum(id(stmt) in here for stmt in block) < len(moved):
                continue
            writes[0].args = (whole, *writes[0].args[1:])
            writes[-1].targets = total.targets
            for write in writes:
                write.op = AddAt
            block[:] = [each for stmt in block if id(stmt) not in here for each in (moved if stmt is total else [stmt])]
            return True
        return False

    def _beginning(self, whole: Atom) -> list[Let]:
        """What computes the other term, if it stands before the derivative and may stand in it."""
        stmt = self.fold.definition[whole]                                                  # type: ignore[index]
        users = [user for atom in stmt.args if isinstance(atom, Var) for user in self.fold.uses.users[atom]]
        may_go = all(user is None or isinstance(user, Let) and user.op not in (Put, AddAt) for user in users)
        return [stmt] if may_go and id(stmt) not in self.ours else []

    def _writes(self, atom: Atom, like: Var) -> list[Let]:
        """The writes that fill zeros, in order, if each of them adds to what is there, and nothing else looks at it."""
        found: list[Let] = []
        while isinstance(atom, Var) and self.count[atom] == 1 and self.fold.has_type(atom, like):
            stmt = self.fold.definition.get(atom)
            if stmt is None or stmt.op not in (Put, AddAt):
                is_empty = stmt is not None and stmt.op.name == "zeros"
                return found[::-1] if is_empty and self._all_add(found[::-1]) else []
            found.append(stmt)
            atom = stmt.args[0]
        return []

    def _all_add(self, writes: list[Let]) -> bool:
        """Whether what is put somewhere is all that is written there by then."""
        parts = [written_part(self.fold, write) for write in writes]
        return all(write.op is AddAt or selects_once(self.fold, write)
                   and all(are_apart(self.fold, part, parts[k]) for part in parts[:k])
                   for k, write in enumerate(writes))

    def _is_fresh(self, atom: Atom, like: Var) -> bool:
        """Whether an atom is an array of its own, of this type, that nothing else uses."""
        if not isinstance(atom, Var) or self.count[atom] != 1 or not self.fold.has_type(atom, like):
            return False
        stmt = self.fold.definition.get(atom)
        return stmt is not None and bool(stmt.op.elementwise or stmt.op.heavy) and not may_share(stmt)
