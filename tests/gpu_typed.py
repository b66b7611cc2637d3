"""Generated modules for GPUs, their kernels compiled by numba for the processor: blocks of one thread, one after the
other, with every type as numba makes it, and every place tested.

What threads do beside each other is not seen here, but in `gpu_simulator`.
"""

from __future__ import annotations

import ast
import builtins
import dis
import functools
import inspect
from typing import Any

import numba
import numpy as np
from gpu_simulator import COMPILERS, OF_FOURS, OnHost
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder

from transformer.run.compiling.passes import FOR_OTHERS

BLOCKS = 3                             # of a grid along each axis, at most
AXES = "xyz"


class OneThread(ast.NodeTransformer):
    """A kernel, or what one calls, as the only thread of a block does it; which block is a parameter."""

    def __init__(self, inner: set[str]) -> None:
        self.inner = inner

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.args.args = [*(ast.arg(name) for name in PARAMETERS), *node.args.args]
        node.decorator_list = []
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        match ast.unparse(node).split("."):
            case ["cuda", "threadIdx", _]:
                return ast.Constant(0)
            case ["cuda", "blockDim", _]:
                return ast.Constant(1)
            case ["cuda", "blockIdx" | "gridDim" as what, axis]:
                return ast.Name(f"{what}_{axis}", ast.Load())
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        match node.value:
            case ast.Call(ast.Attribute(ast.Attribute(ast.Name("cuda"), "atomic"), "add"), [array, place, value]):
                target = ast.Subscript(self.visit(array), self.visit(place), ast.Store())
                return ast.AugAssign(target, ast.Add(), self.visit(value))
            case ast.Call(ast.Attribute(ast.Attribute(ast.Name("cuda"), "atomic"), "max"), [array, place, value]):
                array, place = self.visit(array), self.visit(place)
                target, at = ast.Subscript(array, place, ast.Store()), ast.Subscript(array, place, ast.Load())
                return ast.Assign([target], ast.Call(ast.Name("max", ast.Load()), [at, self.visit(value)], []))
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        args = node.args = list(map(self.visit, node.args))
        match ast.unparse(node.func):
            case "cuda.grid":
                return ast.Name("blockIdx_x", ast.Load())
            case "cuda.gridsize":
                return ast.Name("gridDim_x", ast.Load())
            case "cuda.shfl_xor_sync":
                return args[1]
            case "cuda.syncthreads":
                return ast.Constant(None)
            case "cuda.shared.array" | "cuda.local.array":
                return ast.Call(ast.parse("np.empty", mode="eval").body, args, [])
            case "cuda.atomic.compare_and_swap":
                return ast.Call(ast.Name("swapped", ast.Load()), args, [])
            case name if name in self.inner:
                return ast.Call(node.func, [*(ast.Name(each, ast.Load()) for each in PARAMETERS), *args], node.keywords)
        return node


PARAMETERS = [f"{what}_{axis}" for what in ("blockIdx", "gridDim") for axis in AXES]


@numba.njit
def swapped(array: Any, expected: Any, value: Any) -> Any:
    before = array[0]
    if before == expected:
        array[0] = value
    return before


class AsItIs(JITCodeLibrary):
    """Machine code that LLVM does not make faster first: that takes a third of the time, and each runs a few times."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass


class Typed(CompilerBase):
    """numba's passes but for those that look for what kernels have not."""

    def define_pipelines(self) -> list[Any]:
        made = DefaultPassBuilder.define_nopython_pipeline(self.state)
        made.passes = [(each, *text) for each, *text in made.passes if each not in FOR_OTHERS]
        made.finalize()
        return [made]

    def compile_extra(self, function: Any) -> Any:
        self.state.library = AsItIs(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(function)


class Kernel:
    def __init__(self, function: Any) -> None:
        self.function = function

    def __getitem__(self, config: Any) -> Any:
        grid = config[0] if isinstance(config[0], tuple) else (config[0],)
        counts = [min(count, BLOCKS) for count in (*grid, 1, 1)[:3]]

        def launch(*args: Any) -> None:
            for at in np.ndindex(*counts):
                self.function(*at, *counts, *args)

        return launch


def compiled_once(function: Any, is_inner: bool) -> Any:
    """A function compiled by numba. Modules have many in common: where all that one mentions is the same as well, it is
    the one that was compiled before."""
    known = known_by(function)
    if known is None:
        return _compiled(function, is_inner)
    if (known, is_inner) not in COMPILED:
        COMPILED[known, is_inner] = _compiled(function, is_inner)
    return COMPILED[known, is_inner]


COMPILED: dict[Any, Any] = {}


def known_by(function: Any) -> Any:
    """What is equal for functions that do the same; None for one that mentions what may still change."""
    code, around = function.__code__, {**vars(builtins), **function.__globals__}
    names = sorted({each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL"})
    if not all(map(_is_fixed, map(around.get, names))):
        return None
    values = [(name, around[name] if callable(around[name]) else repr(around[name])) for name in names]
    return code.co_code, repr(code.co_consts), code.co_names, code.co_varnames, code.co_argcount, *values


def _is_fixed(value: Any) -> bool:
    return callable(value) or inspect.ismodule(value) or isinstance(value, (int, float, str))


def _compiled(function: Any, is_inner: bool) -> Any:
    return numba.njit(function, boundscheck=True, error_model="numpy", pipeline_class=Typed, no_cfunc_wrapper=True,
                      no_cpython_wrapper=is_inner)


@functools.cache
def compiled_form(form: Any) -> Any:
    return numba.njit(form, boundscheck=True)


def namespace(source: str, given: dict[str, Any]) -> dict[str, Any]:
    """What a generated module defines, with NumPy's arrays in place of those on a device."""
    tree = ast.parse(source)
    tree.body = [stmt for stmt in tree.body if not (isinstance(stmt, (ast.Import, ast.ImportFrom)) and
                 ast.unparse(stmt) in COMPILERS)]
    kernels, inner = ({stmt.name for stmt in tree.body if isinstance(stmt, ast.FunctionDef) and
                       [ast.unparse(each) for each in stmt.decorator_list] == [text]}
                      for text in ("cuda.jit", "cuda.jit(device=True)"))
    made: dict[str, Any] = {"cp": OnHost(), "swapped": swapped, "intrinsic": lambda function: function, **given}
    for stmt in tree.body:
        name = getattr(stmt, "name", "")
        if name in kernels | inner:
            stmt = ast.fix_missing_locations(OneThread(inner).visit(stmt))
        exec(compile(ast.Module([stmt], []), f"<{name or 'gpu'}>", "exec"), made)
        if name in kernels | inner:
            compiled = compiled_once(made[name], name in inner)
            made[name] = Kernel(compiled) if name in kernels else compiled
        if name in ("most_blocks", "current_stream"):
            made[name] = lambda: BLOCKS
        form = OF_FOURS.get(name.rstrip("0123456789"))                   # a variable may have its name
        if form is not None:
            made[name] = form if form is OF_FOURS["in_fours"] else compiled_form(form)
        made.update({each: 1 for each in ("THREADS", "WARP", "TILE") if each in made})
    return made
