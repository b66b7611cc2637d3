"""The driver of several processes: what it decides at loops and branches is compared, so that all take the same path,
and sums that stand together are one exchange (`joining`).

    while largest > limit:              while transformer.agreed_truth(largest > limit):
        …                       is          …
    for k in range(steps):              for k in range(transformer.agreed_index(steps)):
        …                                   …

What is printed is the driver without this: it is that of one process.
"""

from __future__ import annotations

import ast
from types import CodeType, FunctionType
from typing import Any

from .joining import joined


def agreeing(source: str, function: FunctionType) -> CodeType:
    """The code of a function of a module, with this source, that compares what it decides."""
    module = ast.parse(source)
    found = next(node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == function.__name__)
    found.body = joined(found.body)
    module.body = [ast.fix_missing_locations(_Agreeing().visit(found))]
    compiled = compile(module, function.__code__.co_filename, "exec", dont_inherit=True)
    return next(each for each in compiled.co_consts
                if isinstance(each, CodeType) and each.co_name == function.__name__)


class _Agreeing(ast.NodeTransformer):
    """Puts a call around conditions, and around the numbers of iterations."""

    def visit_If(self, node: ast.If) -> Any:
        return self._decided(node)

    def visit_While(self, node: ast.While) -> Any:
        return self._decided(node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        return self._decided(node)

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        if isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name) and node.iter.func.id == "range":
            node.iter.args = [_agreed(arg, "index") for arg in node.iter.args]
        return node

    def _decided(self, node: Any) -> Any:
        self.generic_visit(node)
        node.test = _agreed(node.test, "truth")
        return node


def _agreed(given: ast.expr, kind: str) -> ast.expr:
    if isinstance(given, ast.Constant):
        return given
    function = ast.Attribute(ast.Name("transformer", ast.Load()), f"agreed_{kind}", ast.Load())
    return ast.copy_location(ast.Call(function, [given], []), given)
