"""Cuts a function at its collectives into phases, which have none: what a device runs without waiting for others.

    def f(w, x):                                def f_phase1(w, x):
        loss = np.mean(w * x)                       return np.mean(w * x)
        mean = pmean(loss, "i")
        return w - mean * x           becomes   def f_phase2(w, x, mean):
                                                    return w - mean * x

                                                def f(w, x):
                                                    loss = f_phase1(w, x)
                                                    mean = pmean(loss, "i")
                                                    return f_phase2(w, x, mean)

What is left of the function is the driver: calls of phases, collectives, and the loops and branches around collectives,
whose conditions have to be the same on all devices. Statements between two collectives are one phase, and so is what
could run before a collective though it stands behind it: each phase is as large as it can be.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from ..core.dims import dims_of, mentioned_dims
from ..core.errors import NotSupported
from ..core.grammar import Atom, Block, Call, Effect, Function, If, Let, Loop, Stmt, Var
from ..core.types import SeqType
from ..core.walk import Copier, all_statements, all_uses, atom_vars, free_vars, reachable, targets_of

Level = int


def in_phases(function: Function) -> Function:
    """The driver of a function; the phases are the functions that it calls."""
    return _Cut(function).driver()


def is_collective(stmt: Stmt) -> bool:
    """Whether the devices exchange something here."""
    return isinstance(stmt, Let) and stmt.op.over_lanes is not None


def has_collectives(stmt: Stmt) -> bool:
    return any(is_collective(each) for each in all_statements([stmt]))


class _Cut:
    """A function that is being cut. `count` is how many phases there are so far."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.dims = function.dims
        self.count = 0
        self.nouns: dict[Var, str] = {}          # what collectives give that has no name

    def driver(self) -> Function:
        for callee in reachable(self.function)[1:]:
            for stmt in filter(is_collective, all_statements(callee.body)):
                raise NotSupported(f"a collective in the recursive function {callee.name} cannot run on devices",
                                   stmt.origin, why="Devices exchange values between phases, in loops and branches.",
                                   instead="Write the recursion as a loop, move the collective out of it, or use vmap.")
        body = self._block(self.function.body, _variables(self.function.results))
        return replace(self.function, body=body)

    def _block(self, block: Block, wanted: set[Var]) -> Block:
        """The driver's form of a block, of which these variables are used behind it."""
        groups = _leveled(block)
        made: Block = []
        for k, (phase, exchanges) in enumerate(groups):
            later = [*exchanges, *(stmt for group in groups[k + 1:] for part in group for stmt in part)]
            if phase:
                made.append(self._phase(phase, wanted.union(*map(all_uses, later))))
            made += [self._exchange(stmt) for stmt in exchanges]
        return made

    def _exchange(self, stmt: Stmt) -> Stmt:
        """A collective as it is; a loop or branch around collectives with phases inside."""
        match stmt:
            case If():
                return replace(stmt, then=self._block(stmt.then, _variables(merge.then for merge in stmt.merges)),
                               orelse=self._block(stmt.orelse, _variables(merge.orelse for merge in stmt.merges)))
            case Loop():
                kept = [carry.next for carry in stmt.carries] + [record.value for record in stmt.records]
                return replace(stmt, body=self._block(stmt.body, _variables(kept)),
                               test=self._block(stmt.test, _variables([stmt.cond])))
            case Let(targets=(target,), args=args) if target.name is None:
                target.name = getattr(args[0], "name", None) if args else None
                self.nouns[target] = stmt.op.noun
            case Let() | Call() | Effect():
                pass
            case _:
                assert_never(stmt)
        return stmt

    def _phase(self, body: Block, used: set[Var]) -> Call:
        """A call of a function of these statements."""
        results = [var for stmt in body for var in targets_of(stmt) if var in used]
        used_in = free_vars(body)
        order = {param: k for k, param in enumerate(self.function.params)}
        free = sorted(used_in, key=lambda var: order.get(var, len(order)))
        for dim in mentioned_dims(body, results, free):
            if dim not in dims_of(free) and self.dims[dim][0] not in free:
                free.append(self.dims[dim][0])
        copier = Copier()
        params = [copier.fresh(var) for var in free]
        for var, param in zip(free, params):
            param.is_parameter = True
            param.name = param.name or self.nouns.get(var, "part" if getattr(var.type, "sizes", ()) else "value")
        copied = copier.block(body)
        self.count += 1
        made = Function(f"{self.function.name}_phase{self.count}", params, copied, list(copier.args(results)),
                        dims_of(params), origin=self.function.origin, role="phase",
                        size_names=self.function.size_names)
        targets = tuple(results)
        return Call(targets, made, tuple(free), body[0].origin)


def _uses_sequence(stmt: Stmt) -> bool:
    """Whether a statement uses what a loop recorded that may be one of the driver."""
    return any(isinstance(var.type, SeqType) for var in free_vars([stmt]))


def _variables(atoms: Iterable[Atom | None]) -> set[Var]:
    return {var for atom in atoms if atom is not None for var in atom_vars(atom)}


def _leveled(block: Block) -> list[tuple[Block, Block]]:
    """Statements in pairs of a phase and the exchanges after it, in an order in which everything is known."""
    exchanging = {id(stmt) for stmt in block if has_collectives(stmt) or _uses_sequence(stmt)}
    levels = _late(block, _early(block, exchanging), exchanging)
    pairs: list[tuple[Block, Block]] = [([], []) for _ in range(max(levels.values(), default=-1) + 1)]
    for stmt in block:
        pairs[levels[id(stmt)]][id(stmt) in exchanging].append(stmt)
    return pairs


def _early(block: Block, exchanging: set[int]) -> dict[int, Level]:
    """For each statement the first phase, or exchange after it, in which it can be. Effects stay in order."""
    levels: dict[int, Level] = {}
    known: dict[Var, Level] = {}
    least = 0
    for stmt in block:
        level = max((known.get(var, 0) for var in all_uses(stmt)), default=0)
        if _has_effects(stmt):
            level = least = max(level, least)
        levels[id(stmt)] = level
        known |= dict.fromkeys(targets_of(stmt), level + (id(stmt) in exchanging))
    return levels


def _late(block: Block, early: dict[int, Level], exchanging: set[int]) -> dict[int, Level]:
    """The same, with what only a later phase uses in that one: it need not be handed on. What is a result is computed
    as soon as it can be."""
    levels, used = dict(early), dict[Var, Level]()
    for stmt in reversed(block):
        if id(stmt) not in exchanging and not _has_effects(stmt):
            needed = [used[var] for var in targets_of(stmt) if var in used]
            levels[id(stmt)] = max(early[id(stmt)], min(needed, default=0))
        for var in all_uses(stmt):
            used[var] = min(used.get(var, levels[id(stmt)]), levels[id(stmt)])
    return levels


def _has_effects(stmt: Stmt) -> bool:
    return any(isinstance(each, Effect) for each in all_statements([stmt]))
