"""The errors a user sees: what is wrong and where, why it is so, and what to write instead.

Two kinds matter most: *not supported*, a program that has a meaning which we do not transform, and
*not differentiable*, a program whose derivative is not defined. All of them print alike:

>>> origin = Origin("model.py", 12, 11, 22, "loss")
>>> error = NotSupported("numpy.unwrap has no rule", origin, instead="Pass what it gives as an argument.")
>>> print(error)
numpy.unwrap has no rule
  File "model.py", line 12, in loss
Pass what it gives as an argument.

Between the second and the third line stand the source line and carets, where the file is there.
"""

from __future__ import annotations

import linecache
import unicodedata
from dataclasses import dataclass
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
        source = f"    {shown}"
        return [source] if self.column is None else [source, f"    {self._carets()}"]

    def _carets(self) -> str:
        """Blanks and carets that lie under the line as shown, which has lost its indentation."""
        encoded = self.text.rstrip().encode()
        indentation = len(encoded) - len(encoded.lstrip())
        start = max(self.column or 0, indentation)
        end = self.end_column
        if end is None or end <= start:
            end = len(encoded)
        before = encoded[indentation:start].decode(errors="ignore")
        marked = encoded[start:end].decode(errors="ignore")
        return _blanks(before) + "^" * max(1, _width(marked))


def _blanks(text: str) -> str:
    """White space as wide as the text: tabs stay, as only the terminal knows their width."""
    return "".join("\t" if character == "\t" else " " * _width(character) for character in text)


def _width(text: str) -> int:
    """The columns a terminal uses: two for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)


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

    def __init__(
        self,
        message: str,
        origin: Origin | None = None,
        why: str | None = None,
        instead: str | None = None,
    ) -> None:
        # The constructor of OSError, a base of one subclass, would take the arguments apart.
        Exception.__init__(self, message)
        self.message = message
        self.origin = origin
        self.why = why
        self.instead = instead

    def located(self, origin: Origin | None) -> Self:
        """This error, with its place filled in if whoever raised it did not know the place."""
        if self.origin is None:
            self.origin = origin
        return self

    def __str__(self) -> str:
        parts = (self.message, self.origin, self.why, self.instead)
        return "\n".join(str(part) for part in parts if part is not None)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.origin, self.why, self.instead)


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
