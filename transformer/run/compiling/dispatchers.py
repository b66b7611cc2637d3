"""Classes of dispatchers: for kernels, and for the functions that they call, which need no machine code of their own.

This module imports numba, and is imported when something is compiled or loaded.
"""

from __future__ import annotations

import atexit
import gc
import os
import threading
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from llvmlite.binding import llvm_version_info
from numba import types
from numba.core import dispatcher
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.np.numpy_support import from_dtype

from ...lower.options import OF_LAPACK
from ...lower.printing.numba_names import told_apart
from ..refusing import as_refusal, leave_out_advice
from .borrowed import borrowed, owned
from .objects import Objects, object_cache

base: Any = CPUDispatcher
compiler: Any = getattr(dispatcher, "_FunctionCompiler")            # noqa: B009  (it has no types)


RIGHT_ROWS = (21,)                         # the version of LLVM
OF_OURS = {"nopython": True, "error_model": "numpy"}


class Passes:
    """What compiles by passes of ours; `passes` is their name in `pipelines`. A kernel that is loaded needs none, and
    they import a part of numba that takes a twelfth of the time of a new process up to its first result."""

    passes: str
    pipeline_class: Any

    def take_passes(self) -> None:
        self.pipeline_class = getattr(import_module(f"{__package__}.pipelines"), self.passes)


class KernelCompiler(Passes, compiler):
    """Compiles with what stands for functions of ours in machine code, which is not needed to load it.

    No array that a kernel writes shares memory with another one: results are new, and arguments that are written
    are tested (`Memory`). So LLVM need not test it before every loop."""

    passes = "LoopPasses"
    forms: Mapping[str, str] = {}

    def _customize_flags(self, flags: Any) -> Any:
        flags.noalias = True
        return flags

    def compile(self, args: Any, return_type: Any) -> Any:
        prepare_without_blas()
        self.take_passes()
        namespace = self.py_func.__globals__
        if "in_threads" in namespace:
            from .parallel import compiled_forms
            namespace.update(compiled_forms())
        namespace.update((name, compiled_form(form, namespace[name])) for name, form in self.forms.items())
        if getattr(self.py_func, "borrows", False):
            args = tuple(map(borrowed, args))
        return super().compile(args, return_type)


def compiled_form(form: str, printed: Any) -> Any:
    """The form of our own of a function as it is printed."""
    if form == "gemm":
        from .blas import compiled_gemm
        return compiled_gemm()
    if form.startswith(OF_LAPACK):
        from .lapack import ByTypes
        return ByTypes(printed, form.removeprefix(OF_LAPACK))
    from .turns import compiled_turns
    return compiled_turns()[form]


class KernelDispatcher(base):
    """Compiles for the layouts of the arrays that come, but for no other numbers than those lowered."""

    def __init__(self, function: Any, **options: Any) -> None:
        super().__init__(told_apart(function), **options)
        self._compiler: Any = _like(KernelCompiler, self)

    def replace(self, forms: Mapping[str, str]) -> None:
        """Has functions of the module in forms of our own, by their names."""
        self._compiler.forms = forms

    def vectorise_rows(self) -> None:
        """Has rows of small matrices computed as vectors, where LLVM does that right."""
        if llvm_version_info >= RIGHT_ROWS:
            self._compiler.passes = "RowsPasses"

    def keep_in(self, objects: Objects) -> None:
        self._cache = object_cache(objects, self.py_func)

    def add_overload(self, made: Any) -> None:
        """By the types of the values that are given."""
        given = tuple(map(owned, made.signature.args))
        self._insert([each._code for each in given], made.entry_point, made.objectmode)
        self.overloads[given] = made

    def typeof_pyval(self, value: Any) -> Any:
        _require_64_bits(value)
        return _array_type(value) if type(value) is np.ndarray else super().typeof_pyval(value)

    def _compile_for_args(self, *args: Any, **kwargs: Any) -> Any:
        for arg in args:
            _require_64_bits(arg)
        with as_refusal(None):
            return super()._compile_for_args(*args, **kwargs)

    def compile(self, sig: Any) -> Any:
        leave_out_advice()
        return super().compile(sig)


