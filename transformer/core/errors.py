"""The errors a user sees: what is wrong and where, why it is so, and what to write instead.

Two kinds matter most: *not supported*, a program that has a meaning which we do not transform, and
*not differentiable*, a program whose derivative is not defined. All of them print alike:

>>> origin = Origin("model.py", 12, 11, 22, "loss")
>>> error = NotSupported("no rule for numpy.unwrap", origin, instead="Pass what it gives as an argument.")
>>> print(error)
no rule for numpy.unwrap
  File "model.py", line 12, in loss
Pass what it gives as an argument.

Between the second and the third line stand the source line and carets, where the file is there.

Style, which tests/test_errors_style.py holds all messages to as far as a machine can:

``message``   What is wrong, in one line, as Python's own messages: no capital but that of a name, no
              full stop. It speaks of the program in the user's words: ``a list``, ``the argument 'x'``,
              never of our classes. Where Python or NumPy would raise too, it is their text, as it is
              (capitals and full stops included), and the error is also caught as what they raise.
``origin``    The piece of the user's source that is guilty, as small as it is known. What is wrong inside
              of a library's source is shown where the user's code calls it, with the library's line below.
``why``       The reason, where the message does not tell it: whole sentences.
``instead``   What to write instead: whole sentences, best an imperative. It works: what it names is
              supported. Every `NotSupported` and `NotDifferentiable` has it.

Code is quoted in backticks (`x += y`) or stands bare where it cannot be mistaken (np.sum), names of the
program stand in quotes ('x').
"""

from __future__ import annotations

import builtins
import difflib
import linecache
import os
import re
import sysconfig
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Origin:
    """A place in the user's file.

    Lines count from 1. Columns count from 0 and in bytes of UTF-8, as those of `ast` and of code
    objects do, so that they can be taken from a tree as they are; they become characters only when
    carets are drawn. `end_column` is None where the piece of source ends on a later line.
    """

    file: str
    line: int
    column: int | None = None
    end_column: int | None = None
    function: str = ""

    @property
    def text(self) -> str:
        """The source line without its newline; empty where the file cannot be read."""
        return linecache.getline(self.file, self.line).rstrip("\n")

    def __str__(self) -> str:
        inside = f", in {self.function}" if self.function else ""
        return "\n".join([f'  File "{self.file}", line {self.line}{inside}', *self._excerpt()])

    def _excerpt(self) -> list[str]:
        shown = self.text.strip()
        if not shown:
            return []
        if self.column is None:
            return [f"    {shown}"]
        before, marked, after = self._pieces()
        if len(shown) > LONGEST_LINE:
            before, marked, after = _cut(before[::-1])[::-1], _cut(marked, 2 * MOST_AROUND), _cut(after)
        return [f"    {before}{marked}{after}", f"    {_blanks(before)}{'^' * max(1, width_of(marked))}"]

    def _pieces(self) -> tuple[str, str, str]:
        """The line without its indentation: what carets stand under, and what is before and after it."""
        encoded = self.text.rstrip().encode()
        indentation = len(encoded) - len(encoded.lstrip())
        start = max(self.column or 0, indentation)
        end = self.end_column
        if end is None or end <= start:
            end = len(encoded)
        parts = encoded[indentation:start], encoded[start:end], encoded[end:]
        before, marked, after = (part.decode(errors="ignore") for part in parts)
        return before, marked, after


LONGEST_LINE = 160                                 # of which all is shown
MOST_AROUND = 60                                   # characters before and after the carets of longer ones


def _cut(text: str, most: int = MOST_AROUND) -> str:
    """The beginning of a text."""
    return text if len(text) <= most else f"{text[:most]} …"


def _blanks(text: str) -> str:
    """White space as wide as the text: tabs stay, as only the terminal knows their width."""
    return "".join("\t" if character == "\t" else " " * width_of(character) for character in text)


