"""Statements of a kernel that occur several times, one after another, but for their names, as calls of one function.

    np.dot(x, w, y)                                 def stage(x, w, y, n, total, z):
    for i in range(n):                                  np.dot(x, w, y)
        z[i] = y[i] / total                             for i in range(n):
    np.dot(z, w2, y2)                      →                z[i] = y[i] / total
    for i in range(n2):
        z2[i] = y2[i] / total                       stage(x, w, y, n, total, z)
                                                    stage(z, w2, y2, n2, total, z2)

They come from the layers of a network, forward and backward, after long nests have become functions (`repeated`). What
a stretch assigns is its own; arrays that others look at are made before it, and numbers that rest on sizes alone.

Stretches are found as repeated parts of a text that has a character for each statement, equal where statements are
equal but for their names: all that occur twice are beginnings that neighbours have in common among the sorted ends of
the text. What is chosen first is what saves most.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container, Hashable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from ...write.layout import Item, Line
from .own_functions import Facts, Names
from .sharing import assigned

LEAST = 60                              # nodes of the trees of a stretch
TRIED = 30                              # stretches of which it is tested whether they may be functions
CONVERSIONS = {"float", "int"}
FIRST = 0xF0000                         # of characters that stand for statements: they mean nothing


def in_stretches(e: Any, params: list[str], items: list[Item], known: dict[int, Facts]) -> list[Item]:
    """The items of a kernel, which has these parameters, with calls in place of such stretches."""
    while (found := _Search(e, params, items, known).with_calls()) is not None:
        items = found
    return items


class _Search(Names):
    """`settled` are the places of items that may stand further up, `kept` those of all others; `text` has a character
    for each of these."""

    def __init__(self, e: Any, params: list[str], items: list[Item], known: dict[int, Facts]) -> None:
        super().__init__(e, params, items, known)
        self.settled = set(_settled(items, {*params, *e.names.sizes.values()} - self.of_arrays.keys()))
        self.kept = [k for k in range(len(items)) if k not in self.settled]
        numbers: dict[Hashable, int] = {}
        self.text = "".join(chr(FIRST + numbers.setdefault(self._form_of(k), len(numbers))) for k in self.kept)

    def _form_of(self, k: int) -> Hashable:
        """What is equal for an item and those that may do the same."""
        facts, hosted = self.facts[k], self.e.numbers.functions.hosted
        is_own = facts.is_plain and self.others.isdisjoint(facts.used) and facts.used.keys().isdisjoint(hosted)
        return facts.form if is_own else k

    def with_calls(self) -> list[Item] | None:
        """The items with calls in place of the stretch that saves most; None if there is none."""
        for _, first, length in sorted(self._candidates(), reverse=True)[:TRIED]:
            places, before = self._chosen(first, length)
            if len(places) > 1:
                return self._called(places, length, before)
        return None

    def _candidates(self) -> Iterator[tuple[int, int, int]]:
        """How much stretches may save, where they are in the text, and how long. Numbers without a loop stay where they
        are: to call a function takes as long."""
        sums, loops = [0], [0]
        for k in self.kept:
            sums.append(sums[-1] + self.facts[k].weight)
            loops.append(loops[-1] + (not _is_of_numbers(self.items[k])))
        seen = set()
        for one, other, shared in _alike_ends(self.text):
            length = min(shared, abs(one - other))
            stretch, size = self.text[one:one + length], sums[one + length] - sums[one]
            has_loops = loops[one + length] > loops[one]
            if length > 1 and size >= LEAST and has_loops and stretch not in seen:
                seen.add(stretch)
                yield (self.text.count(stretch) - 1) * size, one, length

    def _chosen(self, first: int, length: int) -> tuple[list[int], set[int]]:
        """Where stretches are that may be one function, and which of their statements come before its calls: those that
        allocate arrays at which others look."""
        places, stretch = list[int](), self.text[first:first + length]
        place = self.text.find(stretch)
        while place >= 0:
            places.append(place)
            place = self.text.find(stretch, place + length)
        before = {k for place in places for k in range(length) if self._is_for_others(place, k, length)}
        forms = {place: self.form(self._part(place, length, before)) for place in places
                 if self._may_be_called(place, length, before)}
        for form, times in Counter(forms.values()).most_common(1):
            weight = sum(self.facts[self.kept[first + k]].weight for k in range(length) if k not in before)
            given = len(form[1]) + 3                                        # type: ignore[index]
            if (times - 1) * weight > times * given:
                return [place for place in forms if forms[place] == form], before
        return [], before

    def _is_for_others(self, place: int, k: int, length: int) -> bool:
        facts = self.facts[self.kept[place + k]]
        later = self._later(place, length)
        return facts.is_maker and any(name in later for name in facts.assigned)

    def _later(self, place: int, length: int) -> Container[str]:
        return self.later[self.kept[place + length - 1]]

    def _may_be_called(self, place: int, length: int, before: set[int]) -> bool:
        part = self._part(place, length, before)
        inside = set[str]().union(*(self.of(item).assigned for item in part))
        return (all(inside.isdisjoint(self.facts[self.kept[place + k]].used) for k in before)
                and self.may_be_apart(part, self._later(place, length)))

    def _part(self, place: int, length: int, before: set[int]) -> list[Item]:
        return [self.items[self.kept[place + k]] for k in range(length) if k not in before]

    def _called(self, places: list[int], length: int, before: set[int]) -> list[Item]:
        items, done = list[Item](), 0
        for place in places:
            start, stop = self.kept[place], self.kept[place + length - 1] + 1
            stays = {self.kept[place + k] for k in before} | self.settled
            items += self.items[done:start] + [self.items[k] for k in range(start, stop) if k in stays]
            items.append(self.call(self._part(place, length, before), "stage"))
            done = stop
        return items + self.items[done:]


def _alike_ends(text: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Where neighbours begin among the sorted ends of a text, and how much they have in common at their beginnings.

    >>> list(_alike_ends("banana"))
    [(5, 3, 1), (3, 1, 3), (1, 0, 0), (0, 4, 0), (4, 2, 2)]
    """
    ends = _sorted_ends(text)
    before = {other: one for one, other in pairwise(ends)}
    shared: dict[int, int] = {}
    length = 0
    for place in range(len(text)):             # an end without its first character has one less in common, or more
        other = before.get(place)
        if other is None:
            length = 0
            continue
        while max(place, other) + length < len(text) and text[place + length] == text[other + length]:
            length += 1
        shared[place] = length
        length = max(length - 1, 0)
    return ((one, other, shared[other]) for one, other in pairwise(ends))


