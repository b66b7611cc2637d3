"""Arrays of which a derivative spreads each element over several neighbours: it is repeated.

>>> from .examples import shown
>>> shown(repeats, '''
... function f(x: f64[n, m])
...     effect comment(text='reverse')
...     a: f64[n, 1, m] = get(x, index=(slice(None, None, None), None, slice(None, None, None)))
...     b: f64[n, 2, m] = broadcast_to(a, shape=(<n>, 2, <m>))
...     y: f64[2*n, m] = reshape(b, shape=(<2*n>, <m>))
...     return y
... ''')
function f(x: f64[n, m])
    effect comment(text='reverse')
    a: f64[n, 1, m] = get(x, index=(slice(None, None, None), None, slice(None, None, None)))
    b: f64[n, 2, m] = broadcast_to(a, shape=(<n>, 2, <m>))
    y: f64[2*n, m] = repeat(x, repeats=2, axis=0)
    return y

What is left of the other statements is dead then. A mean over windows has such a derivative.
"""

from __future__ import annotations

from ..core.grammar import Atom, Block, Function, Let, Var
from ..core.guards import Assumptions
from ..core.headings import of_derivative
from ..core.sizes import Extent
from ..core.walk import all_statements, blocks_of
from ..ops.arrangement import Repeat
from .divisors import inserted
from .rewriter import array_type


def repeats(function: Function, assumptions: Assumptions) -> bool:
    """Rewrites such statements of a function in place; says whether there were any."""
    ours = {id(stmt) for stmt in of_derivative(function)}
    made = {target: stmt for stmt in all_statements(function.body) if isinstance(stmt, Let) for target in stmt.targets}
    return _Repeats(assumptions, ours, made).block(function.body)


class _Repeats:
    def __init__(self, assumptions: Assumptions, ours: set[int], made: dict[Var, Let]) -> None:
        self.assumptions = assumptions
        self.ours = ours
        self.made = made

    def block(self, block: Block) -> bool:
        changed = False
        for stmt in list(block):
            for inner in blocks_of(stmt):
                changed |= self.block(inner)
            if isinstance(stmt, Let) and stmt.op.name == "reshape" and id(stmt) in self.ours:
                found = self._repeated(stmt)
                at = block.index(stmt)
                block[at:at + 1] = found or [stmt]
                changed |= bool(found)
        return changed

    def _repeated(self, reshape: Let) -> Block:
        """The statements that repeat what a reshape spreads, one for each axis; none if it does something else."""
        spread = self._defined(reshape.args[0], "broadcast_to")
        widened = None if spread is None else self._defined(spread.args[0], "get", "expand_dims")
        axes = sorted(inserted(widened) or ()) if widened is not None else []
        if spread is None or widened is None or not axes or not self._joins(reshape, spread, axes):
            return []
        sizes, value = array_type(spread.target).sizes, widened.args[0]
        out: list[Let] = []
        for after, axis in reversed(list(enumerate(axes))):
            attrs = {"repeats": sizes[axis], **({"axis": axis - 1 - after} if array_type(value).rank > 1 else {})}
            target = Var(Repeat.types(array_type(value), **attrs))
            out.append(Let((target,), Repeat, (value,), attrs, reshape.origin))
            value = target
        out[-1].targets = reshape.targets
        return list(out)

    def _joins(self, reshape: Let, spread: Let, axes: list[int]) -> bool:
        """Whether a reshape joins each of these axes with the one before, and leaves the others as they are."""
        joined: list[Extent] = []
        for k, size in enumerate(array_type(spread.target).sizes):
            if k not in axes:
                joined.append(size)
            elif k == 0 or k - 1 in axes:
                return False
            else:
                joined[-1] *= size
        sizes = array_type(reshape.target).sizes
        same_rank = array_type(spread.args[0]).rank == array_type(spread.target).rank and len(sizes) == len(joined)
        kept = [k for k in range(array_type(spread.target).rank) if k not in axes]
        return same_rank and all(map(self.assumptions.certainly_equal, sizes, joined)) and all(
            self.assumptions.certainly_equal(array_type(spread.args[0]).sizes[k], array_type(spread.target).sizes[k])
            for k in kept)

    def _defined(self, atom: Atom, *names: str) -> Let | None:
        stmt = self.made.get(atom) if isinstance(atom, Var) else None
        return stmt if stmt is not None and stmt.op.name in names else None
