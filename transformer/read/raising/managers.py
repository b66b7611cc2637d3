"""`with`: what context managers do on the way in and out, read where they do it.

    with scaled(x) as y:             y = scaled(x).__enter__()
        total += y                   total += y
                                     scaled(x).__exit__(None, None, None)

Of a function with `contextmanager` the lines under `with` stand where it yields. A `raise` under `with` calls
`__exit__` first; what other exceptions would do on their way out matters to nobody who cannot catch them. Managers that
may end one are refused where there could be one.
"""

from __future__ import annotations

import contextlib
import sys
import types
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from ...core.errors import NotSupported, Origin, TransformError
from ..branches.branches import Unreachable
from ..desugar.blocks import leaves
from ..kinds import described
from ..loops.producers import run_producer
from ..objects.attributes import attribute
from ..sources.scope import body_of
from ..sources.source import find_source
from ..values import Closure, ExceptionValue, Producer
from .attempts import caught_as, however_left, passed_on_the_way_out
from .effects import errstate
from .trying import Ends, what_may_be_raised
from .warning_filters import filtering

if TYPE_CHECKING:
    from ..reader import Reader


def read_with(reader: Reader, node: Any) -> None:
    """`with np.errstate(...)`, or an object that says by methods what it does; objects with `__transformer_with__` say
    themselves what they mean, those with `__transformer_block__` what becomes of the lines under them."""
    _enter(reader, node, node.items)


def _enter(reader: Reader, node: Any, items: list[Any]) -> None:
    """The lines under `with`, when the managers of these items have been entered, one in the other."""
    if not items:
        return reader.execute(node.body)
    item, *others = items
    manager = reader.evaluate(item.context_expr)
    if hasattr(manager, "__transformer_block__"):
        return manager.__transformer_block__(reader, node)

    _check_told(reader, node, manager)

    def inside(entered: Any) -> None:
        if item.optional_vars is not None:
            from ..assignment import bind

            bind(reader, item.optional_vars, entered)
        _enter(reader, node, others)

    if hasattr(manager, "__transformer_with__"):
        with however_left(reader, manager.__transformer_with__(reader, item.optional_vars)):
            _enter(reader, node, others)
    elif isinstance(manager, np.errstate) and isinstance(item.context_expr, gast.Call):
        with errstate(reader, item.context_expr) as leave, however_left(reader, leave):
            _enter(reader, node, others)
    elif isinstance(manager, warnings.catch_warnings) and item.optional_vars is None:
        with filtering(reader, item.context_expr, node) as rest:
            _enter(reader, rest, others)
    elif _ends_exceptions(reader, manager, item):
        raise Ends(reader.frame.origin(item.context_expr))
    elif isinstance(manager, contextlib._GeneratorContextManager):
        _around(reader, attribute(reader, manager, "gen"), inside)
    elif _is_readable(manager):
        _between(reader, manager, inside, reader.frame.origin(item.context_expr))
    else:
        raise NotSupported(
            f"`with` on {described(manager)} is not supported",
            reader.frame.origin(item.context_expr),
            why="Its __enter__ and __exit__ cannot be analysed.",
            instead="Use it around the call of the transformed function.",
        )


def _check_told(reader: Reader, node: Any, manager: Any) -> None:
    """Refuses a manager that does otherwise where it is told of an exception, if one passes that is not seen here."""
    passed = getattr(node, "passed", None) or getattr(node, "left", None)
    if passed is None or not _asks_for_exceptions(manager):
        return
    around = "`yield` behind which no item may be wanted" if hasattr(node, "left") else "`raise` that is caught"
    raise NotSupported(
        f"`with` on {described(manager)} around a {around}",
        reader.frame.origin(passed),
        why="It asks for the exception on the way out, may end it, or does otherwise without one.",
        instead="Catch it under `with`, or test before. Behind a `yield`, write `finally`.",
    )


def _ends_exceptions(reader: Reader, manager: Any, item: Any) -> bool:
    """Whether a `try` can do what a manager does, and has not been put in its place yet."""
    is_known = reader.frame.origin(item.context_expr) in reader.findings.ended
    return type(manager) is contextlib.suppress and item.optional_vars is None and not is_known


