"""The notation of types on the command line and in annotations.

    declarations = [ name ":" type { "," name ":" type } [ "," ] ]
    type         = dtype [ "[" size { "," size } "]" ]
                 | "{" key ":" type { "," key ":" type } "}"          dictionary
                 | "(" type { "," type } ")" | "[" type … "]"         tuple, list
                 | number | string | True | False | None              a value known beforehand
    size         = term { ( "+" | "-" ) term }
    term         = ( name | number ) { "*" ( name | number ) }

A type is a pytree: its leaves are Core types, and Python objects for values known beforehand.

>>> parse_type("{w: f64[n, n+1], kind: 'relu'}")
{'w': f64[n, n + 1], 'kind': 'relu'}
>>> parse_type("f64[n")
Traceback (most recent call last):
transformer_cli.failures.NotationError: --types: expected ',' or ']'
    f64[n
         ^
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from transformer.core.sizes import Dim, Extent, Size
from transformer.core.types import BOOL, COMPLEX, FLOAT, INT, LONG_NAMES, SHORT_NAMES, ArrayType, dtype_of_name

from .failures import NotationError, suggestion

NUMBERS = {"int": INT, "float": FLOAT, "complex": COMPLEX, "bool": BOOL}
WORDS = {"True": True, "False": False, "None": None}
DTYPES = (*LONG_NAMES, *NUMBERS)
DEEPEST = 40

_TOKEN = re.compile(
    r"""
    (?P<space>  \s+ )
  | (?P<number> (?: \d+ (?: \.\d* )? | \.\d+ ) (?: [eE][+-]?\d+ )? (?! \w ) )
  | (?P<name>   [^\W\d]\w* )
  | (?P<string> '[^'\\\n]*' | "[^"\\\n]*" )
  | (?P<mark>   [\[\]{}():,+*-] )
""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Token:
    """A piece of the text; `kind` is number, name, string, mark, end, or wrong."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def shown(self) -> str:
        return "the end" if self.kind == "end" else f"{self.text!r}"


@dataclass(frozen=True)
class Declaration:
    """`name: type`, and where the name stands in the text."""

    name: str
    type: Any
    token: Token


def parse_declarations(text: str) -> dict[str, Declaration]:
    """``w: f64[d], b: f64`` as a table. Raises `NotationError` with the place of a mistake.

    >>> {name: found.type for name, found in parse_declarations("w: f64[d], b: float").items()}
    {'w': f64[d], 'b': float}
    """
    return Parser(text, "--types").declarations()


def parse_type(text: str, place: str = "--types") -> Any:
    """One type. Raises `NotationError` with the place of a mistake."""
    parser = Parser(text, place)
    found = parser.type()
    if parser.token.kind != "end":
        parser.fail(f"{parser.token.shown} after the type")
    return found


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text, and an end after the last; a character that begins none is `wrong`."""
    found, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        kind = "wrong" if match is None or match.lastgroup is None else match.lastgroup
        piece = text[position] if match is None else match[0]
        if kind != "space":
            found.append(Token(kind, piece, position))
        position += len(piece)
    return [*found, Token("end", "", len(text.rstrip()))]


