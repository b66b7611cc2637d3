"""Names for sizes that are computed and printed more than once: ``height = n - k + 1``, as a user would write it.

>>> from ..core.sizes import Dim
>>> n, k = Size.of(Dim("n")), Size.of(Dim("k"))
>>> found = Composites([n - k + 1, n - k, (n - k + 1) // 2 - 1, (n - k + 1) * 3])
>>> found.sizes
{n - k + 1': n - k + 1}
>>> found.shorter(n - k), found.shorter(3 * n - 3 * k + 3)
(n - k + 1' - 1, 3*n - k + 1')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from ..core.equations import only_atom
from ..core.grammar import Var
from ..core.sizes import Dim, Extent, Floor, Greatest, Least, Size, SizeAtom, Unknown, leaves, replaced

NAME, NUMBER = 2, 1    # how long they are
SAVING = 6             # what a name has to save
MOST_TERMS = 64        # of a size that is printed in terms of others


class Composites:
    """The sizes that get names, each as a dimension of its own with what it is; those that others are made of come
    first. `wished` are the names that the user has for sizes, which get one as soon as they are printed twice;
    `given` are the integers that are there before the body, as dimensions are."""

    def __init__(self, printed: Iterable[Extent], wished: Mapping[Size, str] | None = None,
                 given: Container[Var] = ()) -> None:
        self.wished = dict(wished or {})
        self.given = given
        self.sizes: dict[Dim, Size] = {}
        self.names: dict[Dim, str] = {}                                  # as the user has them
        self._found: dict[Extent, Extent] = {}
        sizes = [size for size in printed if isinstance(size, Size)]
        chosen = _chosen(Counter(known for size in sizes for known in _known(size, given)), self.wished)
        while (idle := self._define(chosen, sizes)) is not None:
            chosen.remove(idle)

    def _define(self, chosen: list[Size], printed: list[Size]) -> Size | None:
        """Gives names to sizes; one of them if it would not be used twice."""
        self.sizes, self.names, whole = {}, {}, dict[Any, Size]()
        for size in sorted(chosen, key=_length):                         # what is inside of others is shorter
            shorter = self.shorter(size)
            assert isinstance(shorter, Size)
            dim = Dim(repr(size), len(self.sizes) + 1)                   # like no other, whatever dimensions look like
            self.sizes[dim] = shorter
            self._found.clear()
            whole[dim] = size
            if size in self.wished:
                self.names[dim] = self.wished[size]
        uses = Counter(leaf for size in (*map(self.shorter, printed), *self.sizes.values()) for leaf in leaves(size))
        return next((whole[dim] for dim in self.sizes if uses[dim] < 2), None)

    def shorter(self, size: Extent) -> Extent:
        """A size in terms of those that have names, where it is shorter so."""
        if not self.sizes or not isinstance(size, Size) or len(size.terms) > MOST_TERMS:
            return size
        if size not in self._found:
            found: Extent = size
            least = 1 if is_known(size, self.given) else NAME                      # n - i - 2, and not `m - i`
            for dim, whole in self.sizes.items():
                shortest = min(_in_terms_of(found, dim, whole), key=_length, default=found)
                if _length(shortest) + least <= _length(found):
                    found = shortest
            self._found[size] = found
        return self._found[size]


def _known(size: Size, given: Container[Var]) -> Iterator[Size]:
    """A size that is known before the body of a function, or what in it is: `n // 2` of ``n // 2 - i``."""
    if is_known(size, given):
        yield size
    else:
        for part in _parts(size):
            yield from _known(part, given)


def is_known(size: Size, given: Container[Var] = ()) -> bool:
    """Whether a size is known before the body of a function, and no division in it can fail."""
    return all(isinstance(leaf, Dim) or leaf.var in given for leaf in leaves(size)) and not any(
        isinstance(part.denominator, Size) for part in _floors(size))


def _floors(size: Size) -> list[Floor]:
    found: list[SizeAtom] = []
    replaced(size, found.append)                                         # which is shown every atom, and replaces none
    return [atom for atom in found if isinstance(atom, Floor)]


def _chosen(counts: Counter[Size], wished: Mapping[Size, str]) -> list[Size]:
    """Sizes that are worth a name. Of those that differ by a number, the one that is printed most often; what is
    inside of a size with a name is printed once more only."""
    totals: dict[Extent, Counter[Size]] = {}                             # in the order of the program
    for size, count in counts.items():
        totals.setdefault(_without_number(size), Counter())[size] += count
    chosen: list[Size] = []
    waiting = set(totals)
    while waiting:
        base = max(waiting, key=lambda each: (_length(each), repr(each)))
        waiting.discard(base)
        if not isinstance(base, Size):
            continue
        printed = totals[base]
        best = max(printed, key=lambda size: (size in wished, size in wished and not size.constant,
                                              printed[size], -_length(size)))
        count = printed.total()
        if _is_worth(best, count, best in wished):
            chosen.append(best)
            count = 1
        for part in _parts(base):
            totals.setdefault(_without_number(part), Counter())[part] += count
            waiting.add(_without_number(part))
    order = {base: k for k, base in enumerate(totals)}
    return sorted(chosen, key=lambda size: order[_without_number(size)])


def _is_worth(size: Size, count: int, is_wished: bool) -> bool:
    length = _length(size)
    atom = only_atom(size)
    if count == 1 or isinstance(atom, (Dim, Unknown)) or atom is None and length <= NAME + NUMBER:      # such as n - 1
        return False
    return is_wished or (length > 2 * NAME or isinstance(atom, Floor)) and (count - 1) * (length - NAME) >= SAVING


def _without_number(size: Size) -> Extent:
    return size - size.constant


def _parts(size: Size) -> list[Size]:
    """The sizes that a size is printed with."""
    found: list[Extent] = []
    for atom in size.atoms():
        if isinstance(atom, (Dim, Unknown)):
            continue
        if size != Size.of(atom):
            found.append(Size.of(atom))
        elif isinstance(atom, Floor):
            found.append(atom.numerator)
        elif isinstance(atom, (Least, Greatest)):
            found += [atom.first, atom.second]
    return [part for part in found if isinstance(part, Size)]


def _in_terms_of(size: Extent, dim: Dim, whole: Size) -> Iterable[Extent]:
    """A size with something in it expressed by `dim`, which is `whole`."""
    yield size - whole + Size.of(dim)
    atom = only_atom(whole)
    if atom is not None:
        yield replaced(size, {atom: Size.of(dim)}.get)
        return
    for monomial, count in whole.terms.items():
        if len(monomial) == 1 and abs(count) == 1:
            rest = whole - Size.of(monomial[0]) * count
            if monomial[0] not in leaves(rest):
                yield replaced(size, {monomial[0]: (Size.of(dim) - rest) * count}.get)


def _length(size: Extent) -> int:
    """How long a size is as text, roughly."""
    if not isinstance(size, Size):
        return NUMBER
    return sum(NUMBER * (abs(count) != 1 or not monomial) + sum(map(_atom_length, monomial))
               for monomial, count in size.terms.items())


def _atom_length(atom: SizeAtom) -> int:
    if isinstance(atom, Floor):
        return _length(atom.numerator) + _length(atom.denominator)
    if isinstance(atom, (Least, Greatest)):
        return NAME + _length(atom.first) + _length(atom.second)
    return NAME
