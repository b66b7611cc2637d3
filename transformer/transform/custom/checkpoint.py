"""Parts of a function of which a reverse sweep keeps nothing: `checkpoint`.

The statements of such a part stand where they are, followed by a `ruled` statement that has a closed copy
of them. In reverse mode a copy runs in the forward sweep, and another one where the reverse sweep gets
there, followed by its reverse. Both are such parts in turn, so that every order is the same step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from ...core.builder import current
from ...core.errors import NotSupported
from ...core.grammar import Atom, Block, Call, Effect, Function, Stmt, Var, type_of
from ...core.types import ArrayType
from ...core.walk import (
    Copier,
    all_definitions,
    all_statements,
    atom_vars,
    calls_itself,
    free_vars,
    reachable,
    targets_of,
)
from ...ops.identity import Again
from ...ops.ruled import Ruled
from ...ops.value import Value
from ...read.calls.ruled import Leaves, Use, check_no_writes, filled, mark_effects, related, share
from ...read.frames import stamp
from .. import rules
from ..activity import varied_vars
from ..reverse.blocks import in_blocks
from ..reverse.restoring import restore, without_effects
from .custom import Application, Custom, Pullback, Tangents

if TYPE_CHECKING:
    from ..forward import Forward
    from ..reverse.sweep import Reverse

_serial = count()


class Checkpointed(Custom):
    """A function of which a reverse sweep keeps nothing; see `transformer.checkpoint`."""

    kind = "checkpoint"

    def __transformer_read__(self, reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Reads the function in place, and marks what was read."""
        mark, made, start = reader.journal.mark(), stamp(), len(reader.builder.block)
        result = reader.call(self.function, args, kwargs)
        check_no_writes(reader, mark, made, "a function under checkpoint")
        outcome = Outcome(reader)
        tree = outcome.tree(result)
        block = reader.builder.block[start:]
        if not outcome.atoms or not block:
            return result
        del reader.builder.block[start:]
        values = emit_part(self.__name__, block, outcome.atoms)
        why = f"{self.__name__} returns an array that has another name, too, or a view of it."
        share(reader, values, outcome.values, why)
        return related(reader, filled(reader, tree, lambda k: values[k]), result)


class Outcome(Leaves):
    """What a function returned: the floating point leaves."""

    def _leaf(self, value: Any) -> Any:
        if not isinstance(value, Value) or not value.type.is_inexact:
            return value
        return super()._leaf(value)


def emit_part(name: str, block: Block, results: Sequence[Atom]) -> list[Value]:
    """Emits statements of which nothing is to be kept; gives their results."""
    builder = current()
    part, inputs = closed(name, block, results)
    check(part, results, block)
    use = Use(Part(part), None, None, (), None)                                    # type: ignore[arg-type]
    builder.block.extend(block)
    mark_effects(block, use)
    targets = builder.let(Ruled, (*results, *inputs), {"count": len(results), "use": use}, list(map(type_of, results)))
    return [Value(target) for target in targets]


def closed(name: str, block: Block, results: Sequence[Atom]) -> tuple[Function, list[Var]]:
    """A copy of statements as a function of what they use, which is given as well."""
    ends = [*results, *(var.type for var in all_definitions(block))]
    inputs = list(free_vars(block, (var for end in ends for var in atom_vars(end))))
    copier = Copier()
    params = [copier.fresh(var) for var in inputs]
    for param in params:
        param.type = copier.type(param.type)
    return Function(name, params, copier.block(block), list(copier.args(results))), inputs


def check(part: Function, results: Iterable[Atom], block: Block) -> None:
    """Raises for what cannot be run again."""
    origin, own = current().origin, set(all_definitions(block))
    called = (each for stmt in all_statements(block) if isinstance(stmt, Call) for each in reachable(stmt.function))
    if any(map(calls_itself, called)):
        raise NotSupported(f"checkpoint of {part.name}, which calls a recursive function, is not supported", origin,
                           instead="Apply checkpoint to a function without recursion.")
    if not all(isinstance(param.type, ArrayType) for param in part.params):
        raise NotSupported(f"checkpoint of {part.name}, which uses a list filled by a loop, is not supported", origin,
                           instead="Convert it to an array first: np.array(items).")
    if any(var in own for result in results for var in atom_vars(type_of(result))):
        raise NotSupported(f"checkpoint of {part.name}, which returns an array of computed size, is not supported",
                           origin, instead="Return an array whose size follows from the sizes of the arguments.")


