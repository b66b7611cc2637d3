"""Lines of source: what is printed parses to the tree it was printed from, at any width."""

from __future__ import annotations

import ast
import random
from typing import Any

from transformer.write.layout import printed
from transformer.write.numbers import number

BINARY = [
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Div,
    ast.FloorDiv,
    ast.Mod,
    ast.Pow,
    ast.MatMult,
    ast.BitAnd,
    ast.BitOr,
    ast.BitXor,
    ast.LShift,
]
UNARY = [ast.USub, ast.UAdd, ast.Invert, ast.Not]
COMPARE = [ast.Lt, ast.LtE, ast.Eq, ast.NotEq, ast.Is]


class Trees:
    """Random expressions of all the forms that generated source has."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def tree(self, depth: int) -> ast.expr:
        if depth == 0:
            return self.leaf()
        make = self.random.choice(
            [self.binary] * 4
            + [self.unary, self.compare, self.logic, self.choice, self.call, self.subscript, self.attribute, self.items]
        )
        return make(depth - 1)

    def leaf(self) -> ast.expr:
        return self.random.choice(
            [
                ast.Name("x"),
                ast.Name("quantity"),
                number(2),
                number(-1.5),
                number(1e-300),
                number(2j),
                number(-1 - 2j),
                ast.Constant("it's"),
                ast.Constant(None),
                ast.Constant(True),
            ]
        )

    def binary(self, depth: int) -> ast.expr:
        return ast.BinOp(self.tree(depth), self.random.choice(BINARY)(), self.tree(depth))

    def unary(self, depth: int) -> ast.expr:
        return ast.UnaryOp(self.random.choice(UNARY)(), self.tree(depth))

    def compare(self, depth: int) -> ast.expr:
        return ast.Compare(self.tree(depth), [self.random.choice(COMPARE)()], [self.tree(depth)])

    def logic(self, depth: int) -> ast.expr:
        word = self.random.choice([ast.And, ast.Or])
        return ast.BoolOp(word(), [self.tree(depth), self.tree(depth)])

    def choice(self, depth: int) -> ast.expr:
        return ast.IfExp(self.tree(depth), self.tree(depth), self.tree(depth))

    def call(self, depth: int) -> ast.expr:
        return ast.Call(
            ast.Attribute(ast.Name("np"), "sum"), [self.tree(depth)], [ast.keyword("axis", self.tree(depth))]
        )

    def subscript(self, depth: int) -> ast.expr:
        parts = [ast.Slice(self.binary(0), None, None), self.tree(depth), ast.Slice(None, None, number(-1))]
        return ast.Subscript(self.tree(depth), ast.Tuple(parts[:2]) if depth % 2 else parts[2])

    def attribute(self, depth: int) -> ast.expr:
        return ast.Attribute(self.tree(depth), "T")

    def items(self, depth: int) -> ast.expr:
        kind = self.random.choice([ast.Tuple, ast.List])
        return kind([self.tree(depth) for _ in range(self.random.choice([1, 2]))])


def shown(node: Any) -> str:
    """A tree without what only the parser adds."""
    tree = ast.parse(node) if isinstance(node, str) else node
    text = ast.dump(tree)
    for added in (", ctx=Load()", ", ctx=Store()", ", type_ignores=[]", ", kind=None"):
        text = text.replace(added, "")
    return text


def test_what_is_printed_means_what_it_was_printed_from() -> None:
    for seed in range(1500):
        value = Trees(seed).tree(seed % 4)
        statement = ast.Assign([ast.Name("y")], value)
        expected = shown(ast.Module([statement], []))
        for width in (200, 60, 30):
            text = "\n".join(printed(statement, width))
            assert shown(text) == expected, (seed, width, text)


def test_what_is_asserted_is_the_condition_alone() -> None:
    message = ast.Constant("first, it has to be smaller than the second, which it is not here")
    for seed in range(300):
        statement = ast.Assert(Trees(seed).tree(seed % 3), message)
        expected = shown(ast.Module([statement], []))
        for width in (200, 60, 30):
            text = "\n".join(printed(statement, width))
            assert shown(text) == expected, (seed, width, text)


def test_lines_are_as_long_as_they_may_be() -> None:
    text = "np.sum(alpha * beta + gamma, axis=0) + np.sum(delta) - epsilon * zeta"
    value = ast.parse(text, mode="eval").body
    assert printed(ast.Return(value), 44) == [
        "return (np.sum(alpha * beta + gamma, axis=0)",
        "    + np.sum(delta) - epsilon * zeta)",
    ]
    assert printed(ast.Return(ast.Tuple([ast.Name("x")])), 80) == ["return (x,)"]
