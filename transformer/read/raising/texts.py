"""Texts with dynamic parts, for messages: f-strings, `str(x)`, `format`."""

from __future__ import annotations

import string
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from ...core.builder import current
from ...core.errors import NotSupported, Origin, raised_as
from ...core.grammar import Atom, Effect
from ...core.sizes import Size
from ...ops import value as values
from ...ops.value import Value
from ..kinds import described, python_type
from ..objects.objects import hold_dynamic, is_generated
from ..values import DynamicRange, ExceptionValue, Formatted, Hole, Text, contained, has_dynamic, known_of
from .demand import static

if TYPE_CHECKING:
    from ..reader import Reader

OF_ARGUMENTS = {kind.__str__ for kind in (BaseException, KeyError, AttributeError, NameError, UnboundLocalError)}
CONVERSIONS = {-1: "", 114: "r", 115: "s", 97: "a"}


def read_joined(reader: Reader, node: Any) -> Any:
    """An f-string: a `str` if all of it is known, else a `Text`."""
    pieces: list[Any] = []
    for part in node.values:
        pieces.append(part.value if not hasattr(part, "format_spec") else _formatted(reader, part))
    return text_of(pieces)


def _formatted(reader: Reader, part: Any) -> Any:
    value = reader.evaluate(part.value)
    spec = reader.evaluate(part.format_spec) if part.format_spec is not None else ""
    spec = static(reader, spec, "the format of a string")
    if isinstance(spec, Text):
        raise NotSupported(
            "a computed format string is not supported",
            reader.builder.origin,
            instead="Use a constant format, such as f'{x:.3f}'.",
        )
    return formatted(value, CONVERSIONS[part.conversion], spec)


def formatted(value: Any, conversion: str = "", spec: str = "") -> Any:
    """A value as a piece of a text: a `str` if it is known, but for named constants."""
    if isinstance(value, Text):
        return text_of(_quoted(value)) if conversion == "r" else value
    if isinstance(value, ExceptionValue):
        return _displayed_exception(value, conversion)
    if isinstance(value, DynamicRange):
        return _displayed_range(value)
    ours = next(filter(_is_made_here, contained(value)), None)
    if ours is not None:
        raise NotSupported(f"a text with {described(ours)} in it that the program makes", current().origin,
                           instead="Show its items one by one, or as an array: np.array(items).")
    if _is_object(value):
        return _displayed_object(value, conversion, spec)
    parts = any(isinstance(part, Text | ExceptionValue | DynamicRange) for part in contained(value))
    if not parts and not has_dynamic(value) and not hold_dynamic(value):
        return ("{" + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "") + "}").format(
            known_of(value)
        )
    return _displayed(value) if isinstance(value, (tuple, list, dict)) else Formatted(value, conversion, spec)


def _is_made_here(value: Any) -> bool:
    """Whether it stands for an object of the program, which Python would show, or holds what is not known."""
    if isinstance(value, slice):
        return has_dynamic((value.start, value.stop, value.step))
    is_shown = isinstance(value, Value | Text | Size | DynamicRange | ExceptionValue)
    return not is_shown and python_type(value) is not type(value)


def _quoted(text: Text) -> list[Any]:
    """A text with the quotes around it that Python shows, if there is nothing in it that would show otherwise."""
    known = "".join(piece for piece in text.pieces if isinstance(piece, str))
    if "'" in known or "\\" in known or not known.isprintable():
        raise NotSupported("the text with quotes of a text that the program makes", current().origin,
                           instead="Show the text as it is: f'{text}'.")
    return ["'", text, "'"]


def _displayed_range(value: DynamicRange) -> Text:
    """A range as Python shows it."""
    parts = [value.start, value.stop, *([] if known_of(value.step) == 1 else [value.step])]
    shown = [piece for part in parts for piece in (", ", formatted(part))][1:]
    return text_of(["range(", *shown, ")"])


def _is_object(value: Any) -> bool:
    """Whether a value is an object of a class with something that is not known."""
    return not isinstance(value, (tuple, list, dict, Text, ExceptionValue)) and hold_dynamic(value)


