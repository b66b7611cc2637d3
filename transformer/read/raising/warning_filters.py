"""`with warnings.catch_warnings():` and the filters that its first lines set.

    with warnings.catch_warnings():              with warnings.catch_warnings(action="ignore"):
        warnings.simplefilter("ignore")              y = np.log(x)
        y = np.log(x)

Compiled code has no warnings of NumPy's, and those of the program are left out where they are ignored.
"""

from __future__ import annotations

import builtins
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import gast

from ...core.errors import NotSupported
from .demand import static
from .effects import emit_effect

if TYPE_CHECKING:
    from ..reader import Reader

SETTERS = {"simplefilter": warnings.simplefilter, "filterwarnings": warnings.filterwarnings}


@contextmanager
def filtering(reader: Reader, entering: Any, node: Any) -> Iterator[Any]:
    """While the lines under a `with` are read, without those that set filters: gives the rest."""
    ignored: list[type[Warning]] = []
    _set(reader, ignored, **_entered_by(reader, entering))
    body = list(node.body)
    while body and (setter := _setter(reader, body[0])) is not None:
        call = body.pop(0).value
        reader.builder.origin = reader.frame.origin(call)
        given = [reader.evaluate(arg) for arg in call.args]
        named = {keyword.arg: reader.evaluate(keyword.value) for keyword in call.keywords}
        _set(reader, ignored, **_arguments(setter, given, named))
    contexts = [{"context": _spelled(category)} for category in ignored if _has_name(category)]
    for context in contexts:
        emit_effect(reader, "enter", (), context)
    reader.unheard.append(tuple(ignored))
    try:
        yield gast.With(node.items, body or [gast.Pass()], None)
    finally:
        reader.unheard.pop()
    for context in contexts:
        emit_effect(reader, "exit", (), context)


def _entered_by(reader: Reader, call: Any) -> dict[str, Any]:
    """What `catch_warnings(...)` sets itself; those that it records nobody sees."""
    options = {keyword.arg: static(reader, reader.evaluate(keyword.value), "an argument of a filter")
               for keyword in getattr(call, "keywords", ())}
    action = "ignore" if options.get("record") else options.get("action")
    return {"action": action, "category": options.get("category", Warning)}


def _setter(reader: Reader, statement: Any) -> Any:
    """The function that a statement sets a filter by."""
    if not isinstance(statement, gast.Expr) or not isinstance(statement.value, gast.Call):
        return None
    function = statement.value.func
    known = SETTERS.get(getattr(function, "attr", getattr(function, "id", "")))
    return known if known is not None and reader.evaluate(function) is known else None


def _arguments(setter: Any, given: list[Any], named: dict[str, Any]) -> dict[str, Any]:
    names = ("action", "category") if setter is warnings.simplefilter else ("action", "message", "category", "module")
    return {**dict(zip(names, given)), **named}


def _set(reader: Reader, ignored: list[type[Warning]], action: Any = None, category: Any = Warning, message: Any = "",
         module: Any = "", **_: Any) -> None:
    action, category, text = (static(reader, each, "an argument of a filter") for each in (action, category, message))
    if action == "error":
        raise NotSupported("turning warnings into exceptions is not supported", reader.builder.origin,
                           why="NumPy warnings are not tracked.",
                           instead="Test the values, for example with np.isfinite.")
    if action == "ignore" and not text and not module:
        ignored.append(category)
    elif action is not None and action != "ignore":
        ignored[:] = [each for each in ignored if not issubclass(each, category)]


def _has_name(category: type[Warning]) -> bool:
    return getattr(builtins, category.__name__, None) is category


def _spelled(category: type[Warning]) -> str:
    return "warnings.catch_warnings(action='ignore'" + (
        "" if category is Warning else f", category={category.__name__}") + ")"
