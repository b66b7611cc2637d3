"""A function and what desugaring makes of it, run beside each other."""

import contextlib
import copy
import itertools
import textwrap
from collections.abc import Iterator
from types import CodeType
from typing import Any

import gast

from transformer.read.desugar import desugar


def parse(text: str) -> Any:
    return gast.parse(textwrap.dedent(text)).body[0]


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
        try:
            yield
        finally:                                 # what asks for exceptions is refused when it is read
            log("out")

    environment = {"log": log, "ask": ask, "inside": inside}
    exec(code, environment)
    try:
        return environment["f"](), trace
    except (OutOfSteps, UnboundLocalError, LookupError, ValueError) as error:
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
    names = [node.name for node in gast.walk(function) if isinstance(node, gast.ExceptHandler)]  # gast gives no place
    for node in gast.walk(function):
        assert not isinstance(node, gast.Break | gast.Continue)
        if isinstance(node, gast.For | gast.While):
            assert not node.orelse
        if isinstance(node, gast.For):
            assert hasattr(node, "stop")
        if isinstance(node, gast.FunctionDef):
            own = [inner for inner in own_nodes(node) if isinstance(inner, gast.Return)]
            assert own in ([], node.body[-1:])
        for place in node._attributes if node not in names else ():
            assert isinstance(getattr(node, place), int), gast.dump(node)


def own_nodes(function: Any) -> Iterator[Any]:
    pending = list(function.body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, gast.FunctionDef | gast.Lambda):
            pending.extend(gast.iter_child_nodes(node))
