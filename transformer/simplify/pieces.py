"""Arrays that a sweep fills piece by piece, which is all there is in them: the pieces, one after the other.

>>> from .examples import shown
>>> shown(pieces, '''
... function f(x: f64[n, m], a: f64[n, 2], b: f64[n, m - 2])
...     effect comment(text='reverse')
...     z: f64[n, m] = zeros(shape=(<n>, <m>))
...     y: f64[n, m] = put(z, b, index=(slice(None, None, None), slice(2, None, None)))
...     dx: f64[n, m] = put(y, a, index=(slice(None, None, None), slice(None, 2, None)))
...     return dx
... ''')
function f(x: f64[n, m], a: f64[n, 2], b: f64[n, m - 2])
    effect comment(text='reverse')
    z: f64[n, m] = zeros(shape=(<n>, <m>))
    y: f64[n, m] = put(z, b, index=(slice(None, None, None), slice(2, None, None)))
    dx: f64[n, m] = concatenate(a, b, axis=1)
    return dx

What is left of the other writes is dead then.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..core.grammar import Atom, Block, Function, Let, Var
from ..core.guards import Assumptions
from ..core.sizes import Extent
from ..core.walk import all_statements, counted_uses
from ..ops.indexing import Put
from ..ops.joining import Concatenate
from .apart import written_part
from .fold import Fold
from .rewriter import array_type


@dataclass(frozen=True)
class Piece:
    """A value that is all of an array from `low` to `high` along an axis."""

    value: Atom
    axis: int
    low: Extent
    high: Extent


def pieces(function: Function, assumptions: Assumptions) -> bool:
    """Rewrites such writes of a function in place; says whether there were any."""
    return _Pieces(function, assumptions).block(list(all_statements(function.body)))


class _Pieces:
    def __init__(self, function: Function, assumptions: Assumptions) -> None:
        self.fold = Fold.over(function, assumptions)
        self.count = counted_uses(function)

    def block(self, statements: Block) -> bool:
        changed = False
        for stmt in reversed(statements):                                # the last of several writes is tried first
            if isinstance(stmt, Let) and stmt.op is Put and (found := self._all(stmt)):
                stmt.op, stmt.args = Concatenate, tuple(piece.value for piece in found)
                stmt.attrs = {"axis": found[0].axis} if found[0].axis else {}
                changed = True
        return changed

    def _all(self, stmt: Let) -> list[Piece]:
        """The pieces of which an array is made up, in order; none if it is not."""
        found: list[Piece] = []
        while True:
            piece = self._piece(stmt) if stmt.op is Put else None
            if piece is None or found and piece.axis != found[0].axis:
                return []
            found.append(piece)
            base = stmt.args[0]
            before = self.fold.defined_by(base, "put", "zeros")
            if before is None or not isinstance(base, Var) or self.count[base] != 1:
                return []
            if before.op.name == "zeros":
                return self._in_order(found, array_type(stmt.target).sizes[piece.axis])
            stmt = before

    def _piece(self, put: Let) -> Piece | None:
        """What a write is that fills a slice along one axis, and all along the others."""
        value, whole = array_type(put.args[1]), array_type(put.target)
        if not all(entry is None or isinstance(entry, slice) for entry in put.attrs["index"]) or len(put.args) > 2:
            return None
        parts = written_part(self.fold, put)
        axes = [axis for axis, part in enumerate(parts) if part is None or part.low != 0 or part.high is not None]
        part = parts[axes[0]] if len(axes) == 1 else None
        if part is None or None in put.attrs["index"] or value.dtype != whole.dtype or value.weak:
            return None
        axis, (low, high) = axes[0], part
        piece = Piece(put.args[1], axis, low, whole.sizes[axis] if high is None else high)
        wanted = (*whole.sizes[:axis], piece.high - piece.low, *whole.sizes[axis + 1:])
        fits = len(value.sizes) == len(wanted) and all(map(self.fold.assumptions.certainly_equal, value.sizes, wanted))
        return piece if fits else None

    def _in_order(self, found: list[Piece], size: Extent) -> list[Piece]:
        """The pieces one after the other, if they are all of an axis of this size."""
        normal = self.fold.assumptions.normal
        by_place = {normal(piece.low): piece for piece in found}
        ordered: list[Piece] = []
        place: Extent = 0
        while place in by_place:
            ordered.append(by_place.pop(place))
            place = normal(ordered[-1].high)
        return ordered if len(ordered) == len(found) > 1 and place == normal(size) else []