def _is_readable(manager: Any) -> bool:
    """Whether the methods are functions of Python's. Those of its own modules change what is outside of the program."""
    cls = type(manager)
    home = cls.__module__.partition(".")[0]
    methods = (getattr(cls, name, None) for name in ("__enter__", "__exit__"))
    return all(isinstance(method, types.FunctionType) for method in methods) and (
        home not in sys.stdlib_module_names or home == "contextlib")


def _around(reader: Reader, made: Producer, inside: Callable[[Any], None]) -> None:
    """The lines stand where a generator yields, once."""
    yields = [each for each in gast.walk(made.frame.scope.node) if isinstance(each, gast.Yield | gast.YieldFrom)]
    loops = [each for each in gast.walk(made.frame.scope.node) if isinstance(each, gast.For | gast.While)]
    in_loops = any(each in yields for loop in loops for each in gast.walk(loop))
    if len(yields) != 1 or not isinstance(yields[0], gast.Yield) or in_loops:
        raise NotSupported(f"`with` on the generator {made.frame.function}, which does not have exactly one `yield`, "
                           "is not supported", reader.builder.origin, instead="Use one `yield`, outside loops.")
    run_producer(reader, made, inside)


def _between(reader: Reader, manager: Any, inside: Callable[[Any], None], origin: Origin) -> None:
    """The lines stand between calls of `__enter__` and `__exit__`."""
    cls = type(manager)
    entered = reader.call(cls.__enter__, (manager,), {})

    def leave(raised: ExceptionValue) -> None:
        reader.call(cls.__exit__, (manager, raised.kind, raised, None), {})

    if _may_end_exceptions(cls.__exit__):
        _without_exceptions(reader, manager, lambda: inside(entered), origin)
    else:
        try:
            with passed_on_the_way_out(reader, leave):
                inside(entered)
        except TransformError as error:
            if reader.catching.catches(error):
                leave(caught_as(error))
            raise
    reader.call(cls.__exit__, (manager, None, None, None), {})


def _without_exceptions(reader: Reader, manager: Any, inside: Callable[[], None], origin: Origin) -> None:
    """Refuses lines that may raise something."""
    refused = NotSupported(
        f"`with` on {described(manager)} around code that may raise an exception is not supported",
        origin,
        why="Its `__exit__` may suppress the exception.",
        instead="Test for the error before the code runs, or make `__exit__` return None.",
    )
    block, start = reader.builder.block, len(reader.builder.block)
    try:
        inside()
    except (Unreachable, TransformError) as raised:
        raise raised if isinstance(raised, NotSupported) else refused from None
    if what_may_be_raised(reader, block[start:]):
        raise refused


def _asks_for_exceptions(manager: Any) -> bool:
    """Whether what a manager does on the way out depends on an exception."""
    if isinstance(manager, contextlib._GeneratorContextManager):
        source = getattr(getattr(manager, "func", None), "__wrapped__", getattr(manager, "func", None))
        tree = source.node if isinstance(source, Closure) else find_source(source).tree
        return not _ends_with_yield(tree.body)
    if not _is_readable(manager):
        return False
    leave = type(manager).__exit__
    tree = find_source(leave).tree
    told = {each.id for each in (*tree.args.args[1:], *filter(None, [tree.args.vararg]))}
    return _may_end_exceptions(leave) or any(
        isinstance(each, gast.Name) and each.id in told and isinstance(each.ctx, gast.Load)
        for statement in body_of(tree) for each in gast.walk(statement))


def _ends_with_yield(block: Any) -> bool:
    """Whether nothing follows a `yield` but what `finally` does, which does not end the exception."""
    match block[-1]:
        case gast.Try(body=body, handlers=[], orelse=[], finalbody=last) if not leaves(last, gast.Return):
            return _ends_with_yield(body)
        case gast.Expr(value=value):
            return isinstance(value, gast.Yield)
    return False


def _may_end_exceptions(leave: Any) -> bool:
    """Whether `__exit__` may return something that is true."""
    tree = find_source(leave).tree
    returns = [tree.body] if isinstance(tree, gast.Lambda) else [
        each.value for each in gast.walk(tree) if isinstance(each, gast.Return)]
    return any(value is not None and not (isinstance(value, gast.Constant) and not value.value) for value in returns)


STATEMENTS = {gast.With: read_with}
