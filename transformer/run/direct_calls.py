"""What a repeated call runs, made for its number of arguments: of two arguments

    def call(a0=missing, a1=missing, /, *more, **named):
        if a1 is missing or more or named or config.debug_nans or dispatcher.version != registry.version:
            return general(*[each for each in (a0, a1) if each is not missing], *more, **named)
        try:
            found = table[type(a0), a0.dtype, a0.shape, type(a1)]
        except Exception:
            found = None
        …
            return general(a0, a1) if found is None else found(a0, a1)

    def checked(a0, a1):
        if o0.__code__ is v0 and test(a0, a1):
            return function(a0, a1)
        …

Arguments with names of their own cost less than those that are packed for every call on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..ops.registry import registry
from ..settings import config

Calling = Callable[..., Any]
MISSING = object()

CALL = """
def call({parameters}, /, *more, **named):
    if {last} is missing or more or named or config.debug_nans or dispatcher.version != registry.version:
        return general(*[each for each in ({arguments}) if each is not missing], *more, **named)
    try:
        found = table[{key}]
    except Exception:                            # of other kinds than before
        found = None
    if found is None:
        return general({arguments})
    try:
        return found({arguments})
    except Exception as error:
        again = with_numpys(error, ({arguments}))
        if not again:
            raise
    return dispatcher.called(*again)
"""

CHECKED = """
def checked_call({arguments}):
    try:
        is_current = {conditions}
    except (AttributeError, LookupError):        # there is none any more
        is_current = False
    if is_current and {test}:
        return function({arguments}{outside})
    return otherwise(is_current, ({arguments}))
"""


def direct_call(key: str, count: int, table: dict[Any, Calling], dispatcher: Any, general: Calling,
                with_numpys: Calling) -> Calling:
    """Calls what `table` has for a call of `count` arguments; what it has not, or is called otherwise, is `general`.
    After an error, `with_numpys` gives with what the dispatcher is to be called instead, if with anything."""
    names = [f"a{k}" for k in range(count)]
    text = CALL.format(parameters=", ".join(f"{name}=missing" for name in names), last=names[-1],
                       arguments=_each(names), key=key)
    return _made(text, "call", {"table": table, "dispatcher": dispatcher, "general": general, "missing": MISSING,
                                "with_numpys": with_numpys, "config": config, "registry": registry})


def checked_call(function: Calling, count: int, conditions: str, given: Mapping[str, Any], test: Calling | None,
                 outside: Calling | None, otherwise: Calling) -> Calling:
    """Calls a function with what it takes from `outside`, where `conditions` on what is `given`, and the `test` of the
    arguments, are true."""
    names = [f"a{k}" for k in range(count)]
    text = CHECKED.format(arguments=_each(names), conditions=conditions,
                          test="True" if test is None else f"test({_each(names)})",
                          outside="" if outside is None else "**outside()")
    return _made(text, "checked_call", {**given, "function": function, "test": test, "outside": outside,
                                   "otherwise": otherwise})


def _each(names: list[str]) -> str:
    return "".join(f"{name}, " for name in names)


def _made(text: str, name: str, given: dict[str, Any]) -> Calling:
    exec(compile(text, "<call of a compiled function>", "exec"), given)
    made: Calling = given[name]
    return made
