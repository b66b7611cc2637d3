"""Finding the source of functions: every kind of function, every way to run Python, and how long it is kept."""

import functools
import gc
import inspect
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gast
import pytest
from sources import MakeModule, segment, text_of

from transformer.read.sources import source
from transformer.read.sources.source import find_source

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


# ---- how Python itself is run ----

PROGRAM = """
from transformer.read.sources.source import find_source
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
        (("-X", "no_debug_ranges"), "several lambdas start on this line"),
    ],
)
def test_options_of_python(tmp_path: Path, options: tuple[str, ...], printed: str) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    root = Path(inspect.getfile(source)).parents[3]
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


# ---- keeping what was found ----


@pytest.mark.usefixtures("young_garbage")
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
