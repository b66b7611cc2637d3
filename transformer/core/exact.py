"""Sizes that a number divides without a remainder: ``2*(n//2)`` is `n` then, and ``(n + 1)//2`` is ``n//2``.

>>> from .sizes import Dim
>>> n = Size.of(Dim("n"))
>>> exact_division(n, 2*(n//2)) == exact_division((n + 1)//2, n//2) == Floor(n, 2)
True
>>> divided_out(4*(n//2) + (n + 3)//2, [Floor(n, 2)])
5*(n//2) + 1
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from .equations import only_atom
from .sizes import Extent, Floor, Size, SizeAtom, replaced


def exact_division(left: Extent, right: Extent) -> Floor | None:
    """The division that leaves no rest if, and only if, the two sizes are equal."""
    difference = left - right
    floors = list(_by_numbers(difference.atoms())) if isinstance(difference, Size) else []
    for floor in floors:
        divisor = floor.denominator
        rest, ceiling = floor.numerator - Size.of(floor) * divisor, (floor.numerator + divisor - 1) // divisor
        if any(difference in (each, -each) for each in (rest, ceiling - Size.of(floor))):
            return floor
    return None


def divided_out(size: Extent, exact: Iterable[Floor], known: Container[object] = ()) -> Extent:
    """A size in the light of divisions that leave no rest: ``n - 2*(n//3)`` is ``n//3``. If it is `known` what
    ``n//3`` is, it is known of `n`, too."""
    for floor in exact:
        size = replaced(size, lambda atom, floor=floor: _beside(atom, floor))  # type: ignore[misc]
        quotients = _in_quotients(size, floor)
        size = quotients if floor in known else min(_multiplied(quotients, floor), quotients, key=_length)
    return size


def _in_quotients(size: Extent, floor: Floor) -> Extent:
    """A size with `x` as ``d*(x//d)``, where `x` is no more than an atom and a number; as it was if it is more."""
    numerator = floor.numerator
    constant = numerator.constant if isinstance(numerator, Size) else 0
    atom = only_atom(numerator - constant)
    if atom is None or not isinstance(size, Size):
        return size
    whole = Size.of(floor) * floor.denominator - constant
    total: Extent = 0
    for monomial, count in size.terms.items():
        term: Extent = count
        for each in monomial:
            term = term * (whole if each == atom else Size.of(each))
        total = total + term
    return total


def _length(size: Extent) -> int:
    return len(size.terms) if isinstance(size, Size) else 0


def _beside(atom: SizeAtom, floor: Floor) -> Extent | None:
    """``(x + c)//d`` as ``x//d + c//d``."""
    if not isinstance(atom, Floor) or atom == floor or atom.denominator != floor.denominator:
        return None
    more = atom.numerator - floor.numerator
    return Size.of(floor) + more // floor.denominator if isinstance(more, int) else None


def _multiplied(size: Extent, floor: Floor) -> Extent:
    """``d*(x//d)`` as `x`."""
    divisor = floor.denominator
    assert isinstance(divisor, int)
    for monomial, count in list(size.terms.items()) if isinstance(size, Size) else ():
        if floor in monomial:
            others = list(monomial)
            others.remove(floor)
            times = abs(count) // divisor * (1 if count > 0 else -1)
            part: Extent = Size({tuple(others): times}) if times and others else times
            size = size - part * Size.of(floor) * divisor + part * floor.numerator
    return size


def _by_numbers(atoms: Iterable[SizeAtom]) -> Iterator[Floor]:
    for atom in atoms:
        if isinstance(atom, Floor) and isinstance(atom.denominator, int) and atom.denominator > 0:
            yield atom
