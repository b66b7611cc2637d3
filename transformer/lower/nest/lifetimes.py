"""What is still needed after a statement of the nest form, in the iterations to come as well."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterable, Sequence
from typing import Any, assert_never

from ...core.grammar import Call, Effect, If, Let, Loop, Var
from ...core.walk import atom_vars, inner_targets
from .nest_walk import all_uses, defined, inner_blocks, statements, uses_after, uses_before, writes
from .nests import Allocate, Block, Fold, Launch, Library, Nest, Product, Stmt, Store, Task


class Mentions:
    """What statements use and define, with the blocks in them; looked up once for each, while none of them changes."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[frozenset[Var], frozenset[Var]]] = {}

    def used(self, stmt: Any) -> frozenset[Var]:
        """Every variable that it uses; arrays that are written count."""
        return self._of(stmt)[0]

    def made(self, stmt: Any) -> frozenset[Var]:
        """Every variable that is new in it, or behind it."""
        return self._of(stmt)[1]

    def _of(self, stmt: Any) -> tuple[frozenset[Var], frozenset[Var]]:
        found = self._found.get(id(stmt))
        if found is None:
            inside = [self._of(each) for block in inner_blocks(stmt) for each in block]
            used = frozenset((*uses_before(stmt), *uses_after(stmt))).union(*(each[0] for each in inside))
            made = frozenset((*defined(stmt), *inner_targets(stmt))).union(*(each[1] for each in inside))
            found = self._found[id(stmt)] = used, made
        return found


Events = tuple[list[int], list[bool]]    # where statements have to do with a variable, and whether they look at it
NOTHING: tuple[Sequence[int], Sequence[bool]] = ((), ())


def note_events(events: dict[Any, Events], place: int, met: Iterable[Any], used: Container[Any]) -> None:
    """Notes with which variables a statement has to do, and which of them are `used`; places are noted from the last
    one to the first."""
    for var in met:
        places, looks = events.setdefault(var, ([], []))
        places.append(-place)                                            # so that they ascend
        looks.append(var in used)


class Alive:
    """The variables that are looked at behind a place in a block: those at which the next statement from there looks
    that has to do with them, and where there is none, those that are alive at the `end` of the block."""

    __slots__ = "end", "events", "place"

    def __init__(self, events: dict[Any, Events], place: int, end: Container[Any]) -> None:
        self.events, self.place, self.end = events, place, end

    def __contains__(self, var: object) -> bool:
        places, looks = self.events.get(var, NOTHING)
        behind = bisect_left(places, -self.place) - 1
        return looks[behind] if behind >= 0 else var in self.end


class Either:
    """What is in one container or another."""

    __slots__ = ("parts",)

    def __init__(self, *parts: Container[Any]) -> None:
        self.parts = parts

    def __contains__(self, var: object) -> bool:
        return any(var in part for part in self.parts)


class Lifetimes:
    """`after[id(stmt)]` are the variables that are read after a statement of any block outside of nests."""

    def __init__(self, block: Block, results: Iterable[Any]) -> None:
        self.mentions = Mentions()
        self.after: dict[int, Alive] = {}
        self._block(block, frozenset(atom_vars(tuple(results))))

    def is_needed_after(self, stmt: Any, var: Var) -> bool:
        return var in self.after[id(stmt)]

    def _block(self, block: Block, end: Container[Var]) -> Alive:
        """What is alive before a block, of which this is at its end."""
        events: dict[Var, Events] = {}
        for place in range(len(block) - 1, -1, -1):
            stmt = block[place]
            self.after[id(stmt)] = alive = Alive(events, place, end)
            inside, overwritten = self._inside(stmt, alive)
            used = (inside - set(defined(stmt))).union(uses_before(stmt))
            note_events(events, place, used.union(overwritten, defined(stmt)), used)
        return Alive(events, -1, end)

    def _inside(self, stmt: Stmt, alive: Alive) -> tuple[set[Var], set[Var]]:
        """The variables from before a statement that its blocks look at, and those that they make in any case."""
        match stmt:
            case If():
                return self._branches(stmt, alive)
            case Loop():
                return self._loop(stmt, alive), set()
            case Nest() | Fold():
                return set(uses_after(stmt)).union(*map(self.mentions.used, stmt.body)), set()
            case Let() | Call() | Effect() | Allocate() | Store() | Product() | Library() | Task() | Launch():
                return set(), set()
            case _:
                assert_never(stmt)

    def _branches(self, stmt: If, alive: Alive) -> tuple[set[Var], set[Var]]:
        then, orelse = (frozenset(atom_vars(tuple(getattr(merge, side) for merge in stmt.merges)))
                        for side in ("then", "orelse"))
        before = Either(self._block(stmt.then, Either(alive, then)), self._block(stmt.orelse, Either(alive, orelse)))
        body = (*stmt.then, *stmt.orelse)
        touched = set(then | orelse).union(*map(self.mentions.used, body), *map(self.mentions.made, body))
        used = {var for var in touched if var in before}
        return used, touched - used

    def _loop(self, stmt: Loop, alive: Alive) -> set[Var]:
        """What comes from outside of a loop is needed in every iteration."""
        body = (*stmt.test, *stmt.body)
        inside = frozenset(inner_targets(stmt)).union(*map(self.mentions.made, body))
        outer = set(uses_after(stmt)).union(*map(self.mentions.used, body)) - inside
        end = Either(alive, outer)
        start = self._block(stmt.body, Either(end, frozenset(uses_after(stmt))))
        self._block(stmt.test, Either(end, start))
        return outer


def mentioned(stmt: Any) -> set[Var]:
    """Every variable that a statement and the blocks in it use; arrays that are written count."""
    return set(all_uses([stmt]))


def written(stmt: Any) -> set[Var]:
    """The arrays that a statement and the blocks in it write to."""
    return {array for each in statements([stmt]) for array in writes(each)}
