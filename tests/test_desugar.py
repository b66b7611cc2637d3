"""Desugared functions do what the original ones do: same result, same steps in the same order."""

import contextlib
import copy
import doctest
import importlib
import itertools
import pkgutil
import random
import textwrap
from collections.abc import Iterator
from types import CodeType
from typing import Any

import gast
import pytest

from transformer.core.errors import NotSupported
from transformer.read import desugar as package
from transformer.read.desugar import desugar


def parse(text: str) -> Any:
    return gast.parse(textwrap.dedent(text)).body[0]


# ---- running ----


class OutOfSteps(Exception):
    pass


class _Stops(gast.NodeTransformer):
    """Does what the reader does: looks at the flag of a loop before it takes the next item."""

    def visit_For(self, node: Any) -> Any:
        self.generic_visit(node)
        if node.stop is None:
            return node
        look = parse(f"if {node.stop}: break")
        take = parse("x = _item")
        take.targets = [node.target]
        node.target = gast.Name("_item", gast.Store(), None, None)
        node.body = [look, take, *node.body]
        return gast.fix_missing_locations(node)


def compiled(tree: Any, stops: bool) -> CodeType:
    tree = copy.deepcopy(tree)
    if stops:
        tree = _Stops().visit(tree)
    return compile(gast.gast_to_ast(gast.Module([tree], [])), "<desugared>", "exec")


def run(code: CodeType, answers: tuple[bool, ...]) -> tuple[Any, list[Any]]:
    """The result, and what was logged: every condition that was asked and every step taken."""
    trace: list[Any] = []
    remaining = itertools.chain(answers, itertools.cycle([True, False, False]))

    def log(what: Any) -> Any:
        trace.append(what)
        if len(trace) > 60:
            raise OutOfSteps
        return what

    def ask() -> bool:
        return bool(log(next(remaining)))

    @contextlib.contextmanager
    def inside() -> Iterator[None]:
        log("in")
        yield
        log("out")

    environment = {"log": log, "ask": ask, "inside": inside}
    exec(code, environment)
    try:
        return environment["f"](), trace
    except (OutOfSteps, UnboundLocalError, KeyError) as error:
        return type(error), trace


def check(text: str, count: int = 5) -> None:
    original = parse(text)
    before = gast.dump(original, include_attributes=True)
    desugared = desugar(original)
    assert gast.dump(original, include_attributes=True) == before
    check_form(desugared)
    code, new_code = compiled(original, stops=False), compiled(desugared, stops=True)
    for answers in itertools.product([False, True], repeat=count):
        assert run(new_code, answers) == run(code, answers), gast.unparse(desugared)


def check_form(function: Any) -> None:
    for node in gast.walk(function):
        assert not isinstance(node, gast.Break | gast.Continue)
        if isinstance(node, gast.For | gast.While):
            assert not node.orelse
        if isinstance(node, gast.For):
            assert hasattr(node, "stop")
        if isinstance(node, gast.FunctionDef):
            own = [inner for inner in own_nodes(node) if isinstance(inner, gast.Return)]
            assert own in ([], node.body[-1:])
        for place in node._attributes:
            assert isinstance(getattr(node, place), int), gast.dump(node)


def own_nodes(function: Any) -> Iterator[Any]:
    pending = list(function.body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, gast.FunctionDef | gast.Lambda):
            pending.extend(gast.iter_child_nodes(node))


# ---- every exit, in every place, in every loop ----

EXITS = ["break", "continue", "return", "return log('value')", "return i"]

PLACES = {
    "alone": "EXIT",
    "last": "log(1)\nEXIT",
    "if": "if ask():\n    EXIT\nlog(1)",
    "if at the end": "log(1)\nif ask():\n    EXIT",
    "after more": "if ask():\n    log(1)\n    EXIT\n    log(2)\nlog(3)",
    "else": "if ask():\n    log(1)\nelse:\n    EXIT\nlog(2)",
    "both": "if ask():\n    log(1)\n    EXIT\nelse:\n    EXIT\nlog(2)",
    "elif": "if ask():\n    log(1)\nelif ask():\n    EXIT\nelse:\n    log(2)\nlog(3)",
    "partial": "if ask():\n    if ask():\n        EXIT\n    log(1)\nlog(2)",
    "partial, nothing follows": "if ask():\n    if ask():\n        EXIT\n    log(1)",
    "partial on both sides": (
        "if ask():\n    if ask():\n        EXIT\n    log(1)\n"
        "else:\n    log(2)\n    if ask():\n        EXIT\nlog(3)\nif ask():\n    EXIT\nlog(4)"
    ),
    "with": "with inside():\n    if ask():\n        EXIT\n    log(1)\nlog(2)",
    "with, always": "with inside():\n    EXIT\nlog(2)",
    "match": (
        "match (ask(), ask()):\n    case (True, True):\n        EXIT\n"
        "    case (True, _):\n        log(1)\nlog(2)"
    ),
    "match, one way through": (
        "match ask():\n    case True:\n        EXIT\n    case _:\n        log(1)\nlog(2)"
    ),
    "match, no default": "match ask():\n    case True:\n        EXIT\nlog(2)",
    "raise beside": "if ask():\n    raise KeyError\nif ask():\n    EXIT\nlog(1)",
}

