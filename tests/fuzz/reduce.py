"""A failing program made small: what is left fails in the same way.

Hypothesis shrinks the choices that a program was drawn by; here the program itself is cut, which
also finds what no choice leads to.
"""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .program import Program

Position = tuple[ast.AST, str, int]


def reduced(program: Program, fails: Callable[[Program], bool], seconds: float = 60.0) -> Program:
    """The smallest program found in this time that `fails`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        smaller = next((p for p in candidates(program) if time.monotonic() < end and fails(p)), None)
        if smaller is None:
            break
        program = smaller
    return program


def candidates(program: Program) -> Iterator[Program]:
    """Programs that are a little smaller, the boldest cuts first."""
    seen = {program.source}
    for source in _sources(program.source):
        if source not in seen:
            seen.add(source)
            yield Program(source, program.arguments, program.tags)
    yield from _fewer_arguments(program)
    yield from _rounder_arguments(program)


def _sources(source: str) -> Iterator[str]:
    tree = ast.parse(source)
    for cut in (_statements, _bodies, _expressions, _numbers):
        for change in cut(tree):
            undo = change()
            text = _printed(tree)
            undo()
            if text is not None:
                yield text


def _printed(tree: ast.Module) -> str | None:
    try:
        text = ast.unparse(ast.fix_missing_locations(copy.deepcopy(tree)))
        compile(text, "<cut>", "exec")
    except (SyntaxError, ValueError):
        return None
    return text


Change = Callable[[], Callable[[], None]]


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                yield block


def _replacement(block: list[Any], start: int, stop: int, new: list[Any]) -> Change:
    def change() -> Callable[[], None]:
        old = list(block)
        block[start:stop] = new

        def undo() -> None:
            block[:] = old
        return undo
    return change


def _statements(tree: ast.Module) -> Iterator[Change]:
    """Without some statements: halves of a block first, then one at a time, the last first."""
    for block in list(_blocks(tree)):
        top = block is tree.body
        for length in {max(1, len(block) // 2): None, 1: None}:
            for start in reversed(range(0, len(block) - length + 1, max(1, length))):
                new: list[ast.stmt] = [ast.Pass()] if len(block) == length and not top else []
                if not isinstance(block[start], ast.Pass):
                    yield _replacement(block, start, start + length, new)
        if not top and getattr(block, "orelse", None):
            yield _replacement(block, 0, len(block), [])
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.For | ast.While) and node.orelse:
            yield _replacement(node.orelse, 0, len(node.orelse), [])


def _bodies(tree: ast.Module) -> Iterator[Change]:
    """The body in place of a branch or a loop."""
    for block in list(_blocks(tree)):
        for k, statement in enumerate(block):
            if isinstance(statement, ast.If | ast.For | ast.While):
                yield _replacement(block, k, k + 1, statement.body)
                if statement.orelse:
                    yield _replacement(block, k, k + 1, statement.orelse)


def _expressions(tree: ast.Module) -> Iterator[Change]:
    """A part in place of an expression, or a number."""
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr) and name not in ("target", "func", "targets"):
                for new in _parts(value):
                    yield _assignment(node, name, new)
            elif isinstance(value, list) and value and isinstance(value[0], ast.expr) and name != "targets":
                for k, item in enumerate(value):
                    for new in _parts(item):
                        yield _replacement(value, k, k + 1, [new])


def _parts(value: ast.expr) -> list[ast.expr]:
    if isinstance(value, ast.Constant | ast.Slice):
        return []
    found = [child for child in ast.iter_child_nodes(value) if isinstance(child, ast.expr) and _is_value(child)]
    if isinstance(value, ast.Call):
        found = list(value.args) + ([value.func.value] if isinstance(value.func, ast.Attribute)
                                    and not _is_module(value.func.value) else [])
    found = [part for part in found if not isinstance(part, ast.Slice | ast.Starred)]
    return found if isinstance(value, ast.Name) else [*found, ast.Constant(0.5), ast.Constant(1)]


def _is_value(node: ast.expr) -> bool:
    return not isinstance(node, ast.Slice | ast.GeneratorExp) and not _is_module(node)


def _is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("np", "math")


def _assignment(node: ast.AST, name: str, new: ast.expr) -> Change:
    def change() -> Callable[[], None]:
        old = getattr(node, name)
        setattr(node, name, new)
        return lambda: setattr(node, name, old)
    return change


def _numbers(tree: ast.Module) -> Iterator[Change]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value > 1:
            yield _value(node, node.value - 1)
        elif isinstance(node, ast.Constant) and type(node.value) is float and node.value not in (0.5, 1.0, 2.0):
            yield _value(node, 2.0)


def _value(node: ast.Constant, new: Any) -> Change:
    def change() -> Callable[[], None]:
        old, node.value = node.value, new
        return lambda: setattr(node, "value", old)
    return change


def _fewer_arguments(program: Program) -> Iterator[Program]:
    for name in program.arguments:
        rest = {n: v for n, v in program.arguments.items() if n != name}
        tree = ast.parse(program.source)
        main = tree.body[-1]
        if rest and isinstance(main, ast.FunctionDef) and all(
                not (isinstance(n, ast.Name) and n.id == name) for n in ast.walk(main)):
            main.args.args = [arg for arg in main.args.args if arg.arg != name]
            yield Program(ast.unparse(tree), rest, program.tags)


def _rounder_arguments(program: Program) -> Iterator[Program]:
    for name, value in program.arguments.items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            rounder = np.round(value, 1)
            if not np.array_equal(rounder, value):
                yield Program(program.source, {**program.arguments, name: rounder}, program.tags)