def _displayed(value: Any) -> Text:
    """A container as Python shows it."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return _with_names(type(value), dict(zip(value._fields, value)))
    if isinstance(value, dict):
        parts: list[Any] = [[f"{key!r}: ", formatted(item, "r")] for key, item in value.items()]
        opening, closing = "{", "}"
    else:
        parts = [[formatted(item, "r")] for item in value]
        opening, closing = ("[", "]") if isinstance(value, list) else ("(", ",)" if len(value) == 1 else ")")
    joined = [piece for part in parts for piece in (", ", *part)][1:]
    return text_of([opening, *joined, closing])


def _displayed_exception(value: ExceptionValue, conversion: str) -> Text:
    """An exception as Python shows it: what it was made with."""
    args = value.args if value.made is None else value.made.args
    if conversion != "r":
        if value.kind.__str__ not in OF_ARGUMENTS:
            raise NotSupported(f"str() of a {value.kind.__name__}, which defines __str__, is not supported",
                               instead="Format its attributes directly.")
        if len(args) == 1:
            return text_of([formatted(args[0], "r" if issubclass(value.kind, KeyError) else "")])
        return text_of([formatted(args) if args else ""])
    parts = [piece for arg in args for piece in (", ", formatted(arg, "r"))][1:]
    return text_of([f"{value.kind.__name__}(", *parts, ")"])


def _displayed_object(value: Any, conversion: str, spec: str) -> Any:
    """An object as its class says, or one of a dataclass as Python shows it."""
    cls: Any = type(value)
    method, args = _method_for(cls, conversion, spec)
    if spec and not args:
        raise raised_as(TypeError, f"unsupported format string passed to {cls.__name__}.__format__", current().origin)
    if method is not None:
        return text_of([formatted(current().reader.call(method, (value, *args), {}))])
    shown = [field.name for field in fields(value) if field.repr] if is_dataclass(value) else None
    if shown is None or cls.__str__ is not object.__str__ or not is_generated(cls, "__repr__"):
        raise NotSupported(f"formatting {described(value)} in a string is not supported",
                           instead="Print its attributes one by one.")
    return _with_names(cls, {name: getattr(value, name) for name in shown})


def _method_for(cls: Any, conversion: str, spec: str) -> tuple[Any, tuple[str, ...]]:
    """The method that gives the text of an object, if the user wrote one, and what it takes."""
    if not conversion and hasattr(cls.__format__, "__code__"):
        return cls.__format__, (spec,)
    names = ("__repr__",) if conversion == "r" else ("__str__", "__repr__")
    first = next((name for name in names if getattr(cls, name) is not getattr(object, name)), None)
    if first is None or is_generated(cls, first) or not hasattr(getattr(cls, first), "__code__"):
        return None, ()
    return getattr(cls, first), ()


def _with_names(cls: type, parts: dict[str, Any]) -> Text:
    """What dataclasses and named tuples are shown as: `Point(x=1.0, y=2.0)`."""
    joined = [piece for name, item in parts.items() for piece in (", ", f"{name}=", formatted(item, "r"))][1:]
    return text_of([f"{cls.__qualname__}(", *joined, ")"])


def text_of(pieces: list[Any]) -> Any:
    """Pieces in a row: a `str` if all are."""
    flat: list[Any] = []
    for piece in pieces:
        for part in piece.pieces if isinstance(piece, Text) else (piece,):
            if isinstance(part, str) and flat and isinstance(flat[-1], str):
                flat[-1] += part
            elif part != "" or not isinstance(part, str):
                flat.append(part)
    if all(isinstance(part, str) for part in flat):
        return "".join(flat)
    return Text(tuple(flat))


def as_text(value: Any) -> Any:
    """`str(value)`."""
    if isinstance(value, (str, Text)):
        return value
    return text_of([formatted(value, "s" if _is_object(value) else "")])


def format_call(template: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`template.format(*args, **kwargs)`."""
    pieces: list[Any] = []
    count = 0
    for literal, name, spec, conversion in string.Formatter().parse(template):
        pieces.append(literal)
        if name is None:
            continue
        if not (name == "" or name.isidentifier() or name.isdigit()) or "{" in (spec or ""):
            raise NotSupported(f"the format {name!r} is not supported", instead="Use an f-string.")
        value = kwargs[name] if name.isidentifier() else args[int(name) if name else count]
        count += name == ""
        pieces.append(formatted(value, conversion or "", spec or ""))
    return text_of(pieces)


