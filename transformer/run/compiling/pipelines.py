"""The pipelines from a function to machine code: which of numba's passes run, and what LLVM does and when.

This module imports numba, and is imported when something is compiled.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from llvmlite.binding.newpassmanagers import create_new_function_pass_manager
from numba.core import codegen, config
from numba.core.compiler import CompilerBase, DefaultPassBuilder

from .passes import passes_of_kernels

loops: Any = CompilerBase
library: Any = codegen.JITCodeLibrary
settings: Any = config


WRAPPER = "_ZN7cpython"                # begins the name of what takes the arguments of a call from Python's objects
MANY_BLOCKS = 200                      # are of some 30 arrays: nothing is gained there by what LLVM does for long
MOST_BLOCKS = 600                      # of a function by itself


class KernelLibrary(library):
    """What is optimised as a whole. numba has LLVM do nearly as much for each function before; here variables leave
    memory, and no more, and not in the large functions of deep networks, where that alone takes seconds."""

    def add_ir_module(self, module: Any) -> None:
        for function in module.functions:
            if function.name.startswith(WRAPPER) and len(function.blocks) > MANY_BLOCKS:
                for attribute in ("noinline", "optnone"):
                    function.attributes.add(attribute)
        super().add_ir_module(module)

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout
        builder, passes = self._codegen._pass_builder(), create_new_function_pass_manager()
        passes.add_sroa_pass()
        for function in module.functions:
            if not _is_large(function):
                passes.run(function, builder)


    def _optimize_final_module(self) -> None:
        """In large functions, pairs of counts that cancel each other are looked for within blocks alone: numba follows
        each along all ways to the end, of which every error is one."""
        if any(_is_large(function) for function in self._final_module.functions):
            with _set("LLVM_REFPRUNE_FLAGS", "per_bb"):
                super()._optimize_final_module()
        else:
            super()._optimize_final_module()


@contextmanager
def _set(name: str, value: Any) -> Iterator[None]:
    """Has a setting of numba's, under the lock of its compiler."""
    usual = getattr(settings, name)
    setattr(settings, name, value)
    try:
        yield
    finally:
        setattr(settings, name, usual)


def _is_large(function: Any) -> bool:
    return next(islice(function.blocks, MOST_BLOCKS, None), None) is not None


class RowsLibrary(KernelLibrary):
    """What is computed one after another for neighbours in memory, is computed at once: loops over few places, which
    LLVM writes out. numba does that for those who ask for it alone, since this part of LLVM 14 gave wrong code
    (numba 8705); of what was reported of it since, all is mended in LLVM 21."""

    def _optimize_final_module(self) -> None:
        with _set("SLP_VECTORIZE", 1):
            super()._optimize_final_module()


class LoopPasses(loops):
    """numba's passes without those that search code for what explicit loops do not have, and with less machine code."""

    library: Any = KernelLibrary

    def define_pipelines(self) -> list[Any]:
        made = DefaultPassBuilder.define_nopython_pipeline(self.state)
        made.passes = passes_of_kernels(made.passes)
        made.finalize()
        return [made]

    def compile_extra(self, function: Any) -> Any:
        self.state.library = self.library(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(function)


class RowsPasses(LoopPasses):
    """Those of a kernel with rows of small matrices."""

    library = RowsLibrary


class InnerLibrary(KernelLibrary):
    """A library that is linked into others. It is optimised there, and has no machine code of its own."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class InnerPasses(LoopPasses):
    """Those of a function that becomes part of its callers."""

    library = InnerLibrary


class ApartLibrary(InnerLibrary):
    """The same for a long function, which exists once for all of its callers."""

    def add_ir_module(self, module: Any) -> None:
        for function in module.functions:
            if function.blocks:
                function.attributes.add("noinline")
        super().add_ir_module(module)


class ApartPasses(InnerPasses):
    library = ApartLibrary
