"""Arrays that an iteration leaves with other sizes than it found: the loop carries the sizes, too.

    while x.sum() > 1:               loop n = 4, x: f64[n] = x_0:
        x = x[x < x.max()]               …
                                         next n = m, x = t                  with t: f64[m]

Sizes that begin as one and go on as one are one, so that ``x[keep] + y[keep]`` fits in the next iteration, too. That is
taken to hold until an iteration shows that it does not.

A size that grows by the same number in every iteration of a counted loop is not carried: it is told by the position.

    for k in range(n - 1):           loop k in n - 1: x: f64[n - k] = x_0:
        x = x[1:] - x[:-1]               …
                                         next x = t                             with t: f64[n - k - 1]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...core.equations import guardable, single_atom
from ...core.grammar import Atom, Carry, Const, Var
from ...core.sizes import Extent, Greatest, Size, SizeAtom, Unknown, replaced
from ...core.types import INT, ArrayType
from ...core.walk import Copier, atom_of_size, atom_vars
from ..branches.joins import joined_type
from ..branches.structures import open_slots, with_slots
from ..branches.template_joins import known_outside

if TYPE_CHECKING:
    from ..reader import Reader
    from .carrying import Carried


class OpenSizes:
    """The sizes that a loop carries, each with what it is before the loop and in the next iteration. `steps` are what
    is added to some in each iteration, as is taken to hold until one shows that it does not: those are `uneven`."""

    def __init__(self, reader: Reader, made: int, length: Extent | None) -> None:
        self.reader = reader
        self.made = made
        self.length = length                     # how often the loop runs, if that is known before
        self.initial: dict[Var, Extent] = {}
        self.following: dict[Var, Extent] = {}
        self.left: dict[Var, Var] = {}
        self.position: Extent = 0
        self.steps: dict[Var, Extent] = {}
        self.uneven: set[Var] = set()
        self.entered: set[Var] = set()           # those with which the body is being read

    def __contains__(self, var: object) -> bool:
        return var in self.initial

    def begin(self, position: Var) -> None:
        """What is known of them, at the head of the loop."""
        self.position = Size.of(Unknown(position))
        self.entered = set(self.initial)
        for var in self.initial:
            self.reader.assumptions.within(var, 0, None)

    def told(self, position: Extent | None = None) -> dict[Var, Extent]:
        """Those that are told by the position, and what they are."""
        position = self.position if position is None else position
        return {var: self.initial[var] + step * position for var, step in self.steps.items()}

    def begin_body(self, cond: Atom | None) -> None:
        """What is known of them where the condition of the loop holds: that one is not 0, in ``while stack:``."""
        made = self.reader.builder.numbering.definitions.get(cond) if isinstance(cond, Var) else None
        if made is not None and made.op.name in ("greater", "not_equal") and made.args[0] in self.initial:
            if isinstance(made.args[1], Const) and made.args[1].value == 0:
                self.reader.assumptions.found_at_least(Size.of(Unknown(made.args[0])), 1)

    def fitted(self, one: ArrayType | None, other: ArrayType | None) -> ArrayType | None:
        """The type of an array of type `one` that may be of type `other` in the next iteration. None for `one`: there
        is no array before the loop."""
        if other is None:
            return None
        if one is None:
            one = other.with_sizes(tuple(n if known_outside(other.with_sizes((n,)), self.made) else 0
                                         for n in other.sizes))
        sizes = tuple(map(self._opened, one.sizes, other.sizes))
        return joined_type(one.with_sizes(sizes), other.with_sizes(sizes), self.reader.assumptions)

    def _opened(self, size: Extent, following: Extent) -> Extent:
        normal = self.reader.assumptions.normal
        if self._var_of(size) is not None or normal(size) == normal(following):
            return size
        return self.carried(size)

    def carried(self, size: Extent) -> Extent:
        """A size that begins as this one, and may be another one in the next iteration."""
        normal = self.reader.assumptions.normal
        known = (var for var, initial in self.initial.items() if normal(initial) == normal(size))
        return Size.of(Unknown(next(known, None) or self._made(size)))

    def _made(self, initial: Extent) -> Var:
        var = Var(INT, "size")
        self.initial[var] = initial
        return var

    def _var_of(self, size: Extent) -> Var | None:
        """The variable that a size is, if it is one that the loop carries."""
        leaf = single_atom(size)
        return leaf.var if isinstance(leaf, Unknown) and leaf.var in self.initial else None

    def settle(self, carried: Iterable[Carried]) -> bool:
        """Notes what the sizes are in the next iteration; True if some that were taken as one differ."""
        self.following = {}
        if not self.initial:
            return False
        parted: dict[tuple[Var, Extent, Extent], Var] = {}
        found = [self._settle_one(each, parted) for each in carried]
        return any(found) or any([self._settle_step(var, size) for var, size in self.following.items()])

    def _settle_one(self, carried: Carried, parted: dict[tuple[Var, Extent, Extent], Var]) -> bool:
        types = []
        for slot, first, last in zip(open_slots(carried.template), *map(carried.atoms_of, ("initial", "final"))):
            ends = zip(slot.type.sizes, _sizes(first, slot.type), _sizes(last, slot.type))
            types.append(slot.type.with_sizes(tuple(self._settled(*sizes, parted) for sizes in ends)))
        before = carried.template
        carried.template = with_slots(before, iter(types))
        return any(slot.type != type for slot, type in zip(open_slots(before), types))

    def _settled(self, size: Extent, initial: Extent | None, following: Extent | None,
                 parted: dict[tuple[Var, Extent, Extent], Var]) -> Extent:
        """A size of a carried array, or another one where it is not what it was taken for."""
        var = self._var_of(size)
        if var is None or following is None:
            return size
        normal = self.reader.assumptions.normal
        first = self.initial[var] if initial is None else initial
        last = self.following.setdefault(var, following)
        if normal(last) == normal(following) and self._begin_alike(first, self.initial[var]):
            return size
        key = var, normal(first), normal(following)
        if key not in parted:
            parted[key] = self._made(first)
        return Size.of(Unknown(parted[key]))

    def _settle_step(self, var: Var, following: Extent) -> bool:
        """Notes by how much a size grows in an iteration; True if it was not known, or is not so."""
        normal = self.reader.assumptions.normal
        if var in self.uneven or var not in self.entered or self.length is None:
            return False
        if var in self.steps:
            if normal(following - self.told(self.position + 1)[var]) == 0:
                return False
            self.uneven.add(var)
            del self.steps[var]
            return True
        step = self._step(var, normal(following))
        if step is None:
            return False
        self.steps[var] = step
        return True

    def _step(self, var: Var, following: Extent) -> Extent | None:
        """By how much a size grows in an iteration, as what it is in the next one tells."""
        following = replaced(following, _without_floor)
        step = following - Size.of(Unknown(var))
        if not self._is_fixed(step):
            step = following - replaced(following, {single_atom(self.position): self.position - 1}.get)
        return step if step != 0 and self._is_fixed(step) else None

    def _is_fixed(self, step: Extent) -> bool:
        return known_outside(ArrayType(INT.dtype, (step,)), self.made)

    def _begin_alike(self, one: Extent, other: Extent) -> bool:
        """Whether two sizes are equal before the loop; dimensions of arguments are if they are in this call."""
        assumptions = self.reader.assumptions
        if guardable(one) and guardable(other):
            return assumptions.equal(one, other)
        return assumptions.normal(one) == assumptions.normal(other)

    def unchanged(self) -> dict[Var, Atom]:
        """Those that an iteration hands on as they are, and what they are."""
        return {var: atom_of_size(self.initial[var]) for var, size in self.following.items()
                if self._var_of(size) is var}

    def carries(self, copier: Copier) -> Iterator[Carry]:
        """What the loop carries for the others."""
        unchanged = self.unchanged()
        for var, following in self.following.items():
            if var not in unchanged and var not in self.steps:
                out = self.left[var] = Var(INT, "size")
                self.reader.assumptions.within(out, 0, None)
                yield Carry(var, atom_of_size(self.initial[var]), copier.atom(atom_of_size(following)), out)

    def inside(self) -> dict[Var, Atom]:
        """What stands for those in the loop that are not carried."""
        return {**self.unchanged(), **_atoms(self.told())}

    def behind(self) -> Copier:
        """What puts the sizes behind the loop into types."""
        position = {var: atom_of_size(self._trips()) for var in atom_vars(self.position)} if self.steps else {}
        return Copier({**self.unchanged(), **self.left, **position})

    def _trips(self) -> Extent:
        """How often the loop runs: ``n - 1`` for ``max(n - 1, 0)`` where n is at least 1."""
        assert self.length is not None
        return replaced(self.length, lambda atom: floored if (floored := _without_floor(atom)) is not None
                        and self.reader.assumptions.follows(floored, 0) else None)


def _atoms(sizes: Mapping[Var, Extent]) -> dict[Var, Atom]:
    return {var: atom_of_size(size) for var, size in sizes.items()}


def _without_floor(atom: SizeAtom) -> Extent | None:
    """``n - 1`` for ``max(n - 1, 0)``."""
    return atom.first if isinstance(atom, Greatest) and atom.second == 0 else None


def _sizes(atom: Any, type: ArrayType) -> tuple[Extent | None, ...]:
    """The sizes of an array, None for each where there is none."""
    own = getattr(atom, "type", None)
    return own.sizes if isinstance(own, ArrayType) and own.rank == type.rank else (None,) * type.rank