class InnerCompiler(Passes, compiler):
    """Compiles to what is linked into a caller, and no further."""

    passes = "InnerPasses"

    def _customize_flags(self, flags: Any) -> Any:
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        flags.noalias = getattr(self.py_func, "are_apart", False)
        return flags

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        self.take_passes()
        made = super()._compile_core(args, return_type)
        known_by = object()                  # in place of a function that Python could call
        made.target_context.insert_user_function(known_by, made.fndesc, [made.library])
        return made._replace(entry_point=known_by)


class InnerDispatcher(base):
    """A function that kernels call."""

    compiler: type[InnerCompiler] = InnerCompiler

    def __init__(self, function: Any, **options: Any) -> None:
        super().__init__(told_apart(function), **options)
        self._compiler: Any = _like(self.compiler, self)

    def add_overload(self, made: Any) -> None:
        self.overloads[tuple(made.signature.args)] = made


class ApartCompiler(InnerCompiler):
    """Compiles to what stays a function of its own in machine code."""

    passes = "ApartPasses"


class RepeatedDispatcher(InnerDispatcher):
    """One that is called several times, and stays a function of its own."""

    compiler = ApartCompiler


class AnyLayoutDispatcher(InnerDispatcher):
    """One that is compiled once for arrays of all layouts, and for numbers whatever they are."""

    def compile(self, sig: Any) -> Any:
        return super().compile(tuple(map(_in_general, sig)))


class ApartDispatcher(AnyLayoutDispatcher):
    """One that stays a function of its own in machine code."""

    compiler = ApartCompiler


def part_of_callers(function: Any) -> Any:
    """A function of ours that kernels call."""
    return InnerDispatcher(function, targetoptions=OF_OURS)


def for_any_layout(function: Any) -> Any:
    """The same, where it tells how arrays lie by their steps."""
    return AnyLayoutDispatcher(function, targetoptions=OF_OURS)


def briefly(dispatcher: Any) -> Any:
    """The same in little machine code, where all time goes elsewhere: no loop is written out or done as vectors, which
    takes longest to compile."""
    dispatcher.py_func.is_brief = True
    return dispatcher


def apart_from_callers(function: Any) -> Any:
    """The same for one that is long."""
    return ApartDispatcher(function, targetoptions=OF_OURS)


def _in_general(kind: Any) -> Any:
    """The type of all arrays that differ from one in their layout alone, or of all numbers like a known one."""
    array: Any = types.Array
    return kind.copy(layout="A") if isinstance(kind, array) else types.unliteral(kind)


def _like(kind: Any, dispatcher: Any) -> Any:
    """A compiler of this kind for what another one is for."""
    outer = dispatcher._compiler
    return kind(outer.py_func, outer.targetdescr, outer.targetoptions, outer.locals, outer.pipeline_class)


def _require_64_bits(value: Any) -> None:
    if type(value) is int and not -2**63 <= value < 2**63:
        raise OverflowError("Python int too large to convert to C long")


@cache
def prepare_without_blas() -> None:
    """As numba prepares itself to compile, it looks whether SciPy has BLAS, which imports much of SciPy: a sixth of the
    time of a first result. It is there, and what calls it (`dots`, `blas`, numba's own functions) looks again."""
    linalg: Any = import_module("numba.np.linalg")
    usual, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        arraymath = import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = usual
    vars(arraymath).update(ensure_blas=usual)


def _renew_lock() -> None:
    """In the child of a fork: a thread that compiled in the parent is not there."""
    lock: Any = global_compiler_lock
    lock._lock = threading.RLock()


def _array_type(array: np.ndarray) -> Any:
    """The type of an array. numba's own function for that imports all of numpy.ma."""
    flags = array.flags
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    make: Any = types.Array
    return make(from_dtype(array.dtype), array.ndim, layout, readonly=not flags.writeable, aligned=flags.aligned)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
atexit.register(gc.freeze)                       # what numba keeps is not searched for garbage at the end
