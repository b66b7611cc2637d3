"""The passes between Core and the kernels that are printed, in order."""

from __future__ import annotations

from ...core.builder import Builder
from ...core.grammar import Function
from ...core.guards import Assumptions
from ...core.signs import without_tests_of_signs
from ..expand.wrapping import wrapped_around
from ..fusion.directly import written_directly
from ..fusion.fusion import Choices
from ..fusion.substitution import RATHER_THAN_A_ROW
from ..memory.memory import place
from ..memory.overwritten import without_fills
from ..nest.clean import cleaned
from ..nest.nest_walk import allocated_next, inner_blocks
from ..nest.nests import Lowered
from ..stages import fused
from .apart import nests_apart
from .columns import columns_in_parts
from .deviations import deviations_at_once
from .launches import launched
from .tests_at_once import tests_at_once
from .totals import totals_apart, totals_in_chunks

FOR_GPUS = Choices(columns_in_parts, RATHER_THAN_A_ROW, for_gpu=True, tests=tests_at_once,
                   deviations=deviations_at_once)


def expand_for_gpu(function: Function, assumptions: Assumptions) -> Lowered:
    """The nest form of a function with its kernels. Raises a located `NotSupported` for what has none."""
    builder = Builder(assumptions)
    results, body = fused(function, builder, FOR_GPUS)
    with builder.active():
        body = written_directly(without_fills(place(body, results, resizes=False)), results)
        body = cleaned(totals_in_chunks(totals_apart(body, results), results), results, assumptions)
        if without_tests_of_signs(body, allocated_next, inner_blocks):
            body = cleaned(body, results, assumptions)
        body, cells = launched(nests_apart(body, results), results)
        body = wrapped_around(body, [], assumptions)
    return Lowered(function, body, results, assumptions=assumptions, cells=cells)
