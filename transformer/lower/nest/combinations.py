"""Folds of which parts can be made at once, and combined: sums, products, extremes, and the place of an extreme.

    total = fold total + x[i]                       partial totals are added in the same way
    best, k = fold where x[i] > best                of two of them the better one counts, with its place; of equal
        then x[i], i else best, k                   ones that of the lower place

A part begins with what changes nothing: nothing to add, or what the whole fold begins with. For the best item and its
place that is so whatever the comparison is, if it is a strict order: what a part leaves is what it began with, or
better. Whether it is an order, nan included, is found by trying: it only asks which of two numbers is larger, and which
is nan.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...core.builder import current
from ...core.grammar import Atom, Carry, Const, Let, Var
from ...core.sizes import Extent, Size, Unknown
from ...core.types import INT, ArrayType
from ...core.walk import atom_vars, inner_targets, size_of_atom
from ...ops.arithmetic import Add, Multiply
from ...ops.comparison import Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual
from ...ops.logic import BitwiseAnd, BitwiseOr
from ...ops.selection import Maximum, Minimum, Where
from ..fusion.sums import uses_in
from .nest_walk import defined, is_load, statements
from .nests import Block, Fold, Index, Load

NEUTRAL: dict[Any, int] = {Add: 0, Multiply: 1}
IN_ANY_ORDER = Add, Maximum, Minimum, BitwiseAnd, BitwiseOr
COMPARISONS = Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual, BitwiseAnd, BitwiseOr
CHUNKS = "chunks"                      # makes memory for what parts give


@dataclass
class Combined:
    """A number of which two values are combined by the op of `step`."""

    carry: Carry
    step: Let

    @property
    def carries(self) -> list[Carry]:
        return [self.carry]

    @property
    def neutral(self) -> int | None:
        """What the op leaves as it is, if a part does not begin with what the fold does."""
        return NEUTRAL.get(self.step.op)

    def begins(self) -> list[Atom]:
        """What a part begins with."""
        if self.neutral is None:
            return [self.carry.init]
        dtype = dtype_of(self.carry)
        return [Const(dtype.type(self.neutral), ArrayType(dtype))]

    def joined(self, before: list[Var], part: list[Var]) -> tuple[Block, list[Var]]:
        """What a part is combined with, as statements, and what they make."""
        attrs = {"of": CHUNKS} if self.step.op is Add else dict(self.step.attrs)
        after = Var(self.carry.entry.type)
        return [Let((after,), self.step.op, (before[0], part[0]), attrs, self.step.origin)], [after]


@dataclass
class Best:
    """The best item, and its place: `steps` compare an `item` with the best one so far, and make `mask`."""

    value: Carry
    place: Carry
    item: Atom
    mask: Atom
    steps: list[Let]
    own: Var                           # the best item so far, in the steps

    @property
    def carries(self) -> list[Carry]:
        return [self.value, self.place]

    def begins(self) -> list[Atom]:
        return [self.value.init, self.place.init]

    def joined(self, before: list[Var], part: list[Var]) -> tuple[Block, list[Var]]:
        """Of parts one after the other the first of the best."""
        mapping: dict[Any, Atom] = {self.own: before[0], self.item: part[0]}
        made: Block = []
        for step in self.steps:
            mapping[step.target] = target = Var(step.target.type)
            made.append(Let((target,), step.op, tuple(mapping[arg] for arg in step.args), {}, step.origin))
        mask, origin = mapping[self.mask], self.steps[-1].origin
        after = [Var(carry.entry.type) for carry in self.carries]
        made += [Let((new,), Where, (mask, theirs, ours), {}, origin)
                 for new, theirs, ours in zip(after, part, before, strict=True)]
        return made, after


def combinations(stmt: Fold) -> list[Combined | Best] | None:
    """How the numbers that a fold hands on are combined, all of them; None if one is not."""
    found: list[Combined | Best] = []
    for carry in stmt.carries:
        made = combination(carry, stmt)
        if made is not None:
            found.append(Combined(carry, made))
        else:
            best = _best(carry, stmt)
            if best is not None:
                found.append(best)
    known = {id(carry) for each in found for carry in each.carries}
    return found if len(known) == len(stmt.carries) else None


def combination(carry: Carry, stmt: Fold) -> Let | None:
    """What makes the next value of a carry, if two of its values are combined in the same way."""
    made = _maker(carry.next, stmt)
    if made is not None and made.op in (*IN_ANY_ORDER, *NEUTRAL):
        alone = uses_in(stmt, carry.entry) == 1 and not uses_in(stmt, made.target)
        return made if alone and _goes_through(made, carry.entry, stmt) else None
    inner = _inner(carry, stmt)
    return combination(inner[1], inner[0]) if inner and uses_in(stmt, carry.entry) == 1 else None


def _goes_through(made: Let, entry: Var, stmt: Fold) -> bool:
    """Whether a number is that of the iteration before, and items, in one op: as it is, or as in `total + a + b`, which
    nobody else sees before all of them are there."""
    if made.target.type != entry.type:
        return False
    steps = [each for each in map(partial(_maker, stmt=stmt), made.args) if each is not None and each.op is made.op]
    return entry in made.args or any(uses_in(stmt, each.target) == 1 and _goes_through(each, entry, stmt)
                                     for each in steps)


def _maker(atom: Atom, stmt: Fold) -> Let | None:
    return next((each for each in stmt.body if isinstance(each, Let) and atom in each.targets), None)


def _inner(carry: Carry, stmt: Fold) -> tuple[Fold, Carry] | None:
    """The fold inside of a fold in which a carry goes on."""
    return next(((each, c) for each in stmt.body if isinstance(each, Fold) for c in each.carries
                 if c.out is carry.next and c.init is carry.entry), None)


def of_parts(stmt: Fold, groups: list[Combined | Best], arrays: dict[Carry, Var], parts: Extent,
             at: tuple[Atom, ...] = ()) -> Fold:
    """A fold over what parts of another one have left in arrays, where these are at the places behind `at`."""
    place = Var(INT)
    current().assumptions.within(place, 0, parts - 1)
    body: Block = []
    made: dict[Carry, Carry] = {}
    for group in groups:
        entries, items = ([Var(carry.entry.type) for carry in group.carries] for _ in range(2))
        body += [Let((item,), Load, (arrays[carry], *at, place), {"of": CHUNKS}, stmt.origin)
                 for item, carry in zip(items, group.carries, strict=True)]
        steps, results = group.joined(entries, items)
        body += steps
        made.update((carry, Carry(entry, carry.init, after, carry.out))
                    for carry, entry, after in zip(group.carries, entries, results, strict=True))
    return Fold([Index(place, parts)], [made[carry] for carry in stmt.carries], body, stmt.origin)


def dtype_of(carry: Carry) -> Any:
    return carry.entry.type.dtype                                        # type: ignore[union-attr]


# -- the best item, and its place -----------------------------------------------------------------


def _best(value: Carry, stmt: Fold, around: tuple[Fold, ...] = ()) -> Best | None:
    """A carry as the best item so far, with the carry that is its place, as the innermost fold makes them."""
    inner = _inner(value, stmt)
    if inner is not None:
        found = _best(inner[1], inner[0], (*around, stmt))
        place = next((c for c in stmt.carries if found is not None and _goes_on(c, found.place, stmt)), None)
        if found is None or place is None or not _goes_on(value, found.value, stmt):
            return None
        return Best(value, place, found.item, found.mask, found.steps, found.own)
    chosen = _choices(value, stmt)
    steps = _compared_alike(chosen, value.entry, stmt)
    for place in stmt.carries if steps else ():
        made = _choices(place, stmt)
        if (place is not value and [each.args[0] for each in made] == [each.args[0] for each in chosen]
                and is_increasing(place, [each.args[1] for each in made], (*around, stmt))
                and _are_alone([*sum(steps, []), *chosen, *made], [value.entry, place.entry], stmt)):
            return Best(value, place, chosen[0].args[1], chosen[0].args[0], steps[0], value.entry)
    return None


def _choices(carry: Carry, stmt: Fold) -> list[Let]:
    """What makes the next value of a carry, one after the other, if each is another one under a condition."""
    found: list[Let] = []
    made = _maker(carry.next, stmt)
    while made is not None and made.op is Where:
        found.insert(0, made)
        if made.args[2] is carry.entry:
            return found
        made = _maker(made.args[2], stmt)
    return []


def _compared_alike(chosen: list[Let], entry: Var, stmt: Fold) -> list[list[Let]]:
    """The comparisons of each item with the best one before, if they are the same."""
    found: list[list[Let]] = []
    owns = [entry, *(each.target for each in chosen)]
    forms = set()
    for each, own in zip(chosen, owns, strict=False):
        steps = _compared(each.args[0], each.args[1], own, stmt)
        if steps is None:
            return []
        names: dict[Any, Any] = {each.args[1]: "item", own: "own"}
        names.update((step.target, k) for k, step in enumerate(steps))
        forms.add(tuple((step.op, *(names[arg] for arg in step.args)) for step in steps))
        found.append(steps)
    return found if len(forms) == 1 else []


def _goes_on(carry: Carry, inner: Carry, stmt: Fold) -> bool:
    """Whether a carry is nothing but that of an inner fold."""
    return (inner.init is carry.entry and inner.out is carry.next and uses_in(stmt, carry.entry) == 1
            and not uses_in(stmt, inner.out))


def _compared(mask: Atom, item: Atom, own: Var, stmt: Fold) -> list[Let] | None:
    """The comparisons of an item with the best one that make a mask, if they are an order."""
    made = list(dict.fromkeys(_steps(mask, item, own, stmt)))
    steps = [step for step in made if step is not None]
    dtype = own.type.dtype                                               # type: ignore[union-attr]
    return steps if steps == made and dtype.kind in "biuf" and _is_order(steps, item, own, dtype) else None


def _steps(atom: Atom, item: Atom, own: Var, stmt: Fold) -> Iterator[Let | None]:
    """What makes a mask, each statement behind those that it needs; None for what is no comparison of the two."""
    made = _maker(atom, stmt)
    if made is None or made.op not in COMPARISONS:
        yield None
        return
    for arg in made.args:
        if arg is not item and arg is not own:
            yield from _steps(arg, item, own, stmt)
    yield made


def _are_alone(made: list[Let], entries: list[Var], stmt: Fold) -> bool:
    """Whether nothing else uses what statements make of the numbers that are handed on."""
    inside = [arg for each in made for arg in each.args]
    changing = [*entries, *(each.target for each in made if not set(entries).isdisjoint(each.args))]
    for each in made:
        if each.target not in changing and not set(changing).isdisjoint(each.args):
            changing.append(each.target)
    return all(uses_in(stmt, var) == inside.count(var) for var in changing)


def _is_order(steps: list[Let], item: Atom, own: Var, dtype: np.dtype) -> bool:
    """Whether `item` counts for more than `own` in a strict order, of which nan is a part, or never counts."""
    numbers = [0, 1] if dtype.kind == "b" else [0, 1, 2]
    samples = np.array([*numbers, *[np.nan] * (dtype.kind == "f")])
    values: dict[Any, Any] = {item: samples[:, None], own: samples[None, :]}
    for step in steps:
        values[step.target] = step.op.run(*(values[arg] for arg in step.args))
    shape = len(samples), len(samples)
    better = np.broadcast_to(values[steps[-1].target], shape).astype(bool)
    count = len(numbers)
    is_outside = not better[count:].any() and not better[:, count:].any()
    return _is_strict(better[:count, :count] if is_outside else better)


def _is_strict(better: np.ndarray) -> bool:
    """Whether a relation is a strict order in which those that come equal are exchangeable."""
    equal = ~better & ~better.T
    return not np.diag(better).any() and not (better & better.T).any() and all(
        bool((~(relation @ relation) | relation).all()) for relation in (better, equal))


def is_increasing(carry: Carry, places: list[Atom], folds: tuple[Fold, ...]) -> bool:
    """Whether integers become larger, one after the other, and from each iteration of folds, one in the other, to the
    next."""
    made = {each.target: each for fold in folds for each in fold.body if isinstance(each, Let)}
    own = made.get(places[0]) if isinstance(places[0], Var) else None    # the place that a chunk has found
    if own is not None and is_load(own) and own.attrs.get("of") == CHUNKS:
        return len(places) == 1
    if dtype_of(carry).kind not in "iu":
        return False
    indices = [index for fold in folds for index in fold.indices]
    flat: Extent = 0
    for index in indices:
        flat = flat * index.size + Size.of(Unknown(index.var))
    first, *others = (_extent(place, made) for place in places)
    step = _step(first, indices)
    if first is None or step is None:
        return False
    ahead = [0, *(each - first for each in others if each is not None), step]
    numbers = [each for each in ahead if isinstance(each, int)]
    is_growing = len(numbers) == len(places) + 1 and numbers == sorted(set(numbers))
    return is_growing and _changing(folds[0]).isdisjoint(atom_vars((first - flat * step,)))


def _changing(fold: Fold) -> set[Var]:
    """What differs from iteration to iteration."""
    inside = [fold, *statements(fold.body)]
    own = {var for each in inside for var in inner_targets(each)} | {carry.entry for carry in fold.carries}
    return own | {index.var for index in fold.indices} | {var for each in inside[1:] for var in defined(each)}


def _step(place: Extent | None, indices: list[Index]) -> int | None:
    """By how much a place grows along the last index, if that is a number."""
    count = place.terms.get((Unknown(indices[-1].var),), 0) if isinstance(place, Size) else 0
    return count if count > 0 else None


def _extent(atom: Atom, made: dict[Var, Let]) -> Extent | None:
    """An integer in terms of what is not computed here."""
    stmt = made.get(atom) if isinstance(atom, Var) else None
    if stmt is None or stmt.op not in (Add, Multiply):
        return size_of_atom(atom) if isinstance(atom, (Var, Size)) or isinstance(atom, Const) else None
    left, right = (_extent(arg, made) for arg in stmt.args)
    if left is None or right is None:
        return None
    return left + right if stmt.op is Add else left * right


def placed(target: Var, array: Var, place: Var, origin: Any) -> Let:
    """What a chunk has left, at its place."""
    return Let((target,), Load, (array, place), {"of": CHUNKS}, origin)

