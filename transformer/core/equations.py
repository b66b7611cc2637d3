"""Equations between sizes: what an atom is if two sizes are equal, and which equations the call itself decides."""

from __future__ import annotations

from collections.abc import Mapping

from .sizes import Dim, Extent, Greatest, Size, SizeAtom, Unknown, leaves, occurs, replaced


def solved(left: Extent, right: Extent) -> tuple[SizeAtom, Extent] | None:
    """An atom that occurs once in ``left == right``, and what it is then: `right` or `left` if one of
    them is a dimension or an integer, else any of these there is, else such as ``n//2``."""
    for size, other in ((right, left), (left, right)):
        atom = single_atom(size)
        if atom is not None and atom not in leaves(other):
            return atom, other
    difference = left - right
    terms = difference.terms if isinstance(difference, Size) else {}
    alone = [(atoms[0], count) for atoms, count in terms.items() if len(atoms) == 1 and abs(count) == 1]
    for atom, count in sorted(alone, key=lambda term: not isinstance(term[0], (Dim, Unknown))):
        rest = Size.of(atom) - difference * count
        if not occurs(atom, rest):
            return atom, rest
    return None


def solved_inside(left: Extent, right: Extent) -> tuple[SizeAtom, Extent] | None:
    """An atom that the code before the body cannot know, and what it is if ``left == right``: an integer of the
    program, the one computed last, rather than a dimension; and such as ``n//2`` only if there is nothing else."""
    difference = left - right
    terms = difference.terms if isinstance(difference, Size) else {}
    found = []
    for atoms, count in terms.items():
        if len(atoms) == 1 and abs(count) == 1 and not guardable(Size.of(atoms[0])):
            rest = Size.of(atoms[0]) - difference * count
            if not occurs(atoms[0], rest):
                found.append((atoms[0], rest))
    return max(found, key=lambda pair: _rank(pair[0]), default=None)


def _rank(atom: SizeAtom) -> tuple[bool, int]:
    return isinstance(atom, (Dim, Unknown)), getattr(getattr(atom, "var", None), "serial", -1)


def bound_size(atom: SizeAtom, bound: dict[SizeAtom, Extent], shorten: bool = True) -> Extent | None:
    """What `bound` makes of an atom, at the end of a chain of dimensions that are equal to each other.
    The chain is made short, so that the next one who asks has not far to go."""
    size = bound.get(atom)
    chain = [atom]
    while size is not None and (following := single_atom(size)) in bound:
        chain.append(following)
        size = bound[following]
    if shorten and len(chain) > 1 and size is not None:
        bound.update(dict.fromkeys(chain, size))
    return size


def only_atom(size: object) -> SizeAtom | None:
    """The atom that a size consists of, whatever it is; None where it is more, or no size."""
    if isinstance(size, Size) and len(size.terms) == 1:
        (monomial, count), = size.terms.items()
        if count == 1 and len(monomial) == 1:
            return monomial[0]
    return None


def of_range(trips: Extent) -> Extent:
    """`max(n, 0)` trips of a loop as `n`: a range is empty when it ends before it begins."""
    atom = only_atom(trips)
    if isinstance(atom, Greatest) and 0 in (atom.first, atom.second):
        return atom.first if atom.second == 0 else atom.second
    return trips


def single_atom(size: Extent) -> SizeAtom | None:
    """The atom that `size` consists of, when it is nothing but one dimension or integer."""
    atom = only_atom(size)
    return atom if isinstance(atom, (Dim, Unknown)) else None


def is_twin(size: Extent) -> bool:
    """Whether `size` is a dimension whose name another one had first."""
    return getattr(single_atom(size), "twin", 0) > 0


def guardable(size: Extent) -> bool:
    """Whether `size` can be computed before the body runs: from shapes and integer arguments."""
    return all(not a.inner if isinstance(a, Dim) else getattr(a.var, "is_parameter", False) for a in leaves(size))


def without_inner(left: Extent, right: Extent) -> tuple[Extent, Extent]:
    """Two sides of a relation without what both have of the integers of the program: ``n == m`` for
    ``n - i == m - i``."""
    difference = left - right
    if guardable(left) and guardable(right) or not isinstance(difference, Size):
        return left, right
    above: Extent = 0
    for atoms, count in difference.terms.items():
        above = above + (Size({atoms: count}) if atoms else count) if count > 0 else above
    return above, above - difference


def value_of(size: Extent, values: Mapping[SizeAtom, int]) -> int | None:
    """The number that `size` is when its dimensions have the given values; None if one is missing."""
    result = replaced(size, values.get)
    return result if isinstance(result, int) else None
