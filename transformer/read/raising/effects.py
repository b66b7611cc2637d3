"""Effects: `print`, `assert`, `raise`, `warnings.warn`, `with np.errstate(...)`.

Their texts become templates: tuples of strings and `Hole`s, which say which argument of the effect
goes there and how it is formatted. `attrs` of each kind:

    print    template: one tuple per argument; sep, end
    assert   template (of the message; None without one); argument 0 is the condition
    raise    exception: the class; template: one tuple per argument of it; values: which of them are no texts
    warn     template, category
    log      template, logger: its name, None for functions of `logging`; level
    breakpoint
    enter    context: the expression after `with`, as text; `exit` ends it
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import gast

from ...core.errors import BadArgument, NotSupported
from ...core.grammar import Effect
from ...ops.value import Value
from ..branches.branches import Unreachable
from ..branches.conditions import condition
from ..kinds import python_type, type_name
from ..values import ExceptionValue, stripped
from .demand import static
from .texts import Template, raising_with, read_joined

if TYPE_CHECKING:
    from ..reader import Reader


def emit_effect(reader: Reader, kind: str, atoms: Any, attrs: dict[str, Any]) -> None:
    reader.builder.emit(Effect(kind, tuple(atoms), attrs, reader.builder.origin))


def print_call(
    reader: Reader, *args: Any, sep: Any = " ", end: Any = "\n", file: Any = None, flush: Any = False
) -> None:
    """`print`, kept as an effect."""
    if file is not None:
        raise NotSupported("printing to a file is not supported", reader.builder.origin,
                           instead="Print to standard output.")
    template = Template()
    parts = tuple(template.add(arg) for arg in args)
    sep, end = (static(reader, text, "`sep` and `end` of print") for text in (sep, end))
    emit_effect(
        reader,
        "print",
        template.atoms,
        {"template": parts, "sep": " " if sep is None else sep, "end": "\n" if end is None else end},
    )


def warn_call(reader: Reader, message: Any, category: Any = UserWarning, stacklevel: Any = 1, **rest: Any) -> None:
    """`warnings.warn`, kept as an effect."""
    if not (isinstance(category, type) and issubclass(category, Warning)):
        raise TypeError(f"category must be a Warning subclass, not '{type_name(category)}'")
    if any(issubclass(category, each) for ignored in reader.unheard for each in ignored):
        return
    template = Template()
    parts = template.add(message)
    emit_effect(reader, "warn", template.atoms, {"template": parts, "category": category})


def breakpoint_call(reader: Reader) -> None:
    """`breakpoint()`, kept as an effect."""
    emit_effect(reader, "breakpoint", (), {})


def read_assert(reader: Reader, node: Any) -> None:
    cond = condition(reader, node.test)
    if isinstance(cond, Value):
        _check(reader, cond, node.msg)
    elif not cond:
        raise_exception(reader, AssertionError, () if node.msg is None else (reader.evaluate(node.msg),))


def _check(reader: Reader, cond: Value, message: Any) -> None:
    template = Template()
    template.atoms.append(cond.atom)
    parts = None if message is None else template.add(reader.evaluate(message))
    emit_effect(reader, "assert", template.atoms, {"template": parts})


def read_raise(reader: Reader, node: Any) -> None:
    if node.exc is None:
        raise NotSupported("`raise` without an exception is not supported", reader.builder.origin,
                           instead="Name it: raise ValueError(message).")
    exception = reader.evaluate(node.exc)
    kind = python_type(exception) if not isinstance(exception, type) else exception
    if not issubclass(kind, BaseException):
        raise BadArgument("exceptions must derive from BaseException", reader.builder.origin)
    if isinstance(exception, ExceptionValue):
        raise_exception(reader, exception.kind, exception.args)
    elif isinstance(exception, BaseException):
        raise_exception(reader, type(exception), exception.args)
    else:
        raise_exception(reader, exception, ())


def raise_exception(reader: Reader, kind: Any, args: tuple[Any, ...]) -> None:
    """Emits a `raise`; what follows cannot be reached."""
    raised = raising_with(kind, args, reader.builder.origin)
    if reader.catching.ways_out:
        from .attempts import go_out

        go_out(reader, ExceptionValue(kind, args))
    reader.builder.emit(raised)
    raise Unreachable(raised)


@contextmanager
def errstate(reader: Reader, call: Any) -> Iterator[Any]:
    """`with np.errstate(...)`; gives what is called on the way out."""
    options = {keyword.arg: stripped(reader.evaluate(keyword.value)) for keyword in call.keywords}
    shown = ", ".join(f"{key}={value!r}" for key, value in options.items())
    outer, reader.catching.of_floats = reader.catching.of_floats, "raise" in options.values()
    emit_effect(reader, "enter", (), {"context": f"np.errstate({shown})"})
    try:
        yield lambda: emit_effect(reader, "exit", (), {"context": f"np.errstate({shown})"})
    finally:
        reader.catching.of_floats = outer


STATEMENTS = {gast.Assert: read_assert, gast.Raise: read_raise}
EXPRESSIONS = {gast.JoinedStr: read_joined}
