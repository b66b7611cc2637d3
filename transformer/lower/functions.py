"""Copies of the loop forms that generated code calls, with literals in the dtype of their operands."""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from typing import Any

import numpy as np

from ..write.expressions import dotted
from ..write.names import fresh


class Functions:
    """The functions that one module of generated code needs, by name; `taken` are names of others."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self.trees: dict[str, ast.FunctionDef] = {}
        self.names: dict[Any, str] = {}

    def named(self, form: Any, dtype: np.dtype) -> str:
        """The name of the copy of a function for operands of a dtype."""
        narrow = dtype in (np.dtype("f4"), np.dtype("c8")) and _has_literals(form)
        key = form, narrow
        if key not in self.names:
            self.names[key] = name = self._free(form.__name__ + ("_f32" if narrow else ""))
            tree = _Copy(self, form, dtype, narrow).visit(_tree(form))
            tree.name = name
            self.trees[name] = tree                                      # behind those that it calls
        return self.names[key]

    def _free(self, name: str) -> str:
        return fresh(name, {*self.taken, *self.names.values()})


def _tree(form: Any) -> ast.FunctionDef:
    tree = ast.parse(textwrap.dedent(inspect.getsource(form))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    tree.decorator_list, tree.returns = [], None
    return tree


@cache
def _has_literals(form: Any) -> bool:
    """Whether a function, or one that it calls, has floating literals or constants."""
    for node in ast.walk(_tree(form)):
        if isinstance(node, ast.Constant) and isinstance(node.value, float) or _is_constant(node):
            return True
        called = form.__globals__.get(node.id) if isinstance(node, ast.Name) else None
        if inspect.isfunction(called) and called is not form and _has_literals(called):
            return True
    return False


def _is_constant(node: ast.AST) -> bool:
    return (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "math"
            and node.attr in ("pi", "inf", "nan", "e"))


class _Copy(ast.NodeTransformer):
    """Types literals, and renames the functions that are called."""

    def __init__(self, functions: Functions, form: Any, dtype: np.dtype, narrow: bool) -> None:
        self.functions, self.form, self.dtype, self.narrow = functions, form, dtype, narrow

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        documented = ast.get_docstring(node) is not None
        rest = node.body[documented:]
        node.body = [*node.body[:documented], *(self.visit(stmt) for stmt in rest)]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        called = self.form.__globals__.get(node.id)
        if inspect.isfunction(called):
            return ast.Name(self.functions.named(called, self.dtype))
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if self.narrow and isinstance(node.value, float):
            return ast.Call(dotted("np.float32"), [node], [])
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if self.narrow and _is_constant(node):
            return ast.Call(dotted("np.float32"), [node], [])
        return self.generic_visit(node)
