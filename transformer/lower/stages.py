"""The passes between Core and the nests that are printed, in order; for GPUs, some of them (`cuda.stages`)."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any

from ..core.builder import Builder
from ..core.equations import guardable
from ..core.grammar import Function, Var, type_of
from ..core.guards import Assumptions
from ..core.signs import without_tests_of_signs
from ..core.walk import Copier, reachable
from ..ops.proofs import Ranges
from .expand.expand import Expansion, own_copy
from .expand.extremes import extremes
from .expand.products import see_through
from .expand.promotion import promoted
from .expand.ragged import with_begins
from .expand.unbound import with_tests_of_names
from .expand.versions import in_versions
from .expand.wrapping import wrapped_around
from .fusion.directly import written_directly
from .fusion.fusion import Choices, fuse
from .fusion.in_records import made_in_records
from .fusion.lengths import compared
from .fusion.masks import chosen_by_masks
from .fusion.named_places import by_names
from .fusion.partly_sorted import partly_sorted
from .fusion.scoped import sizes_in_scope
from .fusion.shared_factors import with_shared_factors
from .fusion.steady import read_before
from .fusion.sums import accurate
from .fusion.totals import added_at_once
from .fusion.waiting import with_latest_last
from .memory.memory import place
from .memory.overwritten import without_fills
from .memory.zeroed import without_zeros
from .nest.clean import cleaned, equal_sizes
from .nest.nest_walk import allocated_next, inner_blocks, statements
from .nest.nests import Allocate, Block, Lowered
from .ordering.blocking import by_blocks
from .ordering.carried_sums import carried_sums
from .ordering.chains import shortened
from .ordering.convolutions import convolved_in_loops
from .ordering.handed_on import handed_on
from .ordering.interchange import interchange
from .ordering.jamming import jam
from .ordering.joining import join
from .ordering.layout import free_arrays, laid_out
from .ordering.peeling import peel
from .ordering.raveling import ravel
from .ordering.rows_together import rows_together
from .ordering.sinking import sink
from .ordering.sliding import slide
from .ordering.strips import in_strips
from .ordering.sums_so_far import sums_so_far
from .ordering.tiling import tile
from .ordering.turning import turned
from .printing.callees import given_away, prepared
from .threads.threads import in_chunks, shared_out

NOTHING: frozenset[Var] = frozenset()
FOR_PROCESSORS = Choices()


def expand(function: Function, assumptions: Assumptions | None = None, donated: Iterable[Var] = (),
           threads: bool = False) -> Lowered:
    """The nest form of a function. `assumptions` are those under which it was read, `donated` the parameters whose
    memory may be used; with `threads`, these share its loops. Raises a located `NotSupported` for what has no loop
    form."""
    assumptions, function = assumptions or Assumptions(), prepared(function)
    donated = set(donated).difference(function.results)
    given = given_away(function)
    lowered = _expanded(function, assumptions, donated, given, threads)
    moving = _moving(lowered.body) if donated else set()
    lowered.in_place = [atom for atom in dict.fromkeys(lowered.results)   # type: ignore[misc]
                        if atom in donated and atom not in moving]
    lowered.callees = [_expanded(callee, assumptions, given.intersection(callee.params), given, is_called=True)
                       for callee in reachable(function)[1:]]
    return lowered


def _expanded(function: Function, assumptions: Assumptions, donated: Set[Var], given: Set[Var],
              threads: bool = False, is_called: bool = False) -> Lowered:
    builder = Builder(assumptions)
    results, body = fused(function, builder, given=given, is_called=is_called)
    with builder.active():
        renamed = Copier(dims=equal_sizes(builder.assumptions))
        free = {param: renamed.type(param.type) for param in function.params if param in donated}
        body = place(body, results, free)   # type: ignore[arg-type]
        body = without_fills(body)
        body = added_at_once(body, results)
        body = _ordered(body, function, results, threads)
        body = cleaned(body, results, builder.assumptions)
        body = turned(body, results, threads)
        body = ravel(body, function.params)
        body = in_chunks(body) if threads else body
        body = compared(body)
        body = extremes(body)
        body = accurate(body)
        body = cleaned(body, results, builder.assumptions)
        if without_tests_of_signs(body, allocated_next, inner_blocks):
            body = cleaned(body, results, builder.assumptions)
        body = shared_out(body, results) if threads else body
        outside = [] if is_called else _outside(body, results)
        body, zeroed = without_zeros(body, outside)
    body = by_names(body, builder.assumptions)
    body = wrapped_around(body, results if is_called else [], builder.assumptions)
    return Lowered(function, body, results, outside, zeroed=zeroed, assumptions=assumptions)


def _ordered(body: Block, function: Function, results: list[Any], threads: bool) -> Block:
    """The block with its loops in an order that memory and processors like."""
    body = by_blocks(body, free_arrays(body, results))
    body = sink(body, results)
    body = interchange(body, results)
    body = laid_out(body, results)
    body = in_strips(body, function.params, results, threads)
    body = body if threads else slide(body, results)
    body = peel(body)
    body = tile(body)
    body = handed_on(body, results)
    body = shortened(body)
    body = with_latest_last(body)
    body = read_before(body)
    body = rows_together(body)
    body = carried_sums(body)
    body = sums_so_far(body)
    body = jam(body)
    body = join(body)
    return without_fills(body)


def fused(function: Function, builder: Builder, choices: Choices = FOR_PROCESSORS, given: Set[Var] = NOTHING,
          is_called: bool = False) -> tuple[list[Any], Block]:
    """The results of a function, and nests in which arrays are values. `given` are the parameters of functions that
    are called which are theirs; results are always those of the caller."""
    results = list(function.results)
    sizes_in_scope(function)
    with builder.active():
        function = chosen_by_masks(with_tests_of_names(function))
        function = function if choices.for_gpu else convolved_in_loops(partly_sorted(with_shared_factors(function)))
        function = function if choices.for_gpu else in_versions(function)
        ragged = with_begins(function)
        expansion = Expansion(builder, ragged, Ranges(ragged.function), given, choices.for_gpu)
        body = promoted(expansion.block(ragged.function.body), builder)
        if is_called:
            with builder.resumed(body):
                results = list(map(own_copy, results))
    body = cleaned(body, results, builder.assumptions)
    body = choices.tests(body)
    see_through(body)
    with builder.active():
        body = choices.tests(fuse(body, results, builder.assumptions, choices))
        body = written_directly(body, results)
        return results, made_in_records(body, results) if choices.for_gpu else body


def _outside(body: Block, results: list[Any]) -> list[Var]:
    """The arrays that the caller of a function allocates: results whose size is known before it runs and which stay
    where they are, and large arrays."""
    made = {stmt.target for stmt in body if isinstance(stmt, Allocate)} - _moving(body)
    found = [atom for atom in dict.fromkeys(results) if atom in made and all(map(guardable, type_of(atom).sizes))]  # type: ignore[union-attr]
    return [*found, *(stmt.target for stmt in body if _is_large(stmt) and stmt.target not in results)]


def _is_large(stmt: Any) -> bool:
    """Whether a statement allocates memory that NumPy had better allocate, in large pages: a table of a size that is
    known before the function runs."""
    if not isinstance(stmt, Allocate) or stmt.source is not None:
        return False
    type: Any = stmt.target.type
    return type.rank > 1 and all(map(guardable, type.sizes))


def _moving(block: Block) -> set[Any]:
    """The names of arrays that are not those of the same memory all the time: a loop takes turns with them."""
    return {carry.entry for stmt in statements(block) for carry in getattr(stmt, "carries", ())
            if carry.next is not carry.entry}
