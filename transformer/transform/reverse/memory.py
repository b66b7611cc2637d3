"""How much memory the records of loops take, and into how many blocks loops are split to take less."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...core.equations import guardable, value_of
from ...core.errors import BadArgument
from ...core.grammar import Loop, Var
from ...core.guards import Assumptions
from ...core.sizes import Dim, Extent, Size, Unknown, degree, leaves, replaced
from ...core.types import ArrayType, SavedType, SeqType
from ...core.walk import size_of_atom

LARGE = 1 << 26                 # bytes of records from which on a loop is split unasked: more than caches hold
OUTGROWN = 1 << 20              # the same for records that outgrow what the function is given
GUESSED = 100                   # iterations of a loop that ends by a condition
FEWEST = 16                     # iterations below which a loop is not split unasked
MOST_LEVELS = 8
REFERENCE = 8


@dataclass
class Need:
    """What the records of an outermost loop take, in bytes, and what it hands on from one iteration to the next."""

    total: Extent
    state: Extent
    is_guessed: bool = False                    # how often a loop runs is known only when it ends


Needs = dict[Loop, Need]


def note(needs: Needs, loop: Loop, var: Var, trips: Sequence[Extent | None]) -> None:
    """Notes that `var` is kept in every iteration of loops with so many `trips` (None: nobody knows), `loop`
    outermost."""
    size = bytes_of(var)
    for count in trips:
        size = size * (GUESSED if count is None else count)
    need = needs.setdefault(loop, Need(0, sum((bytes_of(c.entry) for c in loop.carries), 0)))
    need.total = need.total + size
    need.is_guessed |= None in trips and (loop.trips is None or len(trips) > 1)


def bytes_of(var: Var) -> Extent:
    type = var.type
    while isinstance(type, SeqType):
        type = type.element
    if isinstance(type, SavedType):             # how much a call saves, nobody knows
        return REFERENCE
    assert isinstance(type, ArrayType)
    return type.elements * type.dtype.itemsize


def splits(needs: Needs, limit: int | None, assumptions: Assumptions,
           params: Iterable[Var]) -> dict[Loop, tuple[int, ...]]:
    """Into how many blocks to split the loops whose records take too much. Raises `BadArgument` for a limit
    out of reach."""
    found: dict[Loop, tuple[int, ...]] = {}
    for loop in too_large(needs, limit, assumptions, params):
        trips = None if loop.trips is None else _number(size_of_atom(loop.trips), assumptions)
        if limit is not None:
            found[loop] = _levels(loop, needs[loop], trips, limit, assumptions)
        elif loop.trips is None or trips is not None and trips >= FEWEST:
            found[loop] = (0,)
    return found


def too_large(needs: Needs, limit: int | None, assumptions: Assumptions, params: Iterable[Var]) -> list[Loop]:
    """The loops whose records take too much in the call being read.

    On which side of the limit a call is becomes a guard. With a limit, loops count as large where sizes are
    not known (a source file is written), or how often they run.
    """
    found = []
    for loop, need in needs.items():
        is_open = limit is not None and (need.is_guessed or _number(need.total, assumptions) is None)
        if is_open or _exceeds(need.total, _unasked(need, assumptions, params) if limit is None else limit,
                               assumptions):
            found.append(loop)
    return found


def _unasked(need: Need, assumptions: Assumptions, params: Iterable[Var]) -> int:
    """How many bytes may be kept where no limit is given. What grows faster than the arguments, as n² with
    vectors of n numbers, is soon more than all the rest."""
    total = assumptions.normal(need.total)
    given = [assumptions.normal(p.type.elements) for p in params if isinstance(p.type, ArrayType)]
    dims = {leaf for leaf in leaves(total) if isinstance(leaf, Dim)}
    outgrows = any(degree(total, dim) > max((degree(size, dim) for size in given), default=0) for dim in dims)
    return OUTGROWN if outgrows else LARGE


def stays_small(made: Extent, assumptions: Assumptions) -> bool:
    """Whether a kernel may keep so many bytes without being asked; a guard like that of records."""
    return not assumptions.choose(assumptions.normal(made), LARGE + 1)


def _exceeds(total: Extent, limit: int, assumptions: Assumptions) -> bool:
    total = replaced(total, lambda leaf: None if guardable(Size.of(leaf)) or not isinstance(leaf, Unknown) else 1)
    return assumptions.choose(total, limit + 1)


def _number(size: Extent, assumptions: Assumptions) -> int | None:
    return value_of(assumptions.normal(size), assumptions.hints)


def _levels(loop: Loop, need: Need, trips: int | None, limit: int, assumptions: Assumptions) -> tuple[int, ...]:
    """The fewest levels of blocks with which the records stay within the limit."""
    total, state = _number(need.total, assumptions), _number(need.state, assumptions)
    if trips is None or total is None or state is None or need.is_guessed:
        return (0,)
    least = 0
    for levels in range(2, MOST_LEVELS + 1):
        count = max(2, round(trips ** (1 / levels)))
        least = count * ((levels - 1) * state + -(-total // max(trips, 1)))
        if least <= limit:
            return (count,) * (levels - 1)
    raise BadArgument(f"the records of this loop need at least {amount(least)}, but the limit is {amount(limit)}",
                      loop.origin, instead="Pass a higher limit as `memory`.")


def amount(count: int) -> str:
    """A number of bytes for people.

    >>> amount(300), amount(1_999), amount(64_000_000)
    ('300 B', '2.0 kB', '64.0 MB')
    """
    for unit, size in (("GB", 10 ** 9), ("MB", 10 ** 6), ("kB", 1000)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"
