"""What desugaring makes of functions written by hand: it does what they do, and reads like this."""

import doctest
import importlib
import textwrap

import gast
import pytest
from desugared import check, parse

from transformer.core.errors import NotSupported
from transformer.read import desugar as package
from transformer.read.desugar import desugar

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
                result. = x
            else:
                if n < 0:
                    raise ValueError
                y = f(x, n - 1)
                result. = y * y
            return result.
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
                    result. = 9
                    returned = True
                    stop = True
            if not returned:
                if not stop:
                    result. = 0
                else:
                    result. = x
            return result.
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
    assert {"returned2", "result2."} <= names


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
        "            result. = 1",
        "            returned = True",
        "    finally:",
        "        g()",
        "    if not returned:",
        "        result. = 2",
        "    return result.",
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


def test_every_rewrite_shows_what_it_does() -> None:
    for rewrite in package.REWRITES:
        module = importlib.import_module(rewrite.__module__)
        assert doctest.testmod(module).attempted >= 2