def _sorted_ends(text: Sequence[str]) -> list[int]:
    """Where the ends of a text begin, in their order: by their first character, by two, four, … (Manber and Myers)."""
    ranks: list[int] = list(map(ord, text))
    ends, length = sorted(range(len(text)), key=ranks.__getitem__), 1
    while True:
        behind = [*ranks[length:], *[-1] * length]
        keys = list(zip(ranks, behind))
        ends.sort(key=keys.__getitem__)
        numbers = {key: number for number, key in enumerate(dict.fromkeys(keys[end] for end in ends))}
        if len(numbers) == len(text):
            return ends
        ranks, length = [numbers[key] for key in keys], 2 * length


def _is_of_numbers(item: Item) -> bool:
    return isinstance(item, Line) and isinstance(item.node, (ast.Assign, ast.AugAssign))


def _settled(items: list[Item], known: set[str]) -> Iterator[int]:
    """The places of items that assign numbers which rest on `known` ones alone, and are assigned once: they may stand
    further up."""
    times = Counter(name for item in items for name in assigned(item))
    known = {name for name in known if not times[name]}
    for k, item in enumerate(items):
        if isinstance(item, Line) and isinstance(item.node, ast.Assign) and _is_known(item.node.value, known):
            targets = list(assigned(item))
            if len(targets) == 1 and times[targets[0]] == 1:
                known |= set(targets)
                yield k


def _is_known(value: ast.expr, known: set[str]) -> bool:
    match value:
        case ast.Constant():
            return True
        case ast.Name(name):
            return name in known
        case ast.UnaryOp(_, operand):
            return _is_known(operand, known)
        case ast.BinOp(left, _, right):
            return _is_known(left, known) and _is_known(right, known)
        case ast.Call(function, args, []):
            return _is_conversion(function) and all(_is_known(arg, known) for arg in args)
    return False


def _is_conversion(function: ast.expr) -> bool:
    if isinstance(function, ast.Attribute):
        return isinstance(function.value, ast.Name) and function.value.id == "np" and function.attr[-1].isdigit()
    return isinstance(function, ast.Name) and function.id in CONVERSIONS
