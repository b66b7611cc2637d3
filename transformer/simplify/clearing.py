"""Parts of a cotangent that are handed on and cleared: cleared behind what is made of them, so that nothing is copied.

>>> from .examples import shown
>>> shown(clearing, '''
... function f(dp: f64[n, m])
...     effect comment(text='reverse')
...     part: f64[n] = get(dp, index=(slice(None, None, None), 0))
...     a: f64[n, m] = put(dp, 0, index=(slice(None, None, None), 0))
...     b: f64[n, m] = addat(a, part, index=(slice(None, None, None), 1))
...     return b
... ''')
function f(dp: f64[n, m])
    effect comment(text='reverse')
    part: f64[n] = get(dp, index=(slice(None, None, None), 0))
    b: f64[n, m] = addat(dp, part, index=(slice(None, None, None), 1))
    b_1: f64[n, m] = put(b, 0, index=(slice(None, None, None), 0))
    return b_1

Printed, that is ``dp[:, 1] += dp[:, 0]`` and ``dp[:, 0] = 0``. What else is written in between lies certainly beside
the part.
"""

from __future__ import annotations

from ..core.grammar import Block, Function, Let, Stmt, Var
from ..core.guards import Assumptions
from ..core.headings import reverse_from
from ..core.walk import WRITES, Copier, all_uses, blocks_of, counted_uses
from ..ops.indexing import Get, Put
from ..ops.regions import is_view
from .apart import are_apart, written_part
from .fold import Fold
from .neutral import is_zero
from .updates import same_index


def clearing(function: Function, assumptions: Assumptions) -> bool:
    """Moves such statements of the reverse sweep in place; says whether there were any."""
    begins = 0 if function.role == "reverse" else reverse_from(function.body)
    reverse = function.body[begins:]
    changed = _Clearing(function, assumptions).block(reverse)
    function.body[begins:] = reverse
    return changed


class _Clearing:
    def __init__(self, function: Function, assumptions: Assumptions) -> None:
        self.fold = Fold.over(function, assumptions)
        self.count = counted_uses(function)

    def block(self, block: Block) -> bool:
        changed = False
        for stmt in list(block):
            for inner in blocks_of(stmt):
                changed |= self.block(inner)
            if isinstance(stmt, Let) and stmt.op is Put and is_zero(self.fold, stmt.args[1]):
                changed |= self._moved(block, stmt)
        return changed

    def _moved(self, block: Block, put: Let) -> bool:
        """Moves what clears a part behind the last use of what the part was, if it may go there."""
        at = block.index(put)
        reads = [stmt for stmt in block[:at] if isinstance(stmt, Let) and self._is_of(stmt, put)]
        last = self._last_use(block, reads)
        writes = self._passed(put, block[at + 1:last + 1])
        if last <= at or writes is None:
            return False
        block.insert(last + 1, put)
        del block[at]
        if writes:
            self._pass(put, writes)
        return True

    def _is_of(self, read: Let, put: Let) -> bool:
        return (read.op is Get and read.args[0] is put.args[0] and is_view(read)
                and same_index(read, read.args[1:], put, put.args[2:]))

    def _last_use(self, block: Block, reads: list[Let]) -> int:
        """The place of the last statement in which a part, or a value that is nothing but a step on the way from it,
        is used; -1 if it is needed behind the block."""
        flowing = dict.fromkeys((read.target for read in reads), 0)
        last = -1
        for k, stmt in enumerate(block):
            used = [var for var in all_uses(stmt) if var in flowing]
            for var in used:
                flowing[var] += 1
            if used:
                last = k
                if isinstance(stmt, Let) and len(stmt.targets) == 1 and self.count[stmt.target] == 1 and (
                        stmt.op.name not in WRITES):
                    flowing[stmt.target] = 0
        return last if all(flowing[read.target] == self.count[read.target] for read in reads) else -1

    def _passed(self, put: Let, between: Block) -> list[Let] | None:
        """The writes to the array that would be done before the part is cleared; None where that makes a difference."""
        version: Var = put.target
        writes: list[Let] = []
        for stmt in between:
            if version not in all_uses(stmt):
                continue
            if not self._is_beside(stmt, version, put):
                return None
            assert isinstance(stmt, Let)
            writes.append(stmt)
            version = stmt.target
        return writes

    def _is_beside(self, stmt: Stmt, version: Var, put: Let) -> bool:
        """Whether a statement only writes, beside the part, to this version of the array."""
        if not isinstance(stmt, Let) or stmt.op.name not in WRITES or stmt.args[0] is not version:
            return False
        return self.count[version] == 1 and are_apart(
            self.fold, written_part(self.fold, put), written_part(self.fold, stmt))

    def _pass(self, put: Let, writes: list[Let]) -> None:
        first, last = writes[0], writes[-1]
        first.args = (put.args[0], *first.args[1:])
        put.targets, last.targets = last.targets, (Copier().fresh(last.target),)
        put.args = (last.target, *put.args[1:])
        for stmt in (put, last):
            self.fold.definition[stmt.target] = stmt
            self.count[last.target] = 1