class Part:
    """Statements of which nothing is kept, as a function of what they use."""

    kind = "checkpoint"
    stays = False

    def __init__(self, function: Function) -> None:
        self.function = function
        self.__name__ = function.name

    def check_active(self, use: Use, active: Sequence[bool]) -> None:
        """Nothing in it is declared constant."""

    def pushforward(self, at: Application, tangents: Tangents, forward: Forward) -> tuple[list[Value], Tangents]:
        from ..forward import Forward as Sweep
        block, results = self._placed(at.operands)
        given = {var: tangent.atom for var, tangent in zip(at.operands, tangents)
                 if tangent is not None and isinstance(var, Var)}
        sweep = Sweep(forward.builder, varied_vars(block, given, forward.calls.summaries), forward.calls)
        sweep.tangent.update(given)
        with forward.builder.nested() as made:
            sweep.block(block)
            moving = [sweep.given(result) for result in results]
            full = [rules.full(t, type_of(r)) for t, r in zip(moving, results) if t is not None]
        values = iter(emit_part(self.__name__, made, [*results, *(t.atom for t in full)]))
        return [next(values) for _ in results], [None if t is None else next(values) for t in moving]

    def reversible(self, at: Application, active: list[bool]) -> tuple[list[Value], Pullback]:
        block, results = self._placed(at.operands)
        values = emit_part(self.__name__, block, results)

        def pullback(cotangents: Tangents, sweep: Reverse) -> Tangents:
            found: Tangents = [None] * len(at.operands)
            with sweep.builder.nested() as made:
                terms = self._reversed(at.operands, active, cotangents, sweep)
            places = [k for k, term in terms.items() if term is not None]
            results = [terms[k].atom for k in places]                              # type: ignore[union-attr]
            made = needed(made, results)
            for k, value in zip(places, emit_part(f"{self.__name__}_reverse", made, results) if places else ()):
                found[k] = value
            return found
        return values, pullback

    def _placed(self, operands: Sequence[Atom]) -> tuple[Block, list[Atom]]:
        """A copy of the statements for these operands, and its results."""
        copier = Copier(dict(zip(self.function.params, operands)))
        block = copier.block(self.function.body)
        current().assumptions.inherit(copier.mapping, copier.size)
        return block, list(copier.args(self.function.results))

    def _reversed(self, operands: Sequence[Atom], active: list[bool], cotangents: Tangents, sweep: Reverse
                  ) -> dict[int, Value | None]:
        """Emits the statements once more, and their reverse: the cotangents of the active operands."""
        from ..reverse.sweep import Reverse as Sweep
        from .applied import prepared, without_links
        builder = sweep.builder
        twins = [again(atom) for atom in operands]
        inputs = {k: var for k, var in enumerate(twins) if active[k] and isinstance(var, Var)}
        block, results = self._placed(twins)
        without_effects(block)
        seeds = [(result, d) for result, d in zip(results, cotangents) if d is not None]
        ends = [result for result, _ in seeds]
        body = prepared(in_blocks(block, builder), inputs.values(), ends, builder)
        inner = Sweep.of(body, inputs.values(), ends, builder, sweep.calls)
        with builder.nested() as backwards:
            for result, d in seeds:
                inner.contribute(result, d)
            inner.block(body)
            found = {k: inner.take(var) for k, var in inputs.items()}
            found = {k: d if d is None else rules.full(d, inputs[k].type) for k, d in found.items()}
        without_links(body)
        restore(body, backwards, inner.mirrors, builder.assumptions)
        builder.block.extend([*body, *backwards])
        return found


def needed(block: Block, results: Sequence[Atom]) -> Block:
    """The statements that these results need, so that no more is kept for them than has to be."""
    live = {var for result in results for var in atom_vars(result)}
    left: Block = []
    for stmt in reversed(block):
        if isinstance(stmt, Effect) or not live.isdisjoint(targets_of(stmt)) or any(map(_acts, all_statements([stmt]))):
            left.append(stmt)
            live.update(free_vars([stmt], (v for var in all_definitions([stmt]) for v in atom_vars(var.type))))
    return left[::-1]


def _acts(stmt: Stmt) -> bool:
    return isinstance(stmt, Effect) and stmt.kind != "comment"


def again(atom: Atom) -> Atom:
    """An operand under another name, which keeps what is computed from it apart from what was."""
    if not isinstance(atom, Var) or not type_of(atom).is_inexact:
        return atom
    target, = current().let(Again, (atom,), {"serial": next(_serial)}, (atom.type,))
    target.name = atom.name
    return target
