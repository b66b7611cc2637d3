"""Finding the source of functions: every kind of function, every shape of file, every change."""

import __future__ as future

import ast
import contextlib
import doctest
import functools
import gc
import importlib
import inspect
import io
import linecache
import math
import statistics
import subprocess
import sys
import textwrap
import threading
import tokenize
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import gast
import pytest

from transformer.core.errors import SourceError
from transformer.read import comments, convert, source
from transformer.read.comments import comments_of
from transformer.read.compare import same_code, same_code_elsewhere
from transformer.read.convert import convert as to_gast
from transformer.read.source import find_source


def text_of(function: Any) -> str:
    return gast.unparse(find_source(function).tree).strip()


def segment(function: Any) -> str:
    """The characters that the places of the tree enclose."""
    found = find_source(function)
    return str(ast.get_source_segment("".join(found.lines), found.tree))


Names = dict[str, Any]
MakeModule = Callable[..., Names]


@pytest.fixture
def module(tmp_path: Path) -> MakeModule:
    """Writes a file, runs it, and gives its names; bytes are written as they are."""
    counter = iter(range(100))

    def make(text: str | bytes, flags: int = 0) -> Names:
        path = tmp_path / f"program{next(counter)}.py"
        path.write_bytes(text if isinstance(text, bytes) else textwrap.dedent(text).encode())
        code = compile(path.read_bytes(), str(path), "exec", flags, dont_inherit=True)
        names: Names = {"__file__": str(path), "__name__": "program"}
        exec(code, names)
        return names

    return make


def edit(names: Names, old: str, new: str) -> None:
    path = Path(names["__file__"])
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new) + "\n# edited\n")


# ---- functions of this file, whose asserts pytest has rewritten ----


def plain(x: float) -> float:
    y = x * x  # square
    return y + 1


def with_assert(x: float, limit: float = 2.0) -> float:
    assert x < limit, f"{x} is too large"
    total = 0.0
    for i in range(3):
        assert i < 3 and x != limit
        total += x * i
    assert (lambda: x)() == x
    return total


def decorator_with(*options: object) -> Callable[[Any], Any]:
    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def wrapper(*args: Any) -> Any:
            return function(*args)

        return wrapper

    return decorate


@decorator_with(
    lambda x: x,
    "option",
)
@decorator_with(2)
def decorated(x: float) -> float:
    return -x


class Model:
    def __init__(self) -> None:
        super().__init__()
        self.__scale = 2.0

    def loss(self, x: float) -> float:
        return self.__scale * x

    @staticmethod
    def fixed(x: float) -> float:
        return x

    @classmethod
    def made(cls, x: float) -> float:
        return x + 1

    @property
    def twice(self) -> float:
        return 2 * self.__scale

    class Inner:
        def loss(self, model: Any) -> Any:
            def inner(x: float) -> Any:
                return model.__hidden * x

            return inner


def test_function() -> None:
    found = find_source(plain)
    assert isinstance(found.tree, gast.FunctionDef)
    assert found.name == found.tree.name == "plain"
    assert found.function is plain
    assert found.file == __file__
    assert found.lines[found.tree.lineno - 1] == "def plain(x: float) -> float:\n"
    assert found.comments == {found.tree.lineno + 1: ("# square", False)}
    assert found.origin(found.tree.body[1]).text == "    return y + 1"


def test_function_with_rewritten_asserts() -> None:
    assert "@pytest_ar" in globals()
    assert any(name.startswith("@py") for name in with_assert.__code__.co_varnames)
    assert "assert x < limit" in text_of(with_assert)


def test_decorators_are_dropped() -> None:
    inner = decorated.__wrapped__.__wrapped__  # type: ignore[attr-defined]
    assert text_of(inner).startswith("def decorated(x: float)")
    assert find_source(inner).tree.lineno == inner.__code__.co_firstlineno + 5
    assert text_of(decorated).startswith("def wrapper(*args: Any)")


def test_methods() -> None:
    assert "self.__scale * x" in text_of(Model.loss)
    assert "self.__scale * x" in text_of(Model().loss)
    assert "super().__init__()" in text_of(Model.__init__)
    assert "return x + 1" in text_of(Model.made)
    assert text_of(Model.fixed).startswith("def fixed")
    assert text_of(Model.__dict__["twice"].fget).startswith("def twice")
    assert "model.__hidden" in text_of(Model.Inner().loss(None))


def test_closures() -> None:
    def outer(scale: float) -> Any:
        def inner(x: float) -> float:
            nonlocal scale
            scale = scale + 1
            return scale * x

        return inner

    assert text_of(outer(1.0)).startswith("def inner")
    assert find_source(outer(1.0)).tree is find_source(outer(2.0)).tree
    one, other = outer(1.0), outer(2.0)
    assert find_source(one).function is one
    assert find_source(other).function is other


# ---- lambdas ----


def test_lambdas_on_one_line() -> None:
    first, second, third = lambda x: x + 1, lambda x: x + 2, lambda x: x + 1
    assert segment(first) == "lambda x: x + 1"
    assert segment(second) == "lambda x: x + 2"
    columns = [find_source(each).tree.col_offset for each in (first, second, third)]
    assert columns == sorted(set(columns))


def test_lambdas_within_lambdas() -> None:
    outer = lambda x: lambda y: lambda z: x + y + z
    assert segment(outer) == "lambda x: lambda y: lambda z: x + y + z"
    assert segment(outer(1)) == "lambda y: lambda z: x + y + z"
    assert segment(outer(1)(2)) == "lambda z: x + y + z"


