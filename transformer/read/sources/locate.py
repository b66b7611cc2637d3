"""Where in a text the code object of a function comes from.

A `Text` is the text of one file, parsed and compiled as a whole once: so class-private names,
`super()`, closures and `from __future__` need no rules here. A code object is then looked up among
those that the text gives, and its place leads to the node of the tree.
"""

from __future__ import annotations

import ast
import inspect
import warnings
from bisect import bisect_right
from collections.abc import Iterator
from types import CodeType
from typing import Any

from .compare import same_code, same_code_elsewhere

# -1 is what this interpreter uses; the others differ in asserts and docstrings only.
_OPTIMISATION_LEVELS = (-1, 0, 1, 2)

_NO_ARGUMENTS = ast.arguments([], [], None, [], [], None, [])

_Span = tuple[tuple[int, int], tuple[int, int]]


class AmbiguousLambda(LookupError):
    """Several lambdas begin on one line, and there are no columns to tell them apart."""


class Text:
    """The text of a file, the code objects it compiles to, and, until it is dropped, its tree.

    A tree is some hundred times larger than its text, and slows down every garbage collection. So
    only the newest text keeps its own; of older ones, the statement asked for is parsed again.
    """

    def __init__(self, text: str, file: str, flags: int) -> None:
        # Python ends a line at these only; splitlines() would also do so at a form feed.
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.lines = tuple(line + "\n" for line in text.split("\n"))
        self._file = file
        self._flags = flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        self._codes: dict[int, dict[tuple[str, int], list[CodeType]]] = {}
        self._tree: Any = self._compile(text, ast.PyCF_ONLY_AST, -1)
        self._blocks = _blocks(self._tree.body) or [(1, 1)]

    def drop_tree(self) -> None:
        self._tree = None

    def find(self, code: CodeType, asserts_rewritten: bool) -> Any | None:
        """The `ast` node that the code was compiled from; None if no node gives this code."""
        node = self._node(code)
        if node is None:
            return None
        for level in _OPTIMISATION_LEVELS:
            if any(same_code(twin, code) for twin in self._twins(code, level)):
                return node
        return node if asserts_rewritten and self._same_but_asserts(code, node) else None

    def _same_but_asserts(self, code: CodeType, node: Any) -> bool:
        lines = {
            line
            for each in ast.walk(node)
            if isinstance(each, ast.Assert)
            for line in range(each.lineno, (each.end_lineno or each.lineno) + 1)
        }
        twins = self._twins(code, -1)
        return any(same_code_elsewhere(twin, code, lines) for twin in twins)

    def _node(self, code: CodeType) -> Any | None:
        nodes = _nodes_at(self._tree_at(code.co_firstlineno), code.co_firstlineno)
        if code.co_name == "<lambda>":
            return self._lambda(code, [node for node in nodes if isinstance(node, ast.Lambda)])
        named = (node for node in nodes if getattr(node, "name", None) == code.co_name)
        return next(named, None)

    def _lambda(self, code: CodeType, nodes: list[Any]) -> Any | None:
        """The innermost lambda whose body holds all instructions of the code.

        Of two lambdas one within the other's body, the outer one has an instruction that makes
        the inner one, and that reaches beyond the inner body.
        """
        span = _span(code)
        if span is None:
            return self._lambda_without_columns(code, nodes)
        start, end = span
        holding = [node for node in nodes if _start(node.body) <= start and end <= _end(node.body)]
        return max(holding, key=lambda node: _start(node.body), default=None)

    def _lambda_without_columns(self, code: CodeType, nodes: list[Any]) -> Any | None:
        """Python was told to keep none, or is 3.12, which has none for `lambda: 1`.

        Lambdas with equal code that use no variable of a function around them do the same.
        """
        if len(nodes) > 1:
            nodes = [node for node in nodes if same_code(self._compiled_alone(node, code), code)]
            if not nodes:
                raise AmbiguousLambda
        return next(iter(nodes), None)

    def _compiled_alone(self, node: Any, code: CodeType) -> CodeType:
        nested = code.co_flags & inspect.CO_NESTED
        statement = ast.Expr(ast.Lambda(_NO_ARGUMENTS, node) if nested else node)
        module = ast.fix_missing_locations(ast.Module([statement], []))
        compiled: CodeType = self._compile(module, 0, -1)
        for _ in range(2 if nested else 1):
            compiled = _inner_codes(compiled)[-1]  # those of default values come before
        return compiled

    def _tree_at(self, line: int) -> Any:
        """A tree that holds the statements of the module which reach over a line."""
        if self._tree is not None:
            return self._tree
        first, last = self._blocks[bisect_right(self._blocks, (line, len(self.lines))) - 1]
        text = "\n" * (first - 1) + "".join(self.lines[first - 1 : last])
        try:
            return self._compile(text, ast.PyCF_ONLY_AST, -1)
        except SyntaxError:  # a backslash on the line before joins it to this one
            return self._compile("".join(self.lines), ast.PyCF_ONLY_AST, -1)

    def _twins(self, code: CodeType, level: int) -> list[CodeType]:
        """The code objects of the text with the name and the place of this one."""
        if level not in self._codes:
            self._codes[level] = _by_place(self._compile("".join(self.lines), 0, level))
        twins = self._codes[level].get((code.co_name, code.co_firstlineno), [])
        if code.co_name == "<lambda>":
            span = _span(code)
            return [twin for twin in twins if _span(twin) == span]
        return twins

    def _compile(self, source: Any, flags: int, level: int) -> Any:
        with warnings.catch_warnings():  # the user has seen them when the file was imported
            warnings.simplefilter("ignore")
            return compile(
                source,
                self._file,
                "exec",
                flags=self._flags | flags,
                dont_inherit=True,
                optimize=level,
            )


