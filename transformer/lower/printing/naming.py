"""Names in lowered source: the user's, `i, j, k` for indices, and what numbers are."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from ...core.grammar import Const, Let, Var
from ...core.naming import numbered
from ...core.sizes import Size, Unknown
from ...core.types import ArrayType
from ...ops.arithmetic import Cast
from ...write.names import PRINTED, fresh, identifier
from ...write.natural import NATURAL
from ..nest.nest_walk import is_load, statements
from ..nest.nests import Block

INDICES = ("i", "j", "k", "l", "m", "p", "q", "r")


class Names:
    """The names of one function. Names inside a nest are used again in the next one, for numbers of the
    same type. `taken` are those that are used, in order, `least` the first number of a wish that may be free, and
    `raised` what that was before, in order: with these a scope is left at once, however many names there are."""

    def __init__(self, params: list[Var], body: Block) -> None:
        given = {var.name for var in _variables(params, body) if var.name}
        self.reserved = {identifier(name) for name in given}
        self.used: set[str] = set(PRINTED) | {"math"}
        self.types: dict[str, Any] = {}
        self.of: dict[Any, str] = {}
        self.sizes: dict[Any, str] = {}
        self.kept: set[str] = set()
        self.taken: list[str] = []
        self.least: dict[Hashable, int] = {}
        self.raised: list[tuple[Hashable, int]] = []
        self.ever: set[str] = set()                                      # that anything had at any time
        self.loads: dict[Any, Let] = {stmt.target: stmt for stmt in statements(body)
                                      if isinstance(stmt, Let) and is_load(stmt)}

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What is named inside is free again afterwards."""
        taken, raised = len(self.taken), len(self.raised)
        yield
        self.used.difference_update(name for name in self.taken[taken:] if name not in self.kept)
        self.taken[taken:] = [name for name in self.taken[taken:] if name in self.kept]
        self.least.update(reversed(self.raised[raised:]))
        del self.raised[raised:]

    def take(self, name: str) -> None:
        """Nothing else has this name, up to the end of the scope."""
        if name not in self.used:
            self.used.add(name)
            self.taken.append(name)

    def keep(self, wish: str) -> str:
        """A name that stays taken in the scopes around."""
        name = fresh(wish, self.used | self.reserved)
        self.kept.add(name)
        self.take(name)
        self.ever.add(name)
        return name

    def give(self, var: Var, wish: str) -> str:
        """Names a variable: by its own name, or as wished."""
        wish, kind, reserved = identifier(var.name or wish), self._kind(var), () if var.name else self.reserved
        asked = wish, kind, bool(var.name)
        least = self.least.get(asked, 1)
        k, name = next((k, name) for k in count(least) if (name := numbered(wish, k)) not in self.used
                       and name not in reserved and self.types.get(name, kind) == kind)
        self.raised.append((asked, least))
        self.least[asked] = k
        self.of[var] = name
        self.take(name)
        self.ever.add(name)
        self.types[name] = kind
        return name

    @staticmethod
    def _kind(var: Var) -> Any:
        type = var.type
        return (type.dtype, type.rank) if isinstance(type, ArrayType) else type

    def index(self, var: Var) -> str:
        """`i`, or the next letter that is free."""
        if var.name and var.name != "_":
            return self.give(var, var.name)
        taken = self.used | self.reserved
        name = next((letter for letter in INDICES if letter not in taken), None)
        if name is None:
            return self.give(var, "i")
        self.of[var] = name
        self.take(name)
        return name

    def wish(self, stmt: Let) -> str:
        """What a number is called after what it is: `x_ij` for `x[i, j]`, also in another dtype."""
        if stmt.op is Cast and stmt.args[0] in self.loads:
            stmt = self.loads[stmt.args[0]]
        if is_load(stmt):
            array = self.of.get(stmt.args[0], "item")
            places = "".join(map(self._place, stmt.args[1:]))
            return f"{array}_{places}" if places.isalnum() else f"{array}_at"
        return NATURAL.get(stmt.op.name, stmt.op.name)

    def _place(self, atom: Any) -> str:
        if isinstance(atom, Const):
            return str(atom.value)
        if isinstance(atom, Size) and len(atom.terms) == 1:
            (monomial, count), = atom.terms.items()
            if count == 1 and len(monomial) == 1 and isinstance(monomial[0], Unknown):
                atom = monomial[0].var
        return self.of.get(atom, "?")


def _variables(params: list[Var], body: Block) -> Iterator[Var]:
    from ...core.walk import inner_targets
    from ..nest.nest_walk import defined
    from ..nest.nests import Fold
    yield from params
    for stmt in statements(body):
        yield from defined(stmt)
        yield from inner_targets(stmt)
        if isinstance(stmt, Fold):
            yield from (carry.entry for carry in stmt.carries)