def width_of(text: str) -> int:
    """The columns a terminal uses: two for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)


def _without_serials(text: str) -> str:
    """A text with the names of computed sizes as the program has them: `f64[n]` for ``f64[?n.17]``."""
    return re.sub(r"\?(\w+)\.\d+", lambda found: "?" if found[1] == "t" else found[1], text)


class TransformError(Exception):
    """Anything a transformation refuses, with the place in the user's source that it is about.

    `message` says what is wrong, `why` the reason, `instead` what to write; the latter two are
    whole sentences. What is refused is refused before a number is computed: a transformed function
    either agrees with its original or does not come into being. To catch every refusal::

        try:
            slope = grad(loss)(w, x)
        except TransformError as error:      # wrong: except Exception, which hides errors of loss
            print(error)
    """

    on_a_path = False  # whether it was found in a block inside of another: the program may never come there
    is_raised = False  # whether the program itself raises it where it is found, whatever its numbers are
    step: int | None = None  # which of several transformations refuses, counted from the inner one

    def __init__(
        self,
        message: str,
        origin: Origin | None = None,
        why: str | None = None,
        instead: str | None = None,
        argument: str | None = None,
    ) -> None:
        # The constructor of OSError, a base of one subclass, would take the arguments apart.
        message = _without_serials(message)
        Exception.__init__(self, message)
        self.message = message
        self.origin = origin
        self.why = why and _without_serials(why)
        self.instead = instead
        self.raised_with: tuple[Any, ...] = (message,)  # what a program's own exception is made with
        self.argument = argument  # the parameter that it is about, for a place if there is no other
        self.inside: list[Origin] = []  # places in libraries that `origin` comes to, the outer ones first
        self.callers: list[Origin] = []  # calls that come to `origin`, the inner ones first

    def located(self, origin: Origin | None) -> Self:
        """This error, with its place filled in if whoever raised it did not know the place."""
        if self.origin is None:
            self.origin = origin
        return self

    def called_from(self, call: Origin | None) -> Self:
        """This error, once it leaves a function that was called there: its place is in the user's source,
        so a place in a library gives way to the call."""
        if call is None or self.origin is None:
            return self.located(call)
        if is_library(self.origin.file):
            self.inside[:0] = [] if self.origin.file.startswith(OURS) else [self.origin]
            self.origin = call
        elif call not in (self.origin, *self.callers):
            self.callers.append(call)
        return self

    def __str__(self) -> str:
        inside = f"inside a library, at\n{self.inside[-1]}" if self.inside else None
        parts = (self.message, self.origin, inside, self.why, self.instead, *self._calls())
        return "\n".join(str(part) for part in parts if part is not None)

    def _calls(self) -> Iterator[str]:
        """The nearest calls that come to the place."""
        for call in self.callers[:MOST_CALLERS]:
            yield f"called from\n{call}"
        if len(self.callers) > MOST_CALLERS:
            yield f"and {len(self.callers) - MOST_CALLERS} more calls"

    def __reduce__(self) -> tuple[Any, ...]:
        given = self.message, self.origin, self.why, self.instead, self.argument
        return type(self), given, {"inside": self.inside, "callers": self.callers}


MOST_CALLERS = 3
OURS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")


def suggestion(word: str, known: Iterable[str]) -> str | None:
    """``Did you mean …?`` for an `instead`, where known words are close.

    >>> suggestion("summ", ["sum", "cumsum", "mean"])
    "Did you mean 'sum'?"
    """
    close = difflib.get_close_matches(word, list(known), n=2, cutoff=0.7)
    return f"Did you mean {' or '.join(map(repr, close))}?" if close else None


@cache
def is_library(file: str) -> bool:
    """Whether a file is part of Python, of an installed package, or of this one."""
    folders = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return file.startswith(("<frozen ", OURS)) or any(file.startswith(f"{folder}{os.sep}") for folder in folders)


class NotSupported(TransformError, NotImplementedError):
    """The program has a meaning, but not one we can transform.

    Wrong, as an exit out of `try` cannot be followed::

        def loss(x):
            try:
                return np.log(x)
            finally:
                print("done")

    Right::

        def loss(x):
            value = np.log(x)
            print("done")
            return value
    """


class NotDifferentiable(TransformError, TypeError):
    """The derivative asked for is not defined.

    Wrong, as an integer has no neighbourhood::

        grad(lambda n: n * n)(3)

    Right::

        grad(lambda x: x * x)(3.0)
    """


class BadArgument(TransformError, TypeError):
    """A transformation was called with arguments that do not fit it.

    Wrong, as the function has one argument only::

        grad(lambda x: x * x, argnums=1)(3.0)

    Right::

        grad(lambda x: x * x, argnums=0)(3.0)
    """


class ShapeError(TransformError, ValueError):
    """The shapes of arrays do not fit together.

    Wrong, as 3 and 4 do not broadcast::

        grad(lambda x: np.sum(x + np.ones(4)))(np.ones(3))

    Right::

        grad(lambda x: np.sum(x + np.ones(3)))(np.ones(3))
    """


class SourceError(TransformError, OSError):
    """The source of a function is not to be had, or is not what the function was made from.

    Wrong, as Python keeps no text of what `exec` runs::

        exec("def square(x): return x * x", names)
        grad(names["square"])(3.0)

    Right, with the text registered under the name it is compiled with::

        text = "def square(x): return x * x"
        linecache.cache["<square>"] = len(text), None, text.splitlines(True), "<square>"
        exec(compile(text, "<square>", "exec"), names)
        grad(names["square"])(3.0)

    A file that was edited after its import is refused likewise; `importlib.reload` helps there.
    """


def as_raised(error: BaseException, origin: Origin | None = None, instead: str | None = None) -> TransformError:
    """What Python or NumPy raises for the program itself, as an error of ours with its place, which
    is caught as the same class.

    >>> import math
    >>> try:
    ...     math.exp(1000)
    ... except OverflowError as error:
    ...     found = as_raised(error)
    >>> found, isinstance(found, OverflowError), isinstance(found, TransformError)
    (OverflowError('math range error'), True, True)
    """
    text = f"KeyError: {error}" if isinstance(error, KeyError) else str(error)
    found = raised_as(type(error), " ".join(text.split("\n")).strip(), origin, instead=instead)
    if str(_public(type(error))(*error.args)) == str(error):    # classes of NumPy's own make texts of other arguments
        found.raised_with = error.args
    found.is_raised = True
    return found


def raised_as(
    kind: type[BaseException], message: str, origin: Origin | None, why: str | None = None, instead: str | None = None
) -> TransformError:
    """An error of ours that is caught as this class, or as that of its bases which is Python's or NumPy's."""
    return _class_as(_public(kind))(message, origin, why, instead)


def _public(kind: Any) -> Any:
    """The class itself, or that of its bases which can be named in a program."""
    public = (builtins.__name__, "numpy.exceptions", "numpy.linalg")
    return next(base for base in kind.__mro__ if base.__module__ in public)


@cache
def _class_as(kind: Any) -> type[TransformError]:
    """A class of error that is also this one of Python's or NumPy's."""
    base = next((ours for ours in (BadArgument, ShapeError) if issubclass(kind, ours.__bases__[1])), TransformError)
    if issubclass(base, kind) or issubclass(TransformError, kind):
        return base
    members = {"__module__": __name__, "__reduce__": _reduced, "__init__": TransformError.__init__}
    return type(kind.__name__, (base, kind), {**members, "raised": kind, "__str__": TransformError.__str__})


def _reduced(self: Any) -> tuple[Any, ...]:
    _, given, state = TransformError.__reduce__(self)
    return _remade, (self.raised, *given), state


def _remade(kind: Any, *given: Any) -> TransformError:
    return _class_as(kind)(*given)