def _blocks(statements: list[Any]) -> list[tuple[int, int]]:
    """First and last lines of statements, taken together where they share a line."""
    blocks: list[tuple[int, int]] = []
    for statement in statements:
        first = _first_line(statement)
        if blocks and blocks[-1][1] >= first:
            first = blocks.pop()[0]
        blocks.append((first, statement.end_lineno))
    return blocks


def _by_place(module: CodeType) -> dict[tuple[str, int], list[CodeType]]:
    places: dict[tuple[str, int], list[CodeType]] = {}
    pending = [module]
    while pending:
        code = pending.pop()
        places.setdefault((code.co_name, code.co_firstlineno), []).append(code)
        pending += _inner_codes(code)
    return places


def _inner_codes(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _nodes_at(node: Any, line: int) -> Iterator[Any]:
    """The functions and lambdas below a node that begin on a line, outer ones first."""
    for child in ast.iter_child_nodes(node):
        if _is_on(child, line):
            if isinstance(child, _FUNCTIONS) and _first_line(child) == line:
                yield child
            yield from _nodes_at(child, line)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def _is_on(node: Any, line: int) -> bool:
    """Whether a node reaches over a line; nodes without a place may have children that do."""
    return not hasattr(node, "lineno") or _first_line(node) <= line <= node.end_lineno


def _first_line(node: Any) -> int:
    """Where Python says that a function begins: at its first decorator."""
    decorators = getattr(node, "decorator_list", None)
    return int(decorators[0].lineno if decorators else node.lineno)


def _start(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: Any) -> tuple[int, int]:
    return node.end_lineno, node.end_col_offset


def _span(code: CodeType) -> _Span | None:
    """First and last place of the instructions; None where Python was told to keep no columns."""
    starts, ends = [], []
    for line, end_line, column, end_column in code.co_positions():
        # The prologue of a function bears its first line and an empty range of columns.
        if line and end_line and column is not None and end_column:
            starts.append((line, column))
            ends.append((end_line, end_column))
    return (min(starts), max(ends)) if starts else None
