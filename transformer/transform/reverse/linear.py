"""Statements that are linear in some variables: pushing tangents through them, pulling cotangents back.

The rules that users give are linear maps, written for one mode. `pushed` and `pulled` apply them in
either: the derivative of a linear map is the map, its reverse the transposed map. Both refuse what is
not linear: it must vanish where the variables do (`_Vanishing`), have a derivative everywhere, and one
that does not depend on the variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.builder import Builder
from ...core.errors import NotDifferentiable, Origin
from ...core.grammar import UNDEFINED, Atom, Block, Const, If, Let, Stmt, Var
from ...core.walk import all_statements, atom_vars
from ...ops.value import Value
from .. import rules
from ..activity import active_vars, flows, varied_vars
from .restoring import restore

if TYPE_CHECKING:
    from ..forward import Forward
    from .sweep import Reverse


class Linear:
    """Statements that are meant to be linear in `sources`, with results `ends`; `name` is the rule's
    and `origin` its place, for errors."""

    def __init__(self, block: Block, sources: Sequence[Var], ends: Sequence[Atom | None], name: str,
                 origin: Origin | None) -> None:
        self.block = block
        self.sources = sources
        self.ends = ends
        self.name = name
        self.origin = origin

    def prepare(self, block: Block, builder: Builder) -> None:
        """Takes the statements, in the form in which they can be transposed."""
        from ..custom.applied import prepared
        ends = [end for end in self.ends if end is not None]
        self.check_in(block)
        self.block = prepared(block, self.sources, ends, builder)

    def pushed(self, tangents: Mapping[Var, Value], outer: Forward) -> list[Value | None]:
        """Emits the statements; gives the results for sources that are `tangents` (missing: zero)."""
        self.check_in(self.block)
        forward, builder = copy(outer), outer.builder
        forward.named = lambda var: var.name
        forward.varied = varied_vars(self.block, self.sources, outer.calls.summaries)
        forward.tangent = {var: tangent.atom for var, tangent in tangents.items()}
        with builder.nested() as made:
            forward.block(self.block)
            results = [None if end is None else forward.given(end) for end in self.ends]
        self.require_constant(made, results)
        builder.block.extend(made)
        return results

    def pulled(self, cotangents: Sequence[Value | None], outer: Reverse) -> list[Value | None]:
        """Emits the transposed statements; gives the cotangents of the sources for those of the results.
        Values inside of loops and branches are restored when the `outer` sweep is done."""
        from .sweep import partly_undefined
        seeded = [end for end, d in zip(self.ends, cotangents) if d is not None]
        sweep, builder = copy(outer), outer.builder
        sweep.active = active_vars(self.block, self.sources, seeded, outer.calls.summaries)
        sweep.cotangent, sweep.elements = {}, {}
        sweep.partial, sweep.unread = partly_undefined(self.block), set()
        with builder.nested() as made:
            for end, d in zip(self.ends, cotangents):
                if end is not None and d is not None:
                    sweep.contribute(end, d)
            sweep.block(self.block)
            results = [sweep.take(source) for source in self.sources]
        builder.block.extend(made)
        self.require_constant([*self.block, *made], results)
        return results

    def transposed(self, cotangents: Sequence[Value | None], outer: Forward) -> list[Value | None]:
        """Emits the statements and what `pulled` gives, with all that it needs."""
        from ..custom.applied import without_links
        from .sweep import Reverse
        builder = outer.builder
        sweep = Reverse(builder, set(), outer.calls)
        with builder.nested() as made:
            results = self.pulled(cotangents, sweep)
        without_links(self.block)
        restore(self.block, made, sweep.mirrors, builder.assumptions)
        builder.block.extend([*self.block, *made])
        return results

    def check_in(self, block: Block) -> None:
        """Raises where the statements of a block certainly are not linear in the sources."""
        edges = dependencies(block)
        moving = reached(edges, self.sources)
        needed = reached(reversed_edges(edges), (end for end in self.ends if isinstance(end, Var)))
        vanishing = _Vanishing(block, self.sources)
        for stmt in all_statements(block):
            if isinstance(stmt, Let) and needed.intersection(stmt.targets):
                places = [isinstance(atom, Var) and atom in moving for atom in stmt.args]
                if any(places) and not _is_proportional(stmt, places, vanishing):
                    raise self.refusal(f"`{stmt.op.name}` is not", stmt.origin)
        for end in self.ends:
            if end is not None and not vanishing.includes(end):
                raise self.refusal("Its result for zeros is not zero", vanishing.place(end))

    def require_constant(self, block: Block, results: Iterable[Value | None]) -> None:
        """Raises where the derivative of the statements depends on the sources."""
        moving = reached(dependencies(block), self.sources)
        if any(result is not None and result.atom in moving for result in results):
            raise self.refusal("Its derivative depends on them", None)

    def refusal(self, why: str, place: Origin | None) -> NotDifferentiable:
        return NotDifferentiable(f"{self.name} is not linear", place or self.origin, why=f"{why}.",
                                 instead=INSTEAD)


INSTEAD = ("A custom_jvp rule has to be linear in the tangents, and a backward rule in the cotangent where "
           "forward mode is asked for: multiply them with what depends on the arguments, and add such terms.")

# -- what depends on what --------------------------------------------------------------------------

Edges = dict[Any, list[Var]]


def dependencies(block: Block) -> Edges:
    """For every variable, those computed from it, also through conditions."""
    edges: Edges = {}
    for stmt in all_statements(block):
        for target, sources in _computed(stmt):
            for source in atom_vars(sources):
                edges.setdefault(source, []).append(target)
    return edges


def _computed(stmt: Stmt) -> list[tuple[Var, Any]]:
    """Pairs of a variable and what it is computed from."""
    if isinstance(stmt, Let):
        return [(target, (stmt.args, stmt.attrs)) for target in stmt.targets]
    found: list[tuple[Var, Any]] = [(target, source) for target, source in flows(stmt)]
    deciding = stmt.cond if isinstance(stmt, If) else (getattr(stmt, "trips", None), getattr(stmt, "cond", None))
    return [*found, *((target, deciding) for target, _ in found)]


def reversed_edges(edges: Edges) -> Edges:
    found: Edges = {}
    for source, targets in edges.items():
        for target in targets:
            found.setdefault(target, []).append(source)
    return found


def reached(edges: Edges, starts: Iterable[Var]) -> set[Var]:
    """The variables to which edges lead, and those that they start from."""
    pending = list(starts)
    found = set(pending)
    while pending:
        new = [var for var in edges.get(pending.pop(), ()) if var not in found]
        found.update(new)
        pending += new
    return found


class _Vanishing:
    """The variables that are zero where the sources are zero: assumed of all, and taken back until what
    is left agrees with every statement."""

    def __init__(self, block: Block, sources: Iterable[Var]) -> None:
        self.given = set(sources)
        self.other: dict[Var, Stmt] = {}
        statements = list(all_statements(block))
        self.inside = self.given | {target for stmt in statements for target, _ in _computed(stmt)}
        while any([self._take_back(stmt) for stmt in statements]):
            pass

    def includes(self, atom: Atom) -> bool:
        if isinstance(atom, Var):
            return atom in self.inside and atom not in self.other
        return atom is UNDEFINED or isinstance(atom, Const) and atom.value == 0

    def place(self, atom: Atom) -> Origin | None:
        stmt = self.other.get(atom) if isinstance(atom, Var) else None
        return None if stmt is None else stmt.origin

    def _take_back(self, stmt: Stmt) -> bool:
        if isinstance(stmt, Let):
            wrong = () if self._vanishes(stmt) else stmt.targets
        else:
            wrong = tuple(target for target, source in flows(stmt) if not self.includes(source))   # type: ignore[arg-type]
        new = [target for target in wrong if target not in self.other and target not in self.given]
        self.other.update(dict.fromkeys(new, stmt))
        return bool(new)

    def _vanishes(self, stmt: Let) -> bool:
        op, zero = stmt.op, [self.includes(atom) for atom in stmt.args]
        if op.name in ("zeros", "full", "zeros_like", "empty"):         # what np.empty holds may be zeros
            return op.name != "full" or zero[0]
        if op.elementwise:
            return any(zero) and _gives_zero(stmt, zero)
        if op.variadic or op.writes or op.name == "addat":
            count = 2 if op.writes or op.name == "addat" else len(zero)
            return all(zero[:count]) if op.linear != ("each",) else any(zero)
        if op.linear:
            return any(on and name in op.linear for on, name in zip(zero, op.operands))
        return any(zero)


def _is_proportional(stmt: Let, places: list[bool], vanishing: _Vanishing) -> bool:
    """Whether an op may be linear in these operands; for elementwise ones, numbers decide."""
    if not stmt.op.elementwise or stmt.op.derivative is not None:
        return stmt.op.derivative is None
    others = [_probe(atom, vanishing.includes(atom), 0.6) for atom in stmt.args]
    inexact = [on and atom.type.is_inexact for on, atom in zip(places, stmt.args)]            # type: ignore[union-attr]
    try:
        with np.errstate(all="ignore"):
            once, twice, back = (_at(stmt, inexact, others, factor) for factor in (0.3, 0.6, -0.3))
            return bool(np.allclose(twice, 2 * once, equal_nan=True) and np.allclose(back, -once, equal_nan=True))
    except (TypeError, ValueError, ArithmeticError):
        return True


def _at(stmt: Let, places: list[bool], others: list[Any], factor: float) -> Any:
    """What an elementwise op gives where the operands in these places are a factor times fixed numbers."""
    operands = [factor * (1 + k) if on else other for k, (on, other) in enumerate(zip(places, others))]
    return np.asarray(stmt.op.run(*operands, **rules.rule_attrs(stmt)))


def _gives_zero(stmt: Let, zero: list[bool]) -> bool:
    """Whether an elementwise op gives zero for zeros in these places, whatever stands in the others."""
    attrs = rules.rule_attrs(stmt)
    for number in (0.6, -1.7):
        operands = [_probe(atom, on, number) for atom, on in zip(stmt.args, zero)]
        try:
            with np.errstate(all="ignore"):
                result = stmt.op.run(*operands, **attrs)
        except (TypeError, ValueError, ArithmeticError):
            return True
        if np.any(result):
            return False
    return True


def _probe(atom: Any, is_zero: bool, number: float) -> Any:
    if isinstance(atom, Const):
        return atom.value
    kind = getattr(getattr(atom, "type", None), "dtype", np.dtype(int)).kind
    if is_zero:
        return 0.0 if kind in "fc" else 0
    return number if kind in "fc" else number > 0 if kind == "b" else 2