LOOPS = {
    "for": "for i in range(3):\n    BODY",
    "for, no trips": "for i in range(0):\n    BODY",
    "while": "while ask():\n    BODY",
    "while True": "while True:\n    log('again')\n    BODY\n    if ask():\n        break",
    "while True, no break": "while True:\n    log('again')\n    BODY",
    "while and": "while ask() and ask():\n    BODY",
    "else": "for i in range(2):\n    BODY\nelse:\n    log('else')",
    "while else": "while ask():\n    BODY\nelse:\n    log('else')\n    i = 8",
    "break and else": (
        "for i in range(2):\n    if ask():\n        break\n    BODY\n"
        "else:\n    log('else')\n    if ask():\n        return 'else'"
    ),
    "inner": "for j in range(2):\n    for i in range(2):\n        BODY\n    log('inner done')",
    "inner while": "while ask():\n    while ask():\n        BODY\n    log('inner done')",
    "inner and break": (
        "for j in range(3):\n    for i in range(2):\n        BODY\n"
        "    if ask():\n        break\n    log('inner done')\nelse:\n    log('else')"
    ),
    "break in else of inner": (
        "for j in range(3):\n    for i in range(2):\n        BODY\n"
        "    else:\n        log('else')\n        break\n    log('inner done')"
    ),
    "third": (
        "for k in range(2):\n    for j in range(2):\n        while ask():\n            BODY\n"
        "        log('inner done')\n    if ask():\n        continue\n    log('middle done')"
    ),
}

ENDINGS = ["", "return log('end')", "return i"]


def filled(template: str, word: str, text: str) -> str:
    """The template with the text for the word, at the word's indentation."""
    lines = []
    for line in template.split("\n"):
        indentation = line[: len(line) - len(line.lstrip())]
        lines.append(textwrap.indent(text, indentation) if line.strip() == word else line)
    return "\n".join(lines)


def function_of(body: str) -> str:
    return "def f():\n    i = 7\n" + textwrap.indent(body, "    ")


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("exit_", EXITS)
def test_exit_in_loop(exit_: str, loop: str) -> None:
    for number, place in enumerate(PLACES.values()):
        body = filled(LOOPS[loop], "BODY", filled(place, "EXIT", exit_))
        ending = ENDINGS[number % len(ENDINGS)]
        check(function_of(f"{body}\nlog('after')\n{ending}"), count=4)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("exit_", [exit_ for exit_ in EXITS if exit_.startswith("return")])
def test_return_outside_of_loops(exit_: str, place: str) -> None:
    for ending in ENDINGS:
        check(function_of(f"{filled(PLACES[place], 'EXIT', exit_)}\n{ending}"))


# ---- whatever comes together ----


