"""Statements of a kernel that may be functions of their own: what is known of the names in them.

A function is compiled as the kernel is, for arrays that share no memory: each of those that it is given is an argument
of the kernel or memory of its own. It hands nothing back, so nobody looks at a number that it leaves.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container, Hashable, Iterator
from dataclasses import dataclass
from typing import Any

from ...core.grammar import Var
from ...write.layout import Group, Item, Line
from ..nest.lifetimes import Alive, Either, Events, note_events
from .same_tasks import form_with_numbers, numbers_of_array
from .sharing import assigned, nodes, statements_of

MAKERS = {"np.empty", "np.zeros", "np.ones", "np.full"}
STATEMENTS = ast.For, ast.If, ast.Assign, ast.AugAssign, ast.Expr


@dataclass(slots=True)
class Facts:
    """What is known of an `item` alone. `weight` is how many nodes its tree has, with those of functions of numbers,
    `used` the names in it in their order, `first` those that it may look at as they were before, `form` what is equal
    for items that differ in names of numbers and arrays alone, which are `named`, in their order. A maker allocates an
    array."""

    item: Item
    weight: int
    used: dict[str, None]
    assigned: set[str]
    first: set[str]
    form: Hashable
    named: list[str]
    is_plain: bool
    is_maker: bool


class Names:
    """What is known of the names in a kernel, which has these parameters and items: `others` are no numbers and no
    arrays, `apart` are arrays that share memory with none of another name; `later` are the names that are looked at
    after an item."""

    def __init__(self, e: Any, params: list[str], items: list[Item], known: dict[int, Facts]) -> None:
        self.e, self.items, self.known = e, items, known
        self.names = {*e.names.of.values(), *e.names.sizes.values()}
        self.of_arrays = _arrays_by_names(e)
        self.facts = [self.of(item) for item in items]
        self.others = set(params).union(*(each.assigned for each in self.facts)) - self.names    # lists, …
        self.apart = self._memory_of_its_own()
        self.later = self._used_later()

    def of(self, item: Item) -> Facts:
        if id(item) not in self.known:
            self.known[id(item)] = self._found(item)
        return self.known[id(item)]

    def _found(self, item: Item) -> Facts:
        inside, made = list(nodes(item)), set(assigned(item))
        form, named = form_with_numbers([item], Either(self.names, made))
        value = item.node.value if isinstance(item, Line) and isinstance(item.node, ast.Assign) else None
        used = dict.fromkeys(node.id for node in inside if isinstance(node, ast.Name))
        return Facts(item, len(inside) + sum(map(self._weight_of, used)), used, made, set(_read_first([item])),
                     form, named, all(isinstance(each, STATEMENTS) for each in statements_of(item)),
                     isinstance(value, ast.Call) and ast.unparse(value.func) in MAKERS)

    def _weight_of(self, name: str) -> int:
        """How many nodes there are in a function of numbers and in those that it calls."""
        tree = self.e.numbers.functions.trees.get(name)
        if tree is None:
            return 0
        inside = list(ast.walk(tree))
        return len(inside) + sum(self._weight_of(node.id) for node in inside
                                 if isinstance(node, ast.Name) and node.id != name)

    def may_be_apart(self, part: list[Item], later: Container[str]) -> bool:
        """Whether items may be a function of their own: after them these names are looked at."""
        facts = list(map(self.of, part))
        if not all(each.is_plain and self.others.isdisjoint(each.used) for each in facts):
            return False
        made = set[str]().union(*(each.assigned for each in facts))
        arrays = self.of_arrays.keys() & set(self.given(part))
        return (not any(name in later for name in made) and made.isdisjoint(_first_of_all(part, facts))
                and arrays <= self.apart)

    def given(self, part: list[Item]) -> list[str]:
        """The names that items use and do not assign, in the order of their uses."""
        facts = list(map(self.of, part))
        made = set[str]().union(*(each.assigned for each in facts))
        used = dict.fromkeys(name for each in facts for name in each.used)
        return [name for name in used if name in self.names and name not in made]

    def form(self, part: list[Item]) -> Hashable:
        """What is equal for items that do the same with what they are given."""
        numbers: dict[str, int] = {}
        forms = [(facts.form, *(numbers.setdefault(name, len(numbers)) for name in facts.named))
                 for facts in map(self.of, part)]
        return tuple(forms), tuple(numbers_of_array(self.of_arrays.get(name)) for name in self.given(part))

    def call(self, part: list[Item], wish: str) -> Line:
        """A call of a function that does what items do; of one for all that do the same."""
        given = self.given(part)
        params = ast.arguments([], [ast.arg(name) for name in given], None, [], [], None, [])
        name = self.e.numbers.functions.repeat(Group(ast.FunctionDef("", params, [], [], None), part), wish,
                                               self.e.names.used | self.e.names.reserved,
                                               [self.of_arrays.get(each) for each in given])
        return Line(ast.Expr(ast.Call(ast.Name(name), list(map(ast.Name, given)), [])), part[0].origin)

    def _memory_of_its_own(self) -> set[str]:
        """The names of arrays that share memory with none of another name: arguments, and what is made at the top."""
        of, lowered = self.e.names.of, self.e.lowered
        arguments = {of[array] for array in [*lowered.function.params, *lowered.outside] if array in of}
        made = {name for each in self.facts if each.is_maker for name in each.assigned}
        times = Counter(name for item in self.items for name in assigned(item))
        return {name for name in arguments if not times[name]} | {name for name in made - arguments if times[name] == 1}

    def _used_later(self) -> list[Alive]:
        """The names whose values at the end of each item are looked at by what follows it."""
        events: dict[str, Events] = {}
        for place in range(len(self.items) - 1, -1, -1):
            facts = self.facts[place]
            met = facts.first | facts.assigned if isinstance(self.items[place], Line) else facts.first
            note_events(events, place, met, facts.first)
        return [Alive(events, place, ()) for place in range(len(self.items))]


def _arrays_by_names(e: Any) -> dict[str, Var | None]:
    """The arrays by their names; None where arrays of several shapes have had one."""
    found: dict[str, Var | None] = {}
    for var, name in e.names.of.items():
        if getattr(var.type, "sizes", ()):
            other = found.get(name, var)
            found[name] = var if other is not None and other.type == var.type else None
    return found


def _first_of_all(part: list[Item], facts: list[Facts]) -> set[str]:
    """The names that items may look at as they were before all of them."""
    found, made = set[str](), set[str]()
    for item, each in zip(part, facts, strict=True):
        found |= each.first - made
        made |= each.assigned if isinstance(item, Line) else set()
    return found


def _read_first(items: list[Item], known: frozenset[str] = frozenset()) -> Iterator[str]:
    """The names of which items may look at what they were before; `known` are those that are assigned by then."""
    for item in items:
        if isinstance(item, Line):
            yield from _loaded(item.node, known)
            known |= set(assigned(item))
        elif isinstance(item, Group):
            yield from _loaded(item.head, known)
            inside = known | set(assigned(Line(item.head))) if isinstance(item.head, ast.For) else known
            for block in (item.body, item.orelse):
                yield from _read_first(block, inside)


def _loaded(node: Any, known: frozenset[str]) -> Iterator[str]:
    """The names that a statement looks at, and are not `known`."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.For) else []
    parts = [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    given = node.value if isinstance(node, ast.Assign) else node.iter if isinstance(node, ast.For) else node
    for tree in (given, *(part for part in parts if not isinstance(part, ast.Name))):
        yield from (each.id for each in ast.walk(tree) if isinstance(each, ast.Name) and each.id not in known)
