"""Sizes: integer polynomials over the dimensions of arguments and over integers of the program.

A size is a Python ``int`` when it is known and a `Size` when it is not. Arithmetic folds back to
``int`` whenever nothing symbolic is left, so that code which works on sizes rarely needs to ask:

>>> n, m = Size.of(Dim("n")), Size.of(Dim("m"))
>>> (n + 2) * m - m * n
2*m
>>> (n + 2) - n
2
>>> (n * m) // m
n
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Union


@dataclass(frozen=True, slots=True)
class Dim:
    """A named dimension of an argument (`f64[n]`, or `x.shape[0]` of a call being read).

    Where two arguments are declared with the same name, the second has a `twin` of the first: it
    becomes the same, under a guard, as soon as something depends on it. A dimension of a function that
    is called is `inner`: it may be anything, and no guard before the body can speak of it.
    """

    name: str
    twin: int = 0
    inner: bool = False

    def __repr__(self) -> str:
        return self.name + "'" * self.twin


@dataclass(frozen=True, slots=True)
class Unknown:
    """An integer computed by the program and used as a size; `var` is the Core variable."""

    var: Any

    def __repr__(self) -> str:
        return f"?{self.var}"


@dataclass(frozen=True, slots=True)
class Floor:
    """`numerator // denominator` where the division does not come out even symbolically."""

    numerator: Extent
    denominator: Extent

    def __repr__(self) -> str:
        return f"{_in_brackets(self.numerator)}//{_in_brackets(self.denominator)}"


@dataclass(frozen=True, slots=True)
class Least:
    """`min(first, second)` of two sizes whose order is not known."""

    first: Extent
    second: Extent

    def __repr__(self) -> str:
        return f"min({self.first}, {self.second})"


@dataclass(frozen=True, slots=True)
class Greatest:
    """`max(first, second)` of two sizes whose order is not known."""

    first: Extent
    second: Extent

    def __repr__(self) -> str:
        return f"max({self.first}, {self.second})"


SizeAtom = Union[Dim, Unknown, Floor, Least, Greatest]
Monomial = tuple[SizeAtom, ...]


class Size:
    """A symbolic size: a sum of integer multiples of products of atoms (the empty product is 1)."""

    __slots__ = ("terms", "_hash", "_leaves", "_unknowns")

    def __init__(self, terms: dict[Monomial, int]) -> None:
        self.terms = terms
        self._hash: int | None = None
        self._leaves: tuple[Dim | Unknown, ...] | None = None         # found when asked for
        self._unknowns: tuple[Any, ...] | None = None

    @staticmethod
    def of(atom: SizeAtom) -> Size:
        return Size({(atom,): 1})

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and self.terms == other.terms

    def __add__(self, other: Extent) -> Extent:
        if not isinstance(other, (int, Size)):
            return NotImplemented
        terms = dict(self.terms)
        for monomial, count in _terms(other):
            terms[monomial] = terms.get(monomial, 0) + count
        return _made(terms)

    __radd__ = __add__

    def __neg__(self) -> Extent:
        return Size({monomial: -count for monomial, count in self.terms.items()})

    def __sub__(self, other: Extent) -> Extent:
        if not isinstance(other, (int, Size)):
            return NotImplemented
        terms = dict(self.terms)
        for monomial, count in _terms(other):
            terms[monomial] = terms.get(monomial, 0) - count
        return _made(terms)

    def __rsub__(self, other: Extent) -> Extent:
        return -self + other

    def __mul__(self, other: Extent) -> Extent:
        if not isinstance(other, (int, Size)):
            return NotImplemented
        if isinstance(other, int):
            return Size({monomial: count * other for monomial, count in self.terms.items()}) if other else 0
        terms: dict[Monomial, int] = {}
        for left, p in self.terms.items():
            for right, q in other.terms.items():
                monomial = tuple(sorted(left + right, key=repr)) if left and right else left + right
                terms[monomial] = terms.get(monomial, 0) + p * q
        return _made(terms)

    __rmul__ = __mul__

    def __floordiv__(self, other: Extent) -> Extent:
        return divided(self, other) if isinstance(other, (int, Size)) else NotImplemented

    def __rfloordiv__(self, other: Extent) -> Extent:
        return divided(other, self)

    def atoms(self) -> Iterator[SizeAtom]:
        for monomial in self.terms:
            yield from monomial

    @property
    def leaves(self) -> tuple[Dim | Unknown, ...]:
        """Every dimension and unknown integer that it depends on."""
        if self._leaves is None:
            self._leaves = tuple(leaf for atom in self.atoms() for leaf in _leaves_of(atom))
        return self._leaves

    @property
    def unknowns(self) -> tuple[Any, ...]:
        """The Core variables of the unknown integers that it depends on."""
        if self._unknowns is None:
            self._unknowns = tuple(leaf.var for leaf in self.leaves if isinstance(leaf, Unknown))
        return self._unknowns

    @property
    def constant(self) -> int:
        return self.terms.get((), 0)

    def __repr__(self) -> str:
        text = ""
        for monomial, count in sorted(self.terms.items(), key=_print_order):
            is_product = len(monomial) > 1 or abs(count) != 1
            body = "*".join(f"({atom})" if is_product and isinstance(atom, Floor) else repr(atom) for atom in monomial)
            head = "" if abs(count) == 1 and body else str(abs(count)) + ("*" if body else "")
            text += (" - " if count < 0 else " + ") + head + body
        return text[3:] if text.startswith(" + ") else "-" + text[3:]


Extent = Union[int, Size]


def _in_brackets(size: Extent) -> str:
    """The operand of a division: `n`, `(n + 1)`."""
    return repr(size) if isinstance(size, int) or repr(size).isidentifier() else f"({size})"


def _print_order(item: tuple[Monomial, int]) -> tuple[bool, bool, str]:
    return (not item[0], item[1] < 0, repr(item[0]))


def _terms(size: Extent) -> list[tuple[Monomial, int]]:
    return list(size.terms.items()) if isinstance(size, Size) else [((), int(size))]


def _made(terms: dict[Monomial, int]) -> Extent:
    if 0 in terms.values():
        terms = {monomial: count for monomial, count in terms.items() if count}
    if not terms:
        return 0
    if len(terms) == 1 and () in terms:
        return terms[()]
    return Size(terms)


def divided(numerator: Extent, denominator: Extent) -> Extent:
    """`numerator // denominator`, exact where it comes out even term by term."""
    if isinstance(numerator, int) and isinstance(denominator, int):
        return numerator // denominator
    exact = quotient(numerator, denominator)
    return exact if exact is not None else Size.of(Floor(numerator, denominator))


def quotient(numerator: Extent, denominator: Extent) -> Extent | None:
    """The size `q` with `q * denominator == numerator`, or None when it is not seen to exist."""
    if numerator == denominator:
        return 1
    if denominator == 0:
        return None
    divisor = _terms(denominator)
    lead, count = max(divisor, key=lambda term: (len(term[0]), repr(term[0])))
    result: Extent = 0
    rest: Extent = numerator
    while rest != 0:
        candidates = [t for t in _terms(rest) if t[1] % count == 0 and _without(t[0], lead) is not None]
        if not candidates or len(candidates) > 64:
            return None
        monomial, multiple = max(candidates, key=lambda term: (len(term[0]), repr(term[0])))
        factor = _made({_without(monomial, lead) or (): multiple // count})
        before = rest
        result, rest = result + factor, rest - factor * denominator
        if len(_terms(rest)) >= len(_terms(before)) + len(divisor):
            return None
    return result


def _without(monomial: Monomial, factor: Monomial) -> Monomial | None:
    rest = list(monomial)
    for atom in factor:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def least(first: Extent, second: Extent) -> Extent:
    """`min` of two sizes; decided when their difference is a number."""
    difference = first - second
    if isinstance(difference, int):
        return first if difference <= 0 else second
    return Size.of(Least(first, second))


def greatest(first: Extent, second: Extent) -> Extent:
    """`max` of two sizes; decided when their difference is a number.

    >>> n = Size.of(Dim("n"))
    >>> greatest(greatest(n - 1, 0), 0)
    max(n - 1, 0)
    """
    difference = first - second
    if isinstance(difference, int):
        return first if difference >= 0 else second
    atom = next(first.atoms()) if isinstance(first, Size) else None
    if isinstance(atom, Greatest) and second in (atom.first, atom.second) and first == Size.of(atom):
        return first
    return Size.of(Greatest(first, second))


def product(sizes: Any) -> Extent:
    """The number of elements of a shape: `product((n, 3)) == 3*n`, `product(()) == 1`."""
    total: Extent = 1
    for size in sizes:
        total = total * size
    return total


def looks_negative(size: Extent) -> bool:
    """Whether a size is written as a negative number, such as ``-k``."""
    if isinstance(size, Size):
        return all(count < 0 for count in size.terms.values())
    return size < 0


def replaced(size: Extent, value: Callable[[SizeAtom], Extent | None]) -> Extent:
    """`size` with every atom for which `value` gives a size replaced by it, inside atoms too."""
    if not isinstance(size, Size):
        return size
    found = {atom: _atom_replaced(atom, value) for atom in size.atoms()}
    if all(new is None for new in found.values()):
        return size
    total: Extent = 0
    for monomial, count in size.terms.items():
        term: Extent = count
        for atom in monomial:
            new = found[atom]
            term = term * (Size.of(atom) if new is None else new)
        total = total + term
    return total


def _atom_replaced(atom: SizeAtom, value: Callable[[SizeAtom], Extent | None]) -> Extent | None:
    """What stands for an atom; None where it stays."""
    new = value(atom)
    if new is not None or isinstance(atom, (Dim, Unknown)):
        return new
    combine, parts = _parts_of(atom)
    others = [replaced(part, value) for part in parts]
    return None if all(map(operator.is_, others, parts)) else combine(*others)


def _parts_of(atom: Floor | Least | Greatest) -> tuple[Callable[[Extent, Extent], Extent], tuple[Extent, Extent]]:
    """What makes an atom of two sizes, and the two sizes."""
    if isinstance(atom, Floor):
        return divided, (atom.numerator, atom.denominator)
    return least if isinstance(atom, Least) else greatest, (atom.first, atom.second)


def occurs(atom: SizeAtom, size: Extent) -> bool:
    """Whether an atom is in a size, also inside of another one."""
    found: list[SizeAtom] = []
    replaced(size, found.append)              # which is shown every atom, and replaces none
    return atom in found


def leaves(size: Extent) -> tuple[Dim | Unknown, ...]:
    """Every dimension and unknown integer that `size` depends on."""
    return size.leaves if isinstance(size, Size) else ()


def _leaves_of(atom: SizeAtom) -> tuple[Dim | Unknown, ...]:
    if isinstance(atom, (Dim, Unknown)):
        return (atom,)
    if isinstance(atom, Floor):
        return leaves(atom.numerator) + leaves(atom.denominator)
    return leaves(atom.first) + leaves(atom.second)


def degree(size: Extent, dim: Dim) -> int:
    """The power of a dimension with which a size grows.

    >>> n = Dim("n")
    >>> degree(Size.of(n) * (Size.of(n) - 1) // 2, n)
    2
    """
    return max((sum(_degree_of(atom, dim) for atom in monomial) for monomial, _ in _terms(size)), default=0)


def _degree_of(atom: SizeAtom, dim: Dim) -> int:
    if isinstance(atom, (Dim, Unknown)):
        return int(atom == dim)
    if isinstance(atom, Floor):
        return degree(atom.numerator, dim)
    degrees = degree(atom.first, dim), degree(atom.second, dim)
    return min(degrees) if isinstance(atom, Least) else max(degrees)
