"""`template % values`, as texts with holes: what an f-string says in another way.

    "%5.2f of %d" % (x, n)    is    f"{x:5.2f} of {n:d}"
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...core.errors import NotSupported
from ...core.sizes import Size
from ...ops.value import Value
from ..kinds import python_type
from ..objects.objects import hold_dynamic
from ..values import ExceptionValue, Text, has_dynamic, known_of
from .errors import as_user_error
from .texts import formatted, text_of

if TYPE_CHECKING:
    from ..reader import Reader

DIRECTIVE = re.compile(r"%(?:\((?P<key>[^)]*)\))?(?P<flags>[-+ #0]*)(?P<width>\d*)(?P<precision>\.\d*)?"
                       r"[hlL]?(?P<kind>.)", re.DOTALL)
TEXTS, WHOLE, IN_DIGITS, REAL = "sra", "diu", "xXo", "eEfFgG"


def filled(reader: Reader, template: str, values: Any) -> Any:
    """`template % values`, where some values are dynamic."""
    given = iter(values if isinstance(values, tuple) else (values,))
    pieces: list[Any] = []
    end = 0
    with as_user_error(reader):
        for found in DIRECTIVE.finditer(template):
            pieces += [template[end:found.start()], _piece(reader, found, given, values)]
            end = found.end()
        if not isinstance(values, dict) and next(given, None) is not None:
            raise TypeError("not all arguments converted during string formatting")
    return text_of([*pieces, template[end:]])


def _piece(reader: Reader, found: re.Match[str], given: Iterator[Any], values: Any) -> Any:
    """What stands in the place of one directive."""
    if found["kind"] == "%":
        return "%"
    value = values[found["key"]] if found["key"] is not None else next(given, UNGIVEN)
    if value is UNGIVEN:
        raise TypeError("not enough arguments for format string")
    if not is_made_here(value):
        return found[0].replace(f"({found['key']})", "", 1) % (known_of(value),)
    if found["kind"] in TEXTS:
        return _as_text(found, value)
    number = _number(reader, found["kind"], value)
    if number is None or found["precision"] and found["kind"] not in REAL:
        raise NotSupported(f"`{found[0]}` formatting of this value is not supported", reader.builder.origin,
                           instead="Use an f-string.")
    return formatted(number, "", _spec(found, "d" if found["kind"] in WHOLE else found["kind"]))


def is_made_here(value: Any) -> bool:
    """Whether Python would show a value that stands for another one while the function is read."""
    return has_dynamic(value) or hold_dynamic(value) or isinstance(value, Text | ExceptionValue)


UNGIVEN = object()


def _as_text(found: re.Match[str], value: Any) -> Any:
    conversion = found["kind"].replace("s", "")
    if not found["width"] and not found["precision"]:
        return formatted(value, conversion)
    align = "<" if "-" in found["flags"] else ">"
    return formatted(value, conversion or "s", align + found["width"] + (found["precision"] or ""))


def _number(reader: Reader, kind: str, value: Any) -> Any:
    """The number that is shown: Python converts what a directive does not take."""
    if isinstance(value, Size):
        return value
    if not isinstance(value, Value):
        return None
    is_whole = value.dtype.kind in "iu" and value.ndim == 0
    if is_whole or kind in REAL and value.dtype.kind == "f" and value.ndim == 0:
        return value
    if kind in IN_DIGITS:
        raise TypeError(f"%{kind} format: an integer is required, not {python_type(value).__name__}")
    return reader.call(int if kind in WHOLE else float, (value,), {})


def _spec(found: re.Match[str], kind: str) -> str:
    """The format of an f-string for the flags, the width and the precision of a directive."""
    flags = found["flags"]
    sign = "+" if "+" in flags else " " if " " in flags else ""
    zeros = "0" if "0" in flags and "-" not in flags else ""
    return ("<" if "-" in flags else "") + sign + ("#" if "#" in flags else "") + zeros + found["width"] + (
        found["precision"] or "") + kind