class Program:
    """A random function, from statements that log and ask."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._size = 14
        body = self._block(depth=0, in_loop=False)
        self.text = function_of("\n".join(body))

    def _block(self, depth: int, in_loop: bool) -> list[str]:
        lines: list[str] = []
        for _ in range(self._random.randint(1, 4)):
            lines += self._statement(depth, in_loop)
        return lines

    def _nested(self, head: str, depth: int, in_loop: bool) -> list[str]:
        return [head, *("    " + line for line in self._block(depth + 1, in_loop))]

    def _statement(self, depth: int, in_loop: bool) -> list[str]:
        self._size -= 1
        simple = self._size < 0 or depth > 4 or self._random.random() < 0.3
        kinds = ["log", "i", "return"] if simple else ["if", "if", "for", "while", "with", "match"]
        kinds += ["break", "continue"] if in_loop else []
        return list(getattr(self, "_" + self._random.choice(kinds))(depth, in_loop))

    def _log(self, depth: int, in_loop: bool) -> list[str]:
        return [f"log({self._random.randint(10, 99)})"]

    def _i(self, depth: int, in_loop: bool) -> list[str]:
        return [f"i = {self._random.randint(10, 99)}"]

    def _return(self, depth: int, in_loop: bool) -> list[str]:
        return [self._random.choice(["return", "return i", "return i", "return log(i)"])]

    def _break(self, depth: int, in_loop: bool) -> list[str]:
        return ["break"]

    def _continue(self, depth: int, in_loop: bool) -> list[str]:
        return ["continue"]

    def _if(self, depth: int, in_loop: bool) -> list[str]:
        lines = self._nested("if ask():", depth, in_loop)
        if self._random.random() < 0.4:
            lines += self._nested("else:", depth, in_loop)
        return lines

    def _for(self, depth: int, in_loop: bool) -> list[str]:
        trips = self._random.randint(0, 3)
        return self._loop(f"for i in range({trips}):", depth, in_loop)

    def _while(self, depth: int, in_loop: bool) -> list[str]:
        return self._loop(self._random.choice(["while ask():", "while log(True):"]), depth, in_loop)

    def _loop(self, head: str, depth: int, in_loop: bool) -> list[str]:
        lines = self._nested(head, depth, True)
        if self._random.random() < 0.3:
            lines += self._nested("else:", depth, in_loop)
        return lines

    def _with(self, depth: int, in_loop: bool) -> list[str]:
        return self._nested("with inside():", depth, in_loop)

    def _match(self, depth: int, in_loop: bool) -> list[str]:
        cases = self._nested("case True:", depth + 1, in_loop)
        if self._random.random() < 0.5:
            last = self._random.choice(["case False:", "case _:", "case i:", "case False | _:"])
            cases += self._nested(last, depth + 1, in_loop)
        return ["match ask():", *("    " + line for line in cases)]


@pytest.mark.parametrize("block", range(8))
def test_random_programs(block: int) -> None:
    for seed in range(100 * block, 100 * block + 100):
        check(Program(seed).text, count=4)


# ---- by hand ----

BY_HAND = {
    "search": """
        def f():
            for i in range(3):
                for j in range(3):
                    if ask():
                        return i, j
            return None
        """,
    "target of a loop after it": """
        def f():
            for i in range(5):
                if ask():
                    break
            return i
        """,
    "target of a loop without trips": """
        def f():
            for i in []:
                if ask():
                    break
            return i
        """,
    "the test of a while is not asked after a break": """
        def f():
            while ask() or log("or"):
                if ask():
                    break
        """,
    "loop variable replaced": """
        def f():
            for i in range(3):
                i = i * 10
                if ask():
                    continue
                log(i)
            return i
        """,
    "no value and values": """
        def f():
            if ask():
                return
            if ask():
                return 3
        """,
    "None and nothing": """
        def f():
            if ask():
                return None
            log(1)
            return
        """,
    "the same variable everywhere, and once not": """
        def f():
            x = 1
            while ask():
                x = x + 1
                if ask():
                    return x
                if ask():
                    return -x
            return x
        """,
    "a variable that is not bound": """
        def f():
            for i in range(2):
                if ask():
                    x = i
                    break
            return x
        """,
    "code after an exit": """
        def f():
            for i in range(3):
                if ask():
                    continue
                    log("never")
                log(i)
                break
                log("never")
            return i
            log("never")
        """,
    "nothing but an exit": """
        def f():
            return
            log("never")
        """,
    "functions within": """
        def f():
            def g(n):
                for i in range(n):
                    if ask():
                        return i
                return -1
            for k in range(2):
                if g(k) == 1:
                    break
            else:
                return g(3)
            return g(1)
        """,
    "function within a loop": """
        def f():
            total = 0
            for k in range(2):
                def g(n):
                    if n:
                        return log(k)
                    return 10
                total += g(ask())
                if ask():
                    continue
                total += 100
            return total
        """,
    "flags of the user": """
        def f():
            stop, returned, result, skip = 1, 2, 3, 4
            for i in range(3):
                if ask():
                    if ask():
                        continue
                    skip += 1
                if ask():
                    break
                if ask():
                    return stop, returned, result, skip, "in"
                stop += 1
            return stop, returned, result, skip
        """,
    "docstring": """
        def f():
            "what it does"
            while True:
                if ask():
                    return f.__doc__
        """,
    "try without exits": """
        def f():
            for i in range(3):
                try:
                    for j in range(2):
                        if ask():
                            break
                    log(j)
                except ValueError:
                    log("never")
                if ask():
                    continue
                log(i)
        """,
    "long elif": """
        def f():
            for i in range(3):
                if ask():
                    log(1)
                elif ask():
                    continue
                elif ask():
                    break
                elif ask():
                    return i
                log(i)
            return -1
        """,
}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str) -> None:
    check(BY_HAND[name], count=7)


def rewritten(text: str) -> str:
    return gast.unparse(desugar(parse(text))).strip()


def shown(text: str) -> str:
    return textwrap.dedent(text).strip()


def test_nothing_to_do() -> None:
    tree = parse("def f(x):\n    y = x * x\n    return y")
    assert gast.dump(desugar(tree), include_attributes=True) == gast.dump(
        tree, include_attributes=True
    )


def test_no_flag_where_a_branch_always_exits() -> None:
    assert rewritten("""
        def f(x, n):
            if n == 0:
                return x
            if n < 0:
                raise ValueError
            y = f(x, n - 1)
            return y * y
        """) == shown("""
        def f(x, n):
            if n == 0:
                result = x
            else:
                if n < 0:
                    raise ValueError
                y = f(x, n - 1)
                result = y * y
            return result
        """)


def test_one_flag_for_a_return_from_nested_loops() -> None:
    assert rewritten("""
        def f(rows):
            total = 0
            for row in rows:
                for x in row:
                    if x < 0:
                        return total
                    total += x
            return total
        """) == shown("""
        def f(rows):
            total = 0
            returned = False
            for row in rows:
                for x in row:
                    if x < 0:
                        returned = True
                    else:
                        total += x
            return total
        """)


def test_loop_with_break_return_and_else_has_two_flags() -> None:
    assert rewritten("""
        def f(xs):
            for x in xs:
                if x < 0:
                    break
                if x > 9:
                    return 9
            else:
                return 0
            return x
        """) == shown("""
        def f(xs):
            stop = False
            returned = False
            for x in xs:
                if x < 0:
                    stop = True
                elif x > 9:
                    result = 9
                    returned = True
                    stop = True
            if not returned:
                if not stop:
                    result = 0
                else:
                    result = x
            return result
        """)


def test_flags_have_names_that_nothing_else_has() -> None:
    tree = desugar(
        parse("""
        def f(xs, *, result=0):
            stop2 = lambda: returned
            for x in xs:
                if x.stop:
                    return 1
            return 2
        """)
    )
    names = {node.id for node in gast.walk(tree) if isinstance(node, gast.Name)}
    assert {"returned2", "result2"} <= names


def test_origin_of_new_nodes_is_the_statement_they_come_from() -> None:
    tree = desugar(
        parse("def f(xs):\n    for x in xs:\n        if x:\n            break\n    y = x")
    )
    start, loop, _ = tree.body
    assert start.lineno == loop.lineno == 2
    assert loop.body[0].body[0].lineno == 4


@pytest.mark.parametrize("exit_", ["return", "break", "continue", "return 1"])
def test_exit_from_finally_is_refused(exit_: str) -> None:
    text = f"def f(xs):\n    for x in xs:\n        try: pass\n        finally:\n            {exit_}"
    with pytest.raises(NotSupported) as caught:
        desugar(parse(text), "model.py")
    origin = caught.value.origin
    assert origin is not None
    assert (origin.file, origin.line, origin.column, origin.function) == ("model.py", 5, 12, "f")
    assert f"`{exit_.split()[0]}` inside `finally`" in str(caught.value)


def test_what_follows_an_exit_from_try_is_guarded() -> None:
    tree = desugar(parse("def f(x):\n    try:\n        if x: return 1\n    finally:\n        g()\n    return 2"))
    assert gast.unparse(tree).strip().splitlines() == [
        "def f(x):",
        "    returned = False",
        "    try:",
        "        if x:",
        "            result = 1",
        "            returned = True",
        "    finally:",
        "        g()",
        "    if not returned:",
        "        result = 2",
        "    return result",
    ]


def test_coroutines_stay() -> None:
    tree = parse("async def f(xs):\n    for x in xs:\n        if x: break")
    assert gast.dump(desugar(tree)) == gast.dump(tree)


def test_lambda_stays() -> None:
    tree = parse("lambda x: x").value
    assert desugar(tree) is tree


def test_too_many_exits_in_a_row_are_refused() -> None:
    lines = [f"    if x == {i}:\n        return {i}\n" for i in range(3000)]
    with pytest.raises(NotSupported, match="nested too deeply"):
        desugar(parse("def f(x):\n" + "".join(lines)))


def modules() -> list[str]:
    inner = [found.name for found in pkgutil.iter_modules(package.__path__)]
    return [package.__name__, *(f"{package.__name__}.{name}" for name in inner)]


@pytest.mark.parametrize("name", modules())
def test_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_rewrite_shows_what_it_does() -> None:
    for rewrite in package.REWRITES:
        module = importlib.import_module(rewrite.__module__)
        assert doctest.testmod(module).attempted >= 2