def test_lambdas_in_all_places() -> None:
    values = [lambda x, k=k: x * k for k in range(2)]
    assert segment(values[1]) == "lambda x, k=k: x * k"
    chosen = (lambda: 1) if values else (lambda: 2)
    assert segment(chosen) == "lambda: 1"
    functions = [lambda k=lambda: 3: 4, lambda: lambda: 5, lambda: None]
    assert [segment(each) for each in functions] == [
        "lambda k=lambda: 3: 4",
        "lambda: lambda: 5",
        "lambda: None",
    ]
    assert segment(functions[1]()) == "lambda: 5"
    default = (lambda x, f=lambda y: y * 2: f(x)).__defaults__[0]  # type: ignore[misc]
    assert segment(default) == "lambda y: y * 2"
    keyword = dict(key=lambda x: -x, other=lambda x: +x)
    assert segment(keyword["other"]) == "lambda x: +x"
    long = lambda x: (
        x  # first
        + 1
    )
    assert segment(long).endswith("+ 1\n    )")
    assert [each.text for each in find_source(long).comments.values()] == ["# first"]


def test_lambda_without_body_of_its_own() -> None:
    assert segment(lambda: 0) == "lambda: 0"
    assert segment(lambda: (yield)) == "lambda: (yield)"
    assert segment(lambda: [x for x in ()]) == "lambda: [x for x in ()]"


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


def registered(name: str, text: str, level: int = -1) -> Names:
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    names: Names = {}
    exec(compile(text, name, "exec", dont_inherit=True, optimize=level), names)
    return names


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
    with pytest.raises(SourceError, match="no source is found for `f`") as caught:
        find_source(names["f"])
    assert "linecache.cache[name]" in str(caught.value)
    assert isinstance(caught.value, OSError)


@pytest.mark.parametrize("function", [math.sin, len, str.upper, dict, 3, functools.partial(plain)])
def test_not_a_python_function(function: Any) -> None:
    with pytest.raises(SourceError, match="is not a function written in Python"):
        find_source(function)


# ---- files that change ----


def assert_changed(function: Any) -> None:
    with pytest.raises(SourceError, match="is not what it was made from") as caught:
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
    with pytest.raises(SourceError, match="no source is found"):
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


# ---- how Python itself is run ----

PROGRAM = """
from transformer.read.source import find_source
from transformer.core.errors import SourceError

def f(x):
    "docstring"
    assert x, "never"
    return [lambda y: x + y,
            lambda y: x - y]

def h(x): return lambda y, k=lambda: 2: x - y, lambda y, k=2: -y
assert find_source(f).tree.lineno == 5
assert find_source(f(1)[0]).tree.lineno == 8
assert find_source(f(1)[1]).tree.body.op.__class__.__name__ == "Sub"
assert find_source(h(1)[1]).tree.col_offset == 47
try:
    print(find_source(h(1)[0]).tree.col_offset)
except SourceError as error:
    print(error.message)
"""


@pytest.mark.parametrize(
    ("options", "printed"),
    [
        ((), "17"),
        (("-O",), "17"),
        (("-OO",), "17"),
        (("-X", "no_debug_ranges"), "several lambdas begin on this line"),
    ],
)
def test_options_of_python(tmp_path: Path, options: tuple[str, ...], printed: str) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    root = Path(inspect.getfile(source)).parents[2]
    command = [sys.executable, *options, "-c", f"import sys; sys.path[:0] = {[str(root)]}\n"]
    command[-1] += f"import runpy; runpy.run_path({str(path)!r})"
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == (printed, "")


def test_under_a_tracer(module: MakeModule) -> None:
    names = module("def f(x):\n    if x:\n        return x * 2\n    return x\n")
    previous = sys.gettrace()
    sys.settrace(lambda *_: sys.gettrace())
    try:
        for k in range(100):
            names["f"](k % 2)
        assert "x * 2" in text_of(names["f"])
    finally:
        sys.settrace(previous)


# ---- all functions of some modules ----

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
        if function.__name__ in classes:
            continue  # the body of a class is a code object too
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


# ---- keeping what was found ----


def test_results_are_kept_as_long_as_the_function(module: MakeModule) -> None:
    names = module("def f(x): return x\n")
    tree = find_source(names["f"]).tree
    assert find_source(names["f"]).tree is tree
    known = len(source._sources)
    gone = weakref.ref(names.pop("f"))
    gc.collect()
    assert gone() is None
    assert len(source._sources) < known


def test_several_threads(module: MakeModule) -> None:
    text = "".join(f"def f{k}(x):\n    return x + {k}\n" for k in range(40))
    names = module(text)
    barrier = threading.Barrier(4)

    def read(_: int) -> list[str]:
        barrier.wait()
        return [text_of(names[f"f{k}"]) for k in range(40)]

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(read, range(4)))
    assert results[0] == results[3]
    assert results[0][7] == "def f7(x):\n    return x + 7"


def test_nested_too_deeply(module: MakeModule) -> None:
    from transformer.core.errors import NotSupported

    names = module("def f(x): return " + " + ".join(["x"] * 900) + "\n")
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(600)
    try:
        with pytest.raises(NotSupported, match="nested too deeply"):
            find_source(names["f"])
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.parametrize("name", ["source", "comments", "convert", "compare", "locate"])
def test_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(f"transformer.read.{name}")).failed == 0
