"""Fusion: from a nest for every op to few nests that keep only what has to be kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...core.grammar import Atom
from ...core.guards import Assumptions
from ..nest.clean import cleaned
from ..nest.conditions import resolve
from ..nest.levels import as_one, level
from ..nest.nests import Block
from ..ordering.unrolling import unroll
from .alike import one_of_each
from .cells import as_cells
from .columns import by_rows
from .components import apart
from .first_places import first_places
from .gathering import gather
from .merging import merge_nests
from .parting import part, undivided
from .places_of_columns import places_by_rows
from .shrinking import shrink
from .substitution import FREE, substitute_arrays

MOST_ROUNDS = 20


def _as_they_are(block: Block) -> bool:
    return False


@dataclass(frozen=True)
class Choices:
    """How nests are fused: `columns` says how sums along columns are done, `of_rows` what may be computed again
    rather than kept in rows (`substitution`), and `for_gpu` that threads are to have places to share (`merging`);
    `tests` are brought in order before, and sums of `deviations` with those before them."""

    columns: Callable[..., Block] = by_rows
    of_rows: int | None = None
    for_gpu: bool = False
    tests: Callable[[Block], Block] = list
    deviations: Callable[[Block], bool] = _as_they_are


def fuse(block: Block, results: list[Atom], assumptions: Assumptions, choices: Choices) -> Block:
    """The block with its nests fused. `results` are renamed as well."""
    columns = choices.columns
    while substitute_arrays(block, results, FREE):
        block = cleaned(block, results, assumptions)
    if not choices.for_gpu:
        block = first_places(places_by_rows(block))
    if undivided(block):
        block = cleaned(block, results, assumptions)
    block = columns(block, only_long=True)
    block = cleaned(as_cells(resolve(unroll(block, vectors=not choices.for_gpu)), results), results, assumptions)
    gather(block, results)
    block = columns(block)
    while substitute_arrays(block, results, of_sums=True):
        block = cleaned(block, results, assumptions)
    while choices.for_gpu and substitute_arrays(block, results, of_read=True):
        block = cleaned(block, results, assumptions)
    block = _merged(block, results, assumptions, choices)
    if choices.deviations(block):
        block = _merged(cleaned(block, results, assumptions), results, assumptions, choices)
    if part(block):
        block = _merged(cleaned(block, results, assumptions), results, assumptions, choices)
    block = one_of_each(cleaned(level(block, results), results, assumptions), results)
    shrink(block, results)
    return apart(block)


def _merged(block: Block, results: list[Atom], assumptions: Assumptions, choices: Choices) -> Block:
    for _ in range(MOST_ROUNDS):
        block = merge_nests(block, assumptions, choices.for_gpu)
        block = cleaned(level(block, results), results, assumptions)
        as_one(block)
        if not substitute_arrays(block, results, of_rows=choices.of_rows):
            break
        block = cleaned(block, results, assumptions)
    return block
