"""Files that are not what a function was made from any more, and how code is compared."""

import ast
from pathlib import Path
from typing import Any

import pytest
from sources import MakeModule, Names, edit, segment, text_of

from transformer.core.errors import SourceError
from transformer.read.sources.compare import same_code, same_code_elsewhere
from transformer.read.sources.source import find_source

# ---- files that change ----


def assert_changed(function: Any) -> None:
    with pytest.raises(SourceError, match="the source of") as caught:
        find_source(function)
    origin = caught.value.origin
    assert origin is not None
    assert (origin.line, origin.file) == (
        function.__code__.co_firstlineno,
        function.__code__.co_filename,
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x * 2", "x * 3"),
        ("x * 2", "x * 2.0"),
        ("x * 2", "x + 2"),
        ("x * 2", "y * 2"),
        ("(x)", "(x, y=1)"),
        ("def f", "\n\n\n\ndef f"),
        ("def f(x)", "def g(x)"),
        ("def f", "def f(x, ("),
        ("def f", "return\ndef f"),
        ("0.0,", "0.0, (yield from x) if x else await x,"),
        ("lambda z: z", "lambda z: -z"),
        ("'text'", "b'text'"),
        ("0.0", "-0.0"),
    ],
)
def test_edited_after_import(module: MakeModule, old: str, new: str) -> None:
    names = module("def f(x):\n    return x * 2, lambda z: z, 'text', 0.0, (1, True)\n")
    edit(names, old, new)
    assert_changed(names["f"])


def test_edited_and_loaded_again(module: MakeModule) -> None:
    names = module("def f(x): return x * 2\n")
    find_source(names["f"])
    edit(names, "x * 2", "x * 3")
    text = Path(names["__file__"]).read_text()
    exec(compile(text, names["__file__"], "exec"), names)
    assert segment(names["f"]) == "def f(x): return x * 3"


def test_deleted_after_import(module: MakeModule) -> None:
    names = module("def f(x): return x * 2\n")
    Path(names["__file__"]).unlink()
    with pytest.raises(SourceError, match="is not available"):
        find_source(names["f"])


def rewritten_by_pytest(module: MakeModule, text: str) -> Names:
    from _pytest.assertion.rewrite import rewrite_asserts

    names = module("")
    path = Path(names["__file__"])
    path.write_text(text)
    tree = ast.parse(text)
    rewrite_asserts(tree, text.encode(), str(path))
    exec(compile(tree, str(path), "exec"), names)
    return names


ASSERTING = """
def f(x, y=[]):
    while x < 3:
        assert x + 1 < 5, "too large"
        if x > 1:
            x = x + 2
            assert x
        else:
            assert all(k for k in y)
            x = x + 1
    for k in y:
        if k:
            assert not k
    assert isinstance(x, int) and \\
        x
"""


def test_asserts_rewritten_by_pytest(module: MakeModule) -> None:
    names = rewritten_by_pytest(module, ASSERTING)
    assert "assert x + 1 < 5" in text_of(names["f"])


@pytest.mark.parametrize(
    ("old", "new"),
    [("x = x + 1", "x = x + 2"), ("x = x + 2", "x = x - 2"), ("x > 1", "x >= 1"), ("x < 3", "1")],
)
def test_edited_beside_rewritten_asserts(module: MakeModule, old: str, new: str) -> None:
    names = rewritten_by_pytest(module, ASSERTING)
    edit(names, old, new)
    assert_changed(names["f"])


# ---- comparing code ----


def test_constants_that_python_calls_equal() -> None:
    values = ["1", "1.0", "True", "0.0", "-0.0", "0j", "(1,)", "(1.0,)", "'1'", "b'1'", "..."]
    codes = [compile(f"lambda: {value}", "<text>", "eval") for value in values]
    for i, one in enumerate(codes):
        for j, other in enumerate(codes):
            assert same_code(one, other) == (i == j)


def test_nan_equals_itself() -> None:
    text = "lambda x: x in {1e400 - 1e400, 2, 'a'} or 1e400 * 0"
    assert same_code(compile(text, "<one>", "eval"), compile(text, "<other>", "eval"))


def test_code_elsewhere() -> None:
    one = compile("def f(x):\n  g(x)\n  return x", "<one>", "exec")
    other = compile("def f(x):\n  h(x)\n  return x", "<one>", "exec")
    assert same_code_elsewhere(one, other, {2})
    assert not same_code_elsewhere(one, other, {3})