def arguments(template: tuple[Any, ...], atoms: tuple[Atom, ...], given: Any) -> tuple[Any, ...]:
    """The arguments of an exception, of which an effect has the template; those that are `given` are no texts."""
    return tuple(
        _filled(part, atoms, k in given) if isinstance(part, tuple) else part for k, part in enumerate(template)
    )


def _filled(pieces: tuple[Any, ...], atoms: tuple[Atom, ...], given: bool) -> Any:
    if given:
        return values.value(atoms[pieces[0].k])
    return text_of([piece if isinstance(piece, str) else
                    Formatted(values.value(atoms[piece.k]), piece.conversion, piece.spec) for piece in pieces])


def carried(error: ExceptionValue) -> tuple[ExceptionValue, list[Any]]:
    """An exception with holes for what the program computes of it, and that."""
    found: list[Any] = []

    def hole(value: Any) -> Hole:
        found.append(value)
        return Hole(len(found) - 1)

    return _mapped(error, hole), found


def carrying(error: ExceptionValue, held: list[Any]) -> ExceptionValue:
    """An exception with values in its holes."""
    return _mapped(error, lambda hole: held[hole.k])


def outline(part: Any) -> Any:
    """What is equal of two exceptions that differ in nothing but the values in their holes."""
    match part:
        case ExceptionValue():
            return part.kind, outline(part.args)
        case Text():
            return "text", outline(part.pieces)
        case Formatted():
            return part.value, part.conversion, part.spec
        case tuple():
            return tuple(map(outline, part))
    return part


def _mapped(error: ExceptionValue, change: Callable[[Any], Any]) -> ExceptionValue:
    def mapped(part: Any) -> Any:
        match part:
            case Text():
                return Text(tuple(map(mapped, part.pieces)))
            case Formatted():
                return Formatted(change(part.value), part.conversion, part.spec)
            case tuple():
                return tuple(map(mapped, part))
            case Value() | Size() | Hole():
                return change(part)
        return part

    return ExceptionValue(error.kind, tuple(map(mapped, error.args)))


def is_plain(arg: Any) -> bool:
    """Whether an argument of an exception is written as it is."""
    return isinstance(arg, (int, float, bool, type(None)))


class Template:
    """Collects the dynamic parts of texts as arguments of an effect."""

    def __init__(self) -> None:
        self.atoms: list[Atom] = []

    def add(self, value: Any) -> tuple[Any, ...]:
        """A value as strings and holes."""
        text = as_text(value)
        pieces = text.pieces if isinstance(text, Text) else (text,)
        return tuple(self._piece(piece) for piece in pieces)

    def argument(self, value: Any) -> Any:
        """An argument of an exception: a number that is known, one that is computed or an array, or a text."""
        if is_plain(value):
            return value
        return (self._hole(value),) if isinstance(value, Value | Size) else self.add(value)

    def _hole(self, value: Value | Size, conversion: Any = "", spec: Any = "") -> Hole:
        self.atoms.append(values.atom(value))
        return Hole(len(self.atoms) - 1, conversion, spec)

    def _piece(self, piece: Any) -> Any:
        if isinstance(piece, str):
            return piece
        if isinstance(piece.value, Value | Size):
            return self._hole(piece.value, piece.conversion, piece.spec)
        raise NotSupported(f"formatting {described(piece.value)} in a string is not supported",
                           instead="Print its items one by one.")


def raising_with(kind: type[BaseException], args: tuple[Any, ...], origin: Origin | None) -> Effect:
    """What raises an exception that is made with these arguments."""
    template = Template()
    args = tuple(known_of(arg) if is_plain(known_of(arg)) else arg for arg in args)
    parts = tuple(map(template.argument, args))
    given = tuple(k for k, arg in enumerate(args) if isinstance(arg, Value | Size))
    attrs = {"exception": kind, "template": parts} | ({"values": given} if given else {})
    return Effect("raise", tuple(template.atoms), attrs, origin)
