"""Which elements of an array an index means: whether two indices certainly mean different ones.

The positions that an entry means are an interval of sizes. Integers are seen through to what they
were computed from, and the position of a loop is known to lie within the loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.grammar import Atom, Const, Let, Var, type_of
from ..core.sizes import Extent, Size, Unknown
from ..core.types import INT, ArrayType
from ..ops.regions import Slot, is_mask, rank_of

if TYPE_CHECKING:
    from .fold import Fold

DEEPEST = 8                    # statements behind an integer that are looked at


class Interval(NamedTuple):
    """Positions from `low` up to `high`, of those that there are; without a `high`, to the end."""

    low: Extent
    high: Extent | None


def are_apart(fold: Fold, first: list[Interval | None], second: list[Interval | None]) -> bool:
    """Whether two writes to these parts of an array certainly touch different elements."""
    for left, right in zip(first, second, strict=False):
        if left is not None and right is not None:
            if _is_before(fold, left, right) or _is_before(fold, right, left):
                return True
    return False


def written_part(fold: Fold, stmt: Let) -> list[Interval | None]:
    """Where a statement writes, axis by axis as far as that is known."""
    sizes = type_of(stmt.args[0]).sizes                                      # type: ignore[union-attr]
    return [_interval(fold, entry, size) for entry, size in zip(_entries(stmt) or (), sizes, strict=False)]


def _is_before(fold: Fold, left: Interval, right: Interval) -> bool:
    return left.high is not None and fold.assumptions.certainly_at_least(right.low, left.high)


def _entries(stmt: Let) -> list[Any] | None:
    """The entries of an index, one per axis: atoms for slots. None if there are arrays in it."""
    slots = stmt.args[2:]
    if any(is_mask(type_of(atom)) or rank_of(type_of(atom)) for atom in slots):
        return None

    def filled(entry: Any) -> Any:
        if isinstance(entry, slice):
            return slice(filled(entry.start), filled(entry.stop), entry.step)
        return slots[entry.k] if isinstance(entry, Slot) else entry

    return [filled(entry) for entry in stmt.attrs["index"] if entry is not None]


def _interval(fold: Fold, entry: Any, size: Extent) -> Interval | None:
    """What an entry means at most on an axis of a size: `[-2:]` of one element is one, not two."""
    if not isinstance(entry, slice):
        low = _position(fold, entry, size)
        return None if low is None else Interval(low, low + 1)
    low = 0 if entry.start is None else _position(fold, entry.start, size)
    if entry.step not in (None, 1) or low is None:
        return None
    return Interval(low, None if entry.stop is None else _position(fold, entry.stop, size))


def _position(fold: Fold, bound: Any, axis: Extent) -> Extent | None:
    """A bound as a size, if it is known whether it counts from the start or from the end."""
    if isinstance(bound, int) and bound < 0:
        return axis + bound
    size = bound if isinstance(bound, (int, Size)) else affine(fold, bound)
    return size if fold.assumptions.certainly_at_least(size, 0) else None


def affine(fold: Fold, atom: Atom, depth: int = DEEPEST) -> Extent:
    """An integer as a size, seen through sums, differences and products with numbers."""
    if isinstance(atom, Size):
        return atom
    if isinstance(atom, Const):
        return int(atom.value)
    assert isinstance(atom, Var)
    stmt = fold.defined_by(atom, "add", "subtract", "multiply") if depth else None
    if stmt is None or any(type_of(arg) != INT for arg in stmt.args):
        return Size.of(Unknown(atom))
    first, second = (affine(fold, arg, depth - 1) for arg in stmt.args)
    if stmt.op.name == "multiply":
        return first * second if isinstance(first, int) or isinstance(second, int) else Size.of(Unknown(atom))
    return first + second if stmt.op.name == "add" else first - second


def selects_once(fold: Fold, stmt: Let) -> bool:
    """Whether the index of a write means no element twice: it has no integer arrays, or one of
    them counts up, as in ``x[np.arange(n), labels]``."""
    if stmt.attrs.get("distinct"):
        return True
    types = [type_of(atom) for atom in stmt.args[2:]]
    arrays = [type for type in types if rank_of(type) and not is_mask(type)]
    return not arrays or _counts_up(fold, stmt, types)


def _counts_up(fold: Fold, stmt: Let, types: list[Any]) -> bool:
    """Whether, of integers and arrays that are long along one axis, an array goes from 0 or higher upwards, all
    along that axis."""
    arrays = [type for type in types if rank_of(type)]
    if any(is_mask(type) for type in types):
        return False
    normal = fold.assumptions.normal
    long = {(k - type.rank, normal(size)) for type in arrays for k, size in enumerate(type.sizes) if size != 1}
    counting = [fold.defined_by(_without_unit_axes(fold, atom), "arange") for atom in stmt.args[2:]]
    return not long or len({axis for axis, _ in long}) == 1 and any(each is not None and _goes_up(fold, each) and all(
        size == normal(_length(each)) for _, size in long) for each in counting)


def _without_unit_axes(fold: Fold, atom: Atom) -> Atom:
    """What `np.arange(n)[:, None]` is made of."""
    inner = fold.defined_by(atom, "expand_dims", "get")
    if inner is None or len(inner.args) != 1:
        return atom
    plain = all(entry is None or entry == slice(None) for entry in inner.attrs.get("index", ()))
    return inner.args[0] if plain else atom


def _goes_up(fold: Fold, stmt: Let) -> bool:
    start, step = stmt.attrs.get("start", 0), stmt.attrs.get("step", 1)
    return (not isinstance(start, float) and type(step) is int and step > 0
            and fold.assumptions.certainly_at_least(start, 0))


def _length(stmt: Let) -> Extent:
    type = stmt.target.type
    assert isinstance(type, ArrayType)
    return type.sizes[0]
