"""Statements that are printed mean what they meant, and look as they should."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transformer.write.printing import text_of

FILES = sorted((Path(__file__).parent / "corpus").glob("*.py"))


def simple_statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """All statements but definitions, without those in them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if isinstance(node, (ast.If, ast.For, ast.While, ast.With)):
                node.body = [ast.Pass()]
            yield node


@pytest.mark.parametrize("part", range(2))
def test_what_is_printed_is_read_as_the_same(part: int) -> None:
    for path in FILES[part::2]:
        for node in simple_statements(ast.parse(path.read_text())):
            again = ast.parse(text_of(node)).body[0]
            assert ast.dump(again) == ast.dump(ast.parse(ast.unparse(node)).body[0])


NAMES = st.sampled_from("abc").map(lambda name: ast.Name(name, ast.Load()))
NUMBERS = st.sampled_from([0, 2, 0.5, 1e-9, 3j]).map(ast.Constant)


def larger(inner: st.SearchStrategy[ast.expr]) -> st.SearchStrategy[ast.expr]:
    """Expressions around others."""
    load = st.just(ast.Load())
    binary = st.sampled_from([ast.Add, ast.Sub, ast.Mult, ast.Pow, ast.MatMult, ast.BitAnd, ast.BitOr, ast.LShift])
    compared = st.sampled_from([ast.Lt, ast.NotEq, ast.Is, ast.NotIn])
    return st.one_of(
        st.builds(ast.BinOp, inner, binary.map(lambda op: op()), inner),
        st.builds(ast.UnaryOp, st.sampled_from([ast.Not, ast.USub, ast.Invert]).map(lambda op: op()), inner),
        st.builds(lambda op, values: ast.BoolOp(op(), values), st.sampled_from([ast.And, ast.Or]),
                  st.lists(inner, min_size=2, max_size=3)),
        st.builds(lambda a, op, b: ast.Compare(a, [op()], [b]), inner, compared, inner),
        st.builds(ast.IfExp, inner, inner, inner),
        st.builds(ast.Attribute, inner, st.just("T"), load),
        st.builds(ast.Subscript, inner, inner, load),
        st.builds(ast.Tuple, st.lists(inner, max_size=2), load),
        st.builds(lambda f, args: ast.Call(f, args, []), inner, st.lists(inner, max_size=2)),
    )


@given(st.recursive(NAMES | NUMBERS, larger, max_leaves=12))
@settings(max_examples=300, deadline=None)
def test_brackets(value: ast.expr) -> None:
    made: list[ast.stmt] = [ast.Assign([ast.Name("y", ast.Store())], value), ast.Return(value), ast.Expr(value)]
    for node in made:
        node = ast.fix_missing_locations(node)
        again = ast.parse(text_of(node), mode="exec").body[0]
        assert ast.dump(again) == ast.dump(ast.parse(ast.unparse(node)).body[0])


@pytest.mark.parametrize("text", [
    "x[1:, ::2] = -(a - (b - c)) ** -0.5 * (d / (e * f))",
    "y = (a if p else b) if not q == r else lambda x, *more, k=2: x[k]",
    "first, (second, rest) = pairs",
    "(dx,) = pull(v)",
    "return np.float32(1.0) / (total * math.sqrt(total)), u[i,], 2 ** 31, (-1) ** n, (1).real",
    'text = f"p[\'x\'] must be of {name!r:>{width}}, not {p[\'x\'].dtype} {{}}"',
    'quoted = "it\'s" + \'"\'',
    "dw += np.sum((v ** 2 for v in x if v > 0), axis=0)",
    "offsets = [place % aligned for place in (pointer, *strides[:-1])]",
    "total: float = sum(v for v in x) + {name: k + 1 for name, k in {**a, 1: 2}.items()}[0]",
    "if a < b <= c:\n    pass\nelif (n := len(x)) > 2:\n    return\nelse:\n    raise ValueError(\"no\") from error",
    "try:\n    kernel(x)\nexcept IndexError as error:\n    raise\nfinally:\n    del x",
    "def f(a, /, b, *, c=1, **options):\n    for k in range(3):\n        a, b = b, a\n    return b",
])
def test_text(text: str) -> None:
    assert text_of(ast.parse(text).body[0]) == text
