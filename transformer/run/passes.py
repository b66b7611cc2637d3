"""numba's passes over kernels, without what they do for the code of others.

After nearly every pass numba finds anew where each variable is alive, which takes a seventh of the time of a large
kernel. Nobody asks before the last of them, which frees memory, so the passes here leave that out.

This module imports numba, and is imported when something is compiled.
"""

from __future__ import annotations

from typing import Any

from numba.core.compiler_machinery import register_pass
from numba.core.ir_utils import build_definitions
from numba.core.rewrites import rewrite_registry
from numba.core.typed_passes import NativeLowering, NopythonRewrites, PreLowerStripPhis
from numba.core.untyped_passes import GenericRewrites, InlineClosureLikes, IRProcessing, ReconstructSSA, WithLifting

from .machine_code import KernelLowering
from .webs import Webs, are_known

rewriting: Any = GenericRewrites
versions: Any = ReconstructSSA
stripping: Any = PreLowerStripPhis
marked: Any = register_pass


@marked(mutates_CFG=False, analysis_only=False)
class Rewriting(rewriting):
    """Indices, exponents and texts that are constants."""

    _name = "kernel_rewrites"

    def run_pass(self, state: Any) -> Any:
        blocks = state.func_ir.blocks
        for kind in rewrite_registry.rewrites["before-inference"]:
            rewrite, waiting = kind(state), list(blocks)
            while waiting:
                label = waiting.pop()
                if rewrite.match(state.func_ir, blocks[label], state.typemap, state.calltypes):
                    blocks[label] = rewrite.apply()
                    waiting.append(label)
        return True


@marked(mutates_CFG=False, analysis_only=False)
class Naming(versions):
    """A name for each use of a variable (`webs`).

    numba's own pass gives each assignment one, and adds a variable wherever two of them meet. That is for variables
    that have several types, which those of a kernel have not."""

    _name = "kernel_naming"

    def run_pass(self, state: Any) -> Any:
        if not are_known(state.func_ir.blocks):
            return super().run_pass(state)
        Webs(state.func_ir.blocks).rename()
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


@marked(mutates_CFG=False, analysis_only=False)
class Meeting(stripping):
    """Assignments in place of variables that numba has added."""

    _name = "kernel_meeting"

    def run_pass(self, state: Any) -> Any:
        added = any(True for block in state.func_ir.blocks.values() for _ in block.find_exprs("phi"))
        return super().run_pass(state) if added else False


FOR_OTHERS = NopythonRewrites, InlineClosureLikes, IRProcessing, WithLifting    # whole arrays, closures, `with`
INSTEAD: dict[Any, Any] = {GenericRewrites: Rewriting, ReconstructSSA: Naming, PreLowerStripPhis: Meeting,
                           NativeLowering: KernelLowering}


def passes_of_kernels(usual: list[Any]) -> list[Any]:
    """Those to take in place of numba's usual ones, each with what it is for."""
    return [(INSTEAD.get(each, each), *text) for each, *text in usual if each not in FOR_OTHERS]
