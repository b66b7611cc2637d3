"""What a machine can see of readability in a generated file."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

WIDTH = 88


def complaints(source: str, user_names: set[str]) -> list[str]:
    """Everything in generated source that a person would delete or fold."""
    tree = ast.parse(source)
    found = list(_neutral_arithmetic(tree))
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        found += _unused(function)
        found += _foldable(function, user_names)
        found += _idle_copies(function)
    found += [f"line {k} is {len(line)} columns wide" for k, line in enumerate(source.splitlines(), 1)
              if len(line) > WIDTH]
    return found


def _neutral_arithmetic(tree: ast.AST) -> Iterator[str]:
    """Multiplication or division by one, addition or subtraction of nothing, double negation."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp):
            left, right = _number(node.left), _number(node.right)
            one = isinstance(node.op, ast.Mult) and 1 in (left, right)
            one |= isinstance(node.op, (ast.Div, ast.Pow)) and right == 1
            zero = isinstance(node.op, ast.Add) and 0 in (left, right)
            zero |= isinstance(node.op, ast.Sub) and right == 0
            if one or zero:
                yield f"line {node.lineno}: {ast.unparse(node)}"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            if isinstance(node.operand, ast.UnaryOp) and isinstance(node.operand.op, ast.USub):
                yield f"line {node.lineno}: {ast.unparse(node)}"


def _number(node: ast.AST) -> float | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _names(function: ast.AST, context: type) -> Counter[str]:
    return Counter(node.id for node in ast.walk(function)
                   if isinstance(node, ast.Name) and isinstance(node.ctx, context))


def _unused(function: ast.FunctionDef) -> Iterator[str]:
    loaded = _names(function, ast.Load)
    targets = {id(node.target) for node in ast.walk(function) if isinstance(node, ast.For)}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and not loaded[node.id]:
            if id(node) not in targets:
                yield f"line {node.lineno}: {node.id} is assigned and never used"


def _foldable(function: ast.FunctionDef, user_names: set[str]) -> Iterator[str]:
    """Temporaries used once, by the next statement, which would stay short with them folded in.
    Names of the program, also with a number, and what is returned by name may stay."""
    stored, loaded = _names(function, ast.Store), _names(function, ast.Load)
    for block in _blocks(function):
        for first, second in zip(block, block[1:]):
            name = _plain_target(first)
            own = name is None or name in user_names or name.rstrip("0123456789") in user_names
            if own or stored[name] != 1 or loaded[name] != 1:
                continue
            if isinstance(second, (ast.Assign, ast.AugAssign)) and _loads(second.value, name):
                together = ast.unparse(second).replace(name, f"({ast.unparse(first.value)})", 1)
                if first.col_offset + len(together) <= 60 and not _is_tuple(second):
                    yield f"line {first.lineno}: {name} could be folded into the next line"


def _is_tuple(statement: ast.stmt) -> bool:
    return isinstance(getattr(statement, "value", None), ast.Tuple)


def _idle_copies(function: ast.FunctionDef) -> Iterator[str]:
    """`a = b.copy()` where neither is written afterwards and neither is returned."""
    written = {node.value.id for node in ast.walk(function) if isinstance(node, ast.Subscript)
               and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name)}
    written |= {node.target.id for node in ast.walk(function)
                if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)}
    returned = {name.id for node in ast.walk(function) if isinstance(node, ast.Return) and node.value
                for name in ast.walk(node.value) if isinstance(name, ast.Name)}
    added = {arg.id for node in ast.walk(function) if isinstance(node, ast.Call)
             and ast.unparse(node.func) == "np.add.at" for arg in node.args[:1] if isinstance(arg, ast.Name)}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and ast.unparse(node.value).endswith(".copy()"):
            base = ast.unparse(node.value).removesuffix(".copy()").split("[")[0]
            names = {target.id for target in node.targets if isinstance(target, ast.Name)} | {base}
            if not names & (written | returned | added):
                yield f"line {node.lineno}: {ast.unparse(node)} protects nothing"


def _blocks(function: ast.FunctionDef) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(function):
        for field in ("body", "orelse"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def _plain_target(statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        return target.id if isinstance(target, ast.Name) else None
    return None


def _loads(value: ast.AST | None, name: str) -> bool:
    return value is not None and any(
        isinstance(node, ast.Name) and node.id == name for node in ast.walk(value))
