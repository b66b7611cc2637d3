"""Sums as products: the factors of what the multiplication of ``(n - k + 1) * (m - k + 1)`` has taken apart.

>>> from .sizes import Dim
>>> n, m, k = (Size.of(Dim(name)) for name in "nmk")
>>> factored(n * (n - k) * (m - k + 1), [m - k + 1])
[n, n - k, m - k + 1]
>>> factored(3 * n * m - 3 * k * m, [n - k])
[3, m, n - k]
>>> factored(n * m + 1, [m - k + 1])
[m*n + 1]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import reduce
from itertools import chain

from .sizes import Extent, Monomial, Size, quotient


def factored(size: Extent, sums: Iterable[Size]) -> list[Extent]:
    """The factors of a size, of which `sums` may be some, a number first; itself where none is found."""
    if not is_product(size):
        return [size]
    common = _common(size)                                                    # type: ignore[arg-type]
    rest = quotient(size, Size({common: 1})) if common else size
    factors: list[Extent] = []
    for each in sums:
        while isinstance(rest, Size) and len(rest.terms) > 1 and (left := quotient(rest, each)) is not None:
            factors.append(each)
            rest = left
    if not factors and not common:
        return [size]
    first = [rest] if isinstance(rest, int) and rest != 1 else []
    last = [rest] if isinstance(rest, Size) else []
    return [*first, *map(Size.of, common), *last, *factors]


def is_product(size: Extent) -> bool:
    """Whether a size may be a product of which a factor is a sum."""
    return isinstance(size, Size) and len(size.terms) > 1 and any(len(monomial) > 1 for monomial in size.terms)


def sums_in(sizes: Iterable[Extent]) -> list[Size]:
    """What may be factors of others: sums in which nothing is multiplied, the longest first, else as they come."""
    found = dict.fromkeys(size for size in sizes if isinstance(size, Size) and len(size.terms) > 1
                          and all(len(monomial) < 2 for monomial in size.terms))
    return sorted(found, key=lambda size: -len(size.terms))


def _common(size: Size) -> Monomial:
    """What divides every term."""
    shared = reduce(lambda one, other: one & other, map(Counter, size.terms))
    return tuple(chain.from_iterable([atom] * count for atom, count in shared.items()))
