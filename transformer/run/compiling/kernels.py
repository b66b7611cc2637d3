"""Compiled kernels: numba's dispatchers for the functions of a module of explicit loops.

numba is imported where functions here need it, when something is compiled or loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from ...core.errors import Origin
from ...lower.options import for_numba
from ..refusing import as_refusal
from .known_before import KNOWN, forms_of, know
from .objects import Objects


def install(namespace: dict[str, Any], options: dict[str, dict[str, Any]], kernel: str, objects: Objects | None
            ) -> None:
    """Puts dispatchers in place of functions that a module defines, with these options. Nothing is compiled by
    that; what is compiled of the kernel is kept in `objects`."""
    _make_importable(namespace)
    from numba.core.registry import CPUDispatcher

    from .dispatchers import InnerDispatcher, KernelDispatcher, RepeatedDispatcher
    recursive = {name for name in options if name in _reached_from(name, namespace, options)}
    shared = forms_of(namespace, options, {kernel, *recursive}) if objects is not None else {}
    for name, chosen in options.items():
        if shared.get(name) in KNOWN:
            namespace[name] = KNOWN[shared[name]]
            continue
        kind: Any = RepeatedDispatcher if "apart" in chosen else InnerDispatcher
        if name == kernel:
            kind = KernelDispatcher
        if not chosen["nogil"] or name in recursive:       # which Python calls again, or the function itself
            kind = CPUDispatcher
        known = {"nopython": True, "no_cfunc_wrapper": True, **for_numba(chosen)}
        namespace[name] = kind(namespace[name], targetoptions=known)
        namespace[name].py_func.known_sizes = chosen.get("sizes", {})
        namespace[name].py_func.are_apart = "apart" in chosen or "alone" in chosen
        namespace[name].py_func.borrows = chosen.get("borrows", False)
        if name in shared:
            know(shared[name], namespace[name])
    if kernel not in recursive and options[kernel]["nogil"]:
        namespace[kernel].replace({name: chosen["form"] for name, chosen in options.items() if "form" in chosen})
        if "rows" in options[kernel]:
            namespace[kernel].vectorise_rows()
    if objects is not None and not recursive:    # numba loses the calls in what it keeps of a recursion
        namespace[kernel].keep_in(objects)


def _reached_from(name: str, namespace: dict[str, Any], names: Iterable[str]) -> set[str]:
    """The functions of a module that a function calls, and those that they call."""
    waiting, found = [name], set[str]()
    while waiting:
        mentioned = namespace[waiting.pop()].__code__.co_names
        new = {other for other in names if other in mentioned} - found
        found |= new
        waiting += new
    return found


def _make_importable(namespace: dict[str, Any]) -> None:
    """Registers the module: numba looks functions up in it when it loads what it compiled."""
    module = sys.modules.setdefault(namespace["__name__"], ModuleType(namespace["__name__"]))
    vars(module).setdefault("__file__", namespace["__file__"])
    if "objmode" in namespace:                   # what Python does in between has the globals of the module
        vars(module).update(namespace)


def compiled_again(kernel: Any, with_lines: bool = False) -> Any:
    """A dispatcher like this one, compiled for the same types in this process; its text has the lines of the source,
    if wanted, and is the same otherwise."""
    from .dispatchers import KernelDispatcher
    again: Any = KernelDispatcher(kernel.py_func, targetoptions=dict(kernel.targetoptions))
    again._compiler.passes = kernel._compiler.passes
    if with_lines:
        chosen = again._compiler._customize_flags
        again._compiler._customize_flags = lambda flags: _with_lines(chosen(flags))
    for types in list(kernel.overloads):
        again.compile(types)
    return again


def _with_lines(flags: Any) -> Any:
    flags.debuginfo = flags.dbg_directives_only = True
    flags.boundscheck = flags.dbg_extend_lifetimes = flags.dbg_optnone = False
    return flags


class _Reached(Exception):
    """Carries the arguments with which an entry calls its kernel."""


def compile_for(entry: Callable[..., Any], kernel: str, args: tuple[Any, ...], kwargs: dict[str, Any],
                origin: Origin | None) -> None:
    """Compiles the kernel that an entry calls for the types and layouts of a call, which is not made."""
    namespace = entry.__globals__
    compiled, namespace[kernel] = namespace[kernel], _reach
    try:
        entry(*args, **kwargs)
    except _Reached as reached:
        given = reached.args
    finally:
        namespace[kernel] = compiled
    compile_kernel(compiled, tuple(map(compiled.typeof_pyval, given)), origin)


def _reach(*args: Any) -> Any:
    raise _Reached(*args)


def compile_kernel(kernel: Any, types: tuple[Any, ...], origin: Origin | None) -> None:
    """Compiles a kernel for these types of numba's, or loads what was compiled for them."""
    with as_refusal(origin):
        kernel.compile(types)
