"""All functions of some modules, and their comments and trees beside those of Python and gast."""


import ast
import functools
import inspect
import io
import statistics
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import gast
import pytest

from transformer.read.sources import comments, convert, source
from transformer.read.sources.comments import comments_of
from transformer.read.sources.convert import convert as to_gast
from transformer.read.sources.source import find_source

MODULES = [statistics, inspect, tokenize, functools, source, convert, comments]


def functions_of(module: ModuleType) -> Iterator[FunctionType]:
    file = module.__file__
    codes = [compile(Path(str(file)).read_text(), str(file), "exec", dont_inherit=True)]
    while codes:
        for constant in codes.pop().co_consts:
            if isinstance(constant, CodeType):
                codes.append(constant)
                if constant.co_name[0] != "<" or constant.co_name == "<lambda>":
                    cells = [(lambda cell: (lambda: cell).__closure__)(0)[0]]
                    closure = tuple(cells * len(constant.co_freevars))
                    yield FunctionType(constant, vars(module), closure=closure)


@pytest.mark.parametrize("library", MODULES)
def test_all_functions_of_a_module(library: ModuleType) -> None:
    classes = {each.name for each in ast.walk(parsed(library)) if isinstance(each, ast.ClassDef)}
    count = 0
    for function in functions_of(library):
        if function.__name__ in classes or function.__name__ == "__annotate__":
            continue  # the body of a class is a code object too, and so are annotations from Python 3.14 on
        tree = find_source(function).tree
        names = [name.id for name in tree.args.posonlyargs + tree.args.args]
        code = function.__code__
        mangled = [name for name in names if not name.startswith("__")]
        assert [name for name in code.co_varnames if name in names][: len(mangled)] == mangled
        assert code.co_firstlineno <= tree.lineno
        count += 1
    assert count > 2


def parsed(library: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(library))


@pytest.mark.parametrize("library", MODULES)
def test_comments_are_those_of_tokenize(library: ModuleType) -> None:
    lines = inspect.getsource(library).splitlines(True)
    expected = {
        token.start[0]: (token.string, not token.line[: token.start[1]].strip())
        for token in tokenize.generate_tokens(iter(lines).__next__)
        if token.type == tokenize.COMMENT
    }
    assert comments_of(lines, 1) == expected


@pytest.mark.parametrize(
    "text",
    [
        "x = '#' # a\n",
        'x = """\n# no\n\\""" # no\n""" # yes\n',
        "x = '''it's # no''' # yes\n",
        "x = r'\\' # no' # yes\n",
        "x = 'a\\\n# no' # yes\n",
        "x = f'{y:#x}' # yes\n",
        "x = rb'#' '#' \"#\" # '\n# \" alone\ny = '' # z\n",
        "x = (1, # one\n  # alone\n 2)\n",
    ],
)
def test_comments_beside_strings(text: str) -> None:
    found = [
        (*token.start, token.string)
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    ]
    expected = {line: comment for line, _, comment in found}
    assert {line: each.text for line, each in comments_of(text.splitlines(True), 1).items()} == (
        expected
    )


@pytest.mark.skipif(sys.version_info < (3, 12), reason="quotes within quotes came with 3.12")
def test_comments_beside_nested_quotes() -> None:
    lines = ['x = f"{y["#"]} # no"  # yes\n']
    assert comments_of(lines, 1) == {1: ("# yes", False)}


@pytest.mark.parametrize("library", MODULES)
def test_trees_are_those_of_gast(library: ModuleType) -> None:
    tree = parsed(library)
    assert gast.dump(to_gast(tree)) == gast.dump(gast.ast_to_gast(tree))
    places = [(node.lineno, node.end_col_offset) for node in located(gast.ast_to_gast(tree))]
    assert [(node.lineno, node.end_col_offset) for node in located(to_gast(tree))] == places


def located(tree: Any) -> Iterator[Any]:
    """Nodes with places; that gast gives none to the name of an exception is passed over."""
    handlers = [node for node in gast.walk(tree) if isinstance(node, gast.ExceptHandler)]
    names = {id(node.name) for node in handlers}
    return (n for n in gast.walk(tree) if hasattr(n, "lineno") and id(n) not in names)
