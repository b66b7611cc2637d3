"""Functions in every shape of file, and in texts that are not files."""

import __future__ as future

import contextlib
import doctest
import functools
import io
import math
import textwrap
from typing import Any

import gast
import pytest
from sources import MakeModule, Names, registered, segment, text_of

from transformer.core.errors import SourceError
from transformer.read.sources.source import find_source

# ---- files ----


def test_windows_and_old_mac_line_ends(module: MakeModule) -> None:
    for end in (b"\r\n", b"\r", b"\n"):
        lines = [b"# first", b"def f(x):", b"    # note", b"    return x * 2", b"g = lambda: 1"]
        names = module(end.join(lines))
        found = find_source(names["f"])
        assert (found.tree.lineno, found.tree.body[0].lineno) == (2, 4)
        assert found.comments == {3: ("# note", True)}
        assert segment(names["g"]) == "lambda: 1"


def test_tabs_and_form_feeds(module: MakeModule) -> None:
    names = module("x = 1\n\f\nif x:\n\tdef f(x):\n\t\t# deep\n\t\treturn x\n\t\t# last\n\t# out\n")
    found = find_source(names["f"])
    assert (found.tree.lineno, found.tree.col_offset) == (4, 1)
    assert [each.text for each in found.comments.values()] == ["# deep", "# last"]


def test_encodings(module: MakeModule) -> None:
    text = "# coding: latin-1\ndef größe(ä):\n    return 'é', ä, lambda: 'ü' + ä\n"
    names = module(text.encode("latin-1"))
    assert segment(names["größe"](1)[2]) == "lambda: 'ü' + ä"
    found = find_source(names["größe"])
    assert found.tree.body[0].value.elts[1].col_offset == 17  # bytes of UTF-8, as in ast
    marked = module(b"\xef\xbb\xbfdef f(x): return x\n")
    assert text_of(marked["f"]).startswith("def f(x)")


def test_line_ends_of_unicode_do_not_count() -> None:
    text = "a = '\u2028'; b = '\x0c'\ndef f(x):\n    return x\n"
    names = registered("<unicode>", text)
    assert find_source(names["f"]).tree.lineno == 2


def test_odd_shapes(module: MakeModule) -> None:
    names = module("""
        if 1: f = lambda x: x; g = lambda x: -x
        class A: f = lambda self: self.__y
        x = 1; \\
        h = lambda: x
        def k(a,
              b=(1,
        2)): return (a +
        b)
        def one(): pass; return 2
        def text(): return f"{(lambda x: x)(1)}"
        async def later(x): return x
        """)
    assert segment(names["g"]) == "lambda x: -x"
    assert segment(names["A"].f) == "lambda self: self.__y"
    assert segment(names["h"]) == "lambda: x"
    assert segment(names["k"]).endswith("(a +\nb)")
    assert "return 2" in text_of(names["one"])
    assert text_of(names["text"]).startswith("def text")
    assert isinstance(find_source(names["later"]).tree, gast.AsyncFunctionDef)


def test_tree_of_an_older_file_is_parsed_again(module: MakeModule) -> None:
    text = """
        def first(x): return 1
        x = 1; \\
        second = lambda x: 2
        class C:
            @decorate(
                1)
            def third(self): return 3

        def fourth(x):
            text = '''
        # no comment
        '''
            return 4  # four
        """
    text = "def decorate(_): return lambda f: f\n" + textwrap.dedent(text)
    names = module(text)
    assert segment(names["first"]) == "def first(x): return 1"
    find_source(module("def other(x): return x")["other"])
    assert segment(names["second"]) == "lambda x: 2"
    assert segment(names["C"].third) == "def third(self): return 3"
    assert find_source(names["fourth"]).comments == {15: ("# four", False)}
    assert find_source(names["fourth"]).tree.lineno == 11


def test_same_name_twice(module: MakeModule) -> None:
    names = module("""
        def f(x): return 1
        first = f
        def f(x): return 2
        """)
    assert segment(names["first"]) == "def f(x): return 1"
    assert segment(names["f"]) == "def f(x): return 2"


def test_equal_code_of_two_files_is_told_apart(module: MakeModule) -> None:
    one, other = module("def f(x): return x  # one"), module("def f(x): return x  # other")
    assert one["f"].__code__ == other["f"].__code__
    assert find_source(one["f"]).comments[1].text == "# one"
    assert find_source(other["f"]).comments[1].text == "# other"


def test_future_statements(module: MakeModule) -> None:
    names = module("from __future__ import annotations\ndef f(x: undefined): return x\n")
    assert find_source(names["f"]).tree.args.args[0].annotation.id == "undefined"
    inherited = module("def f(x: undefined): return x\n", future.annotations.compiler_flag)
    assert text_of(inherited["f"]).startswith("def f(x: undefined)")


def test_warnings_are_not_repeated(module: MakeModule) -> None:
    with pytest.warns(SyntaxWarning):
        names = module("def f(x): return x is 3\n")
    assert "x is 3" in text_of(names["f"])


def test_compiled_at_another_level(module: MakeModule) -> None:
    text = "def f(x):\n    'docstring'\n    assert x\n    return lambda: x\n"
    for level in (0, 1, 2):
        names = registered(f"<level {level}>", text, level)
        assert "assert x" in text_of(names["f"])
        assert segment(names["f"](1)) == "lambda: x"


# ---- texts that are not files ----


def test_registered_text() -> None:
    names = registered("<cell 1>", "scale = 3\ndef f(x):\n    return scale * x\n")
    assert find_source(names["f"]).file == "<cell 1>"
    assert find_source(names["f"]).origin(find_source(names["f"]).tree).text == "def f(x):"


def test_doctest() -> None:
    example = """
    >>> f = lambda x: x + 1
    >>> segment(f)
    'lambda x: x + 1'
    >>> def g(x):
    ...     '''text'''
    ...     return 2 * x  # twice
    >>> find_source(g).comments
    {3: Comment(text='# twice', alone=False)}
    """
    parsed = doctest.DocTestParser().get_doctest(example, globals(), "sample", None, None)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        doctest.DocTestRunner().run(parsed)
    assert output.getvalue() == ""


def test_no_text() -> None:
    names: Names = {}
    exec("def f(x): return x", names)
    with pytest.raises(SourceError, match="the source of `f` is not available") as caught:
        find_source(names["f"])
    assert "linecache.cache[name]" in str(caught.value)
    assert isinstance(caught.value, OSError)


@pytest.mark.parametrize("function", [math.sin, len, str.upper, dict, 3, functools.partial(segment)])
def test_not_a_python_function(function: Any) -> None:
    with pytest.raises(SourceError, match="is not a function written in Python"):
        find_source(function)
