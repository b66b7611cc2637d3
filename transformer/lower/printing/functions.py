"""Copies of the loop forms that generated code calls, with literals in the dtype of their operands."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Hashable, Iterable
from functools import cache
from typing import Any

import numpy as np

from ...core.grammar import Var
from ...ops import scalars
from ...write.expressions import dotted
from ...write.header import helper
from ...write.layout import LINE, Group, bodies, printed
from ...write.names import HELPERS, fresh
from ...write.numbers import number
from .. import vecmath
from ..vecmath.polynomial import polynomial
from .blas import gemm
from .flattening import flatten
from .same_tasks import form_of
from .turns import as_columns, as_rows

OF_MATH = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh",
           "acosh": "arccosh", "atanh": "arctanh", "lgamma": "gammaln"}
OF_OUR_OWN = frozenset((gemm, as_columns, as_rows))                      # in compiled code

# What stands for the use of a module, and how it is imported.
IMPORTS = {"import cmath": "cmath.", "import logging": "logging.", "import math": "math.",
           "import statistics": "statistics.",
           "import warnings": "warnings.warn(",
           "import numpy as np": "np.", "import ml_dtypes": "ml_dtypes.",
           "from numba import objmode": "with objmode(",
           "from transformer.run.threads import in_threads, places": "in_threads("}

PART_OF_SCIPY = re.compile(r"\bscipy\.\w+(?=\.)")


def imports_of(body: str) -> list[str]:
    """The imports of the modules that code uses."""
    parts = [f"import {part}" for part in sorted(set(PART_OF_SCIPY.findall(body)))]
    return [*(line for line, use in IMPORTS.items() if re.search(rf"\b{re.escape(use)}", body)), *parts]


class Functions:
    """The functions that one module of generated code needs, by name; `taken` are names of others."""

    def __init__(self, taken: set[str], vectorised: bool = True) -> None:
        self.taken, self.vectorised = taken, vectorised
        self.trees: dict[str, ast.FunctionDef] = {}
        self.names: dict[Any, str] = {}
        self.tables: dict[str, ast.Assign] = {}
        self.vector: set[str] = set()
        self.hosted: dict[str, ast.FunctionDef] = {}                     # in which Python does something
        self.tasks: dict[str, Group] = {}                                # what threads share
        self.repeated: set[str] = set()                                  # of these, those that one thread runs
        self.alone: set[str] = set()                                     # and those whose arrays share no memory
        self.forms_of_tasks: dict[Hashable, str] = {}
        self.steps: dict[Hashable, str] = {}                             # what kernels compute of an element
        self.arrays: dict[str, list[Var | None]] = {}                    # which are their parameters
        self.given: dict[str, Any] = {}                                  # objects that the module refers to
        self.regrouped: set[str] = set()
        self.forms: dict[str, str] = {}                                  # of our own, in compiled code
        self.apart: set[str] = set()                                     # written out nowhere
        self.direct: set[str] = set()                                    # called by what is not a copy itself
        self.grids: dict[Any, str] = {}                                  # what kernels are launched with
        self.intrinsics: set[str] = set()                                # that a compiler writes out itself
        self.instead: dict[Any, Any] = {}                                # of what a compiler does not know, by kind

    def called(self, form: Any, dtype: np.dtype) -> str:
        """The name of the copy of a function that generated code calls."""
        name = self.named(form, dtype)
        self.direct.add(name)
        return name

    def flatten(self) -> None:
        """Writes out the calls between copies, where that can be done."""
        self.trees = flatten(self.trees, self.direct, self._are_alike)

    def _are_alike(self, name: str, other: str) -> bool:
        """Whether two copies are compiled in the same way, and one may be part of the other."""
        return (name in self.vector) == (other in self.vector) and not {name, other} & (self.regrouped | self.apart)

    def named(self, form: Any, dtype: np.dtype) -> str:
        """The name of the copy of a function for operands of a dtype."""
        dtype = _own_dtype(form) or dtype
        narrow = dtype in (np.dtype("f4"), np.dtype("c8")) and _has_literals(form)
        key = form, narrow
        if key not in self.names:
            wish = form.__name__
            self.names[key] = name = self._free(wish + "_f32" if narrow and not wish.endswith("_f32") else wish)
            tree = _Copy(self, form, dtype, narrow).visit(_tree(form))
            tree.name = name
            self.trees[name] = tree                                      # behind those that it calls
            if _is_vector(form):
                self.vector.add(name)
            if _is_joined(form):
                self.apart.add(name)
            if form is scalars.plus:
                self.regrouped.add(name)
            if form in OF_OUR_OWN:
                self.apart.add(name)
                self.forms[name] = form.__name__
        return self.names[key]

    def lines(self, names: Iterable[str] = ()) -> list[list[str]]:
        """The lines of every copy, with the text about it above, and of helpers that they call, or code with these
        `names` in it."""
        tables = [printed(tree, LINE) for tree in self.tables.values()]
        called = {node.id for tree in self.hosted.values() for node in ast.walk(tree) if isinstance(node, ast.Name)}
        helpers = [list(helper(name)) for name in sorted(called.union(names) & HELPERS)]
        return [*tables, *helpers, *(_commented(tree) for tree in (*self.trees.values(), *self.hosted.values()))]

    def host(self, tree: ast.FunctionDef, wish: str, taken: set[str]) -> str:
        """The name of a function in which Python does something; of one with the same text, if there is one."""
        for name, other in self.hosted.items():
            if ast.dump(ast.FunctionDef(tree.name, other.args, other.body, [], None)) == ast.dump(tree):
                return name
        tree.name = fresh(wish, {*self.taken, *self.names.values(), *self.hosted, *taken})
        self.hosted[tree.name] = tree
        return tree.name

    def share(self, task: Group, wish: str, taken: set[str], params: Iterable[Var | None] = (), *,
              are_apart: bool = False) -> str:
        """The name of a function that threads run, each for a range; `params` are the arrays among its parameters,
        which may share no memory. One that does the same is taken in its place."""
        arrays = list(params)
        form = form_of(task, arrays), are_apart
        if form in self.forms_of_tasks:
            return self.forms_of_tasks[form]
        name = fresh(wish, {*self.taken, *self.names.values(), *self.hosted, *self.tasks, *taken})
        task.head.name = name
        self.tasks[name], self.arrays[name], self.forms_of_tasks[form] = task, arrays, name
        if are_apart:
            self.alone.add(name)
        return name

    def repeat(self, nest: Group, wish: str, taken: set[str], params: Iterable[Var | None]) -> str:
        """The name of a function for a nest that occurs several times."""
        name = self.share(nest, wish, taken, params)
        self.repeated.add(name)
        return name

    def grid(self, function: Any) -> str:
        """The name of the copy of a function that says how many threads are launched."""
        for called in _called(function):
            self.grid(called)
        if function not in self.grids:
            self.grids[function] = self.names[function] = self._free(function.__name__)
        return self.grids[function]

    def grid_lines(self) -> list[list[str]]:
        """The lines of the copies of such functions, each behind those that it calls."""
        return [_renamed(_tree(function), self.grids, function.__globals__) for function in self.grids]

    def step(self, task: Group, wish: str, taken: set[str]) -> str:
        """The name of a function of kernels; of one that does the same, if there is one: so kernels that call it may
        be the same, too."""
        form = form_of(task, ())
        if form not in self.steps:
            self.steps[form] = name = fresh(wish, {*self.taken, *self.names.values(), *self.trees, *taken})
            task.head.name, task.head.body = name, bodies(task.body)
            self.trees[name] = task.head
            self.direct.add(name)
        return self.steps[form]

    def wide(self, name: str) -> str:
        """The name of a function that reads or writes four elements at once."""
        self.intrinsics.add(name)
        return name

    def of_block(self, op: str, text: str, combined: ast.expr) -> str:
        """The name of a function by which the threads of a block combine their numbers: the text of one, in which `a`
        and `b` are two of them."""
        key = op, text, ast.unparse(ast.fix_missing_locations(combined)) # which differs from dtype to dtype
        if key not in self.names:
            name = self._free(f"{op}_of_block")
            tree = ast.parse(text).body[0]
            assert isinstance(tree, ast.FunctionDef)
            tree.name, self.names[key] = name, name
            self.trees[name] = _Combining(combined).visit(tree)
            self.direct.add(name)
        return self.names[key]

    def table(self, name: str, numbers: np.ndarray) -> ast.Name:
        """A name for numbers that a function looks up."""
        listed = ast.List([ast.Constant(x) if x >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-x))
                           for x in numbers.tolist()])
        self.tables[name] = ast.Assign([ast.Name(name)], ast.Call(dotted("np.array"), [listed], []))
        return ast.Name(name)

    def source(self) -> str:
        """A module of the copies alone."""
        return module_of(self.lines())

    def _free(self, name: str) -> str:
        return fresh(name, {*self.taken, *self.names.values()})


def module_of(parts: list[list[str]]) -> str:
    """The source of definitions, with the imports that they need."""
    body = "\n\n\n".join("\n".join(part) for part in parts)
    heads = "\n".join(imports_of(body))
    return f"{heads}\n\n\n{body}\n" if heads else f"{body}\n"


def _commented(tree: ast.FunctionDef) -> list[str]:
    text = ast.get_docstring(tree)
    if text is not None:
        del tree.body[0]
    about = [f"# {line}".rstrip() for line in (text or "").splitlines()]
    return about + [line for line in printed(tree, LINE) if line]


def _called(function: Any) -> list[Any]:
    """The functions of its module that a function calls."""
    found = [function.__globals__.get(node.id) for node in ast.walk(_tree(function)) if isinstance(node, ast.Name)]
    return [each for each in found if inspect.isfunction(each)]


def _renamed(tree: ast.FunctionDef, names: dict[Any, str], scope: dict[str, Any]) -> list[str]:
    """The lines of a function whose functions have these names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and inspect.isfunction(scope.get(node.id)):
            node.id = names[scope[node.id]]
    tree.name = names[scope[tree.name]]
    return ast.unparse(tree).split("\n")


