"""numba's passes over kernels, without what they do for the code of others.

After nearly every pass numba finds anew where each variable is alive, which takes a seventh of the time of a large
kernel. Nobody asks before the last of them, which frees memory, so the passes here leave that out.

This module imports numba, and is imported when something is compiled.
"""

from __future__ import annotations

from typing import Any

from numba.core import interpreter
from numba.core.compiler_machinery import register_pass
from numba.core.ir_utils import build_definitions
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.rewrites import rewrite_registry
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import (
    AnnotateTypes,
    InlineOverloads,
    IRLegalization,
    NativeLowering,
    NopythonRewrites,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.types import Type
from numba.core.typing import Context
from numba.core.untyped_passes import (
    GenericRewrites,
    InlineClosureLikes,
    InlineInlinables,
    IRProcessing,
    ReconstructSSA,
    TranslateByteCode,
    WithLifting,
)

from .direct import types_of
from .machine_code import KernelLowering
from .raveled import of_same_memory
from .selections import Selecting
from .webs import Webs, are_known

rewriting: Any = GenericRewrites
versions: Any = ReconstructSSA
inference: Any = NopythonTypeInference
context: Any = Context
stripping: Any = PreLowerStripPhis
legalizing: Any = IRLegalization
translating: Any = TranslateByteCode
translator: Any = interpreter.Interpreter
marked: Any = register_pass

FORMS_OF_OTHERS = interpreter.peep_hole_delete_with_exit, interpreter.peep_hole_fuse_dict_add_updates


class Translator(translator):
    """From bytecode to numba's own form, without looking for what kernels do not have: `with`, and dictionaries."""

    def post_process(self, peepholes: Any, func_ir: Any) -> Any:
        return super().post_process([each for each in peepholes if each not in FORMS_OF_OTHERS], func_ir)


@marked(mutates_CFG=True, analysis_only=False)
class Translating(translating):
    _name = "kernel_translating"

    def run_pass(self, state: Any) -> Any:
        state["func_ir"] = Translator(state["func_id"]).interpret(state["bc"])
        return True


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

    numba's own pass gives each assignment one, and adds a variable wherever two of them meet. That is for variables of
    several types, which kernels do not have."""

    _name = "kernel_naming"

    def run_pass(self, state: Any) -> Any:
        if not are_known(state.func_ir.blocks):
            return super().run_pass(state)
        Webs(state.func_ir.blocks).rename()
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


class KnownCalls(context):
    """numba's knowledge of types, which answers each question about a call once. A kernel adds numbers a thousand
    times, and each time numba would try all signatures of addition.

    Those that are asked anew are asked of what is `shared`, by which numba knows what it has compiled before."""

    def __init__(self, shared: Any) -> None:
        self.__dict__.update(shared.__dict__)
        self.shared, self.known = shared, dict[Any, Any]()

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        asked = func, tuple(args)
        if not kws and (kinds := types_of(func, asked[1])) is not None:
            return kinds
        if kws or not all(isinstance(each, Type) for each in args):
            return self.shared.resolve_function_type(func, args, kws)
        if asked not in self.known:
            self.known[asked] = of_same_memory(func, self.shared.resolve_function_type(func, args, kws))
        return self.known[asked]


@marked(mutates_CFG=True, analysis_only=False)
class Typing(inference):
    """The types of all variables."""

    _name = "kernel_typing"

    def run_pass(self, state: Any) -> Any:
        usual, state.typingctx = state.typingctx, KnownCalls(state.typingctx)
        try:
            return super().run_pass(state)
        finally:
            state.typingctx = usual


@marked(mutates_CFG=False, analysis_only=False)
class Meeting(stripping):
    """Assignments in place of variables that numba has added."""

    _name = "kernel_meeting"

    def run_pass(self, state: Any) -> Any:
        added = any(True for block in state.func_ir.blocks.values() for _ in block.find_exprs("phi"))
        return super().run_pass(state) if added else False


@marked(mutates_CFG=False, analysis_only=True)
class Freeing(legalizing):
    """Deletes variables after their last use, if they hold memory. numba's own pass does so for all others as well."""

    _name = "kernel_freeing"

    def run_pass(self, state: Any) -> Any:
        code, models = state.func_ir, state.targetctx.data_model_manager
        code.blocks = canonicalize_cfg(code.blocks)
        lives: Any = VariableLifetime(code.blocks)
        found = lives.usedefs
        holding = {name for name in set().union(*found.usemap.values(), *found.defmap.values())
                   if models[state.typemap[name]].contains_nrt_meminfo()}
        lives.usedefs = found._replace(**{kind: {label: names & holding for label, names in every.items()}
                                          for kind, every in found._asdict().items()})
        code.variable_lifetime = lives
        PostProcessor(code)._insert_var_dels(extend_lifetimes=state.flags.dbg_extend_lifetimes)
        return True


# Whole arrays, closures, `with`, functions that are part of their callers before they have types; and notes of types
# for those who want to see them.
FOR_OTHERS = (NopythonRewrites, InlineClosureLikes, IRProcessing, WithLifting, InlineInlinables, InlineOverloads,
              AnnotateTypes)
INSTEAD: dict[Any, Any] = {TranslateByteCode: Translating, GenericRewrites: Rewriting, ReconstructSSA: Naming,
                           PreLowerStripPhis: Meeting, NopythonTypeInference: Typing, IRLegalization: Freeing,
                           NativeLowering: KernelLowering}


def passes_of_kernels(usual: list[Any]) -> list[Any]:
    """Those to take in place of numba's usual ones, each with what it is for."""
    passes = [(INSTEAD.get(each, each), *text) for each, *text in usual if each not in FOR_OTHERS]
    met = next(place for place, (each, *_) in enumerate(passes) if each is Meeting) + 1
    return [*passes[:met], (Selecting, "selects numbers"), *passes[met:]]