class Parser:
    """One method for each line of the grammar; `token` is the one looked at."""

    def __init__(self, text: str, place: str) -> None:
        self.text, self.place = text, place
        self.tokens = tokens_of(text)
        self.index = 0
        self.depth = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    def take(self) -> Token:
        token = self.token
        self.index += token.kind != "end"
        return token

    def sees(self, *marks: str) -> bool:
        return self.token.kind == "mark" and self.token.text in marks

    def expect(self, mark: str, also: str = "") -> Token:
        if not self.sees(mark):
            self.fail(
                f"expected {also}{mark!r}"
                + ("" if self.token.kind == "end" else f", found {self.token.shown}")
            )
        return self.take()

    def fail(self, message: str, token: Token | None = None) -> NoReturn:
        token = token or self.token
        raise NotationError(message, self.text, token.start, token.end, self.place)

    def declarations(self) -> dict[str, Declaration]:
        found: dict[str, Declaration] = {}
        while self.token.kind != "end":
            name = self.declared_name()
            if name.text in found:
                self.fail(f"{name.text} has a type already", name)
            self.expect(":")
            found[name.text] = Declaration(name.text, self.type(), name)
            if self.token.kind != "end":
                self.expect(",")
        return found

    def declared_name(self) -> Token:
        if self.token.kind != "name":
            self.fail(f"expected the name of an argument, found {self.token.shown}")
        return self.take()

    def type(self) -> Any:
        token = self.take()
        if token.kind == "mark" and token.text in "{([":
            return self.nested(token)
        if token.kind == "name":
            return WORDS[token.text] if token.text in WORDS else self.array(token)
        if token.kind == "string":
            return token.text[1:-1]
        return self.number(token)

    def nested(self, opening: Token) -> Any:
        """A container, after its opening bracket; so deep a nest can only be a mistake."""
        self.depth += 1
        if self.depth > DEEPEST:
            self.fail("nested too deeply", opening)
        found = {"{": self.in_braces, "(": self.in_parentheses, "[": self.in_brackets}[
            opening.text
        ]()
        self.depth -= 1
        return found

    def in_braces(self) -> dict[Any, Any]:
        found: dict[Any, Any] = {}

        def entry() -> None:
            token = self.token
            key = self.key()
            if key in found:
                self.fail(f"the key {key!r} is there already", token)
            self.expect(":")
            found[key] = self.type()

        self.series("}", entry)
        return found

    def key(self) -> Any:
        token = self.take()
        if token.kind == "string":
            return token.text[1:-1]
        if token.kind == "number" and token.text.isdecimal():
            return int(token.text)
        if token.kind != "name":
            self.fail(f"expected a key, found {token.shown}", token)
        return token.text

    def in_parentheses(self) -> Any:
        found: list[Any] = []
        trailing = self.series(")", lambda: found.append(self.type()))
        return found[0] if len(found) == 1 and not trailing else tuple(found)

    def in_brackets(self) -> list[Any]:
        found: list[Any] = []
        self.series("]", lambda: found.append(self.type()))
        return found

    def series(self, closing: str, item: Callable[[], None]) -> bool:
        """Items between commas up to a closing bracket; whether a comma stood before that."""
        trailing = False
        while not self.sees(closing):
            item()
            trailing = self.sees(",")
            if not trailing:
                self.expect(closing, also="',' or ")
                return False
            self.take()
        self.take()
        return trailing

    def number(self, token: Token) -> int | float:
        sign = 1
        if token.kind == "mark" and token.text in "+-":
            sign, token = (-1 if token.text == "-" else 1), self.take()
        if token.kind != "number":
            self.fail(f"expected a type, found {token.shown}", token)
        return sign * (int(token.text) if token.text.isdecimal() else float(token.text))

    def array(self, token: Token) -> ArrayType:
        """A dtype, and the sizes after it."""
        word, has_sizes = token.text, self.sees("[")
        if word in NUMBERS and not has_sizes:
            return NUMBERS[word]
        if word in NUMBERS and word != "bool":
            short = SHORT_NAMES[NUMBERS[word].dtype.name]
            self.fail(f"{word} is a Python number and has no sizes; for an array write {short}[…]")
        if word not in LONG_NAMES:
            self.fail(unknown_dtype(word), token)
        return ArrayType(dtype_of_name(word), self.sizes() if has_sizes else ())

    def sizes(self) -> tuple[Extent, ...]:
        self.take()
        if self.sees("]"):
            self.fail("a size is missing; a number alone is written without brackets")
        found = [self.size()]
        while self.sees(","):
            self.take()
            found.append(self.size())
        self.expect("]", also="',' or ")
        return tuple(found)

    def size(self) -> Extent:
        start = self.token
        total = self.term()
        while self.sees("+", "-"):
            sign = 1 if self.take().text == "+" else -1
            total = total + self.term() * sign
        if isinstance(total, int) and total < 0:
            self.fail("a size is negative", start)
        return total

    def term(self) -> Extent:
        total = self.factor()
        while self.sees("*"):
            self.take()
            total = total * self.factor()
        return total

    def factor(self) -> Extent:
        token = self.take()
        if token.kind == "number" and token.text.isdecimal():
            return int(token.text)
        if token.kind != "name":
            self.fail(
                f"expected a size (a name, a number, or a sum of them), found {token.shown}", token
            )
        if keyword.iskeyword(token.text):
            self.fail(f"{token.text} is a word of Python and cannot name a size", token)
        return Size.of(Dim(token.text))


def unknown_dtype(word: str) -> str:
    """What to say about a word that is no dtype."""
    short = SHORT_NAMES.get(word)
    hint = f"; did you mean {short}?" if short else suggestion(word, DTYPES)
    return f"{word} is no dtype" + (hint or f"; there are {', '.join(DTYPES)}")


def shown(type: Any) -> str:
    """A type in this notation, as far as it has one.

    >>> shown(parse_type("{w: f64[n,m], kind: 'relu', pair: (f64,)}"))
    "{w: f64[n, m], kind: 'relu', pair: (f64,)}"
    """
    if isinstance(type, dict):
        keys = {
            key: key if isinstance(key, str) and key.isidentifier() else repr(key) for key in type
        }
        return "{" + ", ".join(f"{keys[key]}: {shown(item)}" for key, item in type.items()) + "}"
    if isinstance(type, tuple) and not hasattr(type, "_fields"):
        items = ", ".join(map(shown, type))
        return f"({items},)" if len(type) == 1 else f"({items})"
    return "[" + ", ".join(map(shown, type)) + "]" if isinstance(type, list) else repr(type)