def _own_dtype(form: Any) -> np.dtype | None:
    """The dtype of a function that is of one dtype only."""
    if getattr(form, "is_double", False):
        return np.dtype("f8")
    return next((np.dtype(dtype) for dtype, suffix in vecmath.SUFFIXES.items() if form.__name__.endswith(suffix)), None)


def _is_vector(form: Any) -> bool:
    return form.__module__.startswith(f"{vecmath.__name__}.") or _is_joined(form)


def _is_joined(form: Any) -> bool:
    return getattr(form, "is_joined", False)


def _of_math(node: ast.AST, dtype: np.dtype) -> Any:
    """The function of vector mathematics for a function of `math`."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "math":
        return vecmath.TABLE.get(OF_MATH.get(node.attr, node.attr), {}).get(dtype)
    return None


@cache
def _text(form: Any) -> str:
    """The source of a function, which takes longer to find than to parse."""
    return textwrap.dedent(inspect.getsource(form))


def _tree(form: Any) -> ast.FunctionDef:
    tree = ast.parse(_text(form)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    tree.decorator_list, tree.returns = [], None
    for arg in (*tree.args.args, *tree.args.kwonlyargs, *([tree.args.vararg] if tree.args.vararg else [])):
        arg.annotation = None
    return tree


@cache
def _has_literals(form: Any) -> bool:
    """Whether a function, or one that it calls, has floating literals or constants."""
    for node in ast.walk(_tree(form)):
        if isinstance(node, ast.Constant) and isinstance(node.value, float) or _is_constant(node):
            return True
        if _of_math(node, np.dtype("f4")) is not None:
            return True
        called = form.__globals__.get(node.id) if isinstance(node, ast.Name) else None
        if inspect.isfunction(called) and called is not form and _has_literals(called):
            return True
    return False


def _is_constant(node: ast.AST) -> bool:
    return (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "math"
            and node.attr in ("pi", "inf", "nan", "e"))


def _is_of_numpy(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "np"


def horner(x: ast.expr, *coefficients: ast.expr) -> ast.expr:
    """The products and sums of a polynomial."""
    total = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        negative = isinstance(coefficient, ast.UnaryOp)
        term = coefficient.operand if isinstance(coefficient, ast.UnaryOp) else coefficient
        total = ast.BinOp(ast.BinOp(total, ast.Mult(), x), ast.Sub() if negative else ast.Add(), term)
    return total


class _Combining(ast.NodeTransformer):
    """Puts what combines two numbers in place of `combined`."""

    def __init__(self, combined: ast.expr) -> None:
        self.combined = combined

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self.combined if node.id == "combined" else node


class _Copy(ast.NodeTransformer):
    """Types literals, and renames the functions that are called."""

    def __init__(self, functions: Functions, form: Any, dtype: np.dtype, narrow: bool) -> None:
        self.functions, self.form, self.dtype, self.narrow = functions, form, dtype, narrow

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        documented = ast.get_docstring(node) is not None
        rest = node.body[documented:]
        node.body = [*node.body[:documented], *(self.visit(stmt) for stmt in rest)]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and self.form.__globals__.get(node.func.id) is polynomial:
            return self.visit(horner(*self._written_out(node.args)))
        return self.generic_visit(node)

    def _written_out(self, args: list[ast.expr]) -> list[ast.expr]:
        """Arguments, with the numbers of a tuple where it is handed on: `*NEAR`."""
        return [each for arg in args for each in (self._numbers(arg) if isinstance(arg, ast.Starred) else [arg])]

    def _numbers(self, arg: ast.Starred) -> list[ast.expr]:
        assert isinstance(arg.value, ast.Name)
        return [number(each) for each in self.form.__globals__[arg.value.id]]

    def visit_Name(self, node: ast.Name) -> ast.AST:
        called = self.form.__globals__.get(node.id)
        if inspect.isfunction(called):
            return ast.Name(self.functions.named(called, self.dtype))
        return self.functions.table(node.id, called) if isinstance(called, np.ndarray) else node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if self.narrow and isinstance(node.value, float):
            return ast.Call(dotted("np.float32"), [node], [])
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        instead = self.functions.instead.get((getattr(np, node.attr, None), "f")) if _is_of_numpy(node) else None
        if instead is not None:
            return ast.Name(self.functions.named(instead, self.dtype))
        if self.narrow and _is_constant(node):
            return ast.Call(dotted("np.float32"), [node], [])
        vector = _of_math(node, np.dtype("f4" if self.narrow else "f8")) if self.functions.vectorised else None
        return self.generic_visit(node) if vector is None else ast.Name(self.functions.named(vector, self.dtype))
